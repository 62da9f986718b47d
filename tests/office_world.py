"""A sandbox with something on every page of the back office. Every free text in it tries to be a script or formula."""

from __future__ import annotations

import re
import runpy
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from api.checking_out import PREPARED, prepare, submit
from api.endpoints import add_endpoint, use_store, wait_until_known
from api.linking import read_own_context
from api.merchants import add_channel, add_merchant, find_merchant_id
from api.scheduling import plan
from gateway import CARD, PAYMENT, Client, GatewayProcess
from office_client import OfficeClient
from tollgate.catalog.parameters.names import PARAMETERS
from tollgate.catalog.parameters.row import Secrecy, Use
from tollgate.flows.erase_person import begin_erasure, finish_erasure
from tollgate.operations.app import App
from tollgate.operations.audit_log import Actor
from tollgate.payments.erasure import SearchKind
from tollgate.values import MerchantId

UNKNOWN_ID = "0" * 32
PAGE_ROWS: list[Any] = runpy.run_path(str(Path(__file__).parents[1] / "tools" / "make_reference.py"))[
    "list_page_rows"
]()
"""The rows of all pages, also of those that only a test host has."""
SCRIPT = "<img src=x onerror=window.canary=1>"
FORMULA = "=HYPERLINK(1)+window.canary"
CANARIES = (SCRIPT, FORMULA)
EMAIL = "jane.jones@example.com"
_NOT_SENT = Use.ACCOUNT | Use.WALLET | Use.LINK | Use.CHECKOUT
_ALONE = ("recurringMigration.", "marketPlace.", "identificationDocId", "lifecycleId", "referenceUuid")
"""Parts of names that are sent only together with other parameters, or refer to another payment."""
_JUDGED = ("threeDSecure.", "standingInstruction.", "customer.", "billing.", "shipping.", "card.")
"""Beginnings of names whose values decline a payment if they make no sense."""
_TRIES = 10
_HREF = re.compile(r'href="(/office/[^"?#]+)')


@dataclass
class OfficeWorld:
    gateway: GatewayProcess
    client: Client
    """The sandbox merchant, on the channel that the channel roles reach."""
    merchant_id: str
    other_merchant_id: str
    ids: dict[str, str] = field(default_factory=dict)
    """Ids of real objects by the word before them in a path."""

    paths: dict[str, str] = field(default_factory=dict)
    """Links to pages of single objects, by the path of their row."""

    def learn_paths(self, office: OfficeClient, rows: Iterable[Any]) -> None:
        """Looks for a link to a page of each kind on the pages that name no object, such as lists."""
        pages = [row.path for row in rows if row.method == "GET"]
        plain = [path for path in pages if "{" not in path.replace("{merchant}", "")]
        linked = {href for path in plain for href in _HREF.findall(office.get(self.fill(path)).body.decode("latin-1"))}
        for path in [each for each in pages if UNKNOWN_ID in self.fill(each)]:
            pattern = re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path).replace(r"\{merchant\}", self.merchant_id))
            found = sorted(href for href in linked if re.fullmatch(pattern, href) and href not in map(self.fill, plain))
            self.paths |= {path: found[0]} if found else {}

    def fill(self, path: str) -> str:
        """Returns a path with real ids where they are known, and unknown ones elsewhere."""
        if path in self.paths:
            return self.paths[path]
        parts = path.split("/")
        for place, part in enumerate(parts):
            if part == "{merchant}":
                parts[place] = self.merchant_id
            elif part.startswith("{"):
                parts[place] = self.ids.get(parts[place - 1], UNKNOWN_ID)
        return "/".join(parts)


def list_canaries(canary: str) -> dict[str, str]:
    """Returns every free text of a payment with the canary in it."""
    return {
        name.replace("[n]", "[0]").replace("[key]", "[SHOPPER_canary]"): canary
        for name, row in PARAMETERS.items()
        if row.secrecy in (Secrecy.OPEN, Secrecy.MASK)
        and not row.use & _NOT_SENT
        and not row.shape.choices
        and not any(part in name for part in _ALONE)
        and row.shape.accepts(canary)
    }


def pay_with_canaries(client: Client, canary: str) -> dict[str, str]:
    """Makes a payment that has every canary, and is declined for it, and one that is approved; returns their ids."""
    fields: dict[str, str] = {**list_canaries(canary), "card.holder": canary, "billing.country": "DE"}
    order = {"amount": "92.00", "currency": "EUR", "paymentType": "DB", **CARD}
    declined = client.post("/v1/payments", {**order, **fields})
    for _ in range(_TRIES):
        if "id" in declined.json:
            break
        assert set(fields) & set(declined.faults), declined.body
        fields = {name: text for name, text in fields.items() if name not in declined.faults}
        declined = client.post("/v1/payments", {**order, **fields})
    assert sum(text == canary for text in fields.values()) > 50, "nearly no canary was let through"
    harmless = {name: text for name, text in fields.items() if not name.startswith(_JUDGED)}
    approved = client.post("/v1/payments", {**order, **harmless, "createRegistration": "true"})
    assert approved.status == 200, approved.body
    return {"payments": declined.json["id"], "registrations": approved.json["registrationId"]}


def build_world(gateway: GatewayProcess) -> OfficeWorld:
    client = gateway.client()
    merchant_id = find_merchant_id(gateway, client)
    channel = add_channel(gateway, client, FORMULA)
    stranger = add_merchant(gateway, SCRIPT)
    world = OfficeWorld(gateway, channel, merchant_id, find_merchant_id(gateway, stranger))
    endpoint = add_endpoint(gateway, client, f"{gateway.base_url}/sandbox/inbox/canary")
    wait_until_known(client, endpoint)
    for canary in CANARIES:
        world.ids |= pay_with_canaries(channel, canary)
    assert channel.pay(card__number="4000000000000002").status != 200
    names = {"customer.givenName": "Jane", "customer.surname": "Jones", "customer.email": EMAIL}
    held = channel.post("/v1/payments", {**PAYMENT, **names, "paymentType": "PA"}).json["id"]
    assert (
        channel.post(f"/v1/payments/{held}", {"amount": "5.00", "currency": "EUR", "paymentType": "CP"}).status == 200
    )
    checkout_id = prepare(
        channel, {**PREPARED, "merchantTransactionId": SCRIPT, "customParameters[SHOPPER_x]": FORMULA}
    )
    assert submit(channel, checkout_id, "https://shop.example/back").status == 200
    link = read_own_context(channel, merchantTransactionId=SCRIPT)
    assert link.status == 200, link.body
    schedule_id = plan(channel, world.ids["registrations"])
    world.ids |= {
        "schedules": schedule_id,
        "webhooks": endpoint.id,
        "channels": channel.entity_id,
        "erasure": use_store(gateway, lambda app: search_person(app, MerchantId(merchant_id))),
    }
    return world


async def search_person(app: App, merchant_id: MerchantId) -> str:
    """Looks for a person who is found, and returns the id of the erasure that nobody has confirmed yet."""
    begun = await begin_erasure(app, merchant_id, SearchKind.EMAIL, EMAIL)
    return (await finish_erasure(app, begun, Actor(name="test"))).id
