"""The released Java parts that these tests need: without them a test is skipped, and failed in CI."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interop import archive_training
from tests.interop.cluster import NameServer, name_server, wait_for_broker, wait_for_runtime_info
from tests.interop.java_parts import JavaBroker

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.interop)


@pytest.fixture(scope="session")
def released() -> None:
    """The jars of both releases are here, and the archives that make them start faster."""
    archive_training.prepare_releases()


@pytest.fixture(scope="module")
def name_servers(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[NameServer]]:
    """Two name servers of ours."""
    home = tmp_path_factory.mktemp("name-servers")
    with name_server(home / "first") as first, name_server(home / "second") as second:
        yield [first, second]


@pytest.fixture(scope="module")
def broker(name_servers: list[NameServer], tmp_path_factory: pytest.TempPathFactory) -> Iterator[JavaBroker]:
    """A released 5.5.0 master, registered with both."""
    addresses = [server.address for server in name_servers]
    with JavaBroker(tmp_path_factory.mktemp("broker-a"), addresses) as master:
        wait_for_broker(name_servers, master.name)
        wait_for_runtime_info(master.port)
        yield master
