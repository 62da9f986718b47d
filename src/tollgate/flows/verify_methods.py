"""The third part of an audit: what single payment methods keep. Authentications, instructions to banks, their files.

That whatever succeeded has its instruction is asked with its chain; here it is that nothing says more than its payment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from tollgate.catalog.brand_rows import Protocol
from tollgate.catalog.brands import BRANDS
from tollgate.connectors import sepa
from tollgate.flows.sepa_files import FILE_NOUN
from tollgate.flows.verify_report import Audit, group_by_merchant
from tollgate.operations.signing import has_authentication_signature
from tollgate.payments.audit import Finding, Proof
from tollgate.payments.authentication import AuthenticationCase, AuthenticationRow, Stage
from tollgate.payments.following import Action
from tollgate.payments.payment import Payment, State
from tollgate.store import audit_methods
from tollgate.store.audit import AuditedPayment, find_audited_payments
from tollgate.store.database import Database
from tollgate.store.instructions import InstructionState
from tollgate.values import MerchantId, PaymentId
from tollgate.vault.keyring import Keyring, KeyringError
from tollgate.vault.sealing import EnvelopeError, name_owner, open_sealed

_UNREADABLE = "it cannot be read: a word, a number or a text in it is none of ours"
_SCHEMES = {sepa.Direction.DEBIT: sepa.Scheme.DEBITS, sepa.Direction.CREDIT: sepa.Scheme.CREDITS}
_MOVED = frozenset({InstructionState.OPEN, InstructionState.FILED, InstructionState.CANCELLED})
STATES = {
    sepa.Direction.DEBIT: _MOVED,
    sepa.Direction.CREDIT: _MOVED,
    sepa.Direction.CHECK: frozenset({InstructionState.NOTED}),
    sepa.Direction.CANCEL: frozenset({InstructionState.NOTED}),
}
"""What may become of an instruction, besides being blocked before it comes."""
LATER_DIRECTIONS = {
    Action.CAPTURE: sepa.Direction.DEBIT,
    Action.REBILL: sepa.Direction.DEBIT,
    Action.REFUND: sepa.Direction.CREDIT,
    Action.INCREMENT: sepa.Direction.CHECK,
    Action.RENEWAL: sepa.Direction.CHECK,
    Action.REVERSAL: sepa.Direction.CANCEL,
    Action.VOID: sepa.Direction.CANCEL,
}
"""Told a second time on purpose: an audit that asked the writer's own table could not contradict it."""
_TAKES_BACK = frozenset({Action.REVERSAL, Action.VOID})

_read_case = msgspec.json.Decoder(AuthenticationCase).decode


async def check_methods(audit: Audit) -> None:
    async for authentications in audit_methods.walk_authentications(audit.database):
        for merchant_id, some in group_by_merchant(authentications).items():
            audit.report.add(await judge_authentications(audit, merchant_id, some))
        audit.walk("authentications", len(authentications))
    async for instructions in audit_methods.walk_instructions(audit.database):
        for merchant_id, each in group_by_merchant(instructions).items():
            audit.report.add(await judge_instructions(audit.database, merchant_id, each))
        audit.walk("instructions", len(instructions))
    async for files in audit_methods.walk_files(audit.database):
        for merchant_id, those in group_by_merchant(files).items():
            audit.report.add(await judge_files(audit, merchant_id, those))
        audit.walk("bank_files", len(files))


# ---- authentications ----


async def judge_authentications(
    audit: Audit, merchant_id: MerchantId, rows: Sequence[audit_methods.AuditedAuthentication]
) -> list[Finding]:
    """What looks wrong is read again after its payment: whatever ended by then has wiped its secret in one commit."""
    keyring = audit.keyring
    entries = await find_audited_payments(audit.database, merchant_id, [row.id for row in rows])
    doubtful = [row.id for row in rows if judge_authentication(row, entries.get(row.id), keyring)]
    again = await audit_methods.find_audited_authentications(audit.database, merchant_id, doubtful)
    findings = [judge_authentication(row, entries.get(row.id), keyring) for row in again]
    return [finding for finding in findings if finding is not None]


