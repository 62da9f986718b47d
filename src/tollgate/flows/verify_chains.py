"""The audit of chains: their signatures, balances and entries, and the events and jobs that their payments need.

A running server may change a chain between two reads, so a doubtful one is read again before it is reported.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from tollgate.flows import auditing, verify_reviews
from tollgate.flows.verify_checkouts import list_unnamed_payments
from tollgate.flows.verify_methods import check_instructed, list_instructed
from tollgate.operations.signing import has_signature
from tollgate.payments.archiving import MonthState, open_again
from tollgate.payments.audit import Finding, Proof, check_chain, check_entries, make_finding, sum_expected_accounts
from tollgate.payments.completion import list_entries, may_have_taken
from tollgate.payments.following import Action
from tollgate.payments.ledger import Entry, LedgerAccount
from tollgate.payments.payment import MOVES, NATURES, OPEN_STATES, Nature, Payment, RecoveryTask, State
from tollgate.store import archives, opening
from tollgate.store import audit as audited
from tollgate.store.database import Database
from tollgate.store.events import Event
from tollgate.store.instructions import Instruction
from tollgate.store.payments import make_event, recall_before_review
from tollgate.values import Instant, MerchantId
from tollgate.vault.keyring import Keyring

RECOVERY_TASKS: dict[tuple[Nature, State], frozenset[RecoveryTask]] = {
    (nature, state): frozenset(
        move.recovery_task
        for (other, _), move in MOVES.items()
        if (other, move.state) == (nature, state) and move.recovery_task
    )
    for nature in Nature
    for state in OPEN_STATES
}
"""The recovery tasks of which one must exist while a payment is open."""

Key = tuple[MerchantId, str]
"""The merchant and the first payment of a chain."""
Chains = Mapping[Key, Sequence[audited.AuditedPayment]]


class Rules(msgspec.Struct, frozen=True):
    """The parts of an audit that do not change."""

    keyring: Keyring
    events_kept_since: Instant


class SideRows(msgspec.Struct, frozen=True):
    """The rows about payments that stay in the database when the payments are archived, by id."""

    instructions: dict[str, audited.AuditedRow[Instruction]]
    reviews: verify_reviews.AuditedReviews


class Evidence(msgspec.Struct, frozen=True):
    """The rows of other tables about a merchant's payments, by id."""

    entries: dict[str, Entry]
    events: dict[str, Event]
    job_ids: set[str]
    instructions: dict[str, audited.AuditedRow[Instruction]]
    reviews: verify_reviews.AuditedReviews


async def check_chains(audit: auditing.Audit) -> None:
    database, report = audit.database, audit.report
    rules = await load_rules(audit)
    async for page in audited.walk_chains(database):
        chains: dict[Key, list[audited.AuditedPayment]] = {}
        for payment_row in page:
            chains.setdefault((payment_row.merchant_id, payment_row.first_id), []).append(payment_row)
        for key in await _list_moving(database, chains):
            del chains[key]
        doubtful = await list_chain_findings(database, rules, chains)
        for pause_s in audit.pauses_s:
            if not doubtful:
                break
            await asyncio.sleep(pause_s)
            fresh = {key: await audited.read_chain(database, *key) for key in doubtful}
            doubtful = await list_chain_findings(database, rules, fresh)
            chains |= fresh
        for key in await _list_moving(database, doubtful):
            del doubtful[key], chains[key]
        for key, payment_rows in chains.items():
            report.add(doubtful.get(key, []))
            note_accounts(report, payment_rows)
        report.add(await list_unnamed_payments(audit, page))
        report.chains_count += len(chains)
        audit.count("payments", len(page))


