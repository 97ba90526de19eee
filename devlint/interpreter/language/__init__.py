"""Python itself: what each kind of statement and expression does."""
