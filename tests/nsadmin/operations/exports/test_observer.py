"""What brokers tell for exports: one that is dead or has no master hides no other."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from nsadmin import AdminClient
from nsadmin.operations.exports import observer
from nsadmin.operations.exports.observer import ExportedBroker
from tests.support.fake_servers import closed_port
from tests.support.lab import Lab, start_lab


@pytest.fixture(scope="module")
def running_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with start_lab(Path(tmp_path_factory.mktemp("lab")), producer_period=0.2) as there:
        yield there


def test_each_broker_is_asked_and_each_failure_told(running_lab: Lab) -> None:
    places = [
        ExportedBroker("gone", None),
        ExportedBroker("broker-a-0", running_lab.brokers["broker-a-0", 0]),
        ExportedBroker("dead", f"127.0.0.1:{closed_port()}"),
    ]
    with AdminClient(running_lab.namesrv_addr) as admin:
        configs, errors = observer.read_configs(admin, places)
        assert list(configs) == ["broker-a-0"]
        assert configs["broker-a-0"]["brokerName"] == "broker-a-0"
        assert [name for name, error in errors.items() if error is not None] == ["gone", "dead"]
        [metadata], errors = observer.read_metadata(admin, places, include_special=False)
        assert metadata.broker_name == "broker-a-0"
        assert "orders" in metadata.topic_configs
        assert not any(name.startswith("%") or name == "TBW102" for name in metadata.topic_configs)
        assert metadata.group_configs
        assert [name for name, error in errors.items() if error is not None] == ["gone", "dead"]
        [measured], errors = observer.read_metrics(admin, places)
        assert measured.topic_count == len(metadata.topic_configs)
        assert measured.runtime_info.version == "V5_5_0"
        assert measured.client_versions
        assert all("%" in client for client in measured.client_versions)
        assert [name for name, error in errors.items() if error is not None] == ["gone", "dead"]
