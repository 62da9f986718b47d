"""Sessions of the back office: their cookies, tokens and forms, and how they end."""

from __future__ import annotations

import hmac
import re
from urllib.parse import urlencode

import pytest

from gateway import GatewayProcess
from office_client import OfficeClient
from office_pages import choose_password, make_next_code, set_up_totp
from office_users import PASSWORD, add_user, enter_as, sign_in

NEW = "quite another password"
COOKIE, FORM_COOKIE = "tollgate_office", "tollgate_office_form"


def is_signed_in(office: OfficeClient) -> bool:
    return office.get("/office/profile", follow=False).status == 200


def test_every_stage_of_a_sign_in_has_a_token_of_its_own(gateway: GatewayProcess) -> None:
    name = add_user(gateway, must_change_password=True).name
    office = OfficeClient(gateway.base_url)
    office.cookies[COOKIE] = "chosen-by-somebody-else"
    tokens = [office.cookies[COOKIE]]
    office.sign_in(name, PASSWORD, follow=False)
    tokens.append(office.cookies[COOKIE])
    choose_password(office, NEW)
    tokens.append(office.cookies[COOKIE])
    app, _ = set_up_totp(office)
    again = sign_in(gateway, name, NEW)
    tokens.append(again.cookies[COOKIE])
    again.get("/office/second-factor")
    again.post("/office/second-factor", {"code": make_next_code(app)}, follow=False)
    tokens.append(again.cookies[COOKIE])

    assert len(set(tokens)) == len(tokens)
    assert is_signed_in(again)
    for token in tokens[:2] + tokens[3:4]:
        assert not is_signed_in(OfficeClient(gateway.base_url, cookies={COOKIE: token}))


def test_a_user_who_has_to_choose_a_password_sees_nothing_else(gateway: GatewayProcess) -> None:
    name = add_user(gateway, must_change_password=True).name
    office = OfficeClient(gateway.base_url)
    office.sign_in(name, PASSWORD)

    assert office.path == "/office/set-up"
    for path in ("/office", "/office/profile", "/office/users"):
        answer = office.get(path, follow=False)
        assert (answer.status, answer.headers["location"]) == (303, "/office/set-up")
    office.get("/office/set-up")
    refused = office.post("/office/set-up/password", {"new_password": PASSWORD, "repeated_password": PASSWORD})
    assert (refused.status, "must differ" in refused.body.decode()) == (400, True)
    assert choose_password(office, "short").status == 400
    assert choose_password(office, NEW).headers["location"] == "/office"
    assert is_signed_in(office)


def test_a_user_with_a_second_factor_sees_nothing_before_giving_it(gateway: GatewayProcess) -> None:
    office = enter_as(gateway)
    set_up_totp(office)
    half = sign_in(gateway, office.name)

    answer = half.get("/office/profile", follow=False)
    assert (answer.status, answer.headers["location"]) == (303, "/office/second-factor")
    half.get("/office/second-factor")
    assert half.post("/office/profile/totp/remove", follow=False).headers["location"] == "/office/second-factor"
    assert half.post("/office/passkeys/new", follow=False).status == 303


def test_cookies_of_a_plain_host_are_for_this_host_and_not_for_scripts(gateway: GatewayProcess) -> None:
    name = add_user(gateway, must_change_password=True).name
    office = OfficeClient(gateway.base_url)
    form = office.get("/office/sign-in")
    signed = office.post("/office/sign-in", {"name": name, "password": PASSWORD}, follow=False)

    for answer, cookie in ((form, FORM_COOKIE), (signed, COOKIE)):
        assert re.fullmatch(
            rf"{cookie}=[A-Za-z0-9_-]{{43}}; Path=/; HttpOnly; SameSite=Lax", answer.headers["set-cookie"]
        )
    assert "no-store" in signed.headers["cache-control"]


def test_the_form_to_sign_in_needs_the_token_of_its_cookie(gateway: GatewayProcess) -> None:
    name = add_user(gateway, must_change_password=True).name
    fields = {"name": name, "password": PASSWORD}
    forged = hmac.new(b"", b"tollgate form", "sha256").hexdigest()
    stranger, other = OfficeClient(gateway.base_url), OfficeClient(gateway.base_url)
    stranger.get("/office/sign-in")
    other.get("/office/sign-in")

    for cookies, token in (({}, forged), ({}, stranger.form_token), (dict(other.cookies), stranger.form_token)):
        office = OfficeClient(gateway.base_url, cookies=cookies, form_token=token)
        answer = office.post("/office/sign-in", fields, follow=False)
        assert (answer.status, COOKIE in office.cookies) == (403, False)


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_form_of_another_site_is_refused_whatever_token_it_has(gateway: GatewayProcess, site: str) -> None:
    office = enter_as(gateway)
    office.get("/office/profile")
    body = urlencode({"form_token": office.form_token})

    answer = office.send("POST", "/office/profile/revoke-others", body, {"Sec-Fetch-Site": site})

    assert answer.status == 403
    assert office.send("POST", "/office/profile/revoke-others", body, {"Sec-Fetch-Site": "same-origin"}).status == 200