def judge_authentication(
    row: audit_methods.AuditedAuthentication, payment_row: AuditedPayment | None, keyring: Keyring
) -> Finding | None:
    payment = payment_row.payment if payment_row else None
    read = _read_authentication(row)
    if read is None:
        return _find(Proof.ROW, "authentications", row, _UNREADABLE)
    if payment_row is not None and not has_authentication_signature(read, keyring):
        return _find(Proof.SEAL, "authentications", row, "its seal does not fit what it says")
    if payment_row is None:
        text = f"there is no payment {row.id}"
    elif row.sealed_secret is None or payment is None:
        return None
    elif row.stage == Stage.CLOSED or payment.state is not State.WAITING:
        text = "its payment waits for nobody any more, and what was sealed for the way back is still there"
    else:
        return None
    return _find(Proof.AUTHENTICATION, "authentications", row, text)


def _read_authentication(row: audit_methods.AuditedAuthentication) -> AuthenticationRow | None:
    try:
        return AuthenticationRow(
            merchant_id=row.merchant_id,
            id=PaymentId(row.id),
            stage=Stage(row.stage),
            created_at=row.created_at,
            expires_at=row.expires_at,
            body=_read_case(row.body),
            mac=row.mac,
        )
    except (ValueError, msgspec.MsgspecError):
        return None


# ---- instructions ----


async def judge_instructions(
    database: Database, merchant_id: MerchantId, rows: Sequence[audit_methods.AuditedInstruction]
) -> list[Finding]:
    """No second look is needed: payment and file are read after what was written after them."""
    entries = await find_audited_payments(database, merchant_id, [row.id for row in rows])
    file_ids = await audit_methods.find_file_ids(
        database, merchant_id, sorted({row.file_id for row in rows if row.file_id})
    )
    findings = [judge_instruction(row, entries.get(row.id), file_ids) for row in rows]
    return [finding for finding in findings if finding is not None]


def judge_instruction(
    row: audit_methods.AuditedInstruction, payment_row: AuditedPayment | None, file_ids: set[str]
) -> Finding | None:
    if row.state not in set(InstructionState) or row.direction not in set(sepa.Direction):
        return _find(Proof.ROW, "instructions", row, _UNREADABLE)
    if payment_row is None:
        text: str | None = f"there is no payment {row.id}"
    else:
        text = _doubt_file(row, file_ids) or (_doubt_payment(row, payment_row.payment) if payment_row.payment else None)
    return None if text is None else _find(Proof.INSTRUCTION, "instructions", row, text)


def _doubt_file(row: audit_methods.AuditedInstruction, file_ids: set[str]) -> str | None:
    if row.state != InstructionState.FILED:
        return None if row.file_id is None else f"it names file {row.file_id}, which has not taken it"
    return None if row.file_id in file_ids else f"there is no file {row.file_id}"


def _doubt_payment(row: audit_methods.AuditedInstruction, payment: Payment) -> str | None:
    succeeded = payment.state is State.APPROVED
    if row.state == InstructionState.BLOCKED:
        return "it is blocked, and its payment succeeded" if succeeded else None
    told = (row.channel_id, row.amount, row.currency, row.account_of, row.direction)
    money, direction = payment.money, find_direction(payment)
    if told != (payment.channel_id, money.hundredths, money.currency, payment.first_id, direction):
        return "it does not say what its payment says"
    if row.state not in STATES[sepa.Direction(row.direction)]:
        return f"no {row.direction} can be in state {row.state}"
    if row.state == InstructionState.FILED and not succeeded:
        return "a bank is told of it, and its payment did not succeed"
    return None


