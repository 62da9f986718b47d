"""The audit of authentications, SEPA instructions and bank files.

That every approved payment has its instruction is checked with the chains.
"""

from collections.abc import Iterator, Mapping, Sequence

from tollgate.catalog.brand_rows import Protocol
from tollgate.catalog.brands import BRANDS
from tollgate.connectors import sepa, sepa_files
from tollgate.flows import auditing
from tollgate.flows.sepa_files import FILE_NOUN
from tollgate.operations.signing import has_signature
from tollgate.payments.audit import Finding, Proof, make_finding
from tollgate.payments.authentication import AuthenticationRow, Stage
from tollgate.payments.following import Action
from tollgate.payments.payment import Payment, State
from tollgate.store import audit as audited
from tollgate.store.bank_files import BankFile, find_sealed_body
from tollgate.store.instructions import Instruction, InstructionState
from tollgate.values import MerchantId
from tollgate.vault.keyring import Keyring
from tollgate.vault.sealing import make_owner

_SCHEMES = {sepa.Direction.DEBIT: sepa_files.Scheme.DEBITS, sepa.Direction.CREDIT: sepa_files.Scheme.CREDITS}
_MOVED = frozenset({InstructionState.OPEN, InstructionState.FILED, InstructionState.CANCELLED})
STATES = {
    sepa.Direction.DEBIT: _MOVED,
    sepa.Direction.CREDIT: _MOVED,
    sepa.Direction.CHECK: frozenset({InstructionState.NOTED}),
    sepa.Direction.CANCEL: frozenset({InstructionState.NOTED}),
}
"""The states that an instruction may have, besides being blocked before it arrives."""
FIRST_DIRECTIONS = {"PA": sepa.Direction.CHECK, "DB": sepa.Direction.DEBIT, "CD": sepa.Direction.CREDIT}
LATER_DIRECTIONS = {
    Action.CAPTURE: sepa.Direction.DEBIT,
    Action.REBILL: sepa.Direction.DEBIT,
    Action.REFUND: sepa.Direction.CREDIT,
    Action.INCREMENT: sepa.Direction.CHECK,
    Action.RENEWAL: sepa.Direction.CHECK,
    Action.REVERSAL: sepa.Direction.CANCEL,
    Action.VOID: sepa.Direction.CANCEL,
}
"""A second copy on purpose: an audit that used the writer's own table could not contradict it."""
_TAKES_BACK = frozenset({Action.REVERSAL, Action.VOID})


def check_authentication(
    keyring: Keyring, row: audited.AuditedRow[AuthenticationRow], payments: auditing.AuditedPayments
) -> Iterator[auditing.Flaw]:
    payment_row = payments.get(row.id)
    payment = payment_row.payment if payment_row else None
    authentication = row.value
    if authentication is None:
        yield Proof.ROW, auditing.UNREADABLE
    elif payment_row is None:
        yield Proof.AUTHENTICATION, f"there is no payment {row.id}"
    elif not has_signature(authentication, keyring):
        yield Proof.SIGNATURE, "its signature is wrong"
    elif (
        authentication.sealed_secret is not None
        and payment is not None
        and (authentication.stage is Stage.CLOSED or payment.state is not State.WAITING)
    ):
        text = "its payment waits for nobody any more, and what was sealed for the way back is still there"
        yield Proof.AUTHENTICATION, text


def check_instruction(
    _keyring: Keyring, row: audited.AuditedRow[Instruction], payments: auditing.AuditedPayments, file_ids: set[str]
) -> Iterator[auditing.Flaw]:
    payment_row, instruction = payments.get(row.id), row.value
    if instruction is None or instruction.direction not in set(sepa.Direction):
        yield Proof.ROW, auditing.UNREADABLE
    elif payment_row is None:
        yield Proof.INSTRUCTION, f"there is no payment {row.id}"
    elif instruction.state is not InstructionState.FILED and instruction.file_id is not None:
        yield Proof.INSTRUCTION, f"it names file {instruction.file_id}, which has not taken it"
    elif instruction.state is InstructionState.FILED and instruction.file_id not in file_ids:
        yield Proof.INSTRUCTION, f"there is no file {instruction.file_id}"
    elif payment_row.payment is not None:
        yield from _compare_with_payment(instruction, payment_row.payment)


def _compare_with_payment(row: Instruction, payment: Payment) -> Iterator[auditing.Flaw]:
    succeeded, money = payment.state is State.APPROVED, payment.money
    stored = (row.channel_id, row.amount, row.currency, row.account_of, row.direction)
    expected = (payment.channel_id, money.hundredths, money.currency, payment.first_id, find_direction(payment))
    if row.state == InstructionState.BLOCKED:
        if succeeded:
            yield Proof.INSTRUCTION, "it is blocked, and its payment succeeded"
    elif stored != expected:
        yield Proof.INSTRUCTION, "it does not say what its payment says"
    elif row.state not in STATES[sepa.Direction(row.direction)]:
        yield Proof.INSTRUCTION, f"no {row.direction} can be in state {row.state}"
    elif row.state == InstructionState.FILED and not succeeded:
        yield Proof.INSTRUCTION, "a bank has it, and its payment did not succeed"


