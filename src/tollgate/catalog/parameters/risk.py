"""Rows of 3D Secure, risk and the merchant's custom parameters.
The custom keys for the simulator are in `test_cards`.
"""

from tollgate.catalog.parameters.row import AMOUNT, CONDITIONAL, OPEN, Parameter, Use, mount, plain, sent, several
from tollgate.catalog.shape import BOOLEAN, CURRENCY, TIMESTAMP, amount, choice, digits, pattern, text

_SCHEMES = ("visa", "mastercard", "amex", "diners", "jcb", "cartebancaire")
_YES_OR_NO = choice("Y", "N")
_TYPE = pattern("[0-9A-Za-z]{1,2}", 1, 2)

_PROOF = (
    plain("eci", digits(2, 2), CONDITIONAL, note="Electronic commerce indicator"),
    Parameter("verificationId", text(1, 4000), CONDITIONAL, note="Authentication value (CAVV, AAV)", holds_code=True),
    Parameter("xid", text(1, 28), CONDITIONAL, note="Transaction id of the first 3D Secure version", holds_code=True),
    plain("authenticationStatus", choice("Y", "A", "N", "U", "R", "I", "C"), CONDITIONAL),
    plain("version", pattern(r"[0-9]{1,2}(\.[0-9]{1,2}){0,2}", 1, 8), CONDITIONAL),
    *several("dsTransactionId acsTransactionId", text(1, 100), CONDITIONAL, OPEN, holds_code=True),
    plain("challengeMandatedIndicator", _YES_OR_NO),
    plain("authenticationType", _TYPE),
    plain("transactionStatusReason", digits(1, 2)),
    plain(
        "exemptionFlag",
        choice("01", "02", "03", "04"),
        note="01 low value, 02 risk analysis, 03 trusted payee, 04 corporate",
    ),
    plain("flow", choice("challenge", "frictionless")),
)
"""The result of an authentication, which the acquirer needs; the other rows ask for one."""

_FORM_PROOF = "payment_method_options[card][three_d_secure]"

THREE_D_SECURE = (
    *mount(
        "threeDSecure",
        _PROOF,
        use=Use.ONE_PAYMENT | Use.AUTHENTICATION,
        details="authentication",
        to={
            "eci": sent(iso8583="48.20", stripe=f"{_FORM_PROOF}[electronic_commerce_indicator]"),
            "verificationId": sent(iso8583="48.21", stripe=f"{_FORM_PROOF}[cryptogram]"),
            "dsTransactionId": sent(iso8583="48.22", stripe=f"{_FORM_PROOF}[transaction_id]"),
            "version": sent(iso8583="48.23", stripe=f"{_FORM_PROOF}[version]"),
            "authenticationStatus": sent(iso8583="48.24"),
            "exemptionFlag": sent(iso8583="48.25"),
        },
    ),
    *mount(
        "threeDSecure",
        (
            plain("authType", _TYPE),
            plain("authenticationInd", digits(1, 2)),
            Parameter("schemeData[key]", text(0, 2048), note="Fields of one card scheme"),
            plain("amount", amount(9), note="Amount to authenticate, when it differs"),
            plain("currency", CURRENCY),
            Parameter("deviceInfo", text(1, 64000), note="Device data of an app", holds_code=True),
            *several("merchant.name merchant.url", text(1, 255), secrecy=OPEN),
            *several("merchant.country", text(2, 3), secrecy=OPEN),
            *several(" ".join(f"v2.{scheme}.requestorId" for scheme in _SCHEMES), text(1, 100), holds_code=True),
            *several(" ".join(f"v2.{scheme}.requestorName" for scheme in _SCHEMES), text(1, 100)),
            plain("channel", digits(2, 2), note="01 is a request without the shopper"),
            *several("npa decoupled disable", BOOLEAN, secrecy=OPEN),
            plain("threeRIInd", choice("RECURRING", "SPLIT_SHIPMENT", "DELAYED_SHIPMENT")),
            plain("challengeIndicator", pattern("0?[1-9]", 1, 2), note="04 asks for a challenge"),
            plain("messageCategory", pattern("[A-Za-z0-9_]{1,32}", 1, 32)),
        ),
        use=Use.ONE_PAYMENT | Use.AUTHENTICATION,
    ),
)

RISK = mount(
    "risk",
    (
        # No acquirer receives these; they are answered and reported.
        *several("channelId serviceId brand", text(1, 255), secrecy=OPEN),
        *several("amount", AMOUNT, secrecy=OPEN),
        *several("orderTimestamp", TIMESTAMP, secrecy=OPEN),
        *several("merchantWebsite", text(1, 60), secrecy=OPEN),
        *several("accountToken", text(1, 64)),
        Parameter("parameters[key]", text(0, 2048), note="Fields of the risk rules"),
    ),
)

CUSTOM = mount(
    "",
    (
        Parameter(
            "customParameters[key]", text(0, 2048), note="Free data, echoed; SHOPPER_ keys may come from the form"
        ),
    ),
    use=Use.REGISTRATION | Use.AUTHENTICATION,
)