async def _list_moving(database: Database, keys: Iterable[Key]) -> list[Key]:
    """Lists those chains that a file has and whose rows are being removed, so that the file is what is judged."""
    moving = {
        (each.month, each.part)
        for each in await archives.list_archived_months(database)
        if each.state is MonthState.WRITTEN
    }
    by_merchant: dict[MerchantId, list[str]] = {}
    for merchant_id, first_id in keys if moving else ():
        by_merchant.setdefault(merchant_id, []).append(first_id)
    return [
        (merchant_id, place.id)
        for merchant_id, first_ids in by_merchant.items()
        for place in await archives.list_places(database, merchant_id, first_ids)
        if (place.month, place.part) in moving
    ]


async def load_rules(audit: auditing.Audit) -> Rules:
    return Rules(audit.keyring, int(await opening.get_setting(audit.database, auditing.EVENTS_KEPT_SINCE, "0")))


def note_accounts(report: auditing.AuditReport, payment_rows: Sequence[audited.AuditedPayment]) -> None:
    members = sort_members(payment_rows)
    if members and members[0].chain_id is None:
        first = members[0]
        purse = auditing.Purse(first.merchant_id, first.channel_id, first.money.currency)
        sums = report.accounts.setdefault(purse, dict.fromkeys(LedgerAccount, 0))
        for account, amount in sum_expected_accounts(members).items():
            sums[account] += amount


def sort_members(payment_rows: Sequence[audited.AuditedPayment]) -> list[Payment]:
    """Sorts the first payment before its follow-ups, and these by their numbers."""
    readable = [open_again(payment_row.payment) for payment_row in payment_rows if payment_row.payment is not None]
    return sorted(readable, key=lambda payment: (payment.chain_id is not None, payment.position, payment.id))


async def list_chain_findings(database: Database, rules: Rules, chains: Chains) -> dict[Key, list[Finding]]:
    """Lists the chains with findings. They are read before the other tables, whose rows are never removed."""
    by_merchant: dict[MerchantId, list[Payment]] = {}
    for (merchant_id, _), payment_rows in chains.items():
        by_merchant.setdefault(merchant_id, []).extend(sort_members(payment_rows))
    evidence = {
        merchant_id: await gather_evidence(database, rules, merchant_id, payments)
        for merchant_id, payments in by_merchant.items()
    }
    judged = {key: list_findings(rules, key, payment_rows, evidence[key[0]]) for key, payment_rows in chains.items()}
    return {key: findings for key, findings in judged.items() if findings}


async def gather_evidence(
    database: Database, rules: Rules, merchant_id: MerchantId, payments: Sequence[Payment]
) -> Evidence:
    line_ids = [entry.id for payment in payments for entry in list_entries(payment)]
    event_ids = [event.id for payment in payments for event in expect_events(rules, payment)]
    job_ids = [job_id for payment in payments for job_id in expect_jobs(payment)]
    job_ids += [job_id for payment in payments for job_id in verify_reviews.list_job_ids(payment)]
    entries = await audited.ENTRIES.list_by_ids(database, merchant_id, line_ids)
    events = await audited.EVENTS.list_by_ids(database, merchant_id, event_ids)
    beside = await gather_side_rows(database, merchant_id, payments)
    return Evidence(
        entries={entry.id: entry for entry in entries},
        events={event.id: event for event in events},
        job_ids=await audited.JOBS.list_ids(database, merchant_id, job_ids),
        instructions=beside.instructions,
        reviews=beside.reviews,
    )


async def gather_side_rows(database: Database, merchant_id: MerchantId, payments: Sequence[Payment]) -> SideRows:
    reviewed_ids = [payment.id for payment in verify_reviews.list_reviewed(payments)]
    instructed_ids = [payment.id for payment in list_instructed(payments)]
    reviews = await audited.REVIEWS.list_by_ids(database, merchant_id, reviewed_ids)
    instructions = await audited.INSTRUCTIONS.list_by_ids(database, merchant_id, instructed_ids)
    return SideRows({row.id: row for row in instructions}, {row.id: row for row in reviews})