def find_direction(payment: Payment) -> sepa.Direction | None:
    """Which instruction a payment gives; None where it gives none to any bank."""
    brand = BRANDS.get(payment.brand)
    if brand is None or brand.protocol is not Protocol.SEPA:
        return None
    if payment.action is None:
        return sepa.CHARGE_DIRECTIONS.get(payment.payment_type)
    return LATER_DIRECTIONS.get(payment.action)


def list_instructed(payments: Sequence[Payment]) -> list[Payment]:
    """Those whose success rests on an instruction."""
    return [each for each in payments if each.state is State.APPROVED and find_direction(each) is not None]


def check_instructed(
    members: Sequence[Payment], instructions: Mapping[str, audit_methods.AuditedInstruction]
) -> list[Finding]:
    taken_back = {
        each.referenced_id for each in members if each.action in _TAKES_BACK and each.state is not State.DECLINED
    }
    findings = []
    for payment in list_instructed(members):
        kept = instructions.get(payment.id)
        if kept is None:
            text = f"{payment.payment_type} {payment.id} succeeded, and no bank is told of it"
        elif kept.state == InstructionState.CANCELLED and payment.id not in taken_back:
            text = f"{payment.payment_type} {payment.id} succeeded, and was taken back by nothing in its chain"
        else:
            continue
        findings.append(_find(Proof.INSTRUCTION, "instructions", payment, text))
    return findings


# ---- files ----


async def judge_files(
    audit: Audit, merchant_id: MerchantId, files: Sequence[audit_methods.AuditedFile]
) -> list[Finding]:
    """No second look is needed: a file and its entries are one commit, and what it took it keeps."""
    groups: dict[str, list[audit_methods.FiledGroup]] = {}
    for group in await audit_methods.find_filed_groups(audit.database, merchant_id, [file.id for file in files]):
        groups.setdefault(group.file_id, []).append(group)
    findings = [judge_file(file, groups.get(file.id, [])) or await judge_body(audit, file) for file in files]
    return [finding for finding in findings if finding is not None]


def judge_file(file: audit_methods.AuditedFile, groups: Sequence[audit_methods.FiledGroup]) -> Finding | None:
    entries, total = sum(group.entries for group in groups), sum(group.total for group in groups)
    if (entries, total) != (file.entries, file.total):
        text = f"it says {file.entries} entries of {file.total}, its instructions say {entries} of {total}"
    elif any(not _fits(file, group) for group in groups):
        text = "some of its instructions are of another channel, day, currency, direction or sequence"
    else:
        return None
    return _find(Proof.FILE, "bank_files", file, text)


async def judge_body(audit: Audit, file: audit_methods.AuditedFile) -> Finding | None:
    """One at a time, because a body may be large; what opens is what was written, for this very file."""
    sealed = await audit_methods.find_sealed_body(audit.database, file.merchant_id, file.id)
    try:
        if sealed is not None:
            open_sealed(sealed, owner=name_owner(FILE_NOUN, file.merchant_id, file.id), keyring=audit.keyring)
    except (EnvelopeError, KeyringError):
        return _find(
            Proof.FILE, "bank_files", file, "what was written for the bank does not open with the keys at hand"
        )
    return None


def _fits(file: audit_methods.AuditedFile, group: audit_methods.FiledGroup) -> bool:
    said = (group.state, group.channel_id, group.due_on, group.sequence, group.currency)
    scheme = _SCHEMES.get(sepa.Direction(group.direction)) if group.direction in set(sepa.Direction) else None
    is_same = said == (InstructionState.FILED, file.channel_id, file.due_on, file.sequence, file.currency)
    return is_same and scheme == file.scheme


def _find(
    proof: Proof,
    table: str,
    row: audit_methods.AuditedAuthentication | audit_methods.AuditedInstruction | audit_methods.AuditedFile | Payment,
    text: str,
) -> Finding:
    return Finding(proof=proof, table=table, merchant_id=row.merchant_id, row_id=row.id, text=text)
