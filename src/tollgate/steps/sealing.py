"""Settling with its seal: no result of a transaction is written without one. What a seal covers is told in payments."""

from __future__ import annotations

import msgspec

from tollgate.payments import Payment, Settlement, Verdict, list_facts, settle
from tollgate.steps.house import House
from tollgate.vault import Keyring, make_mac


def settle_sealed(house: House, started: Payment, verdict: Verdict) -> Settlement:
    settlement = settle(started, verdict, house.clock.now())
    payment = settlement.payment
    sealed = msgspec.structs.replace(payment, mac=seal_facts(payment, house.keyring))
    return msgspec.structs.replace(settlement, payment=sealed)


def seal_facts(payment: Payment, keyring: Keyring) -> bytes:
    return make_mac("money", list_facts(payment), keyring)
