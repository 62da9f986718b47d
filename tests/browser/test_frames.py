"""The service's frames in a real browser: what is typed in them helps the shopper and never reaches the shop's page."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode

import pytest
from playwright.sync_api import Frame, FrameLocator, Locator, Page, Route, expect

from browser.shops import HTML, Site
from browser.watching import Watch
from gateway import GatewayProcess
from tollgate.web.request import Reply

NUMBER = "4200000000000000"
SECRETS = (NUMBER, NUMBER[:8], NUMBER[-6:], "4200 0000", "737", "Jane Jones", "2034")
CARDS = {"accepted": ["VISA", "MASTER", "AMEX"], "detects": True}
CHECKOUT = f"{'0123456789ABCDEF' * 2}.node-1"
DECLINED = {"result": {"code": "200.300.404", "description": "no such checkout"}, "id": CHECKOUT}
PARENT_SCRIPT = (Path(__file__).parent / "frames_parent.js").read_text("utf-8")
PARENT_PAGE = f"<!doctype html><title>Shop</title><body><script>{PARENT_SCRIPT}</script>".encode()


@dataclass
class Parent:
    """A page that plays the part of the shop's script, and records all messages."""

    page: Page
    service: str
    posts: list[dict[str, list[str]]] = field(default_factory=list)

    def show(self, key: str, options: dict[str, Any] | None = None, group: str = "g1") -> Locator:
        """Shows one frame, connected and ready, and returns its input."""
        self.add(key, [self.origin])
        assert self.page.evaluate("(setup) => connect(setup)", self._make_setup(key, options or {}, group)) == "ready"
        return self.frame(key).locator("input")

    def add(self, key: str, origins: list[str]) -> None:
        query = urlencode([("origin", origin) for origin in origins])
        src = f"{self.service}/v1/paymentWidgets/frame/{key}?{query}"
        self.page.evaluate("([name, src]) => addFrame(name, src)", [f"card.{key}", src])

    def add_spy(self, site: Site) -> Frame:
        """A frame of another origin in the same page."""
        address = site.url + "/spy"
        site.pages["/spy"] = Reply(200, PARENT_PAGE, HTML)
        self.page.evaluate("([name, src]) => addFrame(name, src)", ["spy", address])
        return next(frame for frame in self.page.frames if frame.url == address)

    def _make_setup(self, key: str, options: dict[str, Any], group: str) -> dict[str, Any]:
        given = {"checkoutId": CHECKOUT, **options}
        return {"field": key, "group": group, "options": given, "service": self.service}

    @property
    def origin(self) -> str:
        origin: str = self.page.evaluate("location.origin")
        return origin

    def frame(self, key: str) -> FrameLocator:
        return self.page.frame_locator(f'iframe[name="card.{key}"]')

    def send(self, key: str, message: dict[str, Any]) -> None:
        self.page.evaluate("([key, message]) => ports[key].postMessage(message)", [key, message])

    def ask(self, key: str, message: dict[str, Any]) -> dict[str, Any]:
        """Returns the frame's answer; it has received everything sent before by then."""
        answer: dict[str, Any] = self.page.evaluate("([key, message]) => ask(key, message)", [key, message])
        return answer

    def validate(self, key: str) -> tuple[bool, dict[str, str]]:
        answer = self.ask(key, {"type": "validate"})
        return answer["isValid"], answer["errors"]

    def heard(self, key: str, kind: str) -> list[dict[str, Any]]:
        self.validate(key)
        messages: list[dict[str, Any]] = self.page.evaluate("(key) => heard[key]", key)
        return [message for message in messages if message["type"] == kind]

    def everything(self) -> str:
        """Returns all that the page received or can see of itself."""
        text: str = self.page.evaluate("tellEverything()")
        return text

    def answer_posts(self, body: Any, status: int = 200) -> None:
        """Answers instead of the service, which is tested elsewhere."""

        def fulfill(route: Route) -> None:
            self.posts.append(parse_qs(route.request.post_data or ""))
            route.fulfill(status=status, content_type="application/json", body=json.dumps(body))

        self.page.unroute("**/v1/checkouts/**")
        self.page.route("**/v1/checkouts/**", fulfill)


@pytest.fixture
def parent(page: Page, gateway: GatewayProcess, shop: Site) -> Parent:
    shop.pages["/pay"] = Reply(200, PARENT_PAGE, HTML)
    page.goto(shop.url + "/pay")
    return Parent(page, gateway.base_url)


