"""devlint in the editor: a language server over the same analysis as the command line's."""
