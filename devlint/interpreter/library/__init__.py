"""Models of library calls that no row of devlint's semantics table can describe, one file for each library part.

A model is a hand-written function that computes the abstract result of a call and applies the call's side effects.
"""
