"""Erasing a person: looks through a merchant's rows for one, and removes what names the person from them.

The ledger stays: amounts, ids, codes and times. Both halves go on in steps, and a step may be repeated after a crash.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import unquote_plus

import msgspec

from tollgate.catalog import audit_actions, codes, limits, persons, results
from tollgate.flows import erase_archived
from tollgate.flows.erase_rows import ERASERS, erase_traces
from tollgate.operations import archives, audit_log, checkouts, settings
from tollgate.operations.app import App
from tollgate.operations.audit_log import Actor
from tollgate.payments import checkout, registration, schedule
from tollgate.payments.archiving import ArchivedMonth
from tollgate.payments.erasure import Erasure, Phase, Postponed, Sample, SearchKind
from tollgate.payments.payment import Payment
from tollgate.store import erasure as store_erasure
from tollgate.store import payments, saved_views
from tollgate.values import MerchantId, Refusal, is_id, make_id
from tollgate.vault import keyring, sealing, signing

_PREFIX = "erasure/"
_decode = msgspec.json.Decoder(Erasure).decode
_PLACES = tuple(store_erasure.WALKS)

Tell = Callable[[Erasure], None]


# ---- beginning ----


async def begin_erasure(app: App, merchant_id: MerchantId, kind: SearchKind, value: str) -> Erasure:
    """Stores a search, which `step_erasure` runs; searches that were left lying are forgotten.

    An erasure of the same person that was interrupted goes on instead: rows that it had erased are not found again, and
    what other tables kept of them may still be there.
    """
    value = value.strip()
    if not value:
        raise _refuse("say whom to look for")
    searched = signing.fingerprint("erasure", [merchant_id, kind, value.casefold()], app.keyring).hex()
    now = app.clock.wall()
    for earlier in await list_erasures(app, merchant_id):
        if earlier.searched == searched and earlier.phase is Phase.ERASING:
            return earlier
        if earlier.begun_at < now - limits.LIMITS.erasure_kept and earlier.phase is not Phase.ERASING:
            await settings.forget_sealed_setting(app.database, _make_name(merchant_id, earlier.id))
    emails, customer_ids, registration_ids = await _list_terms(app, merchant_id, kind, value)
    totals = [await walk.count(app.database, merchant_id) for walk in store_erasure.WALKS.values()]
    totals += [each.payments for each in await erase_archived.list_parts(app)]
    begun = Erasure(
        id=make_id(app.random_bytes),
        merchant_id=merchant_id,
        kind=kind,
        searched=searched,
        begun_at=now,
        emails=emails,
        customer_ids=customer_ids,
        registration_ids=registration_ids,
        rows=sum(totals),
    )
    return await _keep(app, begun)


async def _list_terms(
    app: App, merchant_id: MerchantId, kind: SearchKind, value: str
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Returns the e-mail addresses, customer ids and registrations to look for; those of a payment are its own."""
    match kind:
        case SearchKind.EMAIL:
            return (value.casefold(),), (), ()
        case SearchKind.CUSTOMER:
            return (), (value,), ()
        case SearchKind.REGISTRATION:
            return (), (), (value,)
    payment = await payments.find_payment(app.database, merchant_id, value) if is_id(value) else None
    chain = await archives.list_chain(app, merchant_id, value) if payment is None and is_id(value) else []
    if payment is not None:
        chain = await payments.list_chain(app.database, merchant_id, payment.first_id, limits.LIMITS.chain_rows_max)
    if not chain:
        raise _refuse("there is no such payment")
    emails = {text.casefold() for each in chain for text in _list_values(each.echo, persons.EMAIL)}
    customers = {text for each in chain for text in _list_values(each.echo, persons.CUSTOMER_ID)}
    registrations = {each.registration_id for each in chain if each.registration_id}
    # A payment that names nobody else is found by its own id.
    return tuple(sorted(emails)), tuple(sorted(customers)), (*sorted(registrations), chain[0].first_id)


def _list_values(fields: Mapping[str, str], word: str) -> list[str]:
    return [text for name, text in fields.items() if persons.last_word(name) == word and persons.names_person(name)]


def _refuse(text: str) -> Refusal:
    return Refusal(results.get_result(codes.INVALID_REQUEST), text)


async def find_erasure(app: App, merchant_id: MerchantId, erasure_id: str) -> Erasure | None:
    if not is_id(erasure_id):
        return None
    kept = await settings.find_sealed_setting(app.database, app.keyring, _make_name(merchant_id, erasure_id))
    return None if kept is None else _decode(kept)


