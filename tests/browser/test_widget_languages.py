"""The payment form speaks every language completely: labels, buttons, faults, and what is inside the frames.
Whether the texts themselves are complete is tested without a browser.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Frame, Page, expect

from browser.shops import Site
from browser.widget_shop import HostedPage, Prepared, fill_card, form, number_field, options, pay_button
from gateway import Client
from tollgate.widget.languages import CODES, LANGUAGES

EXAMPLE_NUMBER = "1234 1234 1234 1234"
FRAME_PATH = "/v1/paymentWidgets/frame/"
SHARES = tuple(CODES[start : start + 5] for start in range(0, len(CODES), 5))
"""A page has a form in each of five languages: fewer visits than languages, and not fifty frames at once."""

# Every form is paid with nothing filled in, one after the other, and then says all that it has to say.
READ_FORMS = """
async () => {
  const read = form => {
    const texts = selector => Array.from(form.querySelectorAll(selector), element => element.textContent.trim());
    const values = (selector, name) => Array.from(form.querySelectorAll(selector), each => each.getAttribute(name));
    const controls = Array.from(form.querySelectorAll("input:not([type=hidden]), select"));
    return {
      lang: form.lang,
      dir: form.dir,
      words: [
        ...texts(".wpwl-label, .wpwl-button, .wpwl-hint"),
        ...values("input[placeholder]", "placeholder"),
        ...values("iframe", "title"),
      ],
      hints: texts(".wpwl-hint"),
      labels: controls.map(control => (control.labels.length ? control.labels[0].textContent : "")),
    };
  };
  const spoken = [];
  for (const form of document.querySelectorAll(".wpwl-form-card")) {
    // A click while the form before is still being judged is nobody's.
    for (let look = 0; look < 10000 && !form.querySelector(".wpwl-hint-cvvError"); look += 1) {
      form.querySelector(".wpwl-button-pay").click();
      await new Promise(resolve => setTimeout(resolve, 10));
    }
    spoken.push(read(form));
  }
  return spoken;
}
"""
READ_FRAME = """
() => {
  const input = document.querySelector("input");
  return [document.documentElement.lang, input.getAttribute("aria-label"), input.placeholder];
}
"""
MOUNT_AGAIN = """
([locale, src, integrity]) => {
  window.wpwl.unload();
  window.wpwlOptions = { locale };
  document.querySelector("script[src*='paymentWidgets.js']").remove();
  const tag = document.createElement("script");
  Object.assign(tag, { src, integrity, crossOrigin: "anonymous" });
  document.head.append(tag);
}
"""


@pytest.fixture
def hosted_page(shop: Site, client: Client) -> HostedPage:
    return HostedPage(shop, client)


def wait_for_frames(page: Page, count: int) -> list[Frame]:
    """Waits until every frame has received its language."""
    expect(page.locator("iframe.wpwl-control")).to_have_count(count)
    expect(page.locator("body[data-ready]")).to_be_visible()
    frames = [frame for frame in page.frames if FRAME_PATH in frame.url]
    assert len(frames) == count
    return frames


def strangers(words: list[str], code: str) -> list[str]:
    """Lists the texts of the form that do not belong to its language."""
    texts = LANGUAGES[code]
    optional = [f"{texts[key]} {texts['optional']}" for key in ("state", "street2", "cardHolder")]
    faults = [say_empty(code, key) for key in texts]
    return [word for word in words if word not in (*texts.values(), *optional, *faults) and not is_button(word, code)]


def say_empty(code: str, label: str) -> str:
    return LANGUAGES[code]["emptyError"].replace("{field}", LANGUAGES[code][label])


def is_button(word: str, code: str) -> bool:
    before, after = LANGUAGES[code]["payAmount"].split("{amount}")
    amount = word.removeprefix(before).removesuffix(after)
    is_amount = any(sign in amount for sign in ("€", "EUR")) and any(digits in amount for digits in ("92", "٩٢"))
    return word == f"{before}{amount}{after}" and is_amount


@pytest.mark.parametrize(
    "codes",
    # Every text of every language is tested by itself; the script says those of all languages alike.
    [pytest.param(codes, id=" ".join(codes), marks=() if "ar" in codes else pytest.mark.prove) for codes in SHARES],
)
def test_every_language_is_spoken_without_a_missing_text(
    page: Page, hosted_page: HostedPage, codes: tuple[str, ...]
) -> None:
    forms = [form("VISA", more=f'lang="{code}"') for code in codes]
    received = options({"billingAddress": {}}, onReady="() => { document.body.dataset.ready = 'yes'; }")
    hosted_page.show(page, received, *forms, hosted_page.script(hosted_page.prepare()))

    frames = wait_for_frames(page, 2 * len(codes))

    for code, spoken in zip(codes, page.evaluate(READ_FORMS), strict=True):
        texts = LANGUAGES[code]
        assert (spoken["lang"], spoken["dir"]) == (texts["tag"], texts["dir"]), code
        assert strangers(spoken["words"], code) == [], code
        assert strangers(spoken["labels"], code) == [], code
        empty = {say_empty(code, label) for label in ("cardNumber", "cvv", "expiryDate", "city", "street1")}
        assert empty <= set(spoken["hints"]), code
        assert {texts["billingAddress"], texts["street1"], texts["mmyy"]} <= set(spoken["words"]), code
        assert any(is_button(word, code) for word in spoken["words"]), code

    spoken_inside = {tuple(frame.evaluate(READ_FRAME)) for frame in frames}
    said = [LANGUAGES[code] for code in codes]
    assert spoken_inside == {(texts["tag"], texts["cvv"], texts["cvv"]) for texts in said} | {
        (texts["tag"], texts["cardNumber"], EXAMPLE_NUMBER) for texts in said
    }


def remount(page: Page, hosted_page: HostedPage, checkout: Prepared, locale: str) -> None:
    src = f"{hosted_page.client.base_url}/v1/paymentWidgets.js?checkoutId={checkout.id}"
    page.evaluate(MOUNT_AGAIN, [locale, src, checkout.integrity])
    expect(page.locator(".wpwl-form-card")).to_be_visible()


def test_a_page_chooses_the_language_by_any_of_its_names(page: Page, hosted_page: HostedPage) -> None:
    checkout = hosted_page.prepare()
    hosted_page.show(page, options({"locale": "de-AT"}), hosted_page.script(checkout), form("VISA", more='lang="fr"'))
    expect(pay_button(page)).to_have_text("92,00 € bezahlen")

    for locale, code in (("da", "dk"), ("zh_CN", "cn"), ("nn-NO", "no"), ("PT-br", "pt"), ("tlh", "fr")):
        remount(page, hosted_page, checkout, locale)
        assert is_button(pay_button(page).inner_text(), code)
        assert page.locator(".wpwl-form").get_attribute("lang") == LANGUAGES[code]["tag"]


def test_a_page_that_says_nothing_is_spoken_to_in_its_own_language(page: Page, hosted_page: HostedPage) -> None:
    hosted_page.show(page, hosted_page.script(hosted_page.prepare()), form("VISA"))

    expect(pay_button(page)).to_have_text("Pay €92.00")


def test_a_shop_replaces_texts_by_its_own(page: Page, hosted_page: HostedPage) -> None:
    own = {
        "locale": "de",
        "labels": {"submit": "Spenden", "cardHolder": "Wer spendet?", "brand": 17},
        "errorMessages": {"cardNumberError": "Diese Nummer gibt es nicht."},
    }
    hosted_page.show(page, options(own), hosted_page.script(hosted_page.prepare()), form("VISA"))

    expect(number_field(page)).to_be_visible()
    pay_button(page).click()

    expect(page.locator(".wpwl-hint-cardNumberError")).to_have_text("Diese Nummer gibt es nicht.")
    expect(pay_button(page)).to_have_text("Spenden")
    expect(page.locator(".wpwl-label-cardHolder")).to_have_text("Wer spendet? (optional)")
    # What is no text does not replace one.
    expect(page.locator(".wpwl-label-brand")).to_have_text(LANGUAGES["de"]["brand"])


def test_arabic_runs_from_right_to_left_and_its_digits_from_left_to_right(page: Page, hosted_page: HostedPage) -> None:
    hosted_page.show(
        page, options({"locale": "ar"}), hosted_page.script(hosted_page.prepare()), form("VISA MASTER DIRECTDEBIT_SEPA")
    )
    fill_card(page.locator(".wpwl-form-card"))

    iban = page.locator(".wpwl-control-accountIban")
    expect(iban).to_have_css("direction", "rtl")
    iban.press_sequentially("DE89")
    expect(iban).to_have_css("direction", "ltr")
    expect(iban).to_have_css("text-align", "right")
    iban.fill("")
    expect(iban).to_have_css("direction", "rtl")
    expiry, cvv = (page.locator(f".wpwl-group-{name}").bounding_box() for name in ("expiry", "cvv"))
    assert expiry is not None
    assert cvv is not None
    assert expiry["x"] > cvv["x"]
    mark, select = (page.locator(f".wpwl-group-brand {name}").bounding_box() for name in (".wpwl-brand", "select"))
    assert mark is not None
    assert select is not None
    assert mark["x"] > select["x"] + select["width"] / 2
    for field in (number_field(page), page.locator(".wpwl-control-expiry")):
        looks = field.evaluate("input => [getComputedStyle(input).direction, getComputedStyle(input).textAlign]")
        assert looks == ["ltr", "right"]
    assert number_field(page).input_value() == "4200 0000 0000 0000"
    assert page.locator(".wpwl-control-expiry").input_value() == "05 / 34"
