"""`devlint confirm`: build the code that a finding is about, run it on a device, and say whether the finding is so."""
