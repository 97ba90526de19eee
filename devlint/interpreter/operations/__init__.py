"""Operations on tensors: device and dtype of the result, conflicts, aliasing, synchronisation."""
