"""Generated programs: grown at random, run on the emulated device, analysed by devlint, compared and shrunk."""
