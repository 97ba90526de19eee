"""Parsing of text with libcst, in which every failure of libcst's parser gives None."""

from __future__ import annotations

import libcst as cst

from devlint.syntax.gc_pause import paused_gc


def try_parse_libcst(text: str) -> cst.Module | None:
    """Return the libcst tree of a text, or None if libcst cannot parse it."""
    try:
        with paused_gc():
            return cst.parse_module(text)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:
        # Besides syntax errors, libcst raises errors of its own validation, any error that occurs in it, and panics of
        # its native code, which are not derived from `Exception`.
        return None