def read_caret(control: Locator) -> int:
    place: int = control.evaluate("(input) => input.selectionStart")
    return place


def put_caret(control: Locator, place: int) -> None:
    control.evaluate("(input, place) => input.setSelectionRange(place, place)", place)


def fill_card(parent: Parent) -> None:
    for key, text in (("number", NUMBER), ("cvv", "737"), ("holder", "Jane Jones"), ("expiry", "0534")):
        parent.show(key, CARDS).press_sequentially(text)


def test_a_number_is_grouped_while_typing_and_the_caret_stays_in_its_place(parent: Parent) -> None:
    number = parent.show("number", CARDS)
    number.press_sequentially(NUMBER)
    expect(number).to_have_value("4200 0000 0000 0000")
    assert parent.validate("number") == (True, {})

    put_caret(number, 2)
    number.press_sequentially("99")
    expect(number).to_have_value("4299 0000 0000 0000 00")
    assert read_caret(number) == 4
    number.press("Backspace")
    number.press("Backspace")
    expect(number).to_have_value("4200 0000 0000 0000")

    put_caret(number, 5)
    number.press("Backspace")
    assert (number.input_value(), read_caret(number)) == ("4200 0000 0000 000", 3)
    put_caret(number, 4)
    number.press("Delete")
    assert (number.input_value(), read_caret(number)) == ("4200 0000 0000 00", 4)

    number.fill("4200-0000 \u0660\u0660\u0660\u0660 \uff10\uff10\uff10\uff10 abc")
    expect(number).to_have_value("4200 0000 0000 0000")
    number.fill("4" * 40)
    expect(number).to_have_value("4444 4444 4444 4444 444")


def test_the_brand_is_recognized_while_typing_and_sets_blocks_and_the_length_of_the_code(parent: Parent) -> None:
    number, cvv = parent.show("number", CARDS), parent.show("cvv")
    number.press_sequentially("3700000000000021")
    expect(number).to_have_value("3700 000000 00002")
    received = [(message["detected"], message["active"]) for message in parent.heard("number", "brands")]
    assert received == [(["AMEX"], None), (["AMEX"], "AMEX")]

    cvv.press_sequentially("12345")
    expect(cvv).to_have_value("1234")
    parent.send("cvv", {"type": "options", "options": {"brand": "VISA"}})
    assert parent.validate("cvv") == (True, {})
    expect(cvv).to_have_value("123")
    parent.send("cvv", {"type": "options", "options": {"brand": "AMEX"}})
    assert parent.validate("cvv") == (False, {"cvv": "cvvError"})

    number.fill("6011000000000004")
    assert parent.validate("number") == (False, {"number": "cardBinError"})
    number.fill("9")
    assert parent.heard("number", "change")[-1] == {
        "type": "change",
        "isValid": False,
        "isPotentiallyValid": False,
        "isEmpty": False,
        "kind": "invalid",
        "length": 1,
    }
    parent.send("number", {"type": "clear"})
    assert parent.heard("number", "change")[-1]["isEmpty"]


def test_the_expiry_writes_its_slash_and_a_holder_is_no_number(parent: Parent) -> None:
    expiry, holder = parent.show("expiry"), parent.show("holder")
    expiry.press_sequentially("534")
    expect(expiry).to_have_value("05 / 34")
    assert parent.validate("expiry") == (True, {})
    for _ in range(3):
        expiry.press("Backspace")
    expect(expiry).to_have_value("0")
    expiry.fill("01/20")
    assert parent.validate("expiry") == (False, {"expiry": "expiryYearError"})

    holder.press_sequentially(NUMBER)
    assert parent.validate("holder") == (False, {"holder": "cardHolderError"})
    holder.fill("Jane Jones")
    assert parent.validate("holder") == (True, {})