def find_direction(payment: Payment) -> sepa.Direction | None:
    """Returns the instruction that a payment gives to a bank, or None."""
    brand = BRANDS.get(payment.brand)
    if brand is None or brand.protocol is not Protocol.SEPA:
        return None
    if payment.action is None:
        return FIRST_DIRECTIONS.get(payment.payment_type)
    return LATER_DIRECTIONS.get(payment.action)


def list_instructed(payments: Sequence[Payment]) -> list[Payment]:
    """Lists the payments that cannot have succeeded without an instruction."""
    return [each for each in payments if each.state is State.APPROVED and find_direction(each) is not None]


def check_instructed(
    members: Sequence[Payment], instructions: Mapping[str, audited.AuditedRow[Instruction]]
) -> list[Finding]:
    taken_back = {
        each.referenced_id for each in members if each.action in _TAKES_BACK and each.state is not State.DECLINED
    }
    findings = []
    for payment in list_instructed(members):
        row = instructions.get(payment.id)
        if row is None:
            text = "there is no instruction for a bank"
        elif row.value and row.value.state is InstructionState.CANCELLED and payment.id not in taken_back:
            text = "was taken back by nothing in its chain"
        else:
            continue
        text = f"{payment.payment_type} {payment.id} succeeded, and {text}"
        findings.append(make_finding(payment, Proof.INSTRUCTION, text, table="instructions"))
    return findings


async def read_groups(
    audit: auditing.Audit, merchant_id: MerchantId, files: Sequence[audited.AuditedRow[BankFile]]
) -> dict[str, list[audited.FiledGroup]]:
    groups: dict[str, list[audited.FiledGroup]] = {}
    for group in await audited.list_filed_groups(audit.database, merchant_id, [file.id for file in files]):
        groups.setdefault(group.file_id, []).append(group)
    return groups


def check_file(
    _keyring: Keyring, row: audited.AuditedRow[BankFile], groups: Mapping[str, Sequence[audited.FiledGroup]]
) -> Iterator[auditing.Flaw]:
    file, own = row.value, groups.get(row.id, ())
    entries, total = sum(group.entries for group in own), sum(group.total for group in own)
    if file is None:
        yield Proof.ROW, auditing.UNREADABLE
    elif (entries, total) != (file.entries, file.total):
        text = f"it says {file.entries} entries of {file.total}, its instructions say {entries} of {total}"
        yield Proof.FILE, text
    elif any(not _fits(file, group) for group in own):
        yield Proof.FILE, "some of its instructions are of another channel, day, currency, direction or sequence"


def _fits(file: BankFile, group: audited.FiledGroup) -> bool:
    stored = (group.state, group.channel_id, group.due_on, group.sequence, group.currency)
    scheme = _SCHEMES.get(sepa.Direction(group.direction)) if group.direction in set(sepa.Direction) else None
    expected = (InstructionState.FILED, file.channel_id, file.due_on.isoformat(), file.sequence, file.currency)
    return stored == expected and scheme == file.scheme


async def check_body(audit: auditing.Audit, file: audited.AuditedRow[BankFile]) -> auditing.Flaw | None:
    """Reads one file at a time, because a body may be large."""
    sealed = await find_sealed_body(audit.database, file.merchant_id, file.id)
    owner = make_owner(FILE_NOUN, file.merchant_id, file.id)
    if sealed is None or auditing.opens(sealed, owner, audit.keyring):
        return None
    return Proof.FILE, "what was written for the bank does not open with the keys at hand"


_payments = auditing.read_by_ids(audited.PAYMENTS.list_by_ids, lambda row: [row.id])

TABLES = (
    auditing.Table(
        name="authentications",
        walk=audited.AUTHENTICATIONS.walk,
        reads=(_payments,),
        check=check_authentication,
        read_again=audited.AUTHENTICATIONS.list_by_ids,
        # A payment wipes the secret in the commit that ends it, so the row is compared with a payment read before it.
        rereads_related=False,
    ),
    auditing.Table(
        name="instructions",
        walk=audited.INSTRUCTIONS.walk,
        reads=(_payments, auditing.read_by_ids(audited.FILES.list_ids, lambda row: [row.value and row.value.file_id])),
        check=check_instruction,
    ),
    auditing.Table(
        name="bank_files",
        walk=audited.FILES.walk,
        reads=(read_groups,),
        check=check_file,
        check_further=check_body,
    ),
)
