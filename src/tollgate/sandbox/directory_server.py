"""The simulated 3-D Secure directory server: checks a request and decides by the test card.

The pages of a challenge belong to the issuer.
"""

import base64
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from tollgate.catalog import brands, shape
from tollgate.catalog.test_cards import TEST_CARDS, Behaviour
from tollgate.connectors.exchange import WireReply, WireRequest, encode_message
from tollgate.connectors.threeds import exchanges, messages
from tollgate.sandbox.acquirer import misbehave
from tollgate.sandbox.issuer import Challenge, insert_challenge, locate_challenge
from tollgate.store.database import Database
from tollgate.values import Clock, RandomBytes, system_random_bytes
from tollgate.vault.keyring import Keyring

_BROWSER = ("02",)
_APP = ("01",)
_PRESENT = ("01", "02")
_ALWAYS = ("01", "02", "03")
_NEVER = ()

_UUID = r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_URL = r"https?://[\x21-\x7e]{1,2040}"
_SIZE = r"[0-9]{1,6}"


class Element(msgspec.Struct, frozen=True):
    name: str
    pattern: str
    channels: tuple[str, ...] = _NEVER
    """The channels in which it is mandatory: 01 app, 02 browser, 03 without the shopper."""
    is_for_payments: bool = False
    """Mandatory only where money is asked for."""


# A merchant's country and category are known to the directory from its enrolment, so they are no duty here.
ELEMENTS = (
    Element("messageType", "AReq", _ALWAYS),
    Element("messageVersion", r"2\.[12]\.0", _ALWAYS),
    Element("messageCategory", "01|02", _ALWAYS),
    Element("deviceChannel", "01|02|03", _ALWAYS),
    Element("threeDSServerTransID", _UUID, _ALWAYS),
    Element("threeDSServerRefNumber", ".{1,32}", _ALWAYS),
    Element("threeDSServerURL", _URL, _ALWAYS),
    Element("threeDSRequestorID", ".{1,35}", _ALWAYS),
    Element("threeDSRequestorName", ".{1,40}", _ALWAYS),
    Element("threeDSRequestorURL", _URL, _ALWAYS),
    Element("threeDSRequestorAuthenticationInd", "0[1-9]", _PRESENT),
    Element("threeDSRequestorChallengeInd", "0[1-9]"),
    Element("threeDSRequestorDecReqInd", "[YN]"),
    Element("threeDSRequestorDecMaxTime", "[0-9]{5}"),
    Element("threeRIInd", "0[1-9]|1[01]", ("03",)),
    Element("threeDSCompInd", "[YNU]", _BROWSER),
    Element("notificationURL", _URL, _BROWSER),
    Element("acquirerBIN", "[0-9]{1,11}", _ALWAYS, is_for_payments=True),
    Element("acquirerMerchantID", ".{1,35}", _ALWAYS, is_for_payments=True),
    Element("merchantName", ".{1,40}", _ALWAYS, is_for_payments=True),
    Element("merchantCountryCode", "[0-9]{3}"),
    Element("mcc", "[0-9]{4}"),
    Element("acctNumber", "[0-9]{13,19}", _ALWAYS),
    Element("cardExpiryDate", "[0-9]{2}(0[1-9]|1[0-2])"),
    Element("cardholderName", ".{2,45}"),
    Element("purchaseAmount", "[0-9]{1,48}", _ALWAYS, is_for_payments=True),
    Element("purchaseCurrency", "[0-9]{3}", _ALWAYS, is_for_payments=True),
    Element("purchaseExponent", "[0-9]", _ALWAYS, is_for_payments=True),
    Element("purchaseDate", "[0-9]{14}", _ALWAYS, is_for_payments=True),
    Element("browserAcceptHeader", ".{1,2048}", _BROWSER),
    Element("browserIP", r"[0-9a-fA-F.:]{2,45}"),
    Element("browserJavascriptEnabled", "true|false", _BROWSER),
    Element("browserLanguage", ".{1,8}", _BROWSER),
    Element("browserUserAgent", ".{1,2048}", _BROWSER),
    Element("browserColorDepth", "1|4|8|15|16|24|32|48"),
    Element("browserJavaEnabled", "true|false"),
    Element("browserScreenHeight", _SIZE),
    Element("browserScreenWidth", _SIZE),
    Element("browserTZ", r"[+-]?[0-9]{1,4}"),
    Element("billAddrCountry", "[0-9]{3}"),
    Element("billAddrState", ".{1,3}"),
    Element("shipAddrCountry", "[0-9]{3}"),
    Element("shipAddrState", ".{1,3}"),
    Element("sdkEncData", ".{1,64000}", _APP),
)

SCRIPTED = ("browserColorDepth", "browserJavaEnabled", "browserScreenHeight", "browserScreenWidth", "browserTZ")
"""Mandatory in a browser that runs scripts: no other can know them."""

