"""Two servers of one kind, one with few payments stored and one with many. Fills and starts them, measures nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from tools.bench.plan import Plan, Side
from tools.bench.signing import make_signer
from tools.bench.subject import Subject

from gateway import Client


@dataclass(frozen=True)
class Stocked:
    subject: Subject
    client: Client
    filled: int
    """The payments there before anything is measured."""

    @property
    def database(self) -> str:
        return self.subject.database

    @property
    def headers(self) -> Mapping[str, str]:
        return self.client.authorized()


Pair = tuple[Stocked, Stocked]
"""The one with few payments first."""


@dataclass
class Costs:
    """The same work on both of a pair, in turns: what one piece of it cost in each round, in one unit."""

    few: list[float] = field(default_factory=list)
    many: list[float] = field(default_factory=list)

    @property
    def growths(self) -> list[float]:
        """Returns how many times as much each round costs beside many."""
        return [many / few for few, many in zip(self.few, self.many, strict=True)]

    @property
    def growth(self) -> float:
        return median(self.growths)

    @property
    def undisturbed_growth(self) -> float:
        """The best round beside the best: neighbours make both slower, never faster."""
        return min(self.many) / min(self.few)

    @property
    def worse_growth(self) -> float:
        return max(self.growth, self.undisturbed_growth)


def open_pair(side: Side, folder: Path, plan: Plan, stack: ExitStack, tell: Callable[[str], None]) -> Pair:
    """Both run until the stack is left."""
    few, many = (_open(side, folder, count, stack) for count in (plan.stored_few, plan.stored_many))
    tell(f"{side.name}: {plan.stored_many} payments stored")
    return few, many


def _open(side: Side, folder: Path, count: int, stack: ExitStack) -> Stocked:
    subject = Subject(folder / f"stored-{count}", side.create_database())
    stack.callback(subject.stop)
    subject.start()
    subject.pay_once()
    specimen = side.read_specimen(subject.database)
    side.fill(subject.database, specimen, count, make_signer(specimen.payment, subject.folder / "keys.json"))
    return Stocked(subject, subject.process.client(), filled=count + 1)
