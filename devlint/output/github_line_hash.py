"""Line hashes by which GitHub code scanning recognises a finding after the line of the finding has moved.

GitHub's uploader computes these hashes if a report has none, and warns if a report has other hashes. The hashes of this
module must therefore be the same as GitHub's. The hash of a line covers the first hundred characters from the line's
beginning on, beyond its end if it is shorter, without spaces and tabs and with all line ends alike. Lines with equal
hashes are numbered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate

_BLOCK = 100
_BASE = 37
_MASK = (1 << 64) - 1
_END = 0xFFFF
_UNTOUCHED = str.maketrans("", "", " \t")


def line_hashes(lines: Sequence[str]) -> list[str]:
    """Return GitHub's hash of every line of a file. The lines are given without line ends."""
    units: list[int] = []
    starts = []
    for number, line in enumerate(lines, 1):
        starts.append(len(units))
        units += _code_units(line.translate(_UNTOUCHED))
        units.append(_END if number == len(lines) else ord("\n"))
    # `sums[n]` is the polynomial hash of the first n characters; the hash of a block is the difference of two of them.
    sums = list(accumulate([*units, *[0] * _BLOCK], lambda total, unit: (total * _BASE + unit) & _MASK, initial=0))
    shift = pow(_BASE, _BLOCK, _MASK + 1)
    counts: Counter[str] = Counter()
    hashes = []
    for start in starts:
        value = f"{(sums[start + _BLOCK] - sums[start] * shift) & _MASK:x}"
        counts[value] += 1
        hashes.append(f"{value}:{counts[value]}")
    return hashes


def _code_units(text: str) -> Iterator[int]:
    """Yield the numbers of a text's UTF-16 code units.

    JavaScript, in which GitHub computes its hashes, counts these.
    """
    encoded = text.encode("utf-16-le", errors="surrogatepass")
    return (low | high << 8 for low, high in zip(encoded[::2], encoded[1::2], strict=True))