_PATTERNS = {element.name: re.compile(element.pattern, re.DOTALL) for element in ELEMENTS}


def check_message(body: bytes) -> tuple[list[str], list[str]]:
    """Returns the names of missing elements, and of malformed ones."""
    try:
        message = msgspec.json.decode(body, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return [], ["messageType"]
    missing = [name for name in _list_duties(message) if message.get(name) in (None, "")]
    wrong = [
        name
        for name, pattern in _PATTERNS.items()
        if message.get(name) not in (None, "") and not pattern.fullmatch(_write(message[name]))
    ]
    return missing, wrong


def _list_duties(message: Mapping[str, Any]) -> list[str]:
    channel, is_payment = message.get("deviceChannel", "02"), message.get("messageCategory", "01") == "01"
    duties = [
        element.name
        for element in ELEMENTS
        if channel in element.channels and (is_payment or not element.is_for_payments)
    ]
    runs_scripts = channel == "02" and message.get("browserJavascriptEnabled") is True
    return [*duties, *SCRIPTED] if runs_scripts else duties


def _write(value: object) -> str:
    """Renders an element as text; what is neither text nor a boolean is malformed."""
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else ""


VERSION = "2.2.0"
_TEXT_MAX = 128
_PROOF_BYTES = 20

_SMALL_INDICATORS = frozenset({"MASTER", "MAESTRO"})
"""These networks count 02, 01, 00 where all others count 05, 06, 07."""


class Answer(msgspec.Struct, frozen=True):
    """An answer without a challenge: status, reason, indicator (full, half, none), and whether it has a proof."""

    status: str
    reason: str | None = None
    shift: int | None = None
    """The share of the liability that moves, as an index into the indicators; None without an indicator."""
    has_proof: bool = False


INDICATORS = (("05", "02"), ("06", "01"), ("07", "00"))
"""Authenticated, attempted, neither: for most networks, and for those that count small."""

ANSWERS: Mapping[Behaviour, Answer] = {
    Behaviour.FRICTIONLESS: Answer("Y", shift=0, has_proof=True),
    Behaviour.ATTEMPT: Answer("A", shift=1, has_proof=True),
    Behaviour.TECHNICAL_ERROR: Answer("U", "22"),
    Behaviour.NOT_ENROLLED: Answer("N", "13", shift=1),
    Behaviour.NOT_PARTICIPATING: Answer("U", "87", shift=2),
    Behaviour.NO_3DS: Answer("N", "08", shift=2),
}
"""Every behaviour but the challenge, which is no answer yet."""

_NOBODY_THERE = Answer("U", "21")
"""A card that wants to ask the shopper, and the shopper is away."""

PLANNED_BEHAVIOUR = "directoryBehaviour"
"""The override by which the back office plans a behaviour; no request can send it."""

_ENROLLED = (Behaviour.CHALLENGE, Behaviour.FRICTIONLESS, Behaviour.ATTEMPT)
_FLOWS = {"challenge": Behaviour.CHALLENGE, "frictionless": Behaviour.FRICTIONLESS}


class SimulatedDirectoryServer:
    """A wire with a directory server at the other end, and every issuer behind it."""

    def __init__(
        self,
        database: Database,
        keyring: Keyring,
        base_url: str,
        clock: Clock,
        random_bytes: RandomBytes = system_random_bytes,
    ) -> None:
        self._database = database
        self._keyring = keyring
        self._base_url = base_url
        self._clock = clock
        self._random_bytes = random_bytes

    async def send(self, request: WireRequest, timeout_s: float) -> WireReply:
        return await misbehave(request, timeout_s, self._act, "directory")

    async def _act(self, request: WireRequest) -> WireReply:
        match request.path:
            case messages.RANGES:
                reply: messages.PRes | messages.ARes | messages.Erro = self._answer_ranges(request.body)
            case messages.AUTHENTICATIONS:
                reply = await self._authenticate(request.body, request.simulator_overrides)
            case _:
                return WireReply(404, b"")
        return WireReply(200, encode_message(reply))

    def _answer_ranges(self, body: bytes) -> messages.PRes | messages.Erro:
        question = messages.read_message(body, messages.PReq)
        if question is None:
            return _make_error("101", "not a request for card ranges", "PReq")
        method_url = f"{self._base_url}/sandbox/acs/method"
        return messages.PRes(
            message_version=VERSION,
            three_ds_server_trans_id=question.three_ds_server_trans_id,
            ds_trans_id=exchanges.make_server_id(self._random_bytes),
            serial_num="1",
            card_range_data=tuple(
                messages.Range(
                    start_range=card.number,
                    end_range=card.number,
                    acs_start_protocol_version="2.1.0",
                    acs_end_protocol_version=VERSION,
                    three_ds_method_url=method_url if card.has_method_data else None,
                )
                for card in TEST_CARDS.values()
                if card.behaviour is not Behaviour.NO_3DS
            ),
        )

    async def _authenticate(self, body: bytes, simulator_overrides: Mapping[str, str]) -> messages.ARes | messages.Erro:
        missing, wrong = check_message(body)
        if missing:
            return _make_error("201", "required elements are missing", "AReq", ", ".join(missing))
        question = messages.read_message(body, messages.AReq)
        if wrong or question is None:
            return _make_error("203", "elements are not well-formed", "AReq", ", ".join(wrong))
        behaviour = choose_behaviour(question, simulator_overrides)
        if behaviour is not Behaviour.CHALLENGE:
            return self._answer(question, ANSWERS[behaviour])
        if question.device_channel == "03":
            return self._answer(question, _NOBODY_THERE)
        return await self._challenge(question)

    def _answer(self, question: messages.AReq, answer: Answer) -> messages.ARes:
        return messages.ARes(
            message_version=question.message_version,
            three_ds_server_trans_id=question.three_ds_server_trans_id,
            ds_trans_id=exchanges.make_server_id(self._random_bytes),
            acs_trans_id=exchanges.make_server_id(self._random_bytes),
            trans_status=answer.status,
            trans_status_reason=answer.reason,
            eci=None if answer.shift is None else get_indicator(question.acct_number, answer.shift),
            authentication_value=self._make_proof() if answer.has_proof else None,
            acs_challenge_mandated="N",
        )

    async def _challenge(self, question: messages.AReq) -> messages.ARes:
        """Opens a challenge with a page of the issuer.

        Outside of a browser the page plays the bank's app; the text for the card holder then has its address.
        """
        is_decoupled = question.three_ds_requestor_dec_req_ind == "Y"
        has_page = question.device_channel == "02" and not is_decoupled
        answer = self._answer(question, Answer("D" if is_decoupled else "C"))
        challenge = Challenge(
            results_url=question.three_ds_server_url,
            notification_url=question.notification_url if has_page else None,
            version=answer.message_version,
            category=question.message_category,
            server_id=answer.three_ds_server_trans_id,
            ds_id=answer.ds_trans_id,
            acs_id=answer.acs_trans_id,
            proof=self._make_proof(),
            indicators=tuple(get_indicator(question.acct_number, shift) for shift in range(len(INDICATORS))),
            merchant=question.merchant_name or question.three_ds_requestor_name,
            amount=question.purchase_amount or "",
            currency=question.purchase_currency or "",
            last_digits=question.acct_number[-4:],
        )
        token = await insert_challenge(self._database, self._keyring, challenge, self._clock.now(), self._random_bytes)
        url = locate_challenge(self._base_url, token)
        text = f"Simulated bank app: {url}"
        return msgspec.structs.replace(
            answer,
            acs_url=url if has_page else None,
            acs_challenge_mandated="Y" if _choose_by_card(question.acct_number) is Behaviour.CHALLENGE else "N",
            acs_dec_con_ind="Y" if is_decoupled else None,
            cardholder_info=None if has_page or len(text) > _TEXT_MAX else text,
        )

    def _make_proof(self) -> str:
        return base64.b64encode(self._random_bytes(_PROOF_BYTES)).decode()


def choose_behaviour(question: messages.AReq, simulator_overrides: Mapping[str, str]) -> Behaviour:
    """Chooses by the simulator override, else by the card; a merchant may also request a challenge."""
    if PLANNED_BEHAVIOUR in simulator_overrides:
        return Behaviour[simulator_overrides[PLANNED_BEHAVIOUR]]
    flow = _FLOWS.get(simulator_overrides.get("3DS2_flow", ""))
    if flow is not None:
        return flow
    behaviour = _choose_by_card(question.acct_number)
    if behaviour is Behaviour.NO_3DS and shape.is_true(simulator_overrides.get("3DS2_enrolled", "")):
        behaviour = Behaviour.CHALLENGE
    wants_challenge = question.three_ds_requestor_challenge_ind == "04"
    return Behaviour.CHALLENGE if wants_challenge and behaviour in _ENROLLED else behaviour


def get_indicator(number: str, shift: int) -> str:
    """Returns the electronic commerce indicator, as the card's network counts it."""
    known, detected = TEST_CARDS.get(number), brands.detect_brand(number)
    brand = known.brand if known else detected.code if detected else ""
    return INDICATORS[shift][brand in _SMALL_INDICATORS]


def _choose_by_card(number: str) -> Behaviour:
    known = TEST_CARDS.get(number)
    return known.behaviour if known else Behaviour.NO_3DS


def _make_error(code: str, description: str, message_type: str, detail: str = "") -> messages.Erro:
    return messages.Erro(
        message_version=VERSION,
        error_code=code,
        error_component="D",
        error_description=description,
        error_detail=detail,
        error_message_type=message_type,
    )
