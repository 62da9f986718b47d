"""A sandbox with something on every page of the back office. Every free text in it tries to be a script or formula."""

from __future__ import annotations

import re
import runpy
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from api.chains import advance
from api.checking_out import PREPARED, prepare, submit
from api.direct_debits import begin_debit
from api.endpoints import add_endpoint, use_store, wait_until_known
from api.linking import read_own_context
from api.merchants import add_channel, add_merchant, find_merchant_id, wait_until
from api.scheduling import plan
from gateway import CARD, PAYMENT, Client, GatewayProcess
from office_client import OfficeClient
from office_pages import find_id, read_key
from office_users import add_user, enter_as
from tollgate.catalog.parameters.names import PARAMETERS
from tollgate.catalog.parameters.row import Secrecy, Use
from tollgate.catalog.permissions import ROLE_PERMISSIONS, Role
from tollgate.flows.erase_person import begin_erasure, finish_erasure
from tollgate.office.visits import OF_MERCHANT
from tollgate.operations.app import App
from tollgate.operations.audit_log import Actor
from tollgate.payments.erasure import SearchKind
from tollgate.payments.users import Approval
from tollgate.store.users import insert_approval
from tollgate.values import MerchantId, make_id

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
_INBOX = "http://127.0.0.1:9/renewed"
_CREDITOR = (
    *("--creditor-name", "Shop", "--creditor-iban", "DE02120300000000202051"),
    *("--creditor-id", "DE98ZZZ09999999999"),
)
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

    def learn_ids(self, office: OfficeClient) -> None:
        """Looks on pages for links to objects whose ids are not known yet, such as events of an endpoint."""
        pages = [row.path for row in PAGE_ROWS if row.method == "GET"]
        for _ in range(_TRIES):
            unknown = [path for path in pages if UNKNOWN_ID in self.fill(path)]
            shown = {self.fill(path) for path in pages} - {self.fill(path) for path in unknown}
            linked = {href for path in shown for href in _HREF.findall(office.get(path).body.decode("latin-1"))}
            for path in unknown:
                pattern = re.escape(self.fill(path)).replace(UNKNOWN_ID, "([^/]+)")
                found = sorted(match[1] for href in linked - shown if (match := re.fullmatch(pattern, href)))
                self.ids |= {path.split("/")[-2]: found[0]} if found else {}
            if len(unknown) == len([path for path in pages if UNKNOWN_ID in self.fill(path)]):
                return

    def fill(self, path: str) -> str:
        """Returns a path with real ids where they are known, and unknown ones elsewhere."""
        parts = path.split("/")
        # Only a chargeback has notes and files.
        kind = "chargebacks" if {"notes", "evidence"} & set(parts) else "payments"
        for place, part in enumerate(parts):
            if part == "{merchant}":
                parts[place] = self.merchant_id
            elif part.startswith("{"):
                word = parts[place - 1]
                parts[place] = self.ids.get(kind if word == "payments" else word, UNKNOWN_ID)
        return "/".join(parts)

    def renew(self, path: str, office: OfficeClient) -> None:
        """Makes another object of the channel where a form of this path removes it."""
        if path.endswith("/registrations/{id}/delete"):
            self.ids["registrations"] = self.client.pay(createRegistration="true").json["registrationId"]
        elif path.endswith("/schedules/{id}/end"):
            registration_id = self.client.pay(createRegistration="true").json["registrationId"]
            self.ids["schedules"] = plan(self.client, registration_id)
        elif path.endswith("/webhooks/{id}/remove"):
            endpoint = add_endpoint(self.gateway, self.client, _INBOX, channel_id=self.client.entity_id)
            self.ids["webhooks"] = endpoint.id
        elif path.endswith("/roles/take"):
            user = add_user(self.gateway, Role.VIEWER, self.client.entity_id, merchant_id=self.merchant_id)
            self.ids["users"] = user.id
        elif path.endswith("/saved-views/{id}/delete"):
            page = office.post(f"{office.base}/saved-views", {"name": make_id(), "q": "today"})
            self.ids["saved-views"] = find_id(page, "saved-views")
        elif path.endswith("/lists/entries/{id}/remove"):
            self.ids["entries"] = add_entry(office)
        elif path.endswith("/outcomes/{id}/cancel"):
            self.ids["outcomes"] = plan_outcome(office, self)