def test_a_frame_takes_styles_and_labels_of_the_page_within_limits(parent: Parent) -> None:
    settings = {
        "lang": "ar",
        "dir": "rtl",
        "scheme": "dark",
        "label": "Code",
        "placeholder": "123",
        "hint": "Please check",
        "masks": True,
        "colors": {"text": "rgb(1, 2, 3)", "background": "url(https://evil.example/)"},
        "styles": {"fontSize": "21px", "position": "fixed", "text-align": "start"},
        "placeholderStyles": {"font-style": "italic"},
    }
    cvv = parent.show("cvv", settings)
    cvv.press_sequentially("12")
    cvv.press("Escape")
    cvv.press("Enter")

    look = cvv.evaluate(
        """(input) => {
          const style = getComputedStyle(input);
          return [style.fontSize, style.position, style.textAlign, style.direction, style.webkitTextSecurity,
            style.backgroundImage, getComputedStyle(input, "::placeholder").fontStyle,
            getComputedStyle(document.documentElement).colorScheme, document.documentElement.lang];
        }"""
    )
    assert look == ["21px", "static", "right", "ltr", "disc", "none", "italic", "dark", "ar"]
    expect(cvv).to_have_accessible_name("Code")
    expect(cvv).to_have_accessible_description("Please check")
    expect(cvv).to_have_attribute("aria-invalid", "true")
    expect(cvv).to_have_attribute("placeholder", "123")
    parent.send("cvv", {"type": "options", "options": {"hint": ""}})
    expect(cvv).to_have_attribute("aria-invalid", "false")
    assert len(parent.heard("cvv", "enter")) == 1
    cvv.blur()
    assert parent.heard("cvv", "blur") == [{"type": "blur", "isValid": False, "isEmpty": False, "kind": "incomplete"}]
    parent.send("cvv", {"type": "focus"})
    expect(cvv).to_be_focused()


def test_four_frames_pay_together_and_the_page_learns_no_secret(parent: Parent, watch: Watch) -> None:
    parent.answer_posts(DECLINED, status=400)
    fill_card(parent)
    fields = {"paymentBrand": "VISA", "shopperResultUrl": "https://shop.example/", "card.number": "1", "card.cvv": "2"}

    submission = {"type": "submit", "fields": fields}
    parent.send("number", {**submission, "ask": 99})
    answer = parent.ask("cvv", submission | {"type": "validate"})
    parent.page.wait_for_function("() => heard.number.some((message) => message.type === 'answer')")

    assert answer["isValid"]
    assert parent.posts == [
        {
            "paymentBrand": ["VISA"],
            "shopperResultUrl": ["https://shop.example/"],
            "card.number": [NUMBER],
            "card.cvv": ["737"],
            "card.holder": ["Jane Jones"],
            "card.expiryMonth": ["05"],
            "card.expiryYear": ["2034"],
            "shopOrigin": [parent.origin],
        }
    ]
    assert watch.take() == ["Failed to load resource: the server responded with a status of 400 (Bad Request)"]
    assert parent.heard("number", "answer") == [{"type": "answer", "ask": 99, "status": 400, "body": DECLINED}]
    expect(parent.frame("cvv").locator("input")).to_have_value("")
    expect(parent.frame("number").locator("input")).to_have_value("4200 0000 0000 0000")
    assert (
        parent.page.evaluate("[...document.querySelectorAll('iframe')].map((frame) => frame.contentDocument)")
        == [None] * 4
    )
    everything = parent.everything()
    assert [secret for secret in SECRETS if secret in everything] == []


def test_two_submissions_at_once_are_one_and_a_fault_is_shown_without_asking_the_service(parent: Parent) -> None:
    parent.answer_posts(DECLINED)
    fill_card(parent)
    twice = "(message) => { ports.number.postMessage(message); ports.number.postMessage(message); }"
    parent.page.evaluate(twice, {"type": "submit", "ask": 7, "fields": {}})
    parent.page.wait_for_function("() => heard.number.some((message) => message.type === 'answer')")

    # The code was spent by the first one.
    faults = parent.ask("number", {"type": "submit", "fields": {}})
    assert (faults["type"], faults["isValid"], faults["errors"]) == ("validity", False, {"cvv": "cvvError"})
    assert len(parent.posts) == 1

    parent.frame("cvv").locator("input").fill("737")
    echo = {"name": "card.cvv", "value": "737", "message": "?"}
    parent.answer_posts({"result": {"code": "200.300.404", "parameterErrors": [echo]}})
    answer = parent.ask("number", {"type": "submit", "fields": {}})
    assert answer["body"]["result"]["parameterErrors"] == [{"name": "card.cvv", "message": "?"}]

    parent.frame("cvv").locator("input").fill("737")
    parent.answer_posts({"result": {"code": "200.300.404", "description": f"what is 4200-{NUMBER[4:]}?"}})
    assert parent.ask("number", {"type": "submit", "fields": {}})["status"] == 0

    parent.frame("cvv").locator("input").fill("737")
    elsewhere = {"result": {"code": "200.300.404", "parameterErrors": [{"name": "billing.city", "message": "?"}]}}
    parent.answer_posts(elsewhere)
    assert parent.ask("number", {"type": "submit", "fields": {}})["body"] == elsewhere
    expect(parent.frame("cvv").locator("input")).to_have_value("737")


