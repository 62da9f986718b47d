"""The terms of an access token as commands and the back office give them: label, scopes, channels and end.

Tokens themselves are made in `vault`.
"""

import re
from collections.abc import Collection, Sequence

import msgspec

from tollgate.catalog import limits, results
from tollgate.catalog.scopes import Scope
from tollgate.values import DAY, HOUR, ChannelId, Fault, Instant


class TokenTerms(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a credential that its owner chooses."""

    label: str = ""
    scopes: tuple[Scope, ...] = ()
    channel_ids: tuple[ChannelId, ...] = ()
    expires_at: Instant | None = None


def read_token_terms(
    label: str, scopes: Sequence[str], channel_ids: Sequence[str], days: str, *, own: Collection[str], now: Instant
) -> TokenTerms:
    """Reads the terms of a token, or names every fault.

    own: the ids of the merchant's channels. days: until its end; empty for a token without one.
    """
    faults = []
    if len(label) > limits.LIMITS.token_label_length_max or not label.isprintable():
        faults.append(Fault("label", f"must have up to {limits.LIMITS.token_label_length_max} printable characters"))
    if unknown := [each for each in scopes if each not in set(Scope)]:
        faults.append(Fault("scopes", f"{unknown[0][:40]} is unknown: must be among [{', '.join(Scope)}]"))
    if any(each not in own for each in channel_ids):
        faults.append(Fault("channels", "must be channels of this merchant"))
    if days and not _is_count(days, limits.LIMITS.token_days_max):
        faults.append(Fault("expires_days", f"must be a number of days from 1 to {limits.LIMITS.token_days_max}"))
    if faults:
        raise results.make_invalid(*faults)
    return TokenTerms(
        label=label,
        scopes=tuple(each for each in Scope if each in scopes),
        channel_ids=tuple(ChannelId(each) for each in dict.fromkeys(channel_ids)),
        expires_at=now + int(days) * DAY if days else None,
    )


def read_overlap(hours: str) -> Instant:
    """Reads for how long the old token stays valid beside the new one."""
    if hours != "0" and not _is_count(hours, limits.LIMITS.token_overlap_hours_max):
        raise results.make_invalid(
            Fault("overlap_hours", f"must be 0 to {limits.LIMITS.token_overlap_hours_max} hours")
        )
    return int(hours) * HOUR


def _is_count(text: str, most: int) -> bool:
    return re.fullmatch("[1-9][0-9]{0,4}", text) is not None and int(text) <= most
