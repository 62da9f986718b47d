"""The layout "accordion" of the payment form: a list of methods of which one is open, and one button that pays with it.

How payments end is tested with the classic layout; here each kind of method is paid once.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from browser import widget_shop
from browser.conftest import OpenContext
from browser.repeats import keep_rows
from browser.shops import Site
from browser.test_widget_looks import FOLLOWS_THE_SHOPPER, MISFITS, OUTER_WIDTH, find_faults_everywhere
from browser.walks import CHALLENGED
from browser.watching import Watch
from browser.widget_shop import NUMBER, HostedPage, Piece, bank_page, cvv_field, fill_card, form, number_field, options
from gateway import CARD, Client
from tollgate.widget.languages import LANGUAGES

BRANDS = "VISA MASTER AMEX PAYPAL DIRECTDEBIT_SEPA"
PAID = "000.100.110"
IBAN = "DE89370400440532013000"
IS_PLACEHOLDER_FREE = """
input => {
  const style = getComputedStyle(input);
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = style.font;
  return input.clientWidth - parseFloat(style.paddingLeft) - pen.measureText(input.placeholder).width;
}
"""
MARKS_WIDTH = """
marks => {
  const shown = [...marks.children].filter((mark) => mark.offsetTop < marks.clientHeight);
  return marks.getBoundingClientRect().right - Math.min(...shown.map((mark) => mark.getBoundingClientRect().left)) + 12;
}
"""


@pytest.fixture
def hosted_page(shop: Site, client: Client) -> HostedPage:
    return HostedPage(shop, client)


@pytest.fixture
def stored(client: Client) -> dict[str, str]:
    """Two registered cards, as parameters of a checkout."""
    cards = [client.post("/v1/registrations", CARD).json["id"] for _ in range(2)]
    return {f"registrations[{place}].id": card for place, card in enumerate(cards)}


def show(
    page: Page,
    hosted_page: HostedPage,
    *pieces: Piece,
    brands: str = BRANDS,
    checkout: widget_shop.Prepared | None = None,
    **settings: object,
) -> widget_shop.Prepared:
    prepared = checkout or hosted_page.prepare()
    script = hosted_page.script(prepared)
    hosted_page.show(
        page, FOLLOWS_THE_SHOPPER, options({"layout": "accordion", **settings}), *pieces, script, form(brands)
    )
    expect(page.locator(".wpwl-accordion")).to_be_visible()
    return prepared


def radio(page: Page, name: str) -> Locator:
    return page.get_by_role("group", name="Payment method").get_by_role("radio", name=name)


def panel(page: Page, key: str) -> Locator:
    return page.locator(f".wpwl-method-{key} .wpwl-method-panel")


def approve(page: Page) -> None:
    with page.expect_popup() as opened:
        widget_shop.pay_button(page).click()
    opened.value.get_by_role("button", name="Approve").click()


def test_one_method_is_open_and_the_one_button_follows_it(page: Page, hosted_page: HostedPage) -> None:
    show(page, hosted_page)
    expect(widget_shop.pay_button(page)).to_have_count(1)
    expect(radio(page, "Card")).to_be_checked()
    expect(widget_shop.pay_button(page)).to_have_text("Pay €92.00")
    expect(number_field(page)).to_be_visible()

    radio(page, "Card").focus()
    page.keyboard.press("ArrowDown")

    expect(radio(page, "PayPal")).to_be_checked()
    expect(widget_shop.pay_button(page)).to_have_text("Pay with PayPal")
    expect(page.get_by_text("You will be taken to PayPal to complete your payment.")).to_be_visible()
    expect(panel(page, "card")).to_be_hidden()

    page.keyboard.press("ArrowDown")
    expect(page.get_by_label("IBAN")).to_be_visible()
    expect(widget_shop.pay_button(page)).to_have_text("Pay €92.00")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Account holder")).to_be_focused()


def test_what_was_typed_stays_while_another_method_is_open(page: Page, hosted_page: HostedPage) -> None:
    frames: list[str] = []
    page.on("request", lambda request: frames.append(request.url) if "/frame/" in request.url else None)
    checkout = show(page, hosted_page)
    fill_card(page)
    loaded = len(frames)

    radio(page, "PayPal").check()
    expect(panel(page, "card")).to_be_hidden()
    radio(page, "Card").check()

    expect(number_field(page)).to_have_value("4200 0000 0000 0000")
    assert len(frames) == loaded
    widget_shop.pay_button(page).click()
    hosted_page.expect_home(page, checkout)
    assert hosted_page.read_code(checkout) == PAID


def test_a_key_in_a_field_pays_with_the_open_method(page: Page, hosted_page: HostedPage) -> None:
    checkout = show(page, hosted_page)
    radio(page, "SEPA Direct Debit").check()
    page.get_by_label("Account holder").fill("Jane Jones")
    page.get_by_label("IBAN").fill(IBAN)

    page.get_by_label("IBAN").press("Enter")

    hosted_page.expect_home(page, checkout)
    assert hosted_page.read_code(checkout) == PAID


def test_a_provider_is_paid_in_its_window(page: Page, hosted_page: HostedPage) -> None:
    checkout = show(page, hosted_page)
    radio(page, "PayPal").check()

    approve(page)

    hosted_page.expect_home(page, checkout)
    assert hosted_page.read_code(checkout) == PAID


@pytest.mark.parametrize("requires_cvv", [True, False])
def test_registered_cards_are_the_first_rows(
    page: Page, hosted_page: HostedPage, client: Client, stored: dict[str, str], requires_cvv: bool
) -> None:
    hides = {"requireCvv": requires_cvv, "hideInitialPaymentForms": True}
    checkout = show(page, hosted_page, checkout=hosted_page.prepare(**stored), registrations=hides)
    names = page.get_by_role("radio").evaluate_all("radios => radios.map((radio) => radio.labels[0].innerText)")
    assert ["0000" in name for name in names] == [True, True, False, False, False]
    expect(page.get_by_role("radio", name="0000").first).to_be_checked()
    expect(radio(page, "Card")).to_be_visible()

    page.get_by_role("radio", name="0000").nth(1).check()
    if requires_cvv:
        cvv_field(page.locator(".wpwl-selected")).press_sequentially("123")
    widget_shop.pay_button(page).click()

    hosted_page.expect_home(page, checkout)
    payment = client.get(f"/v1/checkouts/{checkout.id}/payment")
    assert (payment.code, payment.json["registrationId"]) == (PAID, stored["registrations[1].id"])


def test_a_new_card_pays_beside_stored_ones(
    page: Page, hosted_page: HostedPage, client: Client, stored: dict[str, str]
) -> None:
    checkout = show(page, hosted_page, checkout=hosted_page.prepare(**stored))
    radio(page, "Card").check()
    fill_card(page.locator(".wpwl-container-card"), "5454545454545454")

    widget_shop.pay_button(page).click()

    hosted_page.expect_home(page, checkout)
    payment = client.get(f"/v1/checkouts/{checkout.id}/payment")
    assert (payment.code, payment.json["paymentBrand"]) == (PAID, "MASTER")


def test_accepted_marks_fade_to_the_one_of_the_number(page: Page, hosted_page: HostedPage) -> None:
    show(page, hosted_page)
    shown = page.locator(".wpwl-brand-accepted:not(.wpwl-brand-off)")
    expect(shown).to_have_count(3)

    number_field(page).press_sequentially("5454")
    expect(shown).to_have_count(1)
    expect(shown).to_have_class("wpwl-brand wpwl-brand-accepted wpwl-brand-MASTER")
    expect(page.get_by_label("Card type")).to_be_hidden()

    number_field(page).fill("")
    expect(shown).to_have_count(3)


def test_the_type_is_asked_for_only_where_a_number_is_of_two(
    page: Page, hosted_page: HostedPage, client: Client
) -> None:
    checkout = show(page, hosted_page, brands="VISA DANKORT MASTER")
    choice = page.get_by_label("Card type")
    expect(choice).to_be_hidden()
    number_field(page).press_sequentially("5454")
    expect(choice).to_be_hidden()
    number_field(page).fill("")

    fill_card(page)
    expect(choice).to_be_visible()
    assert choice.locator("option:not([hidden])").all_inner_texts() == ["Visa", "Dankort"]
    choice.select_option("DANKORT")
    expect(page.locator(".wpwl-brand-accepted:not(.wpwl-brand-off)")).to_have_class(
        "wpwl-brand wpwl-brand-accepted wpwl-brand-DANKORT"
    )
    widget_shop.pay_button(page).click()

    hosted_page.expect_home(page, checkout)
    assert client.get(f"/v1/checkouts/{checkout.id}/payment").json["paymentBrand"] == "DANKORT"


@pytest.mark.parametrize(
    ("brands", "detects"), [("VISA MASTER", False), ("VISA JAYWAN", True)], ids=["by option", "no ranges are known"]
)
def test_the_type_is_required_where_numbers_do_not_decide_it(
    page: Page, hosted_page: HostedPage, brands: str, detects: bool
) -> None:
    show(page, hosted_page, brands=brands, brandDetection=detects)

    expect(page.get_by_label("Card type")).to_be_visible()


def test_a_single_method_needs_no_choice(page: Page, hosted_page: HostedPage) -> None:
    checkout = show(page, hosted_page, brands="VISA MASTER")
    expect(page.get_by_role("radio")).to_have_count(0)

    fill_card(page)
    widget_shop.pay_button(page).click()

    hosted_page.expect_home(page, checkout)


def test_the_note_of_the_test_mode_moves_nothing(page: Page, hosted_page: HostedPage) -> None:
    show(page, hosted_page)

    note, button = page.locator(".wpwl-message-test").bounding_box(), widget_shop.pay_button(page).bounding_box()
    assert note is not None
    assert button is not None
    assert note["y"] > button["y"] + button["height"]


def test_methods_rest_while_one_is_paid_and_messages_stay_with_theirs(page: Page, hosted_page: HostedPage) -> None:
    show(page, hosted_page)
    radio(page, "PayPal").check()
    with page.expect_popup() as opened:
        widget_shop.pay_button(page).click()
    expect(opened.value.get_by_role("button", name="Approve")).to_be_visible()
    expect(radio(page, "Card")).to_be_disabled()

    widget_shop.stay_open_for_a_moment(page)
    opened.value.close()
    expect(radio(page, "Card")).to_be_enabled()
    said = page.locator(".wpwl-group-submit [role=alert]").locator("visible=true")
    expect(said).to_have_text(LANGUAGES["en"]["notCharged"])
    expect(said).to_contain_class("wpwl-message-calm")
    radio(page, "Card").check()
    expect(said).to_have_count(0)
    radio(page, "PayPal").check()
    expect(said).to_have_text(LANGUAGES["en"]["notCharged"])
    expect(said).to_contain_class("wpwl-message-calm")


@pytest.mark.parametrize("is_stored", [True, False])
def test_an_address_that_the_bank_wants_is_asked_for_in_the_open_method(
    page: Page, hosted_page: HostedPage, client: Client, watch: Watch, is_stored: bool
) -> None:
    card = {**CARD, "card.number": CHALLENGED}
    cards = [client.post("/v1/registrations", card).json["id"] for _ in range(2)]
    listed = {f"registrations[{place}].id": each for place, each in enumerate(cards)} if is_stored else {}
    checkout = show(page, hosted_page, checkout=hosted_page.prepare(**listed))
    if not is_stored:
        fill_card(page, CHALLENGED)

    widget_shop.pay_button(page).click()
    expect(page.get_by_label("Country")).to_be_focused()
    assert all("400" in complaint for complaint in watch.take())
    if is_stored:
        # The address goes with the card that is chosen, and is gone with another method.
        page.get_by_role("radio", name="0000").nth(1).check()
        expect(page.locator(".wpwl-selected").get_by_label("Country")).to_be_visible()
        radio(page, "PayPal").check()
        expect(page.get_by_label("Country")).to_be_hidden()
        page.get_by_role("radio", name="0000").nth(1).check()
    page.get_by_label("Country").select_option("AT")
    for name, text in (("city", "Graz"), ("postcode", "8010"), ("street1", "Ring 7")):
        page.locator(f'[name="billing.{name}"]').fill(text)
    widget_shop.pay_button(page).click()
    bank_page(page).get_by_label("One-time code").fill("1234")
    bank_page(page).get_by_role("button", name="Confirm").click()

    hosted_page.expect_home(page, checkout)
    assert hosted_page.read_code(checkout) == PAID


def test_pages_pay_with_a_method_that_is_not_open(page: Page, hosted_page: HostedPage) -> None:
    checkout = show(page, hosted_page, autofocus="bankAccount.holder")
    expect(page.get_by_label("Account holder")).to_be_focused()
    radio(page, "Card").check()
    fill_card(page)
    radio(page, "PayPal").check()

    page.evaluate("wpwl.executePayment('wpwl-container-card')")

    hosted_page.expect_home(page, checkout)
    assert hosted_page.read_code(checkout) == PAID


def test_frames_that_come_while_another_method_is_open_are_there_later(page: Page, hosted_page: HostedPage) -> None:
    release = widget_shop.hold_frames(page)
    show(page, hosted_page)
    radio(page, "PayPal").check()
    release()
    radio(page, "Card").check()

    number_field(page).press_sequentially(NUMBER)
    expect(number_field(page)).to_have_value("4200 0000 0000 0000")
    expect(page.locator(".wpwl-brand-accepted:not(.wpwl-brand-off)")).to_have_count(1)


@pytest.mark.parametrize("style", keep_rows(["plain", "logos", "none"], "plain", "none"))
def test_every_style_has_the_layout(page: Page, hosted_page: HostedPage, style: str) -> None:
    checkout = show(page, hosted_page, style=style)
    radio(page, "PayPal").check()
    expect(panel(page, "card")).to_be_hidden()
    radio(page, "Card").check()

    fill_card(page)
    widget_shop.pay_button(page).click()

    hosted_page.expect_home(page, checkout)


def test_another_name_of_a_layout_is_the_classic_one(page: Page, hosted_page: HostedPage) -> None:
    hosted_page.show(page, options({"layout": "tabs"}), hosted_page.script(hosted_page.prepare()), form(BRANDS))

    expect(widget_shop.pay_button(page)).to_have_count(3)
    expect(page.locator(".wpwl-accordion")).to_have_count(0)


def test_marks_of_all_methods_end_at_one_line(page: Page, hosted_page: HostedPage) -> None:
    show(page, hosted_page)
    expect(number_field(page)).to_be_visible()

    ends = page.locator(".wpwl-method-icon, .wpwl-method-head .wpwl-brand").evaluate_all(
        "marks => marks.map((mark) => Math.round(mark.getBoundingClientRect().right))"
    )

    assert len(ends) > 1
    assert len(set(ends)) == 1


@pytest.mark.parametrize("width", keep_rows([320, 280, 560], 320, 280))
def test_marks_leave_room_for_the_number(open_context: OpenContext, hosted_page: HostedPage, width: int) -> None:
    page = open_context(viewport={"width": width, "height": 800}, reduced_motion="reduce").new_page()
    show(page, hosted_page)
    expect(number_field(page)).to_have_attribute("placeholder", "1234 1234 1234 1234")
    room = number_field(page).evaluate(IS_PLACEHOLDER_FREE)

    marks = page.locator(".wpwl-marks")
    assert (marks.evaluate(MARKS_WIDTH) if marks.is_visible() else 0) <= room
    assert marks.is_visible() == (width > 300)


@pytest.mark.parametrize(
    ("locale", "width", "scheme"),
    keep_rows([("en", 560, "light"), ("de", 320, "dark"), ("ar", 300, "light")], ("de", 320, "dark")),
)
def test_everything_fits_and_nobody_is_kept_out(
    open_context: OpenContext, hosted_page: HostedPage, stored: dict[str, str], locale: str, width: int, scheme: str
) -> None:
    context = open_context(viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce")
    page = context.new_page()
    show(page, hosted_page, checkout=hosted_page.prepare(**stored), locale=locale, billingAddress={}, registrations={})
    faults = find_faults_everywhere(page)
    for index in range(page.get_by_role("radio").count()):
        page.get_by_role("radio").nth(index).check()
        widget_shop.pay_button(page).click(trial=True)
        # The legend of the registered cards is for those who do not see the list.
        assert set(page.evaluate(MISFITS)) <= {"wpwl-label wpwl-label-registrations"}
        assert page.evaluate(OUTER_WIDTH) == 0
        faults += find_faults_everywhere(page)
    page.locator(".wpwl-method-card .wpwl-method-radio").check()
    widget_shop.pay_button(page).click()
    expect(page.locator(".wpwl-hint-cardNumberError")).to_be_visible()

    assert faults + find_faults_everywhere(page) == []
