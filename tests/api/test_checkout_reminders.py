"""Shops that never asked how a checkout ended are called at 29 minutes: one scenario on each database.

Its clock is the sandbox's. A checkout that is a minute older shows that a round has passed, so no test has to wait.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from api.chains import FORCE
from api.checking_out import PREPARED, STORING, ask, prepare, submit
from api.merchants import run_command, wait_until
from api.reminded_shops import HANGING, RemindedShop
from gateway import Client, GatewayProcess
from postgres import PostgresCluster

pytestmark = pytest.mark.both_databases

MINUTE_S = 60
DECLINED = {**PREPARED, FORCE: "800.100.152"}
APP = "myshop://result"


@dataclass
class Story:
    gateway: GatewayProcess
    client: Client
    shop: RemindedShop
    ids: dict[str, str] = field(default_factory=dict)
    """Checkouts by what is special about them."""
    seen: dict[str, set[str]] = field(default_factory=dict)
    """The checkouts that the shop had been called for by then."""
    let_go_at: float = 0.0
    """The time at which the shop that hung was released."""

    def pass_minutes(self, minutes: float) -> None:
        seconds = int(minutes * MINUTE_S)
        answer = self.client.post("/sandbox/clock", {"advance": str(seconds), "entityId": None})
        assert answer.status == 200, answer.body

    def submit(self, name: str, path: str = "/result") -> None:
        self.ids[name] = prepare(self.client)
        answer = submit(self.client, self.ids[name], self.shop.url + path)
        assert answer.code == "000.100.110", answer.body

    def wait_for(self, *names: str) -> None:
        wait_until(lambda: {self.ids[name] for name in names} <= set(self.shop.list_ids()))

    def count_logged(self, word: str) -> int:
        return self.gateway.log_path.read_text().count(f'"reminder":"{word}"')

    def note(self, moment: str) -> None:
        called = set(self.shop.list_ids())
        self.seen[moment] = {name for name, checkout_id in self.ids.items() if checkout_id in called}


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def story(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    database = ""
    if request.param == "postgresql":
        cluster: PostgresCluster = request.getfixturevalue("cluster")
        database = cluster.create_database()
    with RemindedShop() as shop, GatewayProcess(tmp_path_factory.mktemp("reminders"), database) as gateway:
        story = Story(gateway, gateway.client(), shop)
        run_command(gateway, "channel", "set", story.client.entity_id, "--return-schemes", "myshop")
        wait_until(lambda: story.client.post("/v1/checkouts", {**PREPARED, "shopperResultUrl": APP}).status == 200)
        play_first_half_hour(story)
        play_the_outage(story)
        yield story


def play_first_half_hour(story: Story) -> None:
    client, shop, ids = story.client, story.shop, story.ids
    story.submit("a minute older")
    story.pass_minutes(1)
    story.submit("unread", "/result?order=1&sig=a%2Fb")
    story.submit("hanging", HANGING)
    story.submit("read")
    assert ask(client, ids["read"]).status == 200
    ids["never submitted"] = prepare(client)
    ids["tried again"] = prepare(client, DECLINED)
    received = [submit(client, ids["tried again"], shop.url), ask(client, ids["tried again"])]
    received += [submit(client, ids["tried again"], shop.url)]
    assert {answer.code for answer in received} == {"800.100.152"}
    ids["registration"] = prepare(client, STORING)
    assert submit(client, ids["registration"], f"{shop.url}/result", kind="registration").status == 200
    ids["app"] = prepare(client)
    assert submit(client, ids["app"], APP).code == "000.100.110"
    story.pass_minutes(28)
    story.wait_for("a minute older")
    story.note("28 minutes")
    story.pass_minutes(1)
    story.wait_for("unread", "hanging", "tried again", "registration")
    story.note("29 minutes")
    story.let_go_at = time.monotonic()
    story.shop.let_go()
    wait_until(lambda: story.count_logged("sent") == len(story.seen["29 minutes"]))


def play_the_outage(story: Story) -> None:
    """Two checkouts whose minute comes while no gateway is there; for the second it has not passed when one is."""
    story.submit("missed")
    story.pass_minutes(1.5)
    story.submit("late but in time")
    story.gateway.kill()
    run_command(story.gateway, "clock", "--advance", str(29 * MINUTE_S))
    story.gateway.start()
    story.wait_for("late but in time")
    wait_until(lambda: story.count_logged("missed") == 1 and story.count_logged("sent") == len(story.shop.calls))
    story.note("after the outage")


def test_at_28_minutes_nobody_is_called(story: Story) -> None:
    assert story.seen["28 minutes"] == {"a minute older"}


def test_at_29_minutes_those_are_called_who_have_not_asked_since_the_last_submission(story: Story) -> None:
    assert story.seen["29 minutes"] == {"a minute older", "unread", "hanging", "tried again", "registration"}


def test_a_shop_that_hangs_delays_no_other(story: Story) -> None:
    calls = {name: story.shop.find(story.ids[name]).at for name in ("unread", "hanging", "tried again", "registration")}
    assert max(calls.values()) < story.let_go_at


def test_a_call_survives_a_gateway_that_does_not_but_not_its_minute(story: Story) -> None:
    """Both were submitted before it was killed; only of one it was still the minute when another was started."""
    assert story.seen["after the outage"] - story.seen["29 minutes"] == {"late but in time"}


def test_everybody_is_called_once(story: Story) -> None:
    called = story.shop.list_ids()
    assert len(called) == len(set(called)) == 6


def test_each_reminder_is_logged_and_none_is_sent_to_an_app(story: Story) -> None:
    received = {word: story.count_logged(word) for word in ("sent", "unneeded", "impossible", "missed", "failed")}
    assert received == {"sent": 6, "unneeded": 1, "impossible": 1, "missed": 1, "failed": 0}


def test_a_call_carries_both_names_and_keeps_the_query_of_the_shop(story: Story) -> None:
    checkout_id = story.ids["unread"]
    call = story.shop.find(checkout_id)
    assert (call.path, call.agent) == ("/result", "Tollgate")
    assert call.query == {
        "order": ["1"],
        "sig": ["a/b"],
        "id": [checkout_id],
        "resourcePath": [f"/v1/checkouts/{checkout_id}/payment"],
    }


def test_a_registration_is_named_by_its_own_path(story: Story) -> None:
    checkout_id = story.ids["registration"]
    assert story.shop.find(checkout_id).query["resourcePath"] == [f"/v1/checkouts/{checkout_id}/registration"]


def test_what_a_call_names_can_be_asked_for(story: Story) -> None:
    """The shop is called while the checkout lives; this one still does."""
    call = story.shop.find(story.ids["late but in time"])
    assert story.client.get(call.query["resourcePath"][0]).code == "000.100.110"
