"""A direct debit in the payment form: what the shopper agrees to, and an IBAN that is easy to type."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from browser.conftest import Shoot
from browser.repeats import keep_rows
from browser.shops import Site
from browser.test_widget_looks import find_faults_everywhere
from browser.widget_shop import HostedPage, Prepared, form, options, pay_button
from gateway import Client
from tollgate.catalog.mandates import MANDATE_TEXTS

IBAN = "DE89370400440532013000"
GROUPED = "DE89 3704 0044 0532 0130 00"
IDENTIFIER = "DE98ZZZ09999999999"


@pytest.fixture
def hosted_page(shop: Site, client: Client) -> HostedPage:
    return HostedPage(shop, client)


def show_hosted_page(page: Page, hosted_page: HostedPage, *before: str, **changes: str) -> Prepared:
    checkout = hosted_page.prepare(merchant__name="Gatehouse Goods", **changes)
    hosted_page.show(page, *before, hosted_page.script(checkout), form("DIRECTDEBIT_SEPA"))
    expect(pay_button(page)).to_be_visible()
    return checkout


def iban_field(page: Page) -> Locator:
    return page.locator(".wpwl-control-accountIban")


def mandate(page: Page) -> Locator:
    return page.locator(".wpwl-mandate")


def read_caret(page: Page) -> int:
    caret: int = iban_field(page).evaluate("(input) => input.selectionStart")
    return caret


# ---- the mandate ----


@pytest.mark.parametrize("locale", keep_rows(["en", "de", "ar"], "en", "ar"))
def test_the_mandate_names_the_creditor_in_the_shoppers_language(
    page: Page, hosted_page: HostedPage, locale: str, shoot: Shoot
) -> None:
    show_hosted_page(page, hosted_page, options({"locale": locale}))

    received = MANDATE_TEXTS[locale].format(creditor="Gatehouse Goods", identifier=IDENTIFIER)
    expect(mandate(page)).to_have_text(received)
    assert page.evaluate(
        """() => {
          const [iban, mandate, button] = [".wpwl-control-accountIban", ".wpwl-mandate", ".wpwl-button-pay"].map(
            (each) => document.querySelector(each).getBoundingClientRect().top);
          return iban < mandate && mandate < button;
        }"""
    )
    expect(iban_field(page)).to_have_accessible_description(received)
    assert find_faults_everywhere(page) == []
    shoot(page, f"form-mandate-{locale}")


def test_without_a_name_in_the_checkout_the_channel_is_the_creditor(page: Page, hosted_page: HostedPage) -> None:
    checkout = hosted_page.prepare()
    hosted_page.show(page, hosted_page.script(checkout), form("VISA DIRECTDEBIT_SEPA"))

    expect(mandate(page)).to_contain_text(f"(creditor identifier {IDENTIFIER})")
    expect(mandate(page)).not_to_contain_text("{")


def test_the_mandate_stands_directly_above_the_button(page: Page, hosted_page: HostedPage) -> None:
    checkout = hosted_page.prepare()
    settings = options({"billingAddress": {"country": "DE"}, "showBirthDate": True})
    hosted_page.show(page, settings, hosted_page.script(checkout), form("DIRECTDEBIT_SEPA", "<p>Anything else?</p>"))

    expect(page.locator(".wpwl-group-billing")).to_be_visible()
    expect(page.locator(".wpwl-group-mandate + .wpwl-group-submit")).to_be_visible()


def test_a_language_that_the_page_names_late_has_its_mandate(page: Page, hosted_page: HostedPage) -> None:
    """Pages set options while the form asks the gateway what there is to pay."""
    late = "setTimeout(() => { wpwlOptions.locale = 'fr'; }, 0)"
    page.route("**/v1/checkouts/*/form?*", lambda route: (page.evaluate(late), route.continue_()))
    show_hosted_page(page, hosted_page, options({}))

    expect(mandate(page)).to_contain_text("En confirmant")


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        (
            "`${facts.creditor} ${facts.identifier} ${facts.brand} <b>`",
            f"Gatehouse Goods {IDENTIFIER} DIRECTDEBIT_SEPA <b>",
        ),
        ("Object.assign(document.createElement('em'), { textContent: 'Our own terms' })", "Our own terms"),
        ("undefined", "By confirming"),
    ],
    ids=["text", "element", "nothing"],
)
def test_a_page_shows_a_mandate_of_its_own(page: Page, hosted_page: HostedPage, answer: str, shown: str) -> None:
    show_hosted_page(page, hosted_page, options({}, onShowMandate=f"(facts) => {answer}"))

    expect(mandate(page)).to_contain_text(shown)


def test_a_page_may_show_the_mandate_elsewhere(page: Page, hosted_page: HostedPage) -> None:
    elsewhere = "function (facts) { window.told = [facts.text, this.$form[0].tagName]; return false; }"
    show_hosted_page(page, hosted_page, options({}, onShowMandate=elsewhere))

    assert page.evaluate("told[0].startsWith('By confirming') && told[1] === 'FORM'")
    expect(mandate(page)).to_have_count(0)


def test_a_card_form_has_no_mandate(page: Page, hosted_page: HostedPage) -> None:
    hosted_page.show(page, hosted_page.script(hosted_page.prepare()), form("VISA PAYPAL"))

    expect(pay_button(page).first).to_be_visible()
    expect(mandate(page)).to_have_count(0)


# ---- the IBAN ----


def test_an_iban_is_grouped_while_it_is_typed_and_sent_without_blanks(page: Page, hosted_page: HostedPage) -> None:
    checkout = show_hosted_page(page, hosted_page)
    page.locator(".wpwl-control-accountHolder").fill("Jane Jones")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.post_data or "") if request.method == "POST" else None)

    iban_field(page).press_sequentially(IBAN.lower())

    expect(iban_field(page)).to_have_value(GROUPED)
    pay_button(page).click()
    hosted_page.expect_home(page, checkout)
    assert any(f"bankAccount.iban={IBAN}&" in body for body in sent)


def test_an_iban_is_pasted_as_people_write_it(page: Page, hosted_page: HostedPage) -> None:
    show_hosted_page(page, hosted_page)

    for pasted in (
        GROUPED,
        IBAN.lower(),
        " de89-3704-0044-0532-0130-00 ",
        "IBAN: DE89 3704 0044 0532 0130 00",
        "DE89\u00a03704\u202f0044\u200b0532013000",
    ):
        iban_field(page).fill("")
        iban_field(page).focus()
        page.keyboard.insert_text(pasted)

        expect(iban_field(page)).to_have_value(GROUPED)
        assert read_caret(page) == len(GROUPED)


def test_the_caret_stays_where_somebody_mends_an_iban(page: Page, hosted_page: HostedPage) -> None:
    show_hosted_page(page, hosted_page)
    field = iban_field(page)
    field.fill(IBAN)
    expect(field).to_have_value(GROUPED)

    field.evaluate("(input) => input.setSelectionRange(7, 7)")
    page.keyboard.press("Backspace")
    assert (field.input_value(), read_caret(page)) == ("DE89 3040 0440 5320 1300 0", 6)
    page.keyboard.type("7")
    assert (field.input_value(), read_caret(page)) == (GROUPED, 7)
    field.evaluate("(input) => input.setSelectionRange(5, 5)")
    page.keyboard.press("Backspace")
    assert (field.input_value(), read_caret(page)) == ("DE83 7040 0440 5320 1300 0", 3), "the digit before the blank"
    page.keyboard.type("9")
    assert (field.input_value(), read_caret(page)) == (GROUPED, 4)
    page.keyboard.press("Delete")
    assert (field.input_value(), read_caret(page)) == ("DE89 7040 0440 5320 1300 0", 4), "the digit behind the blank"


def test_what_is_wrong_with_an_iban(page: Page, hosted_page: HostedPage) -> None:
    show_hosted_page(page, hosted_page)
    page.locator(".wpwl-control-accountHolder").fill("Jane Jones")

    # No text follows itself, so that none is left over from the number before.
    for typed, received in (
        ("", "IBAN is missing."),
        ("DE89 3704", "IBAN is incomplete."),
        ("DE89 3704 0044 0532 0130 01", "IBAN is not valid."),
        ("DE89 3704 0044 0532 0130 0", "IBAN is incomplete."),
        ("12", "IBAN is not valid."),
    ):
        iban_field(page).fill(typed)
        pay_button(page).click()

        expect(page.locator(".wpwl-hint-accountIbanError")).to_have_text(received)
        expect(iban_field(page)).to_be_focused()
