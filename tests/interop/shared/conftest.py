"""The cluster of this folder."""

from collections.abc import Iterator

import pytest

from tests.interop.daily import Cluster, start_cluster


@pytest.fixture(scope="package")
def cluster(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Released brokers of 5.5.0 and 4.9.7: see `daily.Cluster`. A test takes names that no other test has."""
    with start_cluster(tmp_path_factory.mktemp("shared")) as running:
        yield running
