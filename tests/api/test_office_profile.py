"""The profile: password, one-time codes, recovery codes, passkeys as far as they go without a browser."""

from __future__ import annotations

import json
from pathlib import Path

from api.merchants import run_command
from gateway import GatewayProcess
from office_client import OfficeClient, enter_office
from office_pages import make_next_code, read_codes, read_totp, set_up_totp
from office_users import PASSWORD, enter_as, sign_in

NEW = "quite another password"


def change_password(office: OfficeClient, current: str, new: str, repeated: str | None = None) -> int:
    office.get("/office/profile")
    fields = {"password": current, "new_password": new, "repeated_password": new if repeated is None else repeated}
    return office.post("/office/profile/password", fields).status


def test_a_password_is_changed_with_the_current_one_and_ends_other_sessions(gateway: GatewayProcess) -> None:
    office = enter_as(gateway)
    other = sign_in(gateway, office.name)
    old = office.cookies["tollgate_office"]

    assert change_password(office, "a wrong password", NEW) == 400
    assert change_password(office, PASSWORD, NEW, "something else") == 400
    assert change_password(office, PASSWORD, "elevenchars") == 400
    assert other.get("/office/profile", follow=False).status == 200
    assert change_password(office, PASSWORD, NEW) == 200

    assert other.get("/office/profile", follow=False).status == 303
    assert office.cookies["tollgate_office"] != old
    assert OfficeClient(gateway.base_url).sign_in(office.name, PASSWORD).status == 400
    assert sign_in(gateway, office.name, NEW).get("/office/profile", follow=False).status == 200


def test_credentials_tell_the_password_of_the_administrator_until_it_is_changed(tmp_path: Path) -> None:
    with GatewayProcess(tmp_path) as gateway:
        office = enter_office(gateway)
        told = json.loads(run_command(gateway, "credentials", "--json"))["office"]
        assert change_password(office, told["password"], NEW) == 200

        told = json.loads(run_command(gateway, "credentials", "--json"))["office"]
        assert told["password"] is None
        assert "the password that you chose" in run_command(gateway, "credentials")
        assert sign_in(gateway, told["user"], NEW).get("/office/profile", follow=False).status == 200


def test_wrong_passwords_on_the_profile_lock_the_name(gateway: GatewayProcess) -> None:
    office = enter_as(gateway)
    for _ in range(10):
        assert change_password(office, "a wrong password", NEW) == 400

    assert change_password(office, PASSWORD, NEW) == 400
    assert OfficeClient(gateway.base_url).sign_in(office.name, PASSWORD).status == 400


def test_one_time_codes_count_once_a_first_code_was_right(gateway: GatewayProcess) -> None:
    office = enter_as(gateway)
    app, sealed = read_totp(office.get("/office/profile/totp"))
    wrong = office.post("/office/profile/totp", {"sealed": sealed, "code": "wrong"})
    assert (wrong.status, "The code is wrong" in wrong.body.decode()) == (400, True)
    assert read_totp(wrong)[0].secret == app.secret
    assert office.post("/office/profile/totp", {"sealed": "forged", "code": "123456"}).status == 400
    assert sign_in(gateway, office.name).get("/office/profile", follow=False).status == 200

    app, codes = set_up_totp(office)

    assert len(codes) == 10
    assert "You have 10 left" in office.get("/office/profile").body.decode()
    half = sign_in(gateway, office.name)
    half.get("/office/second-factor")
    assert half.post("/office/second-factor", {"code": "000000"}).status == 400
    assert half.post("/office/second-factor", {"code": make_next_code(app)}, follow=False).status == 303
    assert half.get("/office/profile", follow=False).status == 200


def test_a_recovery_code_lets_in_once_and_new_ones_replace_the_rest(gateway: GatewayProcess) -> None:
    office = enter_as(gateway)
    _, codes = set_up_totp(office)

    def use(code: str) -> int:
        half = sign_in(gateway, office.name)
        half.get("/office/second-factor")
        return half.post("/office/second-factor", {"code": code}, follow=False).status

    assert [use(codes[0]), use(codes[0])] == [303, 400]
    office.get("/office/profile")
    fresh = read_codes(office.post("/office/profile/recovery-codes"))
    assert len(fresh) == 10
    assert [use(codes[1]), use(fresh[1].upper())] == [400, 303]
    page = office.get("/office/profile").body.decode()
    assert "You have 9 left" in page
    assert not any(code in page for code in fresh)


def test_one_time_codes_of_a_test_host_can_be_removed(gateway: GatewayProcess) -> None:
    office = enter_as(gateway)
    set_up_totp(office)
    office.get("/office/profile")

    assert "One-time codes are removed" in office.post("/office/profile/totp/remove").body.decode()
    assert sign_in(gateway, office.name).get("/office/profile", follow=False).status == 200


def test_passkeys_say_why_they_need_a_name(gateway: GatewayProcess) -> None:
    office = enter_as(gateway)
    page = office.get("/office/profile").body.decode()
    assert "Passkeys need a host with a name" in page
    assert "/office/profile/passkey" not in page
    assert office.post("/office/passkeys/new").status == 400

    asked = office.send(
        "GET", "/office/profile", headers={"Host": gateway.base_url.replace("http://127.0.0.1", "localhost")}
    )
    assert "/office/profile/passkey" in asked.body.decode()


def test_an_answer_without_a_challenge_adds_and_proves_nothing(gateway: GatewayProcess) -> None:
    office = enter_as(gateway)
    office.base_url = gateway.base_url.replace("127.0.0.1", "localhost")
    office.get("/office/profile/passkey")
    options = office.post("/office/passkeys/new").json
    assert (options["rp"]["id"], options["authenticatorSelection"]["userVerification"]) == ("localhost", "required")

    for _ in range(2):
        refused = office.post("/office/profile/passkey", {"credential": '{"id":"AA"}', "name": "Mine"})
        assert (refused.status, "was not added" in refused.body.decode()) == (400, True)
    set_up_totp(office)
    half = sign_in(gateway, office.name)
    half.get("/office/second-factor")
    assert half.post("/office/second-factor", {"credential": '{"id":"AA"}'}).status == 400
