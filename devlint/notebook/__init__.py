"""The IPython extension of devlint (`%load_ext devlint`): magics that check a cell, or run it on emulated devices."""
