"""allocateMQ."""

import json

import pytest

from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeNameServer


@pytest.mark.parametrize("words", [("T", "b,a,c"), ("-t", "T", "-i", "c, b ,a"), ("T", "--ipList", "a,b,c")])
def test_sorted_as_clients_do(run: Run, first_server: FakeNameServer, words: tuple[str, ...]) -> None:
    result = run("allocateMQ", *words, "-n", first_server.addr, "--json")
    assert result.code == 0
    assert [(row["clientId"], row["queueId"]) for row in json.loads(result.out)] == [
        *(("a", number) for number in (0, 1, 2)),
        *(("b", number) for number in (3, 4, 5)),
        *(("c", number) for number in (6, 7)),
    ]


def test_clients_without_queues_are_seen(run: Run, first_server: FakeNameServer) -> None:
    names = ",".join(f"c{number}" for number in range(9))
    rows = json.loads(run("allocateMQ", "T", names, "-n", first_server.addr, "--json").out)
    assert (rows[-1]["clientId"], rows[-1]["queueId"]) == ("c8", None)


@pytest.mark.parametrize("clients", [",", "a,a"])
def test_bad_lists(run: Run, first_server: FakeNameServer, clients: str) -> None:
    assert run("allocateMQ", "T", clients, "-n", first_server.addr).code == 2
    assert run("allocateMQ", "U", "a", "-n", first_server.addr).code == 5
