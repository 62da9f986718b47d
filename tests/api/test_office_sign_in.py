"""Signing in to the back office: what is told, what is not, and what a session lets in."""

from __future__ import annotations

from gateway import GatewayProcess
from office_client import OfficeClient, enter_office


def test_the_administrator_of_the_sandbox_signs_in_with_the_password_that_credentials_tells(
    gateway: GatewayProcess,
) -> None:
    office = enter_office(gateway)
    page = office.get(f"{office.base}/approvals")
    assert page.status == 200
    assert "Nothing waits for a second person" in page.body.decode()


def test_a_page_leads_a_stranger_to_sign_in(gateway: GatewayProcess) -> None:
    answer = OfficeClient(gateway.base_url).get("/office", follow=False)
    assert (answer.status, answer.headers["location"]) == (303, "/office/sign-in?next=/office")


def test_a_wrong_password_and_an_unknown_name_get_the_same_answer(gateway: GatewayProcess) -> None:
    answers = [OfficeClient(gateway.base_url).sign_in(name, "a wrong password") for name in ("admin", "nobody")]
    known, unknown = [answer.body.decode().replace("admin", "").replace("nobody", "") for answer in answers]
    assert [answer.status for answer in answers] == [400, 400]
    assert known.split("form_token")[0] == unknown.split("form_token")[0]


def test_a_form_without_its_token_is_refused(gateway: GatewayProcess) -> None:
    office = enter_office(gateway)
    office.form_token = "0" * 64
    assert office.post("/office/sign-out").status == 403
    assert office.get(f"{office.base}/approvals").status == 200