def test_the_code_of_a_registered_card_is_sent_by_its_own_frame(parent: Parent) -> None:
    parent.answer_posts(DECLINED)
    parent.show("cvv", {"brand": "VISA"}).press_sequentially("737")
    parent.send("cvv", {"type": "submit", "ask": 98, "fields": {"paymentBrand": "VISA"}})

    answer = parent.ask("cvv", {"type": "submit", "fields": {"registrationId": "8a00"}})

    assert (answer["type"], answer["status"]) == ("answer", 200)
    assert parent.posts == [{"registrationId": ["8a00"], "card.cvv": ["737"], "shopOrigin": [parent.origin]}]
    expect(parent.frame("cvv").locator("input")).to_have_value("")


def test_frames_of_another_group_are_not_asked_and_the_page_names_neither_secrets_nor_its_origin(
    parent: Parent,
) -> None:
    parent.answer_posts(DECLINED)
    parent.show("number", CARDS).press_sequentially(NUMBER)
    parent.show("cvv", CARDS, group="g2").press_sequentially("737")

    fields = {"card.cvv": "999", "card.number": "9", "shopOrigin": "https://other.example"}
    parent.ask("number", {"type": "submit", "fields": fields})

    assert parent.posts == [{"card.number": [NUMBER], "shopOrigin": [parent.origin]}]
    expect(parent.frame("cvv").locator("input")).to_have_value("737")


def test_a_hostile_page_cannot_ask_a_frame_for_its_value(parent: Parent, site: Site) -> None:
    intruder = parent.add_spy(site)
    parent.show("number", CARDS).press_sequentially(NUMBER)
    parent.show("cvv", CARDS).press_sequentially("737")
    parent.page.evaluate("(service) => pry(['number', 'cvv'], window, service)", parent.service)
    intruder.evaluate("(service) => pry([], parent, service)", parent.service)

    # Ranges of the page's own would reveal the number digit by digit.
    rows = {"VISA": {"prefixes": ["42000000"], "lengths": [4], "luhn": False, "shares": [], "grouping": [2]}}
    parent.send("number", {"type": "options", "options": {"brands": rows}})
    assert parent.validate("number") == (True, {})
    # Who is no sibling cannot declare the code spent either.
    assert parent.validate("cvv") == (True, {})
    received = parent.everything() + intruder.evaluate("tellEverything()")
    assert [secret for secret in SECRETS if secret in received] == []
    assert (parent.page.evaluate("overheard"), intruder.evaluate("overheard")) == ([], [])


def test_a_frame_connects_once_and_to_the_page_it_was_made_for_only(parent: Parent, site: Site, shop: Site) -> None:
    parent.show("cvv")
    setup = {"field": "cvv", "group": "g1", "options": {"label": "Again"}, "service": parent.service}
    assert parent.page.evaluate("(setup) => connectOnceMore(setup)", setup) == "silence"
    expect(parent.frame("cvv").locator("input")).to_have_accessible_name("CVV")

    parent.add("number", [parent.origin, site.url])
    setup = {"field": "number", "group": "g1", "options": {}, "service": parent.service}
    # Neither of another origin nor of the shop's own: only the page around the frame connects to it.
    for intruder in (parent.add_spy(site), parent.add_spy(shop)):
        assert intruder.evaluate("(setup) => connectSibling(setup, 1)", setup) == "silence"
    assert parent.page.evaluate("(setup) => connect(setup)", setup) == "ready"


def test_an_ancestor_may_show_a_frame_but_not_connect_to_it(parent: Parent, site: Site) -> None:
    parent.add("number", [site.url, parent.origin])
    expect(parent.frame("number").locator("input")).to_be_visible()
    setup = {"field": "number", "group": "g1", "options": {}, "service": parent.service}
    assert parent.page.evaluate("(setup) => connectOnceMore(setup)", setup) == "silence"


def test_the_browser_does_not_show_a_frame_to_a_page_that_it_does_not_name(
    parent: Parent, site: Site, watch: Watch
) -> None:
    parent.add("number", [site.url])
    parent.add("cvv", ["null"])

    assert parent.frame("number").locator("input").count() == 0
    complaints = watch.take()
    assert any("frame-ancestors" in complaint for complaint in complaints), complaints
