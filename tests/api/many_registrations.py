"""Many registered cards at once, sealed for real and put straight into a server's store.

No test lives here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from api.merchants import find_merchant_id, run_command
from gateway import Client, GatewayProcess
from tollgate.operations.accounts import make_registration_owner
from tollgate.payments.accounts import CardAccount, make_card_summary
from tollgate.payments.order import TestMode
from tollgate.payments.registration import NewRegistration, Registration, RegistrationState
from tollgate.store.opening import open_database
from tollgate.store.registrations import insert_registration_writes, list_sealed_registrations
from tollgate.values import ChannelId, MerchantId, RegistrationId, Secret, SystemClock, add_months, make_id
from tollgate.vault.keyring import Keyring, load_keyring, make_archive_key
from tollgate.vault.sealing import make_owner, open_account, seal_account, sealed_prefix, sealing_key_id
from tollgate.vault.signing import fingerprint_account

_PREFIX = "420000"
_AT_ONCE = 200
_EVERYTHING = 10_000_000


def make_number(index: int) -> str:
    """Returns a card number of its own for each index, with a right check digit."""
    digits = f"{_PREFIX}{index:09d}"
    doubled = [int(digit) * (2 if place % 2 == 0 else 1) for place, digit in enumerate(digits)]
    return digits + str(-sum(value // 10 + value % 10 for value in doubled) % 10)


def make_card(index: int, merchant_id: MerchantId, channel_id: ChannelId, keyring: Keyring) -> NewRegistration:
    number, now = make_number(index), SystemClock().now()
    card = CardAccount(number=Secret(number), expiry_month="05", expiry_year="2034", holder="Jane Jones")
    registration = Registration(
        id=RegistrationId(make_id()),
        merchant_id=merchant_id,
        channel_id=channel_id,
        state=RegistrationState.ACTIVE,
        brand="VISA",
        method="CC",
        ndc="ndc",
        created_at=now,
        used_at=now,
        keep_until=add_months(now, 100),
        test_mode=TestMode.INTERNAL,
        result_code="000.100.110",
        card=make_card_summary(number, card),
        fingerprint=fingerprint_account(card, "VISA", merchant_id, keyring),
    )
    sealed = seal_account(card, owner=make_registration_owner(registration), keyring=keyring)
    return NewRegistration(registration, sealed)


def fill(gateway: GatewayProcess, client: Client, count: int) -> list[str]:
    """Registers so many cards and returns their ids."""
    merchant_id, channel_id = MerchantId(find_merchant_id(gateway, client)), ChannelId(client.entity_id)
    keyring = read_keyring(gateway)

    async def insert() -> list[str]:
        database = await open_database(name_store(gateway))
        ids: list[str] = []
        try:
            for start in range(0, count, _AT_ONCE):
                some = range(start, min(count, start + _AT_ONCE))
                cards = [make_card(index, merchant_id, channel_id, keyring) for index in some]
                assert await database.write(
                    [step for card in cards for step in insert_registration_writes(card)], label="test"
                )
                ids += [card.registration.id for card in cards]
        finally:
            await database.close()
        return ids

    return asyncio.run(insert())


def read_registration_key_ids(gateway: GatewayProcess, keyring: Keyring, ids: Iterable[str]) -> set[bytes]:
    """Returns the ids of the keys that these are sealed under; every one of them is opened on the way."""

    async def read() -> set[bytes]:
        database = await open_database(name_store(gateway))
        try:
            found = await list_sealed_registrations(database, None, sealed_prefix(b"none"), _EVERYTHING)
        finally:
            await database.close()
        by_id = {each.id: each for each in found}
        key_ids = set()
        for registration_id in ids:
            each = by_id[RegistrationId(registration_id)]
            assert each.sealed_account is not None
            owner = make_owner("registration", each.merchant_id, each.id)
            card = open_account(each.sealed_account, owner=owner, keyring=keyring)
            assert isinstance(card, CardAccount)
            assert card.number.reveal().startswith(_PREFIX)
            key_ids.add(sealing_key_id(each.sealed_account))
        return key_ids

    return asyncio.run(read())


def pay_with(client: Client, registration_id: str) -> int:
    """Pays with a registered card and returns the status."""
    sent = {"amount": "1.00", "currency": "EUR", "paymentType": "DB"}
    return client.post(f"/v1/registrations/{registration_id}/payments", sent).status


def rename(client: Client, registration_id: str, holder: str) -> int:
    """Changes the card, which seals it again, and returns the status."""
    return client.post(f"/v1/registrations/{registration_id}", {"card.holder": holder}).status


def read_keyring(gateway: GatewayProcess) -> Keyring:
    return load_keyring(gateway.data / "keys.json")


def name_store(gateway: GatewayProcess) -> str:
    return gateway.database or f"sqlite:///{gateway.data}/tollgate.db"


def spread(ids: Sequence[str], step: int) -> Iterable[str]:
    """Returns the ids again and again, each time others next to each other."""
    at = 0
    while True:
        at = (at + step) % len(ids)
        yield ids[at]


def retire_keys(gateway: GatewayProcess) -> str:
    """Moves the older keys to an archive that lies outside the data folder; returns what the command says."""
    archive, key = (gateway.data.with_name(gateway.data.name + end) for end in ("-archive.json", "-archive.key"))
    if not key.exists():
        make_archive_key(key)
    return run_command(gateway, "rotate-keys", "--retire", "--archive", str(archive), "--archive-key", str(key))