def has_permission(row: Any, role: Role) -> bool:
    """Tells whether a role opens a page, or sends a form, of its merchant."""
    if row.permission is None:
        return True
    is_for_platform = not row.path.startswith(OF_MERCHANT)
    return row.permission in ROLE_PERMISSIONS[role] and (role is Role.PLATFORM or not is_for_platform)


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
    channel = add_channel(gateway, client, FORMULA, *_CREDITOR)
    stranger = add_merchant(gateway, SCRIPT)
    world = OfficeWorld(gateway, channel, merchant_id, find_merchant_id(gateway, stranger))
    office = enter_as(gateway, merchant_id=merchant_id)
    begin_debit(channel)
    advance(channel, 20 * 86400)
    wait_until(lambda: "</td>" in office.get(f"{office.base}/bank-files").body.decode())

    endpoint = add_endpoint(gateway, client, f"{gateway.base_url}/sandbox/inbox/canary", channel_id=channel.entity_id)
    wait_until_known(channel, endpoint)
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
        "users": add_user(gateway, Role.VIEWER, channel.entity_id, merchant_id=merchant_id).id,
        "erasure": use_store(gateway, lambda app: search_person(app, MerchantId(merchant_id))),
        "approvals": use_store(gateway, lambda app: ask_second_person(app, channel, MerchantId(merchant_id))),
    }
    work_in_office(world, office)
    world.learn_ids(office)
    return world


def work_in_office(world: OfficeWorld, office: OfficeClient) -> None:
    """Makes what only pages make: a chargeback with a note, a token, a planned outcome and a snapshot."""
    base, channel_id = office.base, world.client.entity_id
    paid = world.client.pay().json["id"]
    key = read_key(office.get(f"{base}/payments/{paid}").body.decode(), "record")
    office.post(f"{base}/payments/{paid}/record", {"key": key, "type": "CB", "amount": "92.00"})
    page = office.get(f"{base}/disputes")
    world.ids["chargebacks"] = find_id(page, "payments")
    page = office.post(f"{base}/payments/{world.ids['chargebacks']}/notes", {"note": SCRIPT})
    world.ids["evidence"] = find_id(page, "evidence")
    page = office.post(f"{base}/tokens", {"key": make_id(), "label": "canary", "channels": channel_id})
    world.ids["tokens"] = find_id(page, "tokens", ">canary<")
    world.ids["outcomes"] = plan_outcome(office, world)
    judge_in_office(world, office)
    office.post(f"{base}/simulator/snapshots", {"name": "kept"})
    world.ids["snapshots"] = "kept"


def judge_in_office(world: OfficeWorld, office: OfficeClient) -> None:
    """Makes an acquirer account, a dispatch row, a rule that is hit, an entry of a list, and a payment under review."""
    base, channel_id = office.base, world.client.entity_id
    routing = f"{base}/routing/channels/{channel_id}"
    page = office.post(f"{routing}/accounts", {"key": make_id(), "name": SCRIPT, "acquirer_priority": "2"})
    world.ids["accounts"] = find_id(page, "accounts", f">{escape(SCRIPT)}<")
    page = office.post(f"{base}/routing/rows", {"key": make_id(), "channel": channel_id, "brands": "JCB"})
    world.ids["rows"] = find_id(page, "rows")
    rule = {"kind": "amount", "amount": "50.00", "currency": "EUR", "outcome": "review", "points": "20"}
    sent = {**rule, "key": make_id(), "name": SCRIPT, "channel": channel_id, "mode": "active"}
    world.ids["rules"] = find_id(office.post(f"{base}/risk/rules", sent), "rules")
    world.ids["entries"] = add_entry(office)
    reviewed = world.client.pay()
    assert reviewed.code == "000.400.000", reviewed.body
    world.ids["reviews"] = reviewed.json["id"]


def add_entry(office: OfficeClient) -> str:
    fields = {"list": "allow", "attribute": "email", "value": f"{make_id()}@example.com", "note": SCRIPT}
    return find_id(office.post(f"{office.base}/lists/entries", {**fields, "key": make_id()}), "entries")


def plan_outcome(office: OfficeClient, world: OfficeWorld) -> str:
    fields = {"channel": world.client.entity_id, "partner": "acquirer", "type": "CP", "delay": "1", "count": "1"}
    return find_id(office.post(f"{office.base}/simulator/outcomes", fields), "outcomes")


async def ask_second_person(app: App, channel: Client, merchant_id: MerchantId) -> str:
    """Asks for an approval as a host with four eyes does."""
    asked = Approval(
        merchant_id=merchant_id,
        id=make_id(),
        channel_id=channel.entity_id,
        action="refund",
        subject=SCRIPT,
        summary=SCRIPT,
        fields={},
        requested_by="somebody",
        requested_at=app.clock.now(),
    )
    await insert_approval(app.database, asked)
    return asked.id


async def search_person(app: App, merchant_id: MerchantId) -> str:
    """Looks for a person who is found, and returns the id of the erasure that nobody has confirmed yet."""
    begun = await begin_erasure(app, merchant_id, SearchKind.EMAIL, EMAIL)
    return (await finish_erasure(app, begun, Actor(name="test"))).id
