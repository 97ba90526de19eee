from tt.tensor import Tensor

__all__ = ["Tensor"]
