"""Model files: one data file for each library other than torch, with what its functions do to devices and dtypes."""
