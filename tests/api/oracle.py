"""The answers of parallel requests compared with each other, the gateway's rows and the acquirer's ledger.

The rules are written here a second time and one after another, because the gateway's own are in doubt.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from acquirer import Account, Entry
from api.contests import Contest, Wanted, render_amount
from gateway import Answer
from tollgate.payments.payment import State

REFUSALS = {"CP": "700.400.100", "RV": "700.400.300", "RF": "700.400.200", "PA": "700.400.100"}
UNWILLING, MISFIT = "800.100.152", "800.100.170"
"""The first comes from an acquirer told to decline, the second from one that received the final request earlier."""
WORDS = {"CP": "capture", "RV": "reversal", "RF": "refund", "PA": "increment"}
SUCCESS = {False: "000.100.110", True: "000.100.112"}
"""The key says whether an external acquirer was asked."""


@dataclass(frozen=True)
class Record:
    """A later transaction as the gateway stored it."""

    id: str
    payment_type: str
    state: State
    code: str
    amount: int
    releases: int
    position: int

    @property
    def is_approved(self) -> bool:
        return self.state is State.APPROVED


@dataclass(frozen=True)
class Standing:
    """The payment that everybody wanted something of, as the gateway stored it."""

    amount: int
    added: int
    drawn: int
    reserved: int
    counted: int
    closed: int


@dataclass(frozen=True)
class Outcome:
    contest: Contest
    is_external: bool
    named_id: str
    answers: Sequence[tuple[Wanted, Answer]]
    records: Sequence[Record]
    """All that came after those that begin the contest, in the order of their positions."""
    standing: Standing

    @property
    def asked(self) -> dict[str, Wanted]:
        """Transaction to what was asked for; an answer without one is complained of elsewhere."""
        return {answer.json["id"]: wanted for wanted, answer in self.answers if "id" in answer.json}


@dataclass
class Purse:
    """The requests one after another, each checked against what the earlier ones left."""

    contest: Contest

    def __post_init__(self) -> None:
        self.total = self.left = self.contest.total
        self.captures = 0
        self.is_closed = False

    def balance_effects(self, wanted: Wanted) -> tuple[int, int] | None:
        """Returns what the request moves and what it releases beside that, or None where it is refused."""
        if self.is_closed and wanted.payment_type != "RV":
            return None
        amount = self.left if wanted.hundredths is None else wanted.hundredths
        if wanted.payment_type == "PA":
            return amount, 0
        if wanted.payment_type == "RV":
            is_fresh = self.left > 0 if self.contest.begins[-1] == "PA" else self.left == self.total
            return (amount, 0) if is_fresh else None
        is_counted_out = wanted.payment_type == "CP" and self.captures == self.contest.captures_max
        if amount > self.left or is_counted_out:
            return None
        return amount, self.left - amount if wanted.payment_type == "CP" and wanted.is_final else 0

    def move(self, wanted: Wanted, amount: int, releases: int) -> None:
        if wanted.payment_type == "PA":
            self.total += amount
            self.left += amount
            return
        self.left -= amount + releases
        self.captures += wanted.payment_type == "CP"
        self.is_closed = wanted.is_final or wanted.payment_type == "RV"


def find_unfairness(outcome: Outcome) -> list[str]:
    """Everything that is wrong; empty when all is well."""
    return [
        *_compare_answers(outcome),
        *_compare_rows(outcome),
        *_play_again(outcome),
        *_compare_sums(outcome),
        *_count_winners(outcome),
    ]


def _compare_answers(outcome: Outcome) -> Iterator[str]:
    """Each is a success or the refusal of its kind, and those with one key are one."""
    bodies: dict[str, set[bytes]] = defaultdict(set)
    for wanted, answer in outcome.answers:
        allowed = {(200, SUCCESS[outcome.is_external]), (400, REFUSALS[wanted.payment_type])}
        allowed |= {(400, code) for code in list_declines(outcome)}
        if (answer.status, answer.code) not in allowed:
            yield f"{wanted} was answered {answer.status} {answer.json}"
        if wanted.key is not None:
            bodies[wanted.key].add(answer.body)
    for key, received in bodies.items():
        if len(received) != 1:
            yield f"the key {key} has {len(received)} answers"


def list_declines(outcome: Outcome) -> list[str]:
    """Lists how the acquirer may have declined what the gateway let through; an excessive amount is not among it.

    A request reserved before the final one may arrive after it, because nothing keeps the order on the way.
    """
    contest = outcome.contest
    causes = {UNWILLING: contest.declines > 0, MISFIT: contest.has_final}
    return [code for code, may_be in causes.items() if outcome.is_external and may_be]


def _compare_rows(outcome: Outcome) -> Iterator[str]:
    """Every request has one row and every row a request; rows say what the answers said and are numbered."""
    requests = len({wanted.key or place for place, (wanted, _) in enumerate(outcome.answers)})
    if not requests == len(outcome.asked) == len(outcome.records):
        yield f"{requests} requests, {len(outcome.asked)} transactions answered, {len(outcome.records)} stored"
    received = {answer.json.get("id"): answer for _, answer in outcome.answers}
    for record in outcome.records:
        answer = received.get(record.id)
        if answer is None:
            yield f"nobody was told of {record}"
        elif (answer.code, answer.json["amount"]) != (record.code, render_amount(record.amount)):
            yield f"{record} was answered {answer.json}"
        elif (answer.status == 200) != record.is_approved:
            yield f"{record} was answered with status {answer.status}"
    numbers = [record.position for record in outcome.records]
    first = len(outcome.contest.begins) + 1
    if numbers != list(range(first, first + len(numbers))):
        yield f"numbered {numbers}"


def _play_again(outcome: Outcome) -> Iterator[str]:
    """It went as if one had come after the other, in the order of their numbers."""
    purse, asked = Purse(outcome.contest), outcome.asked
    is_exact = outcome.contest.is_orderly and not list_declines(outcome)
    for record in outcome.records:
        if record.id not in asked:
            continue
        wanted = asked[record.id]
        fair = purse.balance_effects(wanted)
        if record.is_approved and (fair is None or record.amount + record.releases > sum(fair)):
            yield f"{record} won, but only {purse.left} were left (closed: {purse.is_closed})"
        elif is_exact and fair != ((record.amount, record.releases) if record.is_approved else None):
            yield f"{record} should have come to {fair} with {purse.left} left (closed: {purse.is_closed})"
        if record.is_approved:
            purse.move(wanted, record.amount, record.releases)


def _compare_sums(outcome: Outcome) -> Iterator[str]:
    """The sums on the payment must equal those of the answers and must not exceed its amount."""
    standing, sums, counts = outcome.standing, _add_up(outcome), _count_approved(outcome)
    released = sum(record.releases for record in outcome.records if record.is_approved)
    drawn = sums["CP"] + sums["RF"] + sums["RV"] + released
    expected = Standing(
        amount=outcome.contest.total,
        added=sums["PA"],
        drawn=drawn,
        reserved=0,
        counted=counts["CP"],
        closed=standing.closed,
    )
    if standing != expected:
        yield f"{standing} stands where the answers say {expected}"
    if drawn > outcome.contest.total + sums["PA"]:
        yield f"{drawn} were taken of {outcome.contest.total} and {sums['PA']}"
    asked = outcome.asked
    is_closed = any(
        record.is_approved and record.id in asked and (record.payment_type == "RV" or asked[record.id].is_final)
        for record in outcome.records
    )
    if (standing.closed != 0) != is_closed:
        yield f"closed is {standing.closed}, but something final has {'' if is_closed else 'not '}happened"


def _list_approved(outcome: Outcome) -> dict[str, tuple[str, int]]:
    """Maps transactions to payment type and amount in hundredths, from the answers alone."""
    return {
        answer.json["id"]: (wanted.payment_type, int(answer.json["amount"].replace(".", "")))
        for wanted, answer in outcome.answers
        if answer.status == 200
    }


def _add_up(outcome: Outcome) -> Counter[str]:
    sums: Counter[str] = Counter()
    for payment_type, amount in _list_approved(outcome).values():
        sums[payment_type] += amount
    return sums


def _count_approved(outcome: Outcome) -> Counter[str]:
    return Counter(payment_type for payment_type, _ in _list_approved(outcome).values())


def _count_winners(outcome: Outcome) -> Iterator[str]:
    winners, expected = _count_approved(outcome).total(), outcome.contest.winners
    if expected is not None and winners not in expected:
        yield f"{winners} won where {sorted(expected)} may"
    if not winners:
        yield "nobody won"


def find_disagreement(outcome: Outcome, account: Account, ledger: Mapping[str, Entry]) -> list[str]:
    """The acquirer did what the answers say, each of it once, and received nothing that was refused."""
    approved = _list_approved(outcome)
    done = {operation.key: (operation.type, operation.amount) for operation in account.operations}
    received = {key: (WORDS[payment_type], amount) for key, (payment_type, amount) in approved.items()}
    found = [f"the acquirer did {done}, the answers say {received}"] if done != received else []
    for record in outcome.records:
        entry = ledger.get(record.id)
        if record.is_approved or record.code in (UNWILLING, MISFIT):
            times = (0, 0, 0) if entry is None else (entry.executions, entry.follow_ups_seen, entry.contradictions)
            if times != (int(record.is_approved), 1, 0):
                found.append(f"{record} was done, sent and contradicted {times} times")
        elif entry is not None:
            found.append(f"the acquirer heard of {record}")
    return found
