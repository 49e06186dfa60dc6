"""A client that reads a bundle."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client import AdminClient
from nsadmin.client.bundles.answer_table import Outcome, RecordedFailure, RequestKey
from nsadmin.client.bundles.bundle_answers import BundleAnswers, describe_request, probe_key
from nsadmin.client.bundles.bundle_file import LeftOut, SupportBundle
from nsadmin.client.connection.access_options import Access, Credentials
from nsadmin.client.results import ReadOnlyAccess
from tests.support.bundles import MANIFEST_FIELDS, NAMESRV, json_answer, request_key, write_bundle

BROKER = "10.0.0.2:10911"
CLUSTER = {
    "brokerAddrTable": {"broker-a": {"brokerName": "broker-a", "cluster": "C", "brokerAddrs": {"0": BROKER}}},
    "clusterAddrTable": {"C": ["broker-a"]},
}
LIMIT = LeftOut("requests GET_TOPIC_STATS_INFO (202)", 3, "the limit was reached", 202)


@pytest.fixture
def admin(tmp_path: Path) -> Iterator[AdminClient]:
    tables: dict[str, dict[RequestKey, Outcome]] = {
        NAMESRV: {request_key(106): json_answer(CLUSTER)},
        BROKER: {
            request_key(28): json_answer({"table": {"brokerVersionDesc": "V5_5_0"}}),
            request_key(26): RecordedFailure("timeout", "no answer within 3 s"),
        },
    }
    probes = {
        probe_key("connection", BROKER): {"result": True},
        probe_key("certificates", BROKER): {"kind": "timeout", "reason": "no answer"},
    }
    path = write_bundle(tmp_path / "a.zip", tables, MANIFEST_FIELDS._replace(left_out=(LIMIT,)), probes)
    with SupportBundle(path) as bundle:
        access = Access(answers=BundleAnswers(bundle))
        with AdminClient(NAMESRV, access=access, read_only=True) as client:
            yield client


def test_requests_get_the_recorded_answers(admin: AdminClient) -> None:
    assert admin.is_static
    assert admin.clusters.list_masters() == [BROKER]
    [runtime] = admin.brokers.get_runtime_info(["broker-a"])
    assert runtime.value().release == "5.5.0"


def test_a_recorded_failure_is_the_error_of_the_server(admin: AdminClient) -> None:
    [result] = admin.broker_configs.get_each([BROKER])
    assert isinstance(result.error, CallError)
    assert result.error.kind == "timeout"


def test_a_missing_answer_says_what_is_missing_and_why(admin: AdminClient) -> None:
    [stats] = admin.topics.get_stats_at([(BROKER, "T")])
    assert str(stats.error) == (
        f"{BROKER}: the bundle has no answer to GET_TOPIC_STATS_INFO (202) topic=T: the limit was reached"
    )
    [ha] = admin.replication.get_status([BROKER])
    assert str(ha.error).endswith(
        "GET_BROKER_HA_STATUS (907): bundle create did not collect it, see bundle show for its gaps"
    )
    [other] = admin.brokers.get_runtime_info(["10.0.0.9:10911"])
    assert str(other.error).endswith("(28): it has nothing from 10.0.0.9:10911")


def test_an_answer_to_another_identity_does_not_count(admin: AdminClient) -> None:
    answers = admin._caller.access.answers
    with AdminClient(NAMESRV, access=Access(answers=answers, credentials=Credentials("k", "s"))) as signed:
        [result] = signed.brokers.get_runtime_info([BROKER])
        assert "the bundle has no answer" in str(result.error)


def test_messages_are_never_in_a_bundle(admin: AdminClient) -> None:
    [answer] = admin._caller.send_to_each([BROKER], RequestCode.PULL_MESSAGE, {"topic": "T"})
    assert str(answer.error) == f"{BROKER}: a bundle contains no messages"


def test_probes_have_their_recorded_results(admin: AdminClient) -> None:
    assert admin.exposure.check_reachable([BROKER, "h:1"]) == {BROKER: True}
    own, unknown = admin.certificates.get_own([BROKER, "h:1"])
    assert str(own.error) == f"{BROKER}: no answer"
    assert str(unknown.error) == "h:1: the bundle has no certificates of it: it has nothing from h:1"


def test_a_change_is_refused(admin: AdminClient) -> None:
    with pytest.raises(ReadOnlyAccess):
        admin.kv.put_value("n", "k", "v")


def test_a_request_is_described_in_one_line() -> None:
    assert describe_request(request_key(26)) == "GET_BROKER_CONFIG (26)"
    assert describe_request(request_key(4711, a="1")) == "4711 a=1"
