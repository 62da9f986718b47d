"""The picture of a chain: a box for every payment, beside the one that it refers to. Nothing is decided here."""

from collections.abc import Sequence

import msgspec

from tollgate.catalog import payment_types, results
from tollgate.payments.payment import Payment
from tollgate.web.pages.showing import get_tone

BOX_WIDTH, BOX_HEIGHT = 168, 64
_GAP_X, _GAP_Y, _EDGE = 56, 20, 2


class Box(msgspec.Struct, frozen=True):
    """One payment in the picture; x and y are its upper left corner."""

    payment: Payment
    label: str
    tone: str
    depth: int
    x: int
    y: int

    @property
    def middle(self) -> int:
        return self.y + BOX_HEIGHT // 2


class Picture(msgspec.Struct, frozen=True):
    boxes: tuple[Box, ...]
    lines: tuple[str, ...]
    """The paths from each payment to those that refer to it, in the language of SVG."""
    width: int
    height: int

    @property
    def short_ids(self) -> dict[str, str]:
        """Returns the names for people of the payments in the picture, by their ids."""
        return {box.payment.id: box.payment.short_id for box in self.boxes}


def choose_tone(payment: Payment) -> str:
    """Returns the class by which a payment is coloured; one without a result is open."""
    result = results.RESULTS.get(payment.result_code)
    return "open" if result is None else get_tone(result.group)


def draw_chain(chain: Sequence[Payment]) -> Picture:
    """Places the payments of a chain: what refers to a payment stands to the right of it, in the order it came."""
    known = {payment.id for payment in chain}
    followers: dict[str, list[Payment]] = {}
    for payment in chain:
        # A payment whose reference is not shown stands at the left, like the first one.
        named = payment.referenced_id if payment.referenced_id in known else ""
        followers.setdefault(named or "", []).append(payment)
    boxes: list[Box] = []
    lines: list[str] = []
    waiting: list[tuple[Payment, Box | None]] = [(each, None) for each in reversed(followers.get("", []))]
    row = -1
    last: Box | None = None
    while waiting:
        payment, source = waiting.pop()
        depth = 0 if source is None else source.depth + 1
        # The first that refers to a payment stands in its row, each other one in a row of its own.
        row += 0 if source is not None and source is last else 1
        last = _make_box(payment, depth, row)
        boxes.append(last)
        if source is not None:
            lines.append(_draw_line(source, last))
        waiting += [(each, last) for each in reversed(followers.get(payment.id, []))]
    width = max((box.x for box in boxes), default=0) + BOX_WIDTH + _EDGE
    return Picture(tuple(boxes), tuple(lines), width, (row + 1) * (BOX_HEIGHT + _GAP_Y) - _GAP_Y + 2 * _EDGE)


def _make_box(payment: Payment, depth: int, row: int) -> Box:
    return Box(
        payment=payment,
        label=payment_types.PAYMENT_TYPES[payment.payment_type].label,
        tone=choose_tone(payment),
        depth=depth,
        x=_EDGE + depth * (BOX_WIDTH + _GAP_X),
        y=_EDGE + row * (BOX_HEIGHT + _GAP_Y),
    )


def _draw_line(source: Box, target: Box) -> str:
    turn = source.x + BOX_WIDTH + _GAP_X // 2
    return f"M{source.x + BOX_WIDTH} {source.middle} H{turn} V{target.middle} H{target.x}"
