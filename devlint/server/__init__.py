"""devlint's language server, which shows findings in an editor; it uses the same analysis as the command line."""
