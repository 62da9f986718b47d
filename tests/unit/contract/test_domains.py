"""Addresses that belong to a domain which a channel lists, and those that only look so to a careless reader."""

from __future__ import annotations

import pytest

from tollgate.contract.channels import read_channel_value
from tollgate.contract.domains import check_addresses, check_page, is_listed
from tollgate.payments.merchants import Form
from tollgate.values import Refusal

DOMAINS = ("shop.example", "*.wide.example", "local.example:8443", "xn--bcher-kva.example", "127.0.0.1:8080")


@pytest.mark.parametrize(
    "url",
    [
        "https://shop.example",
        "https://shop.example/",
        "https://shop.example/back?to=https://evil.example/@x#y",
        "https://shop.example?x",
        "https://shop.example#x",
        "http://shop.example/",
        "http://shop.example:80/",
        "https://shop.example:443/",
        "https://shop.example:0443/",
        "HTTPS://SHOP.Example/Path",
        "https://shop.example./",
        "https://a.wide.example/",
        "https://a.b.wide.example/",
        "https://local.example:8443/x",
        "http://127.0.0.1:8080/x",
        "https://xn--bcher-kva.example/",
    ],
)
def test_addresses_of_a_listed_domain(url: str) -> None:
    assert is_listed(url, DOMAINS)


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/",
        "https://shop.example.evil.example/",
        "https://evilshop.example/",
        "https://sub.shop.example/",
        "https://shop.example:8443/",
        "https://shop.example:80/",
        "http://shop.example:443/",
        "https://local.example/",
        "https://wide.example/",
        "https://evilwide.example/",
        "https://.wide.example/",
        "https://a..wide.example/",
        "https://shop.example../",
        "https://shop.example@evil.example/",
        "https://shop.example:443@evil.example/",
        "https://evil.example\\@shop.example/",
        "https://evil.example\\.shop.example/",
        "https:\\\\shop.example/",
        "https:shop.example/",
        "https:///shop.example/",
        "//shop.example/",
        "https://shop.example\x00.evil.example/",
        "https://shop%2eexample/",
        "https://evil.example%2f.wide.example/",
        "https://evil.example%00.wide.example/",
        "https://shop.example\t/",
        " https://shop.example/",
        "https://shop.example:/",
        "https://shop.example:99999/",
        "https://shop.example:443x/",
        "https://evil.example;.wide.example/",
        "https://bücher.example/",
        "https://\u017fhop.example/",
        "https://shop。example/",
        "https://sh\u043ep.example/",
        "https://[::1]:8080/",
        "http://2130706433:8080/",
        "http://0x7f.1:8080/",
        "javascript://shop.example/%0aalert(1)",
        "null",
        "",
    ],
)
def test_addresses_that_only_look_like_one_are_not_listed(url: str) -> None:
    assert not is_listed(url, DOMAINS)


@pytest.mark.parametrize(
    ("name", "code"),
    [("shopperResultUrl", "600.300.211"), ("shopOrigin", "600.300.211"), ("notificationUrl", "600.300.210")],
)
def test_an_address_that_is_not_listed_has_the_code_of_its_parameter(name: str, code: str) -> None:
    with pytest.raises(Refusal) as refused:
        check_addresses({name: "https://evil.example/secret-path"}, DOMAINS)
    assert refused.value.result.code == code
    assert name in refused.value.detail
    assert "secret-path" not in refused.value.detail
    check_addresses({name: "https://shop.example/"}, DOMAINS)


@pytest.mark.parametrize("host", ["[::1]:8080", "[2001:db8::1]", "pay.example:8443"])
def test_this_host_is_found_however_it_is_named(host: str) -> None:
    assert is_listed(f"https://{host}/x", ("shop.example", host))
    assert not is_listed(f"https://{host}:1/x", ("shop.example", host))
    assert not is_listed("https://[::2]:8080/x", ("shop.example", host))


def test_addresses_of_apps_have_a_list_of_their_own() -> None:
    check_addresses({"shopperResultUrl": "com.example.shop://back"}, DOMAINS)


def test_a_page_is_refused_by_its_origin() -> None:
    check_page("https://shop.example", DOMAINS)
    check_page(None, DOMAINS)
    check_page("https://evil.example", ())
    for origin in ("https://evil.example", "null", ""):
        with pytest.raises(Refusal) as refused:
            check_page(origin, DOMAINS)
        assert refused.value.result.code == "600.300.211"


@pytest.mark.parametrize(
    "text",
    [
        "bücher.example",
        "https://shop.example/",
        "user@shop.example",
        "*",
        "shop.example:0443",
        "shop.example:0",
        "shop.example:70000",
        "shop.example:",
        ",".join(f"d{number}.example" for number in range(201)),
    ],
)
def test_what_no_address_could_belong_to_is_not_listed(text: str) -> None:
    with pytest.raises(ValueError, match=r"^not "):
        read_channel_value(Form.DOMAINS, text)


def test_domains_are_listed_once_and_in_small_letters() -> None:
    assert read_channel_value(Form.DOMAINS, " Shop.example, shop.example,*.a.example:8443,") == (
        "shop.example",
        "*.a.example:8443",
    )
