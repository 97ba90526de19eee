"""libcst's parser, whose failures are many and are one to devlint: there is no tree."""

from __future__ import annotations

import libcst as cst

from devlint.syntax.gc_pause import paused_gc


def try_parse_libcst(text: str) -> cst.Module | None:
    """The libcst tree of a text, None where libcst cannot parse it."""
    try:
        with paused_gc():
            return cst.parse_module(text)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:
        # Besides its syntax errors libcst raises errors of its own validation, whatever those run into, and panics of
        # its native code, which are no `Exception`.
        return None
