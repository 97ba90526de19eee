"""The abstract domain: what can be known of a device, a dtype, a tensor, an object. No libcst here, and no torch."""