async def list_erasures(app: App, merchant_id: MerchantId) -> list[Erasure]:
    """Lists a merchant's erasures, newest first."""
    prefix = _make_name(merchant_id, "")
    kept = await settings.list_sealed_settings(app.database, app.keyring, prefix)
    return sorted([_decode(value) for _, value in kept], key=lambda each: each.begun_at, reverse=True)


def _make_name(merchant_id: MerchantId, erasure_id: str) -> str:
    return f"{_PREFIX}{merchant_id}/{erasure_id}"


async def _keep(app: App, erasure: Erasure) -> Erasure:
    name = _make_name(erasure.merchant_id, erasure.id)
    await settings.put_sealed_setting(app.database, app.keyring, name, msgspec.json.encode(erasure))
    return erasure


async def confirm_erasure(app: App, found: Erasure, actor: Actor) -> Erasure:
    """Begins to erase what was found; call `step_erasure` until it is done."""
    if found.phase is not Phase.FOUND:
        return found
    await _record(app, found, actor, "begun", found.found_counts)
    return await _keep(app, msgspec.structs.replace(found, phase=Phase.ERASING))


async def _record(app: App, erasure: Erasure, actor: Actor, stage: str, counts: Mapping[str, int]) -> None:
    await audit_log.record(
        app.database,
        app.keyring,
        app.clock,
        actor,
        audit_actions.AuditAction.PERSON_ERASED,
        subject=erasure.id,
        merchant_id=erasure.merchant_id,
        details={
            "stage": stage,
            "searched_by": erasure.kind,
            "searched": erasure.searched,
            **{name: str(count) for name, count in counts.items()},
        },
    )


# ---- going on ----


async def step_erasure(app: App, erasure: Erasure, actor: Actor) -> Erasure:
    """Does a limited part of the work, stores how far it came and returns it."""
    match erasure.phase:
        case Phase.SEARCHING:
            for _ in range(limits.LIMITS.erasure_pages):
                erasure = await _search_page(app, erasure)
                if erasure.phase is not Phase.SEARCHING:
                    break
        case Phase.ERASING:
            erasure = await _erase_some(app, erasure)
            if erasure.phase is Phase.DONE:
                await _record(app, erasure, actor, "done", {**erasure.erased, "postponed": len(erasure.postponed)})
        case _:
            return erasure
    return await _keep(app, erasure)


async def finish_erasure(app: App, erasure: Erasure, actor: Actor, tell: Tell = lambda _: None) -> Erasure:
    """Repeats the steps until the search, or the erasure, is over."""
    while erasure.phase in (Phase.SEARCHING, Phase.ERASING):
        erasure = await step_erasure(app, erasure, actor)
        tell(erasure)
    return erasure


async def _search_page(app: App, erasure: Erasure) -> Erasure:
    parts = await erase_archived.list_parts(app)
    rows, last, walked = await _list_page(app, erasure, parts)
    found = {name: list(ids) for name, ids in erasure.found.items()}
    samples = list(erasure.samples)
    for row in rows:
        if not _is_about(app, row, erasure):
            continue
        for name, row_id in _list_finds(row):
            if row_id not in found.setdefault(name, []):
                found[name].append(row_id)
        if isinstance(row, Payment) and len(samples) < limits.LIMITS.erasure_samples:
            samples.append(_make_sample(row))
    is_full = any(len(ids) >= limits.LIMITS.erasure_found_max for ids in found.values())
    place = erasure.place if last is not None else erasure.place + 1
    is_over = is_full or place == len(_PLACES) + len(parts)
    return msgspec.structs.replace(
        erasure,
        place=place,
        after=last or "",
        walked=erasure.rows if is_over else min(erasure.rows, erasure.walked + walked),
        found={name: tuple(ids) for name, ids in found.items()},
        found_counts={name: len(ids) for name, ids in found.items()},
        samples=tuple(samples),
        is_partial=is_full,
        phase=Phase.FOUND if is_over else Phase.SEARCHING,
    )


async def _list_page(
    app: App, erasure: Erasure, parts: Sequence[ArchivedMonth]
) -> tuple[Sequence[Any], str | None, int]:
    """Returns rows to look at, the id to go on after, and how many were read; archived months come after all tables."""
    if erasure.place < len(_PLACES):
        walk = store_erasure.WALKS[_PLACES[erasure.place]]
        page = limits.LIMITS.erasure_page
        rows, last = await walk.list_page(app.database, erasure.merchant_id, erasure.after, page)
        return rows, last, len(rows)
    part = parts[erasure.place - len(_PLACES)]
    found = await erase_archived.search_part(
        app, erasure.merchant_id, part, lambda payment: _is_about(app, payment, erasure)
    )
    return found, None, part.payments


