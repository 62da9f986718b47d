"""The kinds of risk rules: what each counts or compares, its terms, and the result code it raises.

The rules themselves are a merchant's own; how they are evaluated is decided in `payments/risk.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from tollgate.catalog.shape import Shape, amount, choice, digits, pattern, text


class Attribute(StrEnum):
    """A value of a payment that rules count by, or that lists name."""

    CARD = "card"
    """The number of the card or bank account, or the id of another account."""
    EMAIL = "email"
    IP = "ip"
    DEVICE = "device"
    MOBILE = "mobile"
    BIN = "bin"
    COUNTRY = "country"
    """A country of the card, of the billing address or of the IP address."""
    CUSTOMER = "customer"
    """The merchant's own id of the shopper."""
    CHANNEL = "channel"
    ACCOUNT = "account"
    """The acquirer account that the payment goes to first."""
    MERCHANT_TRANSACTION_ID = "merchant_transaction_id"
    PAYMENT = "payment"
    """The same account with the same amount and currency."""
    CARD_EMAIL = "card_email"
    """The e-mail addresses that came with a card; the others likewise."""
    CARD_MOBILE = "card_mobile"
    EMAIL_CARD = "email_card"
    MOBILE_CARD = "mobile_card"
    REGISTERED_EMAIL = "registered_email"
    """The e-mail address of a registration."""
    REGISTERED_MOBILE = "registered_mobile"
    WRONG_CVV = "wrong_cvv"
    """The card of a payment that was declined for its security code."""
    WRONG_EXPIRY = "wrong_expiry"


PAIRS: Mapping[Attribute, tuple[Attribute, Attribute]] = {
    Attribute.CARD_EMAIL: (Attribute.CARD, Attribute.EMAIL),
    Attribute.CARD_MOBILE: (Attribute.CARD, Attribute.MOBILE),
    Attribute.EMAIL_CARD: (Attribute.EMAIL, Attribute.CARD),
    Attribute.MOBILE_CARD: (Attribute.MOBILE, Attribute.CARD),
}
"""The attribute by which a pair is found, and the one whose different values are counted."""

REGISTERED: Mapping[Attribute, Attribute] = {
    Attribute.REGISTERED_EMAIL: Attribute.EMAIL,
    Attribute.REGISTERED_MOBILE: Attribute.MOBILE,
}
"""The values of a registration, and the attribute that has the same value in a payment."""

REGISTERING = frozenset({*REGISTERED, *PAIRS})
"""The attributes that are seen in a registration without a payment."""

_SHARED: Mapping[Attribute, tuple[Attribute, ...]] = {
    Attribute.CARD: (Attribute.CARD, Attribute.CARD_EMAIL, Attribute.CARD_MOBILE),
    Attribute.EMAIL: (Attribute.EMAIL, Attribute.EMAIL_CARD, Attribute.REGISTERED_EMAIL),
    Attribute.MOBILE: (Attribute.MOBILE, Attribute.MOBILE_CARD, Attribute.REGISTERED_MOBILE),
}
BASES: Mapping[Attribute, Attribute] = {each: base for base, some in _SHARED.items() for each in some}
"""The attributes that share the value of another, and its sightings with it; each has a mark of its own there."""
MARKS: Mapping[Attribute, int] = {
    each: 1 << (_SHARED[BASES[each]].index(each) if each in BASES else 0) for each in Attribute
}

WRONG: Mapping[Attribute, tuple[Attribute, bytes]] = {
    Attribute.WRONG_CVV: (Attribute.CARD, b"\x01"),
    Attribute.WRONG_EXPIRY: (Attribute.CARD, b"\x02"),
}
"""The attributes that are seen in a result, with the one whose value they have, and the end of their keys."""

KEYS: Mapping[Attribute, tuple[Attribute, bytes]] = {
    each: WRONG.get(each, (BASES.get(each, each), b"")) for each in Attribute
}
"""The attribute whose value is hashed for the key of each, and the end of that key."""

TOTALS = frozenset({Attribute.CHANNEL, Attribute.ACCOUNT})
"""The attributes that all payments share: they are added up by the minute, because there are too many to read."""


