"""The file that proposes acquirer accounts and a strategy for a channel. What it would change is computed elsewhere."""

import tomllib

import msgspec

from tollgate.payments.merchants import AcquirerTerms, Channel, RoutingTerms
from tollgate.payments.routing import Strategy

_ACCOUNTS_MAX = 50


class ProposedAccount(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An account of the channel, or one that it does not have yet; terms that are left out are as they are."""

    id: str
    priority: int | None = None
    weight: int | None = None
    cost_fixed: int | None = None
    cost_rate: int | None = None
    approves: int | None = None
    """The percentage of charges that an account without experience is expected to approve."""

    def merge_terms(self, known: AcquirerTerms) -> AcquirerTerms:
        given = {name: getattr(self, name) for name in ("priority", "weight", "cost_fixed", "cost_rate")}
        return msgspec.structs.replace(known, **{name: each for name, each in given.items() if each is not None})


class Proposal(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    channel: str
    strategy: Strategy | None = None
    exploration: int | None = None
    accounts: tuple[ProposedAccount, ...] = ()
    """Empty for the accounts that the channel has."""

    def merge_routing(self, channel: Channel) -> RoutingTerms:
        known = channel.routing or RoutingTerms()
        exploration = known.exploration if self.exploration is None else self.exploration
        return RoutingTerms(strategy=self.strategy or known.strategy, exploration=exploration)


def read_proposal(text: str) -> Proposal:
    """Reads a file in TOML; a ValueError says what is wrong with it."""
    try:
        proposal = msgspec.convert(tomllib.loads(text), Proposal)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as fault:
        raise ValueError(str(fault)) from None
    ids = [account.id for account in proposal.accounts]
    numbers = [(each.weight, each.cost_fixed, each.cost_rate) for each in proposal.accounts]
    if len(set(ids)) < len(ids) or len(ids) > _ACCOUNTS_MAX:
        raise ValueError(f"accounts have different ids, and there are up to {_ACCOUNTS_MAX}")
    if not 0 <= (proposal.exploration or 0) <= 50:
        raise ValueError("exploration is a percentage from 0 to 50")
    if any((each.priority or 1) < 1 or not 0 <= (each.approves or 0) <= 100 for each in proposal.accounts):
        raise ValueError("priority is 1 or more, and approves is a percentage")
    if any(number is not None and not 0 <= number < 10**9 for row in numbers for number in row):
        raise ValueError("weight, cost_fixed and cost_rate are 0 or more")
    return proposal