def _is_about(app: App, row: Any, erasure: Erasure) -> bool:
    ids = {row.id, getattr(row, "registration_id", None), getattr(row, "chain_id", None)}
    if ids & set(erasure.registration_ids):
        return True
    fields = _get_fields(app, row)
    return any(text.casefold() in erasure.emails for text in _list_values(fields, persons.EMAIL)) or any(
        text in erasure.customer_ids for text in _list_values(fields, persons.CUSTOMER_ID)
    )


def _get_fields(app: App, row: Any) -> Mapping[str, str]:
    """Returns the parameters that a row has; what does not open is left to `tollgate verify`."""
    try:
        match row:
            case checkout.Checkout():
                return checkouts.open_prepared(app, row)
            case checkout.PaymentLink():
                return checkouts.open_link_fields(app, row) or {}
    except (sealing.EnvelopeError, keyring.KeyringError):
        return {}
    echo: Mapping[str, str] = row.echo
    return echo


def _list_finds(row: Any) -> list[tuple[str, str]]:
    """Lists what goes with a row that names the person: its chain, its registration and its checkout."""
    match row:
        case Payment():
            finds: list[tuple[str, str]] = [("payments", row.first_id)]
            finds += [("registrations", row.registration_id)] if row.registration_id else []
            return finds + ([("checkouts", row.checkout_id)] if row.checkout_id else [])
        case schedule.Schedule():
            return [("registrations", row.registration_id)]
        case registration.Registration():
            return [("registrations", row.id), *([("payments", row.made_by)] if row.made_by else [])]
        case checkout.PaymentLink():
            return [("payment_links", row.id), *([("checkouts", row.checkout_id)] if row.checkout_id else [])]
    return [("checkouts", row.id)]


def _make_sample(payment: Payment) -> Sample:
    emails = _list_values(payment.echo, persons.EMAIL)
    return Sample(
        payment_id=payment.id,
        created_at=payment.created_at,
        amount=payment.money.hundredths,
        currency=payment.money.currency,
        email=mask_email(emails[0]) if emails else "",
        last_digits=payment.card.last_digits if payment.card else "",
    )


def mask_email(email: str) -> str:
    """Returns an address of which the first letter and the host's ending are left: `j***@***.com`."""
    name, _, host = email.partition("@")
    return f"{name[:1]}***@***.{host.rpartition('.')[2]}" if host else "***"


async def _erase_some(app: App, erasure: Erasure) -> Erasure:
    """Erases the next rows that were found; what may not be erased yet is listed with the reason."""
    left = {name: list(ids) for name, ids in erasure.found.items()}
    erased, postponed = dict(erasure.erased), list(erasure.postponed)
    for name, erase in ERASERS.items():
        some = left.get(name, [])[: limits.LIMITS.erase_batch]
        if not some:
            continue
        reasons = await erase_archived.erase_chains(app, erasure.merchant_id, some) if name == "payments" else {}
        for row_id in some:
            if row_id not in reasons:
                reasons[row_id] = await erase(app, erasure.merchant_id, row_id)
        gone = [row_id for row_id, reason in reasons.items() if reason is None]
        await erase_traces(app, erasure.merchant_id, name, gone)
        erased[name] = erased.get(name, 0) + len(gone)
        postponed += [Postponed(name, row_id, reason) for row_id, reason in reasons.items() if reason is not None]
        left[name] = left[name][len(some) :]
        return _move(erasure, left, erased, postponed, Phase.ERASING)
    await _erase_views(app, erasure)
    if not app.is_live:
        await store_erasure.erase_messages(app.database)
    done = _move(erasure, {}, erased, postponed, Phase.DONE)
    # What was searched for is not needed any more, and names the person.
    return msgspec.structs.replace(done, emails=(), customer_ids=(), registration_ids=(), samples=())


def _move(
    erasure: Erasure,
    left: Mapping[str, Sequence[str]],
    erased: dict[str, int],
    postponed: Sequence[Postponed],
    phase: Phase,
) -> Erasure:
    return msgspec.structs.replace(
        erasure,
        found={name: tuple(ids) for name, ids in left.items()},
        erased=erased,
        postponed=tuple(postponed),
        phase=phase,
    )


async def _erase_views(app: App, erasure: Erasure) -> None:
    """Deletes the saved views that search for the person."""
    words = [word.casefold() for word in (*erasure.emails, *erasure.customer_ids)]
    for view in await saved_views.list_all_views(app.database, erasure.merchant_id):
        shown = f"{view.name} {view.query} {unquote_plus(view.query)}".casefold()
        if any(word in shown for word in words):
            await saved_views.delete_view(app.database, view.user_id, view.merchant_id, view.id)
