"""Why a token vault says no, in its words and in the gateway's codes, and whether asking again may help. A table."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class Reason(msgspec.Struct, frozen=True):
    code: str
    is_passing: bool = False
    """Whether the same question may be answered otherwise later."""


REASONS: Mapping[str, Reason] = {
    "invalid_card": Reason("800.100.300"),
    "not_eligible": Reason("800.100.301"),
    "issuer_unsupported": Reason("800.100.302"),
    "session_expired": Reason("800.100.303", is_passing=True),
    "network_unsupported": Reason("800.100.304"),
    "requestor_unknown": Reason("800.100.305"),
    "undecryptable": Reason("800.100.306"),
    "wrong_state": Reason("800.100.307"),
    "doubtful": Reason("800.100.308"),
    "aborted": Reason("800.100.309", is_passing=True),
    "in_progress": Reason("800.100.311", is_passing=True),
    "not_tokenizable": Reason("800.100.312"),
    "incomplete": Reason("800.100.313"),
    "exists": Reason("800.100.314"),
    "missing_field": Reason("800.100.315"),
    "misconfigured": Reason("800.100.316"),
    "suspended": Reason("800.100.317"),
    "cryptogram_first": Reason("800.100.318"),
    "provider_failed": Reason("800.100.320"),
    "provider_busy": Reason("800.100.321", is_passing=True),
    "network_busy": Reason("800.100.322", is_passing=True),
    "network_failed": Reason("800.100.323"),
    "malformed": Reason("800.100.324"),
    "unauthorized": Reason("800.100.325"),
    "unknown_token": Reason("800.100.326"),
    "too_many": Reason("800.100.327", is_passing=True),
    "expired": Reason("800.100.330"),
}

SILENT = REASONS["provider_busy"]
"""No answer, or none that can be understood."""

_UNSAID = Reason("800.100.310")


def get_reason(word: str) -> Reason:
    return REASONS.get(word, _UNSAID)
