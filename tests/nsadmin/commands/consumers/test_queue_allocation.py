"""allocateMQ."""

import pytest

from tests.nsadmin.conftest import Run


@pytest.mark.parametrize("words", [("T", "b,a,c"), ("-t", "T", "-i", "c, b ,a"), ("T", "--ipList", "a,b,c")])
def test_sorted_as_clients_do(ask: Run, words: tuple[str, ...]) -> None:
    result = ask("allocateMQ", *words, "--json")
    assert result.code == 0
    assert [(row["clientId"], row["queueId"]) for row in result.json] == [
        *(("a", number) for number in (0, 1, 2)),
        *(("b", number) for number in (3, 4, 5)),
        *(("c", number) for number in (6, 7)),
    ]


def test_clients_without_queues_are_seen(ask: Run) -> None:
    names = ",".join(f"c{number}" for number in range(9))
    rows = ask("allocateMQ", "T", names, "--json").json
    assert (rows[-1]["clientId"], rows[-1]["queueId"]) == ("c8", None)


@pytest.mark.parametrize("clients", [",", "a,a"])
def test_bad_lists(ask: Run, clients: str) -> None:
    assert ask("allocateMQ", "T", clients).code == 2
    assert ask("allocateMQ", "U", "a").code == 5