@pytest.mark.parametrize(
    "path",
    ["/office/profile/password", "/office/profile/revoke-others", "/office/passkeys/new", "/office/users"],
)
def test_no_form_of_a_user_works_without_its_token(gateway: GatewayProcess, path: str) -> None:
    office = enter_as(gateway)
    for token in ("", "0" * 64, enter_as(gateway).form_token):
        office.form_token = token
        assert office.post(path, follow=False).status == 403


def test_a_cookie_that_is_sent_twice_is_not_trusted(gateway: GatewayProcess) -> None:
    office = enter_as(gateway)
    cookie = f"{COOKIE}={office.cookies[COOKIE]}"

    sent = [
        OfficeClient(gateway.base_url).send("GET", "/office/profile", headers={"Cookie": each}, follow=False).status
        for each in (cookie, f"{cookie}; {COOKIE}=other")
    ]
    assert sent == [200, 303]


@pytest.mark.parametrize(
    "target",
    [
        "//evil.example",
        "https://evil.example",
        "/\\evil.example",
        "/office//evil",
        "/office/\r\nX: y",
        "/v1/payments",
        "",
    ],
)
def test_sign_in_leads_to_pages_of_the_back_office_only(gateway: GatewayProcess, target: str) -> None:
    name = add_user(gateway).name
    office = OfficeClient(gateway.base_url)
    page = office.get("/office/sign-in", next=target)
    assert 'name="next" value="/office"' in page.body.decode()

    fields = {"name": name, "password": PASSWORD, "next": target}
    assert office.post("/office/sign-in", fields, follow=False).headers["location"] == "/office"
    office.get("/office/confirm")
    answer = office.post("/office/confirm", {"code": PASSWORD, "next": target}, follow=False)
    assert (answer.status, answer.headers["location"]) == (303, "/office")


def test_sign_in_leads_to_the_page_that_was_asked_for(gateway: GatewayProcess) -> None:
    name = add_user(gateway).name
    office = OfficeClient(gateway.base_url)
    office.get("/office/users")
    assert office.path == "/office/sign-in"
    fields = {"name": name, "password": PASSWORD, "next": "/office/users"}

    assert "Users of this host" in office.post("/office/sign-in", fields).body.decode()


def test_a_revoked_session_ends_at_once(gateway: GatewayProcess) -> None:
    own = enter_as(gateway)
    other, third = sign_in(gateway, own.name), sign_in(gateway, own.name)
    page = own.get("/office/profile").body.decode()
    ids = re.findall(r"/office/profile/sessions/([0-9a-f]+)/revoke", page)
    assert (len(ids), page.count("this one")) == (2, 1)

    own.post(f"/office/profile/sessions/{ids[0]}/revoke")
    assert [is_signed_in(each) for each in (own, other, third)].count(True) == 2
    own.post("/office/profile/revoke-others")
    assert [is_signed_in(each) for each in (own, other, third)] == [True, False, False]


def test_a_user_cannot_revoke_the_session_of_another(gateway: GatewayProcess) -> None:
    own = enter_as(gateway)
    sign_in(gateway, own.name)
    (session_id,) = re.findall(r"sessions/([0-9a-f]+)/revoke", own.get("/office/profile").body.decode())
    stranger = enter_as(gateway)
    stranger.get("/office/profile")

    assert stranger.post(f"/office/profile/sessions/{session_id}/revoke").status == 400
    assert session_id in own.get("/office/profile").body.decode()


def test_signing_out_ends_the_session_and_its_cookie(gateway: GatewayProcess) -> None:
    office = enter_as(gateway)
    token = office.cookies[COOKIE]
    office.get("/office/profile")
    office.post("/office/sign-out")

    assert COOKIE not in office.cookies
    assert not is_signed_in(OfficeClient(gateway.base_url, cookies={COOKIE: token}))
