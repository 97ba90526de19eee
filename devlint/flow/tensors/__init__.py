"""Operations on tensors: where the result lies, its dtype and rank, what clashes, what it costs."""
