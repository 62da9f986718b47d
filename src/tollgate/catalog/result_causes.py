"""The cause of every result code: what makes the gateway answer it, or why nothing here does.

A test compares this table with the source: a code that some module names as an answer is marked as one, and no other.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import NamedTuple

from tollgate.catalog.declines import DECLINES


class Origin(Enum):
    """Names the party that decides to answer a code."""

    GATEWAY = "decided here"
    PARTNER = "only by an acquirer, bank, issuer or provider"
    FAULT = "not answered: `200.300.404` names the parameter"
    OTHER_CODE = "not answered: another code tells it"
    UNTOLD = "only forced in the sandbox: no message from a partner tells it"
    LATER = "later: risk rules"
    ABSENT = "feature that does not exist here"

    @property
    def is_answered(self) -> bool:
        """Whether the code can be answered without being forced in the sandbox."""
        return self in (Origin.GATEWAY, Origin.PARTNER)


class Cause(NamedTuple):
    origin: Origin
    words: str


class _Row(NamedTuple):
    origin: Origin
    words: str
    codes: str


_GATEWAY, _PARTNER = Origin.GATEWAY, Origin.PARTNER
_FAULT, _OTHER_CODE, _UNTOLD = Origin.FAULT, Origin.OTHER_CODE, Origin.UNTOLD
_LATER, _ABSENT = Origin.LATER, Origin.ABSENT

_ROWS = (
    # ---- answered: the gateway's own decisions ----
    _Row(_GATEWAY, "an approval on a live host", "000.000.000"),
    _Row(_GATEWAY, "an answered query", "000.000.100"),
    _Row(_GATEWAY, "an approval in testMode INTERNAL", "000.100.110"),
    _Row(_GATEWAY, "an approval in testMode EXTERNAL", "000.100.112"),
    _Row(_GATEWAY, "a payment whose outcome is open, or an unpaid checkout", "000.200.000"),
    _Row(_GATEWAY, "a payment link that nobody has opened, or has paid yet", "000.200.200 000.200.201"),
    _Row(_GATEWAY, "a checkout that was created, changed or cancelled", "000.200.100 000.200.101 000.200.102"),
    _Row(_GATEWAY, "an authentication by itself: the card is not enrolled", "000.400.109"),
    _Row(_GATEWAY, "an authentication by itself: the channel has no directory server", "000.400.104"),
    _Row(_GATEWAY, "an authentication by itself that succeeded without a challenge", "000.400.110"),
    _Row(_GATEWAY, "a check of the card or token before anything is sent", "100.100.101 100.100.303 100.100.600"),
    _Row(_GATEWAY, "a check of the card before anything is sent", "100.100.601 100.100.700"),
    _Row(_GATEWAY, "a check of the bank account before anything is sent", "100.200.100 100.200.103 100.200.104"),
    _Row(_GATEWAY, "a registration without an account, or a malformed id", "100.150.100 100.150.101"),
    _Row(
        _GATEWAY,
        "a payment from, or a change of, a registration that cannot be used",
        "100.150.200 100.150.201 100.150.202 100.150.203 100.150.204 100.150.205 100.150.206",
    ),
    _Row(_GATEWAY, "a payment by the merchant alone whose series nobody began", "100.150.300"),
    _Row(
        _GATEWAY,
        "a schedule whose values make no plan",
        "100.250.100 100.250.105 100.250.106 100.250.107 100.250.110 100.250.111 100.250.120 100.250.121 100.250.122 "
        "100.250.123 100.250.124 100.250.125 100.250.250",
    ),
    _Row(_GATEWAY, "a confirmation (CF) or removal (DR) out of turn", "100.350.100 100.350.101 100.350.301"),
    _Row(_GATEWAY, "a confirmation (CF) or removal (DR) of what is no open registration", "100.350.302 100.350.303"),
    _Row(_GATEWAY, "a follow-up that names a registration", "100.350.201"),
    _Row(_GATEWAY, "an extension of a token that is not there", "100.350.316"),
    _Row(_GATEWAY, "a registration that names a payment or another registration", "100.350.601"),
    _Row(_GATEWAY, "a migrated series that the brand cannot go on with", "100.350.602"),
    _Row(_GATEWAY, "a schedule's action, id or channel", "100.360.201 100.360.300 100.360.303 100.360.400"),
    _Row(_GATEWAY, "a check of the threeDSecure values sent along", "100.370.121 100.370.125"),
    _Row(_GATEWAY, "a shopper who cancelled, at a provider or by closing its window or a challenge", "100.396.101"),
    _Row(_GATEWAY, "a shopper who did not come back from a provider in time", "100.396.103"),
    _Row(_GATEWAY, "an amount of zero, or cents of a currency without any", "100.550.300 100.550.303"),
    _Row(_GATEWAY, "a request that breaks a limit on size or count", "200.100.103"),
    _Row(_GATEWAY, "a wallet's token that does not open", "200.100.603"),
    _Row(_GATEWAY, "a wrong HTTP method", "200.300.403"),
    _Row(_GATEWAY, "a parameter fault, an unknown path or checkout", "200.300.404"),
    _Row(_GATEWAY, "a channel that requires 3-D Secure, or the issuer's response 1A", "300.100.100"),
    _Row(_GATEWAY, "a channel that was closed", "500.100.203"),
    _Row(_GATEWAY, "a brand, type, currency or account that the channel is not set up for", "600.200.100 600.200.201"),
    _Row(_GATEWAY, "a brand, type or currency that does not fit", "600.200.310 600.200.500"),
    _Row(_GATEWAY, "a testMode that the host or the channel is not set up for", "600.200.700 600.200.701"),
    _Row(
        _GATEWAY,
        "a follow-up that the payment named does not allow",
        "700.100.300 700.100.400 700.100.500 700.100.600 700.100.700 700.300.200 700.300.300 700.300.400 700.300.600 "
        "700.300.700 700.400.100 700.400.200 700.400.300 700.400.400 700.400.402 700.400.410 700.400.420 700.400.510 "
        "700.400.520 700.400.530 700.400.550 700.400.560 700.400.562 700.400.570 700.400.580 700.400.700 "
        "700.500.001",
    ),
    _Row(_GATEWAY, "a path and a referenceUuid that name two payments, on a strict channel", "700.100.710"),
    _Row(_GATEWAY, "a network token in a state that allows no payment", "800.100.310 800.100.311 800.100.317"),
    _Row(_GATEWAY, "a network token that is unknown or past its expiry", "800.100.326 800.100.330"),
    _Row(_GATEWAY, "an Idempotency-Key or a wallet's token that was used for another request", "800.110.100"),
    _Row(_GATEWAY, "a throttle, or too many attempts on one checkout", "800.120.100"),
    _Row(_GATEWAY, "a payment, schedule or checkout that another request is changing", "800.600.100 800.700.100"),
    _Row(_GATEWAY, "a host that is stopping, overloaded or cannot write to its database", "800.800.800"),
    _Row(_GATEWAY, "an entityId that the token has no access to", "800.900.201"),
    _Row(_GATEWAY, "a missing or wrong credential", "800.900.300"),
    _Row(_GATEWAY, "an acquirer that does not answer or cannot be reached", "900.100.300 900.100.600"),
    _Row(_GATEWAY, "a checkout whose amount changed while it was being paid", "900.300.600"),
    _Row(_GATEWAY, "an error in the gateway", "999.999.999"),
    _Row(_GATEWAY, "a mandate or an amount that banks do not take", "100.500.302 100.500.303 100.550.301"),
    _Row(_GATEWAY, "a debit that repeats one whose account was erased", "700.500.004"),
    # ---- answered: what partners tell, by the tables of the connectors ----
    _Row(_PARTNER, "the issuer's advice on another try", "700.600.002 700.600.025 700.601.001 700.601.003"),
    _Row(
        _PARTNER,
        "a bank's return file",
        "000.100.200 000.100.201 000.100.202 000.100.203 000.100.204 000.100.205 000.100.206 000.100.207 000.100.208 "
        "000.100.210 000.100.220 000.100.224 000.100.226 000.100.227 000.100.229 000.100.299",
    ),
    _Row(
        _PARTNER,
        "the directory server or the issuer, in 3-D Secure",
        "000.400.101 000.400.102 000.400.108 000.400.113 100.380.401 100.380.501 100.390.111 100.390.112 100.390.113 "
        "100.390.114 100.390.115 100.390.116 100.390.117 100.390.118 100.390.119 100.390.120 100.390.121 100.390.122 "
        "100.390.124",
    ),
    _Row(_PARTNER, "a provider that the shopper was redirected to", "100.395.501"),
    _Row(
        _PARTNER,
        "an acquirer's response code",
        "800.100.154 800.100.160 800.100.167 800.100.169 800.100.201 800.100.202 800.100.402 800.800.400 900.100.400 "
        "800.100.100 800.100.151 800.100.152 800.100.153 800.100.155 800.100.156 800.100.157 800.100.158 800.100.159 "
        "800.100.162 800.100.163 800.100.165 800.100.166 800.100.168 800.100.170 800.100.171 800.100.172 800.100.174 "
        "800.100.176 800.100.178 800.100.190 800.100.191 800.100.200 800.100.203 800.100.500 800.100.501 900.100.200 "
        "900.100.310",
    ),
    _Row(
        _PARTNER,
        "the token vault, about a network token",
        "800.100.300 800.100.301 800.100.302 800.100.303 800.100.304 800.100.305 800.100.306 800.100.307 800.100.308 "
        "800.100.309 800.100.312 800.100.313 800.100.314 800.100.315 800.100.316 800.100.318 800.100.320 800.100.321 "
        "800.100.322 800.100.323 800.100.324 800.100.325 800.100.327",
    ),
    # ---- not answered: the same thing is told otherwise ----
    _Row(
        _FAULT,
        "missing, too long or malformed account data",
        "100.100.100 100.100.200 100.100.201 100.100.300 100.100.301 100.100.305 100.100.400 100.100.401 100.100.500 "
        "100.100.501 100.210.102 200.100.601 200.100.602",
    ),
    _Row(
        _FAULT,
        "missing, too long or malformed customer data",
        "100.700.100 100.700.101 100.700.200 100.700.201 100.700.300 100.700.500 100.700.800 100.700.802 100.700.810 "
        "100.900.100 100.900.105 100.900.200 100.900.300 100.900.301 100.900.400 200.100.501 "
        "200.100.502 200.100.503 200.100.504",
    ),
    _Row(
        _FAULT,
        "missing, too long or malformed address",
        "100.800.100 100.800.101 100.800.102 100.800.200 100.800.201 100.800.202 100.800.300 100.800.301 100.800.400 "
        "100.800.401 100.800.500 100.800.501",
    ),
    _Row(
        _FAULT,
        "missing, unknown or malformed request data",
        "100.300.101 100.300.200 100.300.400 100.370.101 100.370.102 100.500.101 100.500.201 100.550.400 "
        "100.550.401 100.550.603 100.600.500 100.900.500 200.300.405 200.300.406 200.300.407 600.200.300",
    ),
    _Row(_OTHER_CODE, "the success code of the host and mode", "000.300.000 000.600.000"),
    _Row(_OTHER_CODE, "`700.400.580`", "100.100.104 100.300.300 700.100.100"),
    _Row(_OTHER_CODE, "`700.400.510`, `700.400.520` or `700.400.530`", "700.300.100 700.400.565 700.400.600"),
    _Row(_OTHER_CODE, "`700.400.300`", "700.100.200 700.300.800"),
    _Row(_OTHER_CODE, "`700.400.400` or `700.400.410`", "700.300.500 700.400.411"),
    _Row(_OTHER_CODE, "`700.300.400`", "700.500.002"),
    _Row(_OTHER_CODE, "`600.200.310`", "600.200.202 600.200.400 700.100.701 700.400.101"),
    _Row(_OTHER_CODE, "`600.200.100`", "600.200.200"),
    _Row(_OTHER_CODE, "`600.200.700`", "600.200.800"),
    _Row(_OTHER_CODE, "`600.200.201`", "500.200.101"),
    _Row(_OTHER_CODE, "`500.100.203`", "500.100.201 500.100.202"),
    _Row(_OTHER_CODE, "`800.900.300` or `800.900.201`", "100.300.600 100.300.601 800.900.100 800.900.301 800.900.302"),
    _Row(_OTHER_CODE, "`800.600.100` or `800.700.100`", "800.120.402"),
    _Row(_OTHER_CODE, "`800.800.800`", "800.800.801"),
    _Row(_OTHER_CODE, "`999.999.999`", "100.350.200 600.100.100 700.400.000 999.999.888"),
    _Row(_OTHER_CODE, "`900.100.300`, and the reversal is a payment of its own", "000.400.030 900.100.301"),
    _Row(_OTHER_CODE, "`900.100.300` or `900.100.600`", "900.100.100 900.100.203 900.200.100"),
    _Row(_OTHER_CODE, "`800.100.321`", "900.100.205"),
    _Row(_OTHER_CODE, "`100.396.101` or `100.396.103`", "100.396.102 100.396.104 100.397.101"),
    _Row(_OTHER_CODE, "`100.390.111`", "000.400.107"),
    _Row(_OTHER_CODE, "`100.390.112`", "000.400.103 100.390.105 100.390.107 100.390.123"),
    _Row(_OTHER_CODE, "`100.390.113`", "000.400.105"),
    _Row(_OTHER_CODE, "`100.390.115`", "000.400.106 100.390.102 100.390.103 100.390.104"),
    _Row(_OTHER_CODE, "`000.400.108`", "100.390.110"),
    _Row(_OTHER_CODE, "`100.900.*`", "800.900.101 800.900.200 800.900.401 800.900.450"),
    _Row(_OTHER_CODE, "`100.150.300`", "600.200.501"),
    _Row(_OTHER_CODE, "`700.400.570`", "100.396.201"),
    # ---- not answered: nobody tells it ----
    _Row(
        _UNTOLD,
        "grounds of a dispute, told by `POST /sandbox/payments/{id}`",
        "000.100.209 000.100.221 000.100.222 000.100.223 000.100.225 000.100.228 000.100.230 000.100.231 000.100.232 "
        "000.100.233 000.100.234",
    ),
    _Row(
        _UNTOLD,
        "a reason that the acquirers' response codes do not tell",
        "800.100.150 800.100.161 800.100.164 800.100.173 800.100.175 "
        "800.100.177 800.100.179 800.100.192 800.100.195 800.100.196 800.100.197 800.100.198 800.100.199 "
        "800.100.204 800.100.205 800.100.206 800.100.207 800.100.208 800.100.403 800.120.401 "
        "800.500.100 800.500.110 800.700.101 800.700.201 800.700.500 800.800.102 800.800.202 800.800.302 "
        "900.100.201 900.100.202 900.100.204 900.100.500 900.100.700",
    ),
    _Row(
        _UNTOLD,
        "the issuer's comparison of the address",
        "800.400.100 800.400.101 800.400.102 800.400.103 800.400.104 800.400.105 800.400.110 800.400.150 800.400.151",
    ),
    _Row(_UNTOLD, "an approval with a reservation", "000.400.010 000.400.020 000.400.040 000.400.050 000.400.060"),
    _Row(
        _UNTOLD,
        "an outcome that stays open for days",
        "000.200.001 000.200.103 800.400.500 800.400.501 800.400.502",
    ),
    _Row(_UNTOLD, "a provider's finer reason", "100.395.101 100.395.102 100.395.502 100.396.106 100.397.102"),
    _Row(
        _UNTOLD,
        "a 3-D Secure result that version 2 does not tell",
        "000.400.111 000.400.112 100.390.101 100.390.106 100.390.108",
    ),
    _Row(
        _UNTOLD,
        "an authentication made elsewhere, which is passed on to the acquirer as it is",
        "100.390.100 100.390.109 800.400.200",
    ),
    # ---- not answered: issues of their own ----
    _Row(
        _LATER,
        "risk checks and their providers",
        "000.300.100 000.300.101 000.300.102 000.300.103 000.400.000 000.400.070 000.400.080 000.400.081 000.400.082 "
        "000.400.090 000.400.091 000.400.100 000.400.200 100.100.701 100.370.100 100.370.110 100.370.111 100.380.100 "
        "100.380.101 100.380.110 100.380.201 100.380.305 100.380.306 100.400.500 100.550.310 100.550.311 100.550.312 "
        "100.550.601 100.550.605 900.400.100 "
        "100.400.000 100.400.001 100.400.002 100.400.005 100.400.007 100.400.020 100.400.021 100.400.030 100.400.039 "
        "100.400.040 100.400.041 100.400.042 100.400.043 100.400.044 100.400.045 100.400.051 100.400.060 100.400.061 "
        "100.400.063 100.400.064 100.400.065 100.400.071 100.400.080 100.400.081 100.400.083 100.400.084 100.400.085 "
        "100.400.086 100.400.087 100.400.091 100.400.100 100.400.120 100.400.121 100.400.122 100.400.123 100.400.130 "
        "100.400.139 100.400.140 100.400.141 100.400.142 100.400.143 100.400.144 100.400.145 100.400.146 100.400.147 "
        "100.400.148 100.400.149 100.400.150 100.400.151 100.400.152 100.400.241 100.400.242 100.400.243 100.400.260 "
        "100.400.300 100.400.301 100.400.302 100.400.303 100.400.304 100.400.305 100.400.306 100.400.307 100.400.308 "
        "100.400.309 100.400.310 100.400.311 100.400.312 100.400.313 100.400.314 100.400.315 100.400.316 100.400.317 "
        "100.400.318 100.400.319 100.400.320 100.400.321 100.400.322 100.400.323 100.400.324 100.400.325 100.400.326 "
        "100.400.327 100.400.328",
    ),
    _Row(
        _LATER,
        "block lists and counters",
        "800.120.101 800.120.102 800.120.103 800.120.200 800.120.201 800.120.202 800.120.203 800.120.300 800.140.100 "
        "800.140.101 800.140.110 800.140.111 800.140.112 800.140.113 800.150.100 800.200.159 800.200.160 800.200.165 "
        "800.200.202 800.200.208 800.200.220 800.300.101 800.300.102 800.300.200 800.300.301 800.300.302 800.300.401 "
        "800.300.500 800.300.501",
    ),
    _Row(_LATER, "routing rules", "800.160.100 800.160.110 800.160.120 800.160.130"),
    # ---- not answered: what does not exist here ----
    _Row(
        _ABSENT,
        "the XML interface and its sections",
        "100.300.401 100.300.402 100.300.501 100.300.700 100.300.701 100.370.122 100.370.123 100.370.124 100.370.131 "
        "100.370.132 200.100.101 200.100.102 200.100.199 200.100.201 200.100.300 200.100.301 200.100.302 200.100.401 "
        "200.100.402 200.100.403 200.100.404 600.200.600 600.200.810",
    ),
    _Row(_ABSENT, "batches", "200.100.150 200.100.151"),
    _Row(_ABSENT, "ids chosen by the merchant", "200.200.106 800.130.100"),
    _Row(_ABSENT, "a dry run", "000.100.111"),
    _Row(_ABSENT, "captures for another amount than asked for", "000.100.211 000.100.212"),
    _Row(_ABSENT, "answers to disputes", "000.100.105 000.100.106"),
    _Row(
        _ABSENT,
        "a card updater",
        "000.310.100 000.310.101 000.310.110 800.310.200 800.310.210 800.310.211",
    ),
    _Row(_ABSENT, "a retired scoring service", "000.500.000 000.500.100"),
    _Row(_ABSENT, "cards with an issue number or a first day", "100.100.304 100.100.650 100.100.651"),
    _Row(_ABSENT, "confirmation by PIN", "100.350.313 100.350.314 100.350.315 100.350.400"),
    _Row(_ABSENT, "registrations handed through", "100.350.310 100.350.311 100.350.312 800.900.399"),
    _Row(_ABSENT, "bank accounts confirmed before use", "100.200.200"),
    _Row(_ABSENT, "accounts with a password", "100.211.101 100.211.102 100.211.103 100.211.104"),
    _Row(_ABSENT, "vouchers and prepaid wallets", "100.211.106 100.212.101 100.212.102 100.212.103 100.350.500"),
    _Row(_ABSENT, "a list of accounts that are for tests only", "700.500.003"),
    _Row(_ABSENT, "comparing the cart with the payment", "100.550.702"),
    _Row(_ABSENT, "titles", "100.700.400"),
    _Row(_ABSENT, "mandates kept by another party", "100.500.304"),
    _Row(
        _ABSENT,
        "states of a merchant's account at the acquirer",
        "500.100.301 500.100.302 500.100.303 500.100.304 500.100.401 500.100.402 500.100.403",
    ),
    _Row(_ABSENT, "permissions by address or key", "600.300.101 600.300.200 600.300.210 600.300.211 800.900.303"),
    _Row(_ABSENT, "channels limited to some uses", "800.121.100 800.121.200 800.121.300 800.121.400"),
    _Row(_ABSENT, "reconciliation and instalments as payment types", "700.400.540 700.400.561 700.400.590"),
)


CAUSES: Mapping[str, Cause] = MappingProxyType(
    {code: Cause(row.origin, row.words) for row in _ROWS for code in row.codes.split()}
    | {row.code: Cause(Origin.GATEWAY, f"{row.text} Strict channels only.") for row in DECLINES}
)
