"""The check of the releases of clients."""

from namesrv_core.errors import RocketMQError
from nsadmin.client.proxies.cluster_clients import ClientList, ClusterClient
from nsadmin.client.proxies.heartbeat_reader import ProxyHeartbeats
from nsadmin.client.proxies.proxies import ProxyList, ProxyStatus
from nsadmin.operations.checks.clients import CHECK, ClientObservation
from nsadmin.operations.checks.findings import CheckFinding, CheckState
from tests.support.checks import read_values


def judged(*versions: str | None, proxies: tuple[ProxyStatus, ...] = ()) -> CheckFinding:
    clients = tuple(
        ClusterClient(f"c{number}", "10.0.0.1:5", "JAVA", version, "remoting", ("G",))
        for number, version in enumerate(versions)
    )
    client_list = ClientList(clients, ProxyList(proxies, {}, ProxyHeartbeats()), {})
    return CHECK.judge(CHECK.make_scale(), ClientObservation(client_list, "5.1"))


def test_releases_of_both_protocols_are_compared() -> None:
    finding = judged("V5_1_0", "V5_1_0_SNAPSHOT", "5.1.0", "5.2", "V4_9_7", "5.0.8")
    assert finding.state is CheckState.WARNING
    assert finding.summary == "2 of 6 clients are older than 5.1"
    assert [line.split(":")[0] for line in finding.details] == ["c4 at 10.0.0.1", "c5 at 10.0.0.1"]


def test_an_unknown_release_never_passes() -> None:
    finding = judged("5.2.0", None)
    assert (finding.state, read_values(finding)) == (
        CheckState.UNKNOWN,
        {"old": 0, "unknown": 1, "clients": 2},
    )
    assert finding.summary == "no client of 2 is older than 5.1; the release of 1 is unknown"
    assert finding.details == ("c1 at 10.0.0.1:5: JAVA release unknown, groups G",)
    assert judged("HIGHER_VERSION", "next", "").summary.endswith("the release of 3 is unknown")
    assert judged("4.9.7", None).state is CheckState.WARNING


def test_releases_of_3_are_old() -> None:
    versions = ["V3_1_8", "V3_0_10", "V3_0_0_BETA6", "3.5.8"]
    assert read_values(judged(*versions)) == {"old": 4, "unknown": 0, "clients": 4}


def test_with_a_silent_proxy_it_is_not_ok() -> None:
    proxy = ProxyStatus("10.0.0.9:8080", is_answering=False, error=RocketMQError("no answer"))
    assert judged("5.2.0", proxies=(proxy,)).state is CheckState.UNKNOWN
    finding = judged("4.9.7", proxies=(proxy,))
    assert (finding.state, finding.details[-1]) == (CheckState.WARNING, "proxy 10.0.0.9:8080: no answer")


def test_a_long_list_is_cut() -> None:
    finding = judged(*["4.9.7"] * 23)
    assert (len(finding.details), finding.details[-1]) == (21, "and 3 more clients")
