"""Settings for all tests."""

from __future__ import annotations

import signal

# A shell starts background jobs with SIGINT ignored, and their child processes inherit that. Tests that interrupt a
# process need the default; a handler set here becomes the default in the processes that tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
