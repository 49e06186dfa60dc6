"""While each attack runs, good clients are still answered."""

from collections.abc import Iterator

import pytest

from tests.bench.attacks import ATTACKS, Attack, attacked, latencies, victim
from tests.interop.our_server import OurNameServer


@pytest.fixture(scope="module")
def server() -> Iterator[OurNameServer]:
    with victim() as running:
        yield running


@pytest.mark.parametrize(("attack", "peers"), ATTACKS.values(), ids=ATTACKS)
def test_good_clients_are_answered_meanwhile(server: OurNameServer, attack: Attack, peers: int) -> None:
    with attacked(server.port, attack, min(peers, 2)):
        assert len(latencies(server.port, 0.3, clients=2)) >= 2
