"""Two clusters to copy between, and commands that name them."""

from collections.abc import Iterator

import pytest

from tests.nsadmin.conftest import CommandResult, Run
from tests.support.transfer_clusters import ClusterPair, open_pair


@pytest.fixture
def pair(monkeypatch: pytest.MonkeyPatch) -> Iterator[ClusterPair]:
    monkeypatch.setattr("nsadmin.client.brokers.brokers._PAUSE_SECONDS", 0.0)
    with open_pair() as clusters:
        yield clusters


@pytest.fixture
def transfer(run: Run, pair: ClusterPair) -> Run:
    """Run a command of the group, its rows in JSON."""

    def transfer(*words: str) -> CommandResult:
        ends = ("--from", pair.source_server.addr, "--to", pair.target_server.addr)
        return run("transfer", *words, *ends, "--json")

    return transfer
