"""check clients."""

import json

import pytest

from tests.nsadmin.conftest import Run
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.fake_servers import FakeNameServer


def test_clients_before_a_release_are_a_warning(
    run: Run, first_server: FakeNameServer, consumer_broker: ConsumerBroker
) -> None:
    consumer_broker.clients = {"G": ["c"]}
    consumer_broker.producers = {"P": ["p"]}
    result = run("check", "clients", "-n", first_server.addr, "--json")
    report = json.loads(result.out)
    assert (result.code, report["summary"]) == (1, "1 of 2 clients are older than 5.0.0")
    assert report["details"] == ["p at 10.0.0.1:5: JAVA V4_9_7, groups P"]
    assert run("check", "clients", "--min-version", "4.9.7", "-n", first_server.addr).code == 0
    assert run("check", "clients", "--critical", "0", "-n", first_server.addr).code == 2


@pytest.mark.parametrize(
    ("ordinal", "state"), [(63, "WARNING"), (35, "WARNING"), (-1, "UNKNOWN"), (700, "UNKNOWN"), (407, "OK")]
)
def test_only_a_known_release_passes(
    run: Run, first_server: FakeNameServer, consumer_broker: ConsumerBroker, ordinal: int, state: str
) -> None:
    consumer_broker.producers, consumer_broker.producer_version = {"P": ["p"]}, ordinal
    result = run("check", "clients", "--min-version", "4.9.7", "-n", first_server.addr)
    assert result.out.startswith(f"{state}: "), result.out


@pytest.mark.parametrize("version", ["five", "5.x", "", "V5_0_0"])
def test_a_version_that_is_none(run: Run, version: str) -> None:
    result = run("check", "clients", "--min-version", version)
    assert result.code == 3
    assert f'invalid version "{version}" for --min-version: use a release such as 5.0.0' in result.err
