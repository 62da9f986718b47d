"""The issuer's checks of the address and of the security code stand in `result`, of every connector."""

import pytest

from gateway import Client


def test_an_answer_without_checks_has_no_letters(client: Client) -> None:
    answer = client.pay()

    assert set(answer.json["result"]) == {"code", "description"}


@pytest.mark.parametrize(("override", "member"), [("simulatorAvs", "avsResponse"), ("simulatorCvv", "cvvResponse")])
def test_the_letter_of_a_check_stands_in_the_result_and_is_read_again(
    client: Client, override: str, member: str
) -> None:
    answer = client.pay(**{f"customParameters[{override}]": "N"})
    read = client.get(f"/v1/payments/{answer.json['id']}")

    assert answer.json["result"][member] == "N"
    assert read.json["result"] == answer.json["result"]
    assert member not in answer.json["resultDetails"]


def test_a_declined_payment_shows_its_checks_too(client: Client) -> None:
    answer = client.pay(
        **{"customParameters[simulatorCvv]": "N", "customParameters[forceResultCode]": "800.100.153"},
    )

    assert (answer.code, answer.json["result"]["cvvResponse"]) == ("800.100.153", "N")
