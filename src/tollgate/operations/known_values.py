"""The values that were ever seen, in so little memory that some others are taken for them. Reads and writes nothing.

Most shoppers are new, and of a value that was never seen nothing has to be read.
"""

_SPACE = 16
"""So many times more places than values; one new value in so many is taken for a known one."""
_SIZE_MIN, _SIZE_MAX = 1 << 22, 1 << 26


class KnownValues:
    """A byte for each place that a hash may fall on; a value is new for certain if its place is empty."""

    __slots__ = ("_filled", "_mask", "_places")

    def __init__(self, expected: int) -> None:
        size = min(max(1 << (2 * expected * _SPACE).bit_length(), _SIZE_MIN), _SIZE_MAX)
        self._places = bytearray(size)
        self._mask = size - 1
        self._filled = 0

    @property
    def is_too_small(self) -> bool:
        """Tells whether a larger one would be of use."""
        return self._filled * _SPACE > len(self._places) and len(self._places) < _SIZE_MAX

    def has(self, key: bytes) -> bool:
        """Tells whether a value may have been seen."""
        return self._places[hash(key) & self._mask] != 0

    def add(self, key: bytes) -> bool:
        """Adds a value, and returns whether it was new for certain."""
        place = hash(key) & self._mask
        if self._places[place]:
            return False
        self._places[place] = 1
        self._filled += 1
        return True
