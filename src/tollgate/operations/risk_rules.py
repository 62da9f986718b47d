"""Risk rules and lists as they are saved, by the command line and the back office. Rules are judged in `risk`."""

from collections.abc import Mapping

from tollgate.catalog import codes, results, risk_rows
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.risk_rows import Attribute
from tollgate.contract import risk_rules
from tollgate.operations.risk_values import hash_account, hash_value
from tollgate.payments.payment import Payment
from tollgate.payments.risk import Entry, ListName, Rule
from tollgate.store import merchants, payments, risk, risk_lists
from tollgate.store.database import Database
from tollgate.values import Fault, Instant, MerchantId, NotFound, Refusal, is_id
from tollgate.vault import sealing
from tollgate.vault.keyring import Keyring

_TRIES = 5


async def add_rule(
    database: Database, merchant_id: MerchantId, sent: Mapping[str, str], *, by: str, now: Instant, new_id: str
) -> Rule:
    """Adds a rule; one that names no mode is in shadow."""
    rule = risk_rules.read_rule(sent, merchant_id=merchant_id, rule_id=new_id, version=1, by=by, now=now)
    await _check_channel(database, rule)
    if len(await risk.list_rules(database, merchant_id)) >= LIMITS.risk_rules_max:
        raise Refusal(results.get_result(codes.INVALID_REQUEST), "there are as many rules as a merchant may have")
    await risk.insert_rule(database, rule)
    return rule


async def change_rule(
    database: Database, merchant_id: MerchantId, rule_id: str, sent: Mapping[str, str], *, by: str, now: Instant
) -> Rule:
    """Writes a new version of a rule, in which what was sent replaces what was there. Its kind stays."""
    for _ in range(_TRIES):
        versions = await risk.list_versions(database, merchant_id, rule_id)
        if not versions:
            raise NotFound(results.get_result(codes.INVALID_REQUEST), "there is no such rule")
        newest = versions[-1]
        if sent.get("kind", newest.kind) != newest.kind:
            raise results.make_invalid(Fault("kind", "cannot be changed; add another rule", sent["kind"]))
        wanted = risk_rules.render_changed(newest, sent)
        rule = risk_rules.read_rule(
            wanted, merchant_id=merchant_id, rule_id=rule_id, version=newest.version + 1, by=by, now=now
        )
        await _check_channel(database, rule)
        if await risk.insert_rule(database, rule):
            return rule
    raise Refusal(results.get_result(codes.REQUEST_IN_PROGRESS), "others are changing the rule")


async def _check_channel(database: Database, rule: Rule) -> None:
    if not rule.channel_id:
        return
    own = {each.id for each in await merchants.list_channels(database) if each.merchant_id == rule.merchant_id}
    if rule.channel_id not in own:
        raise results.make_invalid(Fault("channel", "must be a channel of the merchant", rule.channel_id))


async def add_entry(
    database: Database,
    keyring: Keyring,
    merchant_id: MerchantId,
    sent: Mapping[str, str],
    *,
    by: str,
    now: Instant,
    new_id: str,
    ends_at: Instant | None = None,
) -> Entry:
    """Reads an entry and puts it on its list."""
    entry = await read_entry(database, keyring, merchant_id, sent, by=by, now=now, new_id=new_id, ends_at=ends_at)
    return await save_entry(database, entry)


async def read_entry(
    database: Database,
    keyring: Keyring,
    merchant_id: MerchantId,
    sent: Mapping[str, str],
    *,
    by: str,
    now: Instant,
    new_id: str,
    ends_at: Instant | None = None,
) -> Entry:
    """Reads an entry of the block list or the allow list; most faults of it are told at once.

    sent: list, attribute, note, and either value or payment, the id of a payment whose value is meant. Cards are named
    by a payment only, so that nobody writes a card number down.
    """
    faults = []
    if sent.get("list") not in list(ListName):
        faults.append(Fault("list", f"must be one of [{', '.join(ListName)}]", sent.get("list")))
    if sent.get("attribute") not in risk_rows.BLOCK_CODES:
        words = f"must be one of [{', '.join(risk_rows.BLOCK_CODES)}]"
        faults.append(Fault("attribute", words, sent.get("attribute")))
    if not risk_rows.NOTE.accepts(sent.get("note", "")):
        faults.append(Fault("note", risk_rows.NOTE.message))
    if ends_at is not None and ends_at <= now:
        faults.append(Fault("end", "must be in the future"))
    if faults:
        raise results.make_invalid(*faults)
    attribute = Attribute(sent["attribute"])
    value, shown = await _read_value(database, keyring, merchant_id, attribute, sent)
    return Entry(
        merchant_id=merchant_id,
        id=new_id,
        list=ListName(sent["list"]),
        attribute=attribute,
        value_hash=hash_value(merchant_id, attribute, value, keyring),
        shown=shown,
        ends_at=ends_at,
        note=sent.get("note", ""),
        created_at=now,
        created_by=by,
    )


async def save_entry(database: Database, entry: Entry) -> Entry:
    """Puts an entry on its list. A value that is there already keeps its id, also on a full list."""
    is_full = await risk_lists.count_entries(database, entry.merchant_id) >= LIMITS.risk_entries_max
    if is_full and await risk_lists.find_same(database, entry) is None:
        raise Refusal(results.get_result(codes.INVALID_REQUEST), "the lists of this merchant are full")
    return await risk_lists.put_entry(database, entry)


async def _read_value(
    database: Database, keyring: Keyring, merchant_id: MerchantId, attribute: Attribute, sent: Mapping[str, str]
) -> tuple[str, str]:
    """Returns the value that is hashed, and how it is shown."""
    payment_id = sent.get("payment", "")
    if not payment_id:
        value = risk_rules.normalize(attribute, sent.get("value", ""))
        if attribute is Attribute.CARD:
            raise results.make_invalid(Fault("payment", "must name a payment that used the card"))
        if not value or not risk_rows.NOTE.accepts(value):
            raise results.make_invalid(Fault("value", f"is no {attribute}"))
        return value, risk_rules.mask_value(attribute, value)
    payment = await payments.find_payment(database, merchant_id, payment_id) if is_id(payment_id) else None
    if payment is None:
        raise NotFound(results.get_result(codes.INVALID_REQUEST), "there is no such payment")
    if attribute is Attribute.CARD:
        return await _read_card(database, keyring, payment)
    value = risk_rules.read_person(payment.echo, payment.card).values.get(attribute, "")
    if not value:
        raise results.make_invalid(Fault("payment", f"has no {attribute}"))
    return value, risk_rules.mask_value(attribute, value)


async def _read_card(database: Database, keyring: Keyring, payment: Payment) -> tuple[str, str]:
    sealed = await payments.find_sealed_account(database, payment.merchant_id, payment.id)
    number = None
    if sealed is not None:
        owner = sealing.make_owner("payment", payment.merchant_id, payment.id)
        account = sealing.open_account(sealed, owner=owner, keyring=keyring)
        number = hash_account(account, payment.brand, payment.merchant_id, keyring)
    if number is None:
        raise results.make_invalid(Fault("payment", "has no account, or it was wiped"))
    shown = f"{payment.card.bin}***{payment.card.last_digits}" if payment.card else f"{payment.brand} account"
    return number.hex(), shown


async def remove_entry(database: Database, merchant_id: MerchantId, entry_id: str) -> None:
    if not await risk_lists.delete_entry(database, merchant_id, entry_id):
        raise NotFound(results.get_result(codes.INVALID_REQUEST), "there is no such entry")