def expect_events(rules: Rules, payment: Payment) -> list[Event]:
    if payment.state is State.STARTED or payment.completed_at is None or payment.completed_at < rules.events_kept_since:
        return []
    return list_events(payment)


def list_events(payment: Payment) -> list[Event]:
    """Lists the events of a completed payment that tell a result: of its completion, and of its review."""
    completed = recall_before_review(payment)
    told = [completed, payment] if completed is not payment else [payment]
    return [make_event(each) for each in told]


def expect_jobs(payment: Payment) -> list[str]:
    """Lists the ids of jobs of which one must exist."""
    nature = NATURES.get(payment.payment_type)
    recovery_tasks = RECOVERY_TASKS.get((nature, payment.state), frozenset()) if nature else frozenset()
    if may_have_taken(payment):
        recovery_tasks = frozenset({RecoveryTask.REVERSE})
    return [f"{recovery_task}.{payment.id}" for recovery_task in sorted(recovery_tasks)]


def list_findings(
    rules: Rules, key: Key, payment_rows: Sequence[audited.AuditedPayment], evidence: Evidence
) -> list[Finding]:
    members = sort_members(payment_rows)
    findings = [
        Finding(
            proof=Proof.ROW,
            table="payments",
            merchant_id=payment_row.merchant_id,
            row_id=payment_row.id,
            text="it cannot be read as a payment: a word, a number or a text in it is none of ours",
        )
        for payment_row in payment_rows
        if payment_row.payment is None
    ]
    reversed_ids = {payment.referenced_id for payment in members if payment.action is Action.TECHNICAL_REVERSAL}
    for payment in members:
        findings += check_signature(rules, payment) + check_announced(rules, payment, evidence)
        if payment.id not in reversed_ids:
            findings += check_recovery_tasks(payment, evidence)
    findings += check_instructed(members, evidence.instructions)
    findings += verify_reviews.check_reviewed(members, evidence.reviews, evidence.job_ids)
    if payment_rows and not any(payment_row.chain_id is None for payment_row in payment_rows):
        text = f"{key[1]}, the first payment of its chain, is gone or is the first one of none"
        findings += [make_finding(payment, Proof.CHAIN, text) for payment in members]
    if len(members) < len(payment_rows) or not members or members[0].chain_id is not None:
        # Findings about numbers and balances of an incomplete chain would only repeat that it is incomplete.
        return findings + [finding for payment in members for finding in check_entries(payment, evidence.entries)]
    return findings + check_chain(members, evidence.entries)


def check_signature(rules: Rules, payment: Payment) -> list[Finding]:
    if has_signature(payment, rules.keyring) and (payment.state is State.STARTED or payment.completed_at is not None):
        return []
    if payment.state is State.STARTED:
        text = "it has no result yet, and is signed"
    elif payment.mac is None or payment.completed_at is None:
        text = "it has a result, and no signature or no time of its completion"
    else:
        text = "its signature is wrong: amount, state, type, references, times or result were changed, or it was added"
    return [make_finding(payment, Proof.SIGNATURE, text)]


def check_announced(rules: Rules, payment: Payment, evidence: Evidence) -> list[Finding]:
    findings = []
    for event in expect_events(rules, payment):
        found = evidence.events.get(event.id)
        if found != event:
            text = "is missing" if found is None else "does not say what the payment says"
            text = f"the event of {payment.payment_type} {payment.id} {text}"
            findings.append(make_finding(payment, Proof.EVENT, text, table="outbox", row_id=event.id))
    return findings


def check_recovery_tasks(payment: Payment, evidence: Evidence) -> list[Finding]:
    expected = expect_jobs(payment)
    if not expected or not evidence.job_ids.isdisjoint(expected):
        return []
    text = f"the recovery task of {payment.payment_type} {payment.id}, whose fate is open, is missing"
    return [make_finding(payment, Proof.JOB, text, table="jobs", row_id=" or ".join(expected))]
