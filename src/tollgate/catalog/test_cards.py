"""Test cards, test accounts and simulator overrides. What a live acquirer does with them is not known here."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

from tollgate.catalog.card_checks import AVS_LETTERS, CVV_LETTERS
from tollgate.catalog.results import RESULTS
from tollgate.catalog.shape import LOOSE_BOOLEAN, Shape, choice, number, pattern


@dataclass(frozen=True, slots=True)
class TestAccount:
    __test__ = False  # pytest would take the name for a test class

    country: str
    holder: str
    iban: str
    bic: str


TEST_ACCOUNTS = (
    TestAccount("AT", "Jane Jones", "AT483200000012345864", "RLNWATWWXXX"),
    TestAccount("DE", "Jane Jones", "DE89370400440532013000", "COBADEFFXXX"),
    TestAccount("ES", "Jane Jones", "ES9121000418450200051332", "CAIXESBBXXX"),
)


class Behaviour(Enum):
    """The behaviour of the simulated issuer when the card is authenticated."""

    NO_3DS = "not enrolled, paid without 3D Secure"
    CHALLENGE = "the shopper chooses the outcome on a simulated page"
    FRICTIONLESS = "authenticated without asking the shopper"
    ATTEMPT = "authentication attempted, liability shifts"
    TECHNICAL_ERROR = "3D Secure fails technically"
    NOT_ENROLLED = "the directory does not know the card"
    NOT_PARTICIPATING = "the issuer does not take part"


_APPROVED, _WAITING = "000.100.110", "000.200.000"

_REFUSALS: Mapping[Behaviour, str] = {
    Behaviour.TECHNICAL_ERROR: "100.390.112",
    Behaviour.NOT_ENROLLED: "000.400.102",
    Behaviour.NOT_PARTICIPATING: "000.400.101",
}
"""The result of a payment whose authentication ends like this; after any other the card is charged."""


@dataclass(frozen=True, slots=True)
class TestCard:
    __test__ = False  # pytest would take the name for a test class

    number: str
    brand: str
    behaviour: Behaviour
    has_method_data: bool = False
    """A hidden frame collects device data first."""
    result_code: str = ""
    """The answer of the simulated acquirer without an override; it approves where this is empty."""

    @property
    def charged_code(self) -> str:
        """The result of a payment that runs no 3-D Secure, as one without `shopperResultUrl`."""
        return self.result_code or _APPROVED

    @property
    def secured_code(self) -> str:
        """The first answer to a payment that runs 3-D Secure."""
        if self.behaviour is Behaviour.CHALLENGE or self.has_method_data:
            return _WAITING
        return _REFUSALS.get(self.behaviour, self.charged_code)


@dataclass(frozen=True, slots=True)
class SimulatorOverride:
    key: str
    shape: Shape
    effect: str

    @property
    def name(self) -> str:
        return f"customParameters[{self.key}]"


def _cards(brand: str, behaviour: Behaviour, numbers: str, *, has_method_data: bool = False) -> tuple[TestCard, ...]:
    return tuple(TestCard(number, brand, behaviour, has_method_data) for number in numbers.split())


_ROWS = (
    TestCard("4000000000000002", "VISA", Behaviour.NO_3DS, result_code="800.100.152"),
    TestCard("4000000000009995", "VISA", Behaviour.NO_3DS, result_code="800.100.155"),
    TestCard("5200000000000817", "MASTER", Behaviour.NO_3DS, result_code="800.100.152"),
    *_cards("VISA", Behaviour.NO_3DS, "4200000000000000 4242424242424242 4111111111111111"),
    *_cards("MASTER", Behaviour.NO_3DS, "5454545454545454 5105105105105100"),
    *_cards("AMEX", Behaviour.NO_3DS, "377777777777770"),
    *_cards("DINERS", Behaviour.NO_3DS, "30082246403846"),
    *_cards("VISA", Behaviour.CHALLENGE, "4711100000000000 4012888888881881 4012001036275556"),
    *_cards("MASTER", Behaviour.CHALLENGE, "5212345678901234"),
    *_cards("AMEX", Behaviour.CHALLENGE, "375987000000005"),
    *_cards("VISA", Behaviour.FRICTIONLESS, "4200000000000091", has_method_data=True),
    *_cards("MASTER", Behaviour.FRICTIONLESS, "5200000000000007", has_method_data=True),
    *_cards("AMEX", Behaviour.FRICTIONLESS, "374500262001008", has_method_data=True),
    *_cards("VISA", Behaviour.ATTEMPT, "4200000000000109", has_method_data=True),
    *_cards("MASTER", Behaviour.ATTEMPT, "5200000000000023", has_method_data=True),
    *_cards("AMEX", Behaviour.ATTEMPT, "377277081382243", has_method_data=True),
    *_cards("VISA", Behaviour.FRICTIONLESS, "4200000000000026"),
    *_cards("MASTER", Behaviour.FRICTIONLESS, "5200000000000056"),
    *_cards("AMEX", Behaviour.FRICTIONLESS, "375987000000062"),
    *_cards("VISA", Behaviour.ATTEMPT, "4200000000000059"),
    *_cards("MASTER", Behaviour.ATTEMPT, "5200000000000106"),
    *_cards("AMEX", Behaviour.ATTEMPT, "373953192351004"),
    *_cards("VISA", Behaviour.TECHNICAL_ERROR, "4012001037461114"),
    *_cards("MASTER", Behaviour.TECHNICAL_ERROR, "5434580000000006"),
    *_cards("AMEX", Behaviour.TECHNICAL_ERROR, "375987000169875"),
    *_cards("VISA", Behaviour.NOT_ENROLLED, "4012001037141112"),
    *_cards("MASTER", Behaviour.NOT_ENROLLED, "5457350076543210"),
    *_cards("AMEX", Behaviour.NOT_ENROLLED, "375987000169883"),
    *_cards("VISA", Behaviour.NOT_PARTICIPATING, "4532497088771651"),
    *_cards("MASTER", Behaviour.NOT_PARTICIPATING, "5497260847316287"),
    *_cards("AMEX", Behaviour.NOT_PARTICIPATING, "343923092050144"),
    *_cards("VISA", Behaviour.CHALLENGE, "4200000000000042 4200000000000067", has_method_data=True),
    *_cards("MASTER", Behaviour.CHALLENGE, "5200000000000015 5200000000000049", has_method_data=True),
    *_cards("AMEX", Behaviour.CHALLENGE, "343434343434343 375987000000021", has_method_data=True),
    *_cards("VISA", Behaviour.CHALLENGE, "4200000000000018 4200000000000075"),
    *_cards("MASTER", Behaviour.CHALLENGE, "5200000000000064 5200000000000072"),
    *_cards("AMEX", Behaviour.CHALLENGE, "375987000169867 371449635398431"),
    *_cards("JCB", Behaviour.FRICTIONLESS, "3530111333300000"),
    *_cards("UNIONPAY", Behaviour.FRICTIONLESS, "6250947000000014"),
    *_cards(
        "MAESTRO",
        Behaviour.NO_3DS,
        "6761301000993772 6706981111111113 6799851000000032 6007930123456780 6761301000941201 6761301000946341"
        " 6761257707836567 6799998900000060018 6773670009114879 67034200554565015 6759888888888888",
    ),
)

TEST_CARDS: Mapping[str, TestCard] = MappingProxyType({row.number: row for row in _ROWS})

SIMULATOR_OVERRIDES = (
    SimulatorOverride(
        "forceResultCode",
        pattern(
            r"[0-9]{3}\.[0-9]{3}\.[0-9]{3}",
            11,
            11,
            RESULTS.__contains__,
            message="must be a code of the result catalogue",
            notation="N11, nnn.nnn.nnn",
        ),
        "the answer is this code",
    ),
    SimulatorOverride("3DS2_enrolled", LOOSE_BOOLEAN, "true takes any card as enrolled"),
    SimulatorOverride("3DS2_flow", choice("challenge", "frictionless"), "which way 3D Secure goes"),
    SimulatorOverride(
        "simulatorDelay", number(0, 30_000), "the simulated acquirer answers that many milliseconds late"
    ),
    SimulatorOverride("simulatorAvs", choice(*AVS_LETTERS), "the answer to the check of the address"),
    SimulatorOverride("simulatorCvv", choice(*CVV_LETTERS), "the answer to the check of the security code"),
    SimulatorOverride(
        "simulatorFault",
        choice("unsent", "dropped", "lost", "garbled"),
        "the line breaks before sending, before the acquirer, behind the acquirer, or the answer is unreadable",
    ),
)
"""They work on a test host only; on a live host these keys are ordinary custom parameters."""
