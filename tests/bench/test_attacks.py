"""Good clients get their answers during each attack."""

from collections.abc import Iterator

import pytest

from tests.bench.attacks import ATTACKS, Attack, measure_latencies, run_attack, start_victim
from tests.interop.our_server import OurNameServer


@pytest.fixture(scope="module")
def shared_server() -> Iterator[OurNameServer]:
    with start_victim() as server:
        yield server


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_good_clients_are_answered_during_an_attack(shared_server: OurNameServer, attack: Attack) -> None:
    if attack.settings or attack.files:
        with start_victim(attack.settings, attack.files) as server:
            assert count_answers(server.port, attack) >= 2
    else:
        assert count_answers(shared_server.port, attack) >= 2


def count_answers(port: int, attack: Attack) -> int:
    with run_attack(port, attack, min(attack.peer_count, 2), lead_seconds=0.2):
        return len(measure_latencies(port, 0.3, client_count=2))
