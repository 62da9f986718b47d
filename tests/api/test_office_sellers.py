"""The back office on marketplace payments: the page shows each seller's share, and files of payments list them."""

from __future__ import annotations

import csv
from html import unescape

from api.chains import capture, name, refund
from api.marketplaces import sell, spell
from gateway import Client
from office_client import OfficeClient

SHARES = {"<b>ann</b>": "60.00", "=bob": "40.00"}


def show(office: OfficeClient, payment_id: str) -> str:
    answer = office.get(f"{office.base}/payments/{payment_id}")
    assert answer.status == 200, answer.body.decode()
    return answer.body.decode()


def read_shares(page: str) -> list[list[str]]:
    """Returns the cells of the table of sellers."""
    _, _, rest = page.partition('aria-label="The shares of the sellers"')
    rows = rest.partition("<tbody>")[2].partition("</tbody>")[0].split("</tr>")[:-1]
    return [[unescape(cell.partition(">")[2].partition("</td>")[0]) for cell in row.split("<td")[1:]] for row in rows]


def test_the_page_of_a_payment_shows_each_share_and_what_is_left_of_it(client: Client, office: OfficeClient) -> None:
    held = sell(client, "PA", SHARES)
    captured = name(capture(client, held, "50.00"))
    name(refund(client, captured, "5.00", **spell({"=bob": "5.00"})))

    first, later = show(office, held), show(office, captured)

    assert [[row[0], row[1], row[2]] for row in read_shares(first)] == [
        ["<b>ann</b>", "60.00 EUR", "30.00 EUR"],
        ["=bob", "40.00 EUR", "20.00 EUR"],
    ]
    assert read_shares(later) == [["<b>ann</b>", "30.00 EUR", "30.00 EUR"], ["=bob", "20.00 EUR", "15.00 EUR"]]
    assert "<b>ann</b>" not in first + later
    assert "from earned to seller" in later


def test_a_plain_payment_shows_no_sellers(client: Client, office: OfficeClient) -> None:
    assert "The shares of the sellers" not in show(office, client.pay().json["id"])


def test_files_of_payments_list_the_sellers_and_the_page_of_the_list_does_not(
    client: Client, office: OfficeClient
) -> None:
    payment_id = client.pay(None, amount="100.00", merchantTransactionId="seller-file", **spell(SHARES)).json["id"]
    path = f"{office.base}/payments"

    found = office.get(f"{path}/export.csv?reference=seller-file")
    page = office.get(path).body.decode()

    rows = [row for row in csv.DictReader(found.body.decode().splitlines()) if row["Payment id"] == payment_id]
    assert [row["Sellers"] for row in rows] == ["<b>ann</b> 60.00; =bob 40.00"]
    assert '<th scope="col">Sellers</th>' not in page
