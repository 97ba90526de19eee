"""The lattice: what devlint can know of a device, a dtype, a tensor, an object. No libcst here, and no torch."""
