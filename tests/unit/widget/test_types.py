"""The types of the payment form's script name what the service answers. TypeScript checks how the script uses them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import orjson
import pytest

from tollgate.contract.checkout_forms import FormTerms, answer_form
from tollgate.payments.accounts import WalletPublic
from tollgate.widget.serving import PARTS_FOLDER as FOLDER
from unit.app_fixture import NOW
from unit.contract.test_checkouts import CHECKOUT, ENVELOPE, PREPARED

TYPES = (FOLDER.parent / "types" / "service.d.ts").read_text("utf-8")
ENVELOPE_MEMBERS = frozenset({"id", "result", "buildNumber", "timestamp", "ndc"})
PARENTS = {"Configuration": "CheckoutNow", "BrandRow": "CardBrand"}


def list_members(interface: str) -> dict[str, bool]:
    """Returns the members of an interface and of its parent, and whether the service always answers them."""
    body = re.search(rf"export interface {interface}\b.*?\{{\n(.*?)\n\}}", TYPES, re.DOTALL)
    assert body is not None
    own = {name: mark == "" for name, mark in re.findall(r"^  (\w+)(\??): ", body[1], re.MULTILINE)}
    return (list_members(PARENTS[interface]) if interface in PARENTS else {}) | own


def answer() -> dict[str, Any]:
    wallets = {"walletA": WalletPublic(), "walletB": WalletPublic(recipient="gateway:gate", gateway_merchant="shop-1")}
    codes = "VISA DIRECTDEBIT_SEPA GOOGLEPAY VISAA"
    terms = FormTerms(is_test=False, codes=codes, takes_debits=True, merchant_name="Jones", wallets=wallets)
    body: dict[str, Any] = orjson.loads(answer_form(CHECKOUT, PREPARED, terms, ENVELOPE, NOW).body)
    return body


@pytest.mark.parametrize(
    ("interface", "path"),
    [
        ("Configuration", ()),
        ("BrandRow", ("brands", "VISA")),
        ("BrandRow", ("brands", "DIRECTDEBIT_SEPA")),
        ("BrandRow", ("brands", "GOOGLEPAY")),
        ("Mandate", ("brands", "DIRECTDEBIT_SEPA", "mandate")),
        ("Wallet", ("brands", "GOOGLEPAY", "wallet")),
    ],
)
def test_the_types_name_what_the_service_answers(interface: str, path: tuple[str, ...]) -> None:
    members, answered = list_members(interface), answer()
    for name in path:
        answered = answered[name]

    assert isinstance(answered, Mapping)
    assert set(answered) - ENVELOPE_MEMBERS <= set(members), "the service answers what no type names"
    assert {name for name, is_always in members.items() if is_always} <= set(answered), "a type promises too much"
