"""Two clusters to copy between."""

from collections.abc import Iterator

import pytest

from tests.support.transfer_clusters import ClusterPair, open_pair


@pytest.fixture
def pair(monkeypatch: pytest.MonkeyPatch) -> Iterator[ClusterPair]:
    monkeypatch.setattr("nsadmin.client.brokers.brokers._PAUSE_SECONDS", 0.0)
    monkeypatch.setattr("nsadmin.operations.transfer.transfer_run._RETRY_SECONDS", 0.01)
    monkeypatch.setattr("nsadmin.operations.transfer.source_reader._ERROR_PAUSE_SECONDS", 0.05)
    with open_pair() as clusters:
        yield clusters
