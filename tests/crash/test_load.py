"""Durability: servers and databases that die under load at random moments, with their files on a real disk.

The answers stay true and the money right.
"""

from __future__ import annotations

import random

import pytest

from crash.load import Load, check_aftermath, pause
from crash.server import Server
from crash.world import World

KILLS = 5
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.prove) for seed in range(1, 20))]


@pytest.fixture
def gateway(disk_world: World) -> Server:
    gateway = disk_world.make_gateway()
    gateway.start()
    return gateway


@pytest.mark.parametrize("seed", SEEDS)
def test_a_server_killed_again_and_again_under_load_keeps_every_promise_on_disk(
    disk_world: World, gateway: Server, seed: int
) -> None:
    def kill_again_and_again(rng: random.Random) -> None:
        for _ in range(KILLS):
            pause(rng, 0.1, 0.6)
            gateway.kill()
            gateway.start()

    client = disk_world.make_client(gateway)
    load = Load([client], seed)
    load.run_during(kill_again_and_again)
    assert len(load.answers) > KILLS
    check_aftermath(disk_world, load, client)


@pytest.mark.parametrize("seed", SEEDS)
def test_one_of_two_servers_on_a_database_dies_and_the_other_finishes_its_work(
    postgres_disk_world: World, seed: int
) -> None:
    gateways = [postgres_disk_world.make_gateway(name=name) for name in ("first", "second")]
    for gateway in gateways:
        gateway.start()

    def kill_the_first(rng: random.Random) -> None:
        pause(rng, 0.5, 1.5)
        gateways[0].kill()
        pause(rng, 0.5, 1.0)

    clients = [postgres_disk_world.make_client(gateway) for gateway in gateways]
    load = Load(clients, seed)
    load.run_during(kill_the_first)
    check_aftermath(postgres_disk_world, load, clients[1])


@pytest.mark.parametrize("seed", SEEDS)
def test_a_database_that_crashes_under_load_leaves_nothing_in_doubt_on_disk(
    postgres_disk_world: World, seed: int
) -> None:
    gateway = postgres_disk_world.make_gateway()
    gateway.start()
    cluster = postgres_disk_world.cluster
    assert cluster is not None

    def crash_the_database(rng: random.Random) -> None:
        for _ in range(2):
            pause(rng, 0.3, 1.0)
            cluster.stop("immediate")
            pause(rng, 0.0, 0.5)
            cluster.start()
        pause(rng, 0.3, 1.0)

    client = postgres_disk_world.make_client(gateway)
    load = Load([client], seed)
    load.run_during(crash_the_database)
    check_aftermath(postgres_disk_world, load, client)
