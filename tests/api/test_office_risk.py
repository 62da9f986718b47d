"""Risk rules, lists and reviews in the back office: changed once, by those who may, from a page that is current."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from html import unescape

import pytest

from api.endpoints import use_store
from api.merchants import add_channel, add_merchant, find_merchant_id, wait_until
from gateway import Answer, Client, GatewayProcess
from office_client import OfficeClient, enter_office
from office_pages import find_id, read_key, read_rows
from office_users import enter_as, list_audit
from tollgate.catalog.permissions import Role
from tollgate.operations.app import App
from tollgate.operations.risk_rules import add_entry, change_rule
from tollgate.values import MerchantId, make_id

REVIEW, REJECTED, SUCCESS = "000.400.000", "000.400.100", "000.100.110"
_MARK = re.compile(r'name="mark" value="([0-9a-f]{32})"')
_RULE = {"kind": "amount", "name": "High amount", "amount": "500.00", "currency": "EUR", "outcome": "review"}


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayProcess]:
    """A host of its own, because its rules judge payments."""
    with GatewayProcess(tmp_path_factory.mktemp("risk")) as own:
        yield own


@pytest.fixture(scope="module")
def boss(own: GatewayProcess) -> OfficeClient:
    return enter_office(own)


@pytest.fixture
def shop(own: GatewayProcess) -> Client:
    """A channel of its own, so that rules of one test judge no payments of another."""
    return add_channel(own, own.client(), f"Shop {make_id()[-6:]}")


def read(page: Answer) -> str:
    return unescape(page.body.decode())


def read_mark(page: Answer) -> str:
    found = _MARK.search(page.body.decode())
    assert found is not None, "the page has no form that may be outdated"
    return found[1]


def add_rule(office: OfficeClient, shop: Client, key: str | None = None, **fields: str) -> Answer:
    sent = {**_RULE, "channel": shop.entity_id, "key": key or make_id(), **fields}
    return office.post(f"{office.base}/risk/rules", sent)


def find_rule(office: OfficeClient, name: str) -> str:
    return f"{office.base}/risk/rules/{find_id(office.get(f'{office.base}/risk'), 'rules', f'>{name}<')}"


def list_versions(office: OfficeClient, path: str) -> list[str]:
    page = read(office.get(path)).partition("<h2>Versions")[2]
    return re.findall(r'<tr><td class="number">([0-9]+)</td>', page)


def pay_reviewed(shop: Client, payment_type: str = "DB") -> str:
    answer = shop.pay(paymentType=payment_type, **{"customParameters[forceResultCode]": REVIEW})
    assert answer.code == REVIEW
    return str(answer.json["id"])


def test_a_rule_is_added_once_and_names_its_faults(boss: OfficeClient, shop: Client) -> None:
    refused = add_rule(boss, shop, amount="much", points="1000")
    assert refused.status == 400
    assert "<strong>amount</strong>" in read(refused)
    assert "<strong>points</strong>" in read(refused)
    key, name = make_id(), f"Once {make_id()}"
    assert "It is in shadow" in read(add_rule(boss, shop, key, name=name))
    assert "had been added before" in read(add_rule(boss, shop, key, name=name))
    assert read(boss.get(f"{boss.base}/risk")).count(f">{name}<") == 1


@pytest.mark.parametrize("kind", ["count", "amount", "country_mismatch", "avs", "score", "proxy"])
def test_the_form_of_a_kind_has_its_terms(boss: OfficeClient, kind: str) -> None:
    page = read(boss.get(f"{boss.base}/risk/new", kind=kind))
    assert f'name="kind" value="{kind}"' in page
    assert ('name="window"' in page) == (kind == "count")
    assert ('name="answers"' in page) == (kind == "avs")


def test_a_change_makes_a_version_and_a_page_from_before_is_told(
    own: GatewayProcess, boss: OfficeClient, shop: Client
) -> None:
    name = f"Versions {make_id()}"
    add_rule(boss, shop, name=name)
    path = find_rule(boss, name)
    mark = read_mark(boss.get(path))
    assert "Version 2" in read(boss.post(path, {"mark": mark, "mode": "active", "points": "30"}))
    outdated = boss.post(path, {"mark": mark, "mode": "off"})
    assert outdated.status == 409
    assert "changed this after you opened the page" in read(outdated)
    assert list_versions(boss, path) == ["2", "1"]
    [entry] = [each for each in list_audit(own, "risk rule changed") if each.subject == path.rpartition("/")[2]]
    assert entry.details == {"version": "2", "mode": "active", "points": "30"}


def test_two_changes_at_once_make_one_version(own: GatewayProcess, boss: OfficeClient, shop: Client) -> None:
    name = f"At once {make_id()}"
    add_rule(boss, shop, name=name)
    path = find_rule(boss, name)
    offices = [enter_as(own, merchant_id=boss.merchant_id) for _ in range(4)]
    mark = read_mark(boss.get(path))
    sent = [{"mark": mark, "points": str(10 + number)} for number in range(4)]
    with ThreadPoolExecutor(4) as crowd:
        statuses = list(crowd.map(lambda pair: pair[0].post(path, pair[1]).status, zip(offices, sent, strict=True)))
    assert sorted(statuses) == [200, 409, 409, 409]
    assert list_versions(boss, path) == ["2", "1"]


def test_a_changed_outcome_takes_the_code_that_belongs_to_it(boss: OfficeClient, shop: Client) -> None:
    name = f"Outcome {make_id()}"
    add_rule(boss, shop, name=name)
    path = find_rule(boss, name)
    page = boss.get(path)
    assert REVIEW in read(page)
    shown = {"mark": read_mark(page), **_RULE, "name": name, "channel": shop.entity_id, "mode": "shadow"}
    changed = read(boss.post(path, {**shown, "code": REVIEW, "points": "0", "outcome": "refuse"}))
    assert "100.400.140" in changed


def test_a_hit_is_shown_with_its_rule_and_with_its_payment(
    boss: OfficeClient, own: GatewayProcess, shop: Client
) -> None:
    name = f"Hit {make_id()}"
    add_rule(boss, shop, name=name, mode="active", outcome="refuse", points="40")
    wait_until(lambda: shop.pay(amount="600.00").code == "100.400.140")
    payment_id = shop.pay(amount="700.00").json["id"]
    page = read(boss.get(find_rule(boss, name)))
    assert payment_id in page
    shown = read(boss.get(f"{boss.base}/payments/{payment_id}"))
    assert name in shown
    assert "40 of 100" in shown
    assert "Risk: score 40, refuse" in shown
    found = read(boss.get(f"{boss.base}/payments", q=f"rule:{find_rule(boss, name).rpartition('/')[2]}"))
    assert payment_id in found
    viewer = enter_as(own, Role.VIEWER, merchant_id=boss.merchant_id)
    hidden = read(viewer.get(f"{viewer.base}/payments/{payment_id}"))
    assert name not in hidden
    assert "Risk: score" not in hidden


def test_a_list_entry_is_added_masked_ends_and_is_removed(own: GatewayProcess, boss: OfficeClient) -> None:
    key, value = make_id(), f"{make_id()}@example.com"
    fields = {"list": "block", "attribute": "email", "value": value, "end": "2099-01-31", "note": "Fraud", "key": key}
    for _ in range(2):
        assert value not in read(boss.post(f"{boss.base}/lists/entries", fields))
    [row] = [row for row in read_rows(boss.get(f"{boss.base}/lists")) if "Fraud" in row]
    assert row[:4] == ["block", "email", "8***@example.com", "2099-02-01T00:00:00Z"]
    assert all(value not in str(entry) for entry in list_audit(own))
    [written] = [entry for entry in list_audit(own, "block or allow list changed") if "Fraud" in str(entry)]
    change = "put the email 8***@example.com on the block list until 2099-01-31"
    assert written.details == {"change": change, "note": "Fraud"}
    entry_id = find_id(boss.get(f"{boss.base}/lists"), "entries")
    assert "no more" in read(boss.post(f"{boss.base}/lists/entries/{entry_id}/remove"))
    assert boss.post(f"{boss.base}/lists/entries/{entry_id}/remove").status == 404


def test_lists_are_shown_a_page_at_a_time(own: GatewayProcess) -> None:
    merchant_id = find_merchant_id(own, add_merchant(own, f"Long lists {make_id()}"))
    office = enter_as(own, merchant_id=merchant_id)

    async def add_entries(app: App) -> None:
        for number in range(120):
            sent = {"list": "block", "attribute": "customer", "value": f"customer {number}", "note": f"note {number}"}
            # Two at a time are as old as each other.
            now = app.clock.now() + number // 2
            owner = MerchantId(merchant_id)
            await add_entry(app.database, app.keyring, owner, sent, by="a test", now=now, new_id=make_id())

    use_store(own, add_entries)
    notes, path = [], f"{office.base}/lists"
    # A server hears of a new merchant within half a second.
    wait_until(lambda: office.get(path).status == 200)
    for _ in range(3):
        page = office.get(path)
        notes += [row[4] for row in read_rows(page) if row[0] == "block"]
        older = re.search(r'href="([^"]+)">Older<', read(page))
        path = older[1] if older else ""
    assert path == ""
    assert len(notes) == 120
    assert set(notes) == {f"note {number}" for number in range(120)}
    assert office.get(f"{office.base}/lists", before="never").status == 400


def test_a_hit_of_the_block_list_is_named_on_the_page_of_its_payment(boss: OfficeClient, shop: Client) -> None:
    address = {"customer.ip": "203.0.113.91"}
    fields = {"list": "block", "attribute": "ip", "value": address["customer.ip"], "key": make_id()}
    boss.post(f"{boss.base}/lists/entries", fields)
    wait_until(lambda: shop.pay(**address).code == "800.300.301")
    path = f"{boss.base}/payments/{shop.pay(**address).json['id']}"
    shown, entry_id = read(boss.get(path)), find_id(boss.get(f"{boss.base}/lists"), "entries")
    assert "block list: 203.0.***" in shown
    assert "version 0" not in shown
    assert re.search(f"entry {entry_id}.{{,80}}block list", shown, re.DOTALL)
    boss.post(f"{boss.base}/lists/entries/{entry_id}/remove")
    assert "an entry that was removed" in read(boss.get(path))


def test_only_the_newest_versions_of_a_rule_are_shown(own: GatewayProcess, boss: OfficeClient, shop: Client) -> None:
    name = f"Often changed {make_id()}"
    add_rule(boss, shop, name=name)
    path = find_rule(boss, name)

    async def change_often(app: App) -> None:
        for points in range(1, 60):
            owner, sent = MerchantId(boss.merchant_id), {"points": str(points)}
            await change_rule(app.database, owner, path.rpartition("/")[2], sent, by="a test", now=app.clock.now())

    use_store(own, change_often)
    assert list_versions(boss, path) == [str(version) for version in range(60, 10, -1)]


def test_a_card_is_listed_by_a_payment_and_never_by_its_number(boss: OfficeClient, shop: Client) -> None:
    path, fields = f"{boss.base}/lists/entries", {"list": "block", "attribute": "card"}
    refused = boss.post(path, {**fields, "value": "4200000000000000", "key": make_id()})
    assert refused.status == 400
    assert "4200000000000000" not in read(refused)
    payment_id = shop.pay().json["id"]
    assert "420000***0000" in read(boss.post(path, {**fields, "payment": payment_id, "key": make_id()}))
    wait_until(lambda: shop.pay().code == "800.300.101")
    entry_id = find_id(boss.get(f"{boss.base}/lists"), "entries")
    boss.post(f"{path}/{entry_id}/remove")
    wait_until(lambda: shop.pay().code == SUCCESS)


@pytest.mark.parametrize("fields", [{"attribute": "email", "value": "nobody"}, {"attribute": "cake"}, {"list": "grey"}])
def test_what_is_no_value_of_a_list_is_refused(boss: OfficeClient, fields: dict[str, str]) -> None:
    sent = {"list": "block", "attribute": "ip", "value": "127.0.0.1", "key": make_id(), **fields}
    assert boss.post(f"{boss.base}/lists/entries", sent).status == 400


def test_a_review_is_accepted_in_the_queue_and_a_second_click_is_told(
    boss: OfficeClient, own: GatewayProcess, shop: Client
) -> None:
    payment_id = pay_reviewed(shop)
    assert payment_id in read(boss.get(f"{boss.base}/reviews"))
    path = f"{boss.base}/reviews/{payment_id}"
    fields = {"decision": "ACCEPT", "note": "Known customer", "key": make_id()}
    assert "is accepted" in read(boss.post(path, fields))
    assert "was accepted by" in read(boss.post(path, {**fields, "decision": "REJECT"}))
    assert payment_id not in read(boss.get(f"{boss.base}/reviews"))
    assert shop.get(f"/v1/payments/{payment_id}").code == SUCCESS
    assert "Known customer" in read(boss.get(f"{boss.base}/payments/{payment_id}"))
    [entry] = [each for each in list_audit(own, "review decided") if each.subject == payment_id]
    assert entry.details == {"decision": "ACCEPT"}


def test_a_rejected_payment_is_reversed(boss: OfficeClient, shop: Client) -> None:
    payment_id = pay_reviewed(shop)
    page = boss.get(f"{boss.base}/payments/{payment_id}").body.decode()
    key = read_key(page, f"reviews/{payment_id}")
    fields = {"decision": "REJECT", "key": key, "from": "payment"}
    assert "is rejected" in read(boss.post(f"{boss.base}/reviews/{payment_id}", fields))
    assert shop.get(f"/v1/payments/{payment_id}").code == REJECTED
    wait_until(lambda: "RV" in read(boss.get(f"{boss.base}/payments/{payment_id}")))


def test_taken_money_above_the_limit_of_a_user_is_not_given_back(
    own: GatewayProcess, boss: OfficeClient, shop: Client
) -> None:
    limited = enter_as(own, Role.OPERATOR, merchant_id=boss.merchant_id, refund_limit=1000)
    payment_id = pay_reviewed(shop)
    refused = limited.post(f"{limited.base}/reviews/{payment_id}", {"decision": "REJECT", "key": make_id()})
    assert refused.status == 400
    assert "your limit is 10.00 EUR" in read(refused)
    held = pay_reviewed(shop, "PA")
    assert "is rejected" in read(limited.post(f"{limited.base}/reviews/{held}", {"decision": "REJECT"}))


def test_what_is_not_under_review_cannot_be_decided(boss: OfficeClient, shop: Client) -> None:
    payment_id = shop.pay().json["id"]
    assert boss.post(f"{boss.base}/reviews/{payment_id}", {"decision": "ACCEPT"}).status == 404
    assert boss.post(f"{boss.base}/reviews/{pay_reviewed(shop)}", {"decision": "MAYBE"}).status == 400


def test_roles_see_and_do_what_their_rows_say(own: GatewayProcess, boss: OfficeClient, shop: Client) -> None:
    payment_id = pay_reviewed(shop)
    viewer, developer, operator = (
        enter_as(own, role, merchant_id=boss.merchant_id) for role in (Role.VIEWER, Role.DEVELOPER, Role.OPERATOR)
    )
    assert [viewer.get(f"{viewer.base}/{name}").status for name in ("risk", "lists", "reviews")] == [403, 403, 403]
    assert developer.post(f"{developer.base}/reviews/{payment_id}", {"decision": "ACCEPT"}).status == 403
    assert ">Reject<" not in read(developer.get(f"{developer.base}/reviews"))
    assert add_rule(operator, shop).status == 403
    assert operator.post(f"{operator.base}/lists/entries", {"list": "block"}).status == 403
    assert "is accepted" in read(operator.post(f"{operator.base}/reviews/{payment_id}", {"decision": "ACCEPT"}))


def test_a_role_for_one_channel_sees_rules_for_it_and_changes_no_others(
    own: GatewayProcess, boss: OfficeClient, shop: Client
) -> None:
    other = add_channel(own, own.client(), "Another shop")
    names = {place: f"{place} {make_id()}" for place in ("mine", "other", "all")}
    for place, channel_id in (("mine", shop.entity_id), ("other", other.entity_id), ("all", "")):
        add_rule(boss, shop, name=names[place], channel=channel_id)
    limited = enter_as(own, Role.ADMINISTRATOR, shop.entity_id, merchant_id=boss.merchant_id)
    page = read(limited.get(f"{limited.base}/risk"))
    assert [names[place] in page for place in ("mine", "other", "all")] == [True, False, True]
    assert limited.get(find_rule(boss, names["other"])).status == 404
    shared = find_rule(boss, names["all"])
    assert limited.post(shared, {"mark": read_mark(boss.get(shared)), "mode": "off"}).status == 403
    assert add_rule(limited, shop, channel="").status == 403
    assert add_rule(limited, shop, channel=other.entity_id).status == 403
    assert limited.get(f"{limited.base}/lists").status == 403
    hidden = pay_reviewed(other)
    assert hidden not in read(limited.get(f"{limited.base}/reviews"))
    assert limited.post(f"{limited.base}/reviews/{hidden}", {"decision": "ACCEPT"}).status == 404


def test_rules_entries_and_reviews_of_another_merchant_are_unknown(
    own: GatewayProcess, boss: OfficeClient, shop: Client
) -> None:
    name = f"Private {make_id()}"
    add_rule(boss, shop, name=name)
    fields = {"list": "allow", "attribute": "bin", "value": "420000", "key": make_id()}
    boss.post(f"{boss.base}/lists/entries", fields)
    entry_id = find_id(boss.get(f"{boss.base}/lists"), "entries")
    rule_id, payment_id = find_rule(boss, name).rpartition("/")[2], pay_reviewed(shop)
    stranger_id = find_merchant_id(own, add_merchant(own, f"Stranger {make_id()}"))
    stranger = enter_as(own, Role.ADMINISTRATOR, merchant_id=stranger_id)
    wait_until(lambda: stranger.get(f"{stranger.base}/risk").status == 200)
    for page in ("risk", "lists", "reviews"):
        shown = read(stranger.get(f"{stranger.base}/{page}"))
        assert [text for text in (name, "420000", payment_id) if text in shown] == []
    assert stranger.get(f"{stranger.base}/risk/rules/{rule_id}").status == 404
    assert stranger.post(f"{stranger.base}/risk/rules/{rule_id}", {"mode": "off"}).status == 404
    assert stranger.post(f"{stranger.base}/lists/entries/{entry_id}/remove").status == 404
    assert stranger.post(f"{stranger.base}/reviews/{payment_id}", {"decision": "ACCEPT"}).status == 404
    assert add_rule(stranger, shop).status == 400
    boss.post(f"{boss.base}/lists/entries/{entry_id}/remove")
