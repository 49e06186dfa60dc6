"""check certificates: how long they are still valid."""

from collections.abc import Iterator
from pathlib import Path
from time import time

import pytest

from nsadmin import Tls
from nsadmin.operations.checks import certificates
from nsadmin.operations.checks.check import CheckNotApplicable, CheckScope
from nsadmin.operations.checks.findings import CheckFinding, CheckState
from tests.support.certificates import Authority
from tests.support.checks import run_check
from tests.support.fake_servers import FakeBroker, FakeNameServer

DAY = 86_400


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("ca"))


@pytest.fixture
def secure_broker(first_server: FakeNameServer, authority: Authority) -> Iterator[FakeBroker]:
    """A broker whose certificate is valid for 100 days."""
    with FakeBroker(tls=authority.issue("broker", days=100).for_servers()) as running:
        first_server.clusters = {"C": {"broker-a": {0: running.addr}}}
        yield running


def found(addr: str, later: float = 0, own: Tls | None = None) -> CheckFinding:
    return run_check(certificates.CHECK, addr, scope=CheckScope(tls=own), now_seconds=time() + later * DAY)


@pytest.mark.parametrize(
    ("later", "state", "words"),
    [
        (0, CheckState.OK, "expires in 100.0 days"),
        (71, CheckState.WARNING, "expires in 29.0 days"),
        (94, CheckState.CRITICAL, "expires in 6.0 days"),
        (102, CheckState.CRITICAL, "expired 2.0 days ago"),
    ],
)
def test_days_that_are_left(
    first_server: FakeNameServer, secure_broker: FakeBroker, later: int, state: CheckState, words: str
) -> None:
    finding = found(first_server.addr, later)
    assert finding.state is state
    assert finding.summary == f"1 certificate; the first one {words}: {secure_broker.addr}"
    assert finding.details[0].startswith(f'{secure_broker.addr}: "broker" until 20')
    assert finding.details[1:] == (f"1 server without TLS: {first_server.addr}",)
    assert [sample.item_name for sample in finding.samples] == [None, secure_broker.addr]


def test_files_of_this_client_count_too(
    first_server: FakeNameServer, secure_broker: FakeBroker, authority: Authority, tmp_path: Path
) -> None:
    mine = authority.issue("me", days=3)
    finding = found(first_server.addr, own=Tls(authority.ca, mine.cert))
    assert finding.state is CheckState.CRITICAL
    assert finding.summary == f"3 certificates; the first one expires in 2.0 days: CA file {authority.ca}"
    bundle = tmp_path / "bundle.pem"
    bundle.write_bytes(authority.ca.read_bytes() + authority.issue("other", days=200).cert.read_bytes())
    assert found(first_server.addr, own=Tls(bundle)).state is CheckState.OK
    missing = found(first_server.addr, own=Tls(tmp_path / "none.pem"))
    assert missing.state is CheckState.UNKNOWN
    assert 'none.pem": No such file or directory' in missing.details[-1]


def test_who_does_not_answer_may_have_one_that_has_ended(
    first_server: FakeNameServer, secure_broker: FakeBroker, dead_addr: str
) -> None:
    first_server.clusters = {"C": {"broker-a": {0: secure_broker.addr, 1: dead_addr}}}
    finding = found(first_server.addr)
    assert finding.state is CheckState.UNKNOWN
    assert finding.details[-1] == f"{dead_addr}: Connection refused"
    assert found(first_server.addr, 99).state is CheckState.CRITICAL


def test_all_checks_include_it_if_a_server_shows_a_certificate(
    first_server: FakeNameServer, secure_broker: FakeBroker
) -> None:
    part = CheckScope(is_part=True)
    assert run_check(certificates.CHECK, first_server.addr, scope=part).summary.startswith("1 certificate")
    first_server.clusters = {}
    with pytest.raises(CheckNotApplicable, match="no server showed a certificate"):
        run_check(certificates.CHECK, first_server.addr, scope=part)


def test_nobody_speaks_tls(first_server: FakeNameServer, dead_addr: str) -> None:
    finding = found(first_server.addr)
    assert (finding.state, finding.summary) == (CheckState.UNKNOWN, "no server showed a certificate")
    assert found(dead_addr).details[-1] == "no name server returned a list of brokers"