class Moment(StrEnum):
    BEFORE = "before"
    """Nothing was sent to the acquirer yet."""
    APPROVED = "approved"
    """The acquirer approved, and told what it knows of the address and the security code."""


class Term(StrEnum):
    """A term of a rule, as it is given and stored."""

    ATTRIBUTE = "attribute"
    WINDOW = "window"
    COUNT = "count"
    AMOUNT = "amount"
    CURRENCY = "currency"
    COUNTRIES = "countries"
    COMPARED = "compared"
    ANSWERS = "answers"
    SCORE = "score"


COMPARED = ("bin-billing", "bin-ip", "billing-ip")
"""The countries that a rule compares."""

TERM_SHAPES: Mapping[Term, tuple[Shape, str]] = {
    Term.ATTRIBUTE: (choice(*Attribute), "the value that is counted or looked at"),
    Term.WINDOW: (pattern("[1-9][0-9]{0,5}[smhd]", 2, 7), "the period: seconds, minutes, hours or days, such as 24h"),
    Term.COUNT: (digits(1, 6), "so many are allowed"),
    Term.AMOUNT: (amount(), "so much is allowed"),
    Term.CURRENCY: (pattern("[A-Z]{3}", 3, 3), "the currency of the amount; payments in another one are not judged"),
    Term.COUNTRIES: (pattern("[A-Z]{2}(,[A-Z]{2})*", 2, 749), "countries, with commas between them"),
    Term.COMPARED: (choice(*COMPARED), "the two countries that must be equal"),
    Term.ANSWERS: (pattern("[0-9A-Z](,[0-9A-Z])*", 1, 71), "answers of the acquirer, with commas between them"),
    Term.SCORE: (pattern("[1-9][0-9]?|100", 1, 3), "a sum of points from 1 to 100"),
}
"""The shape of each term, and what it means."""

WINDOW_UNITS_S: Mapping[str, int] = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
WINDOW_MAX_S = 366 * 86_400
NAME = text(1, 128)
NOTE = text(0, 255)
POINTS = pattern("[0-9]{1,2}|100", 1, 3)


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskKind:
    name: str
    words: str
    """The sentence that says when a rule of this kind is hit."""
    terms: tuple[Term, ...] = ()
    """The terms that a rule of this kind needs, and no others."""
    codes: Mapping[Attribute, str] = field(default_factory=dict)
    """The code of a refusal by attribute, if the rule has one."""
    code: str = ""
    """The code of a refusal, if the rule has no attribute."""
    review_code: str = "000.400.000"
    outcome: str = "refuse"
    """The outcome of a rule that names none."""
    moment: Moment = Moment.BEFORE

    def get_code(self, attribute: Attribute | None) -> str:
        return self.code if attribute is None else self.codes[attribute]


