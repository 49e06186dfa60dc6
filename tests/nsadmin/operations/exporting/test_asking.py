"""What brokers tell for exports: one that is dead or has no master hides no other."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from nsadmin import AdminClient
from nsadmin.operations.exporting import asking
from nsadmin.operations.exporting.asking import Place
from tests.support.lab import Lab, lab
from tests.support.servers import closed_port


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with lab(Path(tmp_path_factory.mktemp("lab")), producer_period=0.2) as there:
        yield there


def test_each_broker_is_asked_and_each_failure_told(there: Lab) -> None:
    places = [
        Place("gone", None),
        Place("broker-a-0", there.brokers["broker-a-0", 0]),
        Place("dead", f"127.0.0.1:{closed_port()}"),
    ]
    with AdminClient(there.namesrv_addr) as admin:
        configs, errors = asking.configs(admin, places)
        assert list(configs) == ["broker-a-0"]
        assert configs["broker-a-0"]["brokerName"] == "broker-a-0"
        assert [name for name, error in errors.items() if error is not None] == ["gone", "dead"]
        [found], errors = asking.metadata(admin, places, special=False)
        assert found.broker_name == "broker-a-0"
        assert "orders" in found.topics
        assert not any(name.startswith("%") or name == "TBW102" for name in found.topics)
        assert found.groups
        assert [name for name, error in errors.items() if error is not None] == ["gone", "dead"]
        [measured], errors = asking.metrics(admin, places)
        assert measured.topics == len(found.topics)
        assert measured.runtime.version == "V5_5_0"
        assert measured.clients
        assert all("%" in client for client in measured.clients)
        assert [name for name, error in errors.items() if error is not None] == ["gone", "dead"]
