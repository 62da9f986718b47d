"""A directory server with one issuer behind it, over HTTP in threads of its own, without a line of the gateway's code.

It answers as a test chooses, records its requests, and delivers results where the requests say.
"""

from __future__ import annotations

import base64
import http.client
import json
import uuid
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from urllib.parse import parse_qs, urlsplit

from listening import Listener, Responder

PROOF = base64.b64encode(b"proof of the issuer!").decode()
WAIT_S = 300.0


class Manner(StrEnum):
    """A manner decides how requests for an authentication are answered."""

    FRICTIONLESS = "frictionless"
    CHALLENGE = "challenge"
    DECOUPLED = "decoupled"
    ERROR = "error"
    GARBAGE = "garbage"
    HALF = "half"
    OTHER_ID = "other id"
    NO_PROOF = "no proof"
    DROP = "drop"
    """The server hangs up without a word."""


@dataclass(frozen=True)
class Case:
    """One authentication as the issuer knows it."""

    request: dict[str, Any]
    ds_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    acs_id: str = field(default_factory=lambda: str(uuid.uuid4()))

    @property
    def ids(self) -> dict[str, str]:
        return {
            "messageVersion": self.request["messageVersion"],
            "threeDSServerTransID": self.request["threeDSServerTransID"],
            "dsTransID": self.ds_id,
            "acsTransID": self.acs_id,
        }

    def make_result(self, status: str = "Y", **members: Any) -> dict[str, Any]:
        proven = {"authenticationValue": PROOF, "eci": "05"} if status in ("Y", "A") else {}
        head = {"messageType": "RReq", "messageCategory": self.request["messageCategory"], "interactionCounter": "01"}
        return {**head, **self.ids, "transStatus": status, **proven, **members}

    def make_browser_answer(self, status: str = "Y") -> str:
        message = {**self.ids, "messageType": "CRes", "transStatus": status}
        del message["dsTransID"]
        return base64.urlsafe_b64encode(json.dumps(message).encode()).decode().rstrip("=")


class DirectoryServer(Listener):
    def __init__(self) -> None:
        self.manner = Manner.FRICTIONLESS
        self.ranges: bytes | None = None
        """The answer to a request for card ranges, where a test wants something else than all of VISA."""
        self.cases: list[Case] = []
        self.range_questions = 0

    @property
    def last_case(self) -> Case:
        return self.cases[-1]

    def deliver(self, case: Case, message: dict[str, Any] | bytes, url: str | None = None) -> dict[str, Any]:
        """A result to where the request said, or to where a test wants it; what it was answered."""
        parts = urlsplit(url or case.request["threeDSServerURL"])
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        connection = http.client.HTTPConnection(parts.netloc, timeout=WAIT_S)
        try:
            connection.request("POST", parts.path, body, {"Content-Type": "application/json;charset=UTF-8"})
            reply = connection.getresponse()
            answer: dict[str, Any] = json.loads(reply.read())
            return {**answer, "httpStatus": reply.status}
        finally:
            connection.close()

    def answer(self, path: str, body: bytes) -> bytes | None:
        """Returns None to hang up."""
        if path == "/3ds/preq":
            self.range_questions += 1
            return self.ranges if self.ranges is not None else self._list_ranges(json.loads(body))
        case = Case(json.loads(body))
        self.cases.append(case)
        return self._authenticate(case)

    def _list_ranges(self, question: dict[str, Any]) -> bytes:
        every_visa = {
            "startRange": "4000000000000000",
            "endRange": "4999999999999999",
            "actionInd": "A",
            "acsStartProtocolVersion": "2.1.0",
            "acsEndProtocolVersion": "2.2.0",
        }
        head = {"messageType": "PRes", "messageVersion": "2.2.0", "dsTransID": str(uuid.uuid4()), "serialNum": "7"}
        named = {"threeDSServerTransID": question["threeDSServerTransID"], "cardRangeData": [every_visa]}
        return json.dumps({**head, **named}).encode()

    def _authenticate(self, case: Case) -> bytes | None:
        head = {"messageType": "ARes", **case.ids, "acsReferenceNumber": "ACS-1", "dsReferenceNumber": "DS-1"}
        yes = {**head, "transStatus": "Y", "eci": "05", "authenticationValue": PROOF}
        match self.manner:
            case Manner.DROP:
                return None
            case Manner.GARBAGE:
                return b"\xff<html>"
            case Manner.HALF:
                return json.dumps(yes).encode()[:90]
            case Manner.ERROR:
                received = {"errorCode": "303", "errorComponent": "D", "errorDescription": "no access"}
                return json.dumps({"messageType": "Erro", "messageVersion": "2.2.0", **received}).encode()
            case Manner.OTHER_ID:
                return json.dumps({**yes, "threeDSServerTransID": str(uuid.uuid4())}).encode()
            case Manner.NO_PROOF:
                return json.dumps({**yes, "authenticationValue": None}).encode()
            case Manner.CHALLENGE:
                page = f"{self.url}/acs/{case.acs_id}"
                return json.dumps({**head, "transStatus": "C", "acsURL": page, "acsChallengeMandated": "Y"}).encode()
            case Manner.DECOUPLED:
                return json.dumps({**head, "transStatus": "D", "acsDecConInd": "Y"}).encode()
            case _:
                return json.dumps(yes).encode()

    def end_challenge(self, creq: str, status: str = "Y") -> tuple[str, dict[str, str]]:
        """Ends a challenge as the issuer's page does: send the result, then send the browser back."""
        message = json.loads(base64.urlsafe_b64decode(creq + "=" * (-len(creq) % 4)))
        case = next(case for case in self.cases if case.acs_id == message["acsTransID"])
        assert message["threeDSServerTransID"] == case.request["threeDSServerTransID"]
        assert message["messageType"] == "CReq"
        self.deliver(case, case.make_result(status))
        return case.request["notificationURL"], {"cres": case.make_browser_answer(status)}

    def make_responder(self) -> type[Responder]:
        directory = self

        class DirectoryResponder(Responder):
            def do_POST(self) -> None:
                body = self.read_body()
                if self.path.startswith("/acs/"):
                    (creq,) = parse_qs(body.decode())["creq"]
                    url, fields = directory.end_challenge(creq)
                    answer: bytes | None = json.dumps({"url": url, "fields": fields}).encode()
                else:
                    answer = directory.answer(self.path, body)
                if answer is None:
                    self.close_connection = True
                    return
                self.give(answer)

        return DirectoryResponder
