"""The port of programs from CUDA to any accelerator: each use of CUDA-only API is replaced, or left with a reason."""
