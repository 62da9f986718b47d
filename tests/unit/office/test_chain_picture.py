"""The picture of a chain: boxes do not overlap, and every line leads from a payment to one that refers to it."""

from __future__ import annotations

import pytest

from databases.samples import make_payment
from tollgate.office.chain_picture import BOX_HEIGHT, BOX_WIDTH, draw_chain
from tollgate.payments.payment import Payment, State


def follow(named: Payment, payment_type: str, code: str = "000.100.110") -> Payment:
    return make_payment(
        payment_type=payment_type,
        referenced_id=named.id,
        chain_id=named.first_id,
        result_code=code,
        state=State.APPROVED,
    )


def test_a_chain_is_drawn_from_left_to_right() -> None:
    first = make_payment(payment_type="PA", result_code="000.100.110")
    captures = [follow(first, "CP"), follow(first, "CP", "800.100.151")]
    refund = follow(captures[0], "RF")
    picture = draw_chain([first, *captures, refund])

    assert [(box.payment.payment_type, box.depth, box.tone) for box in picture.boxes] == [
        ("PA", 0, "good"),
        ("CP", 1, "good"),
        ("RF", 2, "good"),
        ("CP", 1, "bad"),
    ]
    assert picture.boxes[0].y == picture.boxes[1].y == picture.boxes[2].y < picture.boxes[3].y
    assert len(picture.lines) == 3


@pytest.mark.parametrize("count", [0, 1, 30])
def test_boxes_stand_within_the_picture_and_apart(count: int) -> None:
    chain = [make_payment(payment_type="PA")]
    for number in range(count):
        chain.append(follow(chain[number // 3], "CP"))
    picture = draw_chain(chain)

    places = {(box.x, box.y) for box in picture.boxes}
    assert len(places) == len(chain)
    assert all(box.x + BOX_WIDTH <= picture.width and box.y + BOX_HEIGHT <= picture.height for box in picture.boxes)


def test_a_payment_without_a_result_is_open_and_one_whose_reference_is_not_shown_stands_at_the_left() -> None:
    lost = make_payment(payment_type="RF", referenced_id="8a" + "9" * 30, chain_id="8a" + "8" * 30)
    picture = draw_chain([lost])
    assert (picture.boxes[0].depth, picture.boxes[0].tone, picture.lines) == (0, "open", ())