RISK_KINDS: Mapping[str, RiskKind] = {
    row.name: row
    for row in (
        RiskKind(
            name="count",
            words="More payments, or registrations, than allowed have the same value within the window.",
            terms=(Term.ATTRIBUTE, Term.WINDOW, Term.COUNT),
            codes={
                Attribute.CARD: "800.120.101",
                Attribute.IP: "800.120.102",
                Attribute.EMAIL: "800.120.103",
                Attribute.DEVICE: "100.400.319",
                Attribute.MOBILE: "100.400.319",
                Attribute.BIN: "100.400.319",
                Attribute.CUSTOMER: "800.120.101",
                Attribute.CHANNEL: "800.120.200",
                Attribute.ACCOUNT: "800.120.401",
                Attribute.REGISTERED_MOBILE: "800.140.100",
                Attribute.REGISTERED_EMAIL: "800.140.101",
            },
        ),
        RiskKind(
            name="volume",
            words="Payments with the same value add up to more than allowed within the window.",
            terms=(Term.ATTRIBUTE, Term.WINDOW, Term.AMOUNT, Term.CURRENCY),
            codes={
                Attribute.CARD: "800.120.201",
                Attribute.IP: "800.120.202",
                Attribute.EMAIL: "800.120.203",
                Attribute.DEVICE: "100.400.319",
                Attribute.MOBILE: "100.400.319",
                Attribute.BIN: "100.400.319",
                Attribute.CUSTOMER: "800.120.201",
                Attribute.CHANNEL: "800.120.200",
                Attribute.ACCOUNT: "800.120.401",
            },
        ),
        RiskKind(
            name="distinct",
            words="One value came with more different values of another kind than allowed within the window.",
            terms=(Term.ATTRIBUTE, Term.WINDOW, Term.COUNT),
            codes={
                Attribute.CARD_MOBILE: "800.140.110",
                Attribute.MOBILE_CARD: "800.140.111",
                Attribute.CARD_EMAIL: "800.140.112",
                Attribute.EMAIL_CARD: "800.140.113",
            },
        ),
        RiskKind(
            name="wrong_tries",
            words="The issuer declined the card for a wrong security code or expiry date as often as allowed.",
            terms=(Term.ATTRIBUTE, Term.WINDOW, Term.COUNT),
            codes={Attribute.WRONG_CVV: "800.300.500", Attribute.WRONG_EXPIRY: "800.300.501"},
        ),
        RiskKind(
            name="amount",
            words="One payment is above the amount.",
            terms=(Term.AMOUNT, Term.CURRENCY),
            code="100.400.140",
        ),
        RiskKind(
            name="first_time",
            words="One payment is above the amount, and its value was not seen within the window before.",
            terms=(Term.ATTRIBUTE, Term.WINDOW, Term.AMOUNT, Term.CURRENCY),
            codes=dict.fromkeys(
                (Attribute.CARD, Attribute.EMAIL, Attribute.DEVICE, Attribute.MOBILE, Attribute.CUSTOMER), "100.400.020"
            ),
            outcome="step_up",
        ),
        RiskKind(
            name="duplicate",
            words="The same merchantTransactionId, or the same account with the same amount, came within the window.",
            terms=(Term.ATTRIBUTE, Term.WINDOW),
            codes={Attribute.MERCHANT_TRANSACTION_ID: "800.130.100", Attribute.PAYMENT: "800.110.100"},
        ),
        RiskKind(
            name="country_mismatch",
            words="Two countries of the payment are both known and differ.",
            terms=(Term.COMPARED,),
            code="100.400.021",
            outcome="review",
        ),
        RiskKind(
            name="country_served",
            words="The country of the billing address, or else of the card, is known and not among the countries.",
            terms=(Term.COUNTRIES,),
            code="100.400.084",
        ),
        RiskKind(name="proxy", words="The IP address is that of an anonymous proxy.", code="800.300.302"),
        RiskKind(
            name="holder",
            words="The holder of the card has another name than the customer.",
            code="800.150.100",
            outcome="review",
        ),
        RiskKind(
            name="missing",
            words="The payment comes without a value that you always send.",
            terms=(Term.ATTRIBUTE,),
            codes={
                Attribute.EMAIL: "100.400.315",
                Attribute.IP: "100.400.318",
                Attribute.MOBILE: "100.400.043",
                Attribute.DEVICE: "100.400.243",
            },
        ),
        RiskKind(
            name="score",
            words="The points of the other rules add up to the score or more.",
            terms=(Term.SCORE,),
            code="100.400.100",
        ),
        RiskKind(
            name="avs",
            words="The acquirer's answer to the address check is among the answers.",
            terms=(Term.ANSWERS,),
            code="800.400.100",
            review_code="000.400.010",
            outcome="review",
            moment=Moment.APPROVED,
        ),
        RiskKind(
            name="cvv",
            words="The acquirer's answer to the check of the security code is among the answers.",
            terms=(Term.ANSWERS,),
            code="100.400.317",
            review_code="000.400.020",
            outcome="review",
            moment=Moment.APPROVED,
        ),
    )
}

BLOCK_CODES: Mapping[Attribute, str] = {
    Attribute.CARD: "800.300.101",
    Attribute.CUSTOMER: "800.300.101",
    Attribute.MOBILE: "800.300.101",
    Attribute.DEVICE: "800.300.101",
    Attribute.COUNTRY: "800.300.102",
    Attribute.EMAIL: "800.300.200",
    Attribute.IP: "800.300.301",
    Attribute.BIN: "800.300.401",
}
"""The attributes that lists may name, with the code of a payment that the block list refuses."""
