"""The card ranges of each directory server are asked for now and then and cached in between."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import pytest

from tollgate.catalog.limits import LIMITS
from tollgate.connectors.exchange import WireReply, WireRequest
from tollgate.connectors.threeds import exchanges
from tollgate.operations.caches import CardRangeCache
from tollgate.payments.accounts import CardAccount
from tollgate.values import Instant, Secret
from tollgate.wire import Silent, Unsent
from unit.app_fixture import CARD, NOW

pytestmark = pytest.mark.anyio

OTHER_CARD = CardAccount(number=Secret("5454545454545454"), expiry_month="05", expiry_year="2034")


@dataclass
class DirectoryServer:
    """Knows one card, unless a test says otherwise."""

    number: str = "4200000000000000"
    fault: Exception | None = None
    body: bytes | None = None
    asked: list[WireRequest] = field(default_factory=list)

    async def send(self, request: WireRequest, timeout_s: float) -> WireReply:
        assert timeout_s > 0
        self.asked.append(request)
        if self.fault is not None:
            raise self.fault
        row = {"startRange": self.number, "endRange": self.number}
        row |= {"acsStartProtocolVersion": "2.1.0", "acsEndProtocolVersion": "2.1.0"}
        row["threeDSMethodURL"] = "https://bank.example/m"
        named = json.loads(request.body)["threeDSServerTransID"]
        answer = {"messageType": "PRes", "messageVersion": "2.2.0", "threeDSServerTransID": named}
        return WireReply(200, self.body or json.dumps({**answer, "cardRangeData": [row]}).encode())


async def find(
    cache: CardRangeCache, server: DirectoryServer, card: CardAccount = CARD, *, at: Instant = NOW, address: str = "one"
) -> exchanges.CardRange | None:
    return await cache.find(address, server, card, wall_now=at, timeout_s=1)


async def test_a_card_is_found_with_all_that_its_issuer_says() -> None:
    cache, server = CardRangeCache(), DirectoryServer()

    found = await find(cache, server)

    assert found is not None
    assert (found.method_url, found.version) == ("https://bank.example/m", "2.1.0")
    assert await find(cache, server, OTHER_CARD) is None


async def test_the_list_is_asked_for_once_until_it_is_old() -> None:
    cache, server = CardRangeCache(), DirectoryServer()
    await find(cache, server)
    await find(cache, server, at=NOW + LIMITS.card_ranges_lifetime)
    assert len(server.asked) == 1

    server.number = "5454545454545454"
    assert await find(cache, server, at=NOW + LIMITS.card_ranges_lifetime + 1) is None

    assert len(server.asked) == 2


async def test_every_question_has_a_name_of_its_own() -> None:
    cache, server = CardRangeCache(), DirectoryServer()

    await find(cache, server)
    await find(cache, server, at=NOW * 2)

    assert len({request.key for request in server.asked}) == 2


@pytest.mark.parametrize("fault", [Silent(), Unsent()])
async def test_while_a_directory_says_nothing_every_card_is_worth_a_try(fault: Exception) -> None:
    cache, server = CardRangeCache(), DirectoryServer(fault=fault)

    assert await find(cache, server) is exchanges.ANY_CARD
    assert await find(cache, server, OTHER_CARD) is exchanges.ANY_CARD


@pytest.mark.parametrize("body", [b"{", b"null", b'{"messageType":"Erro","errorCode":"101"}'])
async def test_what_is_no_list_is_as_good_as_nothing(body: bytes) -> None:
    assert await find(CardRangeCache(), DirectoryServer(body=body)) is exchanges.ANY_CARD


async def test_a_directory_in_trouble_is_left_alone_for_a_while() -> None:
    cache, server = CardRangeCache(), DirectoryServer(fault=Silent())
    await find(cache, server)
    await find(cache, server, at=NOW + LIMITS.card_ranges_pause)
    assert len(server.asked) == 1

    server.fault = None
    assert await find(cache, server, OTHER_CARD, at=NOW + LIMITS.card_ranges_pause + 1) is None

    assert len(server.asked) == 2


async def test_an_old_list_is_better_than_none() -> None:
    cache, server = CardRangeCache(), DirectoryServer()
    await find(cache, server)
    server.fault = Silent()

    assert await find(cache, server, OTHER_CARD, at=NOW * 2) is None
    assert await find(cache, server, at=NOW * 2) is not None


async def test_one_directorys_list_is_not_anothers() -> None:
    cache, server, other = CardRangeCache(), DirectoryServer(), DirectoryServer("5454545454545454")

    assert await find(cache, server, address="one") is not None
    assert await find(cache, other, address="two") is None
    assert await find(cache, other, OTHER_CARD, address="two") is not None
    assert (len(server.asked), len(other.asked)) == (1, 1)
