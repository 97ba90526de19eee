"""The flow floor: an interpreter that runs programs on placements instead of data.

`entries` begins each run (as the program runs, or with symbolic arguments), `engine` holds what all runs share, and
`events` is what comes out. The rooms, from what is read to what is made of it: `code` (the text), `path` (the state),
`conditions`, `language`, `calls` and `classes` (Python), `tensors`, `arrays` and `nn` (what the program computes with),
`library` and `outside` (what others wrote).
"""
