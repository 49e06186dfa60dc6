"""Each cause is produced by a scenario, and found at the moment when clients find no route."""

from pathlib import Path

from namesrv_core.lab.scenario import Scenario
from namesrv_core.lab.scenario_reader import load_built_in_scenarios, parse_scenario
from nsadmin.operations.explain.facts import RouteQuestion
from tests.support.name_servers import DEADLINE
from tests.support.route_explanations import RouteExplanation, TimedQuestion, explain_scenario

BOTH = {"ns-1", "ns-2"}
ONE_GROUP = "namesrvs: 2\nduration: 10m\nfleet: {clusters: 1, groups: 1, replicas: 2, topics: 10}\n"


def small(*lines: str) -> Scenario:
    """Two name servers, and a master with its slave."""
    return parse_scenario("\n".join([ONE_GROUP, *lines]), "x.yaml", "x")


def test_whatever_happens_in_the_scenario_about_it_the_cause_is_found(tmp_path: Path) -> None:
    moments = (90, 190, 430, 670, 910, 1141, 1270, 1390)
    well = (30, 360, 600, 840, 1100, 1250, 1600)
    nowhere = RouteQuestion("no-such-topic")
    *told, unknown, alone, named = explain_scenario(
        load_built_in_scenarios()["no-route"],
        tmp_path,
        *(TimedQuestion(at, recalls=True) for at in (*moments, *well)),
        TimedQuestion(31, nowhere),
        TimedQuestion(91, namesrvs=("ns-2",)),
        TimedQuestion(92, namesrvs=("ns-2",), brokers=("broker-a-0:0",)),
    )
    relisted, half, forbidden, wiped, headless, forgotten, in_part, left = told[: len(moments)]
    assert [explanation.verdict for explanation in told[len(moments) :]] == ["fine"] * len(well)

    assert relisted.causes == {"wrongNameServer": {"ns-2"}, "partialNameServerList": {"ns-2"}}
    assert (half.verdict, half.servers_with("partialNameServerList", "warning")) == ("fine", {"ns-2"})
    assert forbidden.causes == {"brokerPermission": BOTH}
    assert "broker-a-1 has no write permission: brokerPermission=4" in forbidden.evidence_of(
        "brokerPermission"
    )
    assert wiped.causes == {"wiped": {"ns-2"}}
    assert "the journal of ns-2, " in wiped.evidence_of("wiped")
    assert "WIPE_WRITE_PERM_OF_BROKER by 127.0.0.1:" in wiped.evidence_of("wiped")
    # The order configuration names brokers without a master as well.
    assert headless.causes == {"masterMissing": BOTH, "orderConf": BOTH}
    assert forgotten.causes == {"topicOnBrokerOnly": {"ns-2"}}
    assert "DELETE_TOPIC_IN_NAMESRV by 127.0.0.1:" in forgotten.evidence_of("topicOnBrokerOnly")
    assert (in_part.verdict, in_part.servers_with("orderConf", "warning")) == ("fine", BOTH)
    assert "without a master: broker-a-0" in in_part.evidence_of("orderConf")
    assert left.causes == {"wrongNameServer": BOTH, "brokersGone": set()}
    assert "the topic was on broker-a-1 (127.0.0.1:" in left.evidence_of("brokersGone")
    assert "which left: the journal of ns-1, " in left.evidence_of("brokersGone")

    assert unknown.causes == {"topicNotRegistered": BOTH, "autoCreateOff": set()}
    assert "broker-a-0 does not create topics automatically" in unknown.evidence_of("autoCreateOff")
    # Who asks the wrong name server alone needs a broker's word.
    assert alone.causes == {"wrongNameServer": {"ns-2"}}
    assert named.causes == {"wrongNameServer": {"ns-2"}, "partialNameServerList": {"ns-2"}}


def test_a_name_server_in_its_waiting_time(tmp_path: Path) -> None:
    waiting, ready, killed, silent = explain_scenario(
        load_built_in_scenarios()["name-server-waits"], tmp_path, *map(TimedQuestion, (126, 175, 250, 242))
    )
    assert waiting.causes["nameServerNotReady"] == {"ns-1"}
    assert "name server not ready; it starts to return routes 45 s" in waiting.evidence_of(
        "nameServerNotReady"
    )
    assert ready.verdict == "fine"
    assert killed.causes["nameServerNotReady"] == {"ns-2"}
    assert (silent.verdict, silent.servers_with("nameServerSilent", "unknown")) == ("unknown", {"ns-2"})


def test_brokers_that_a_partition_keeps_away(tmp_path: Path) -> None:
    cut = small('faults: [{at: 10, fault: partition, brokers: "*", namesrvs: ns-2, for: 5m}]')
    early, late = explain_scenario(cut, tmp_path, TimedQuestion(60), TimedQuestion(200))
    assert early.verdict == "fine"
    assert late.causes == {"wrongNameServer": {"ns-2"}, "brokerNotHeard": {"ns-2"}}
    assert "broker-a-0 has this name server in its list, but is not registered here" in late.evidence_of(
        "brokerNotHeard"
    )


def test_brokers_that_do_nothing_are_gone_before_name_servers_know(tmp_path: Path) -> None:
    frozen = small('faults: [{at: 10, fault: freeze, brokers: "*", for: 5m}]')
    [explanation] = explain_scenario(frozen, tmp_path, TimedQuestion(20))
    assert explanation.causes == {"brokersGone": BOTH}
    assert "its master does not answer" in explanation.evidence_of("brokersGone")


def test_a_slave_that_stands_in_for_its_master_takes_no_messages(tmp_path: Path) -> None:
    acting = parse_scenario(
        "namesrvs: 2\nfleet: {clusters: 1, groups: 1, replicas: 2, topics: 10, actingMaster: true}\n"
        'faults: [{at: 10, fault: kill, brokers: "*:0"}]',
        "x.yaml",
        "x",
    )
    [explanation] = explain_scenario(acting, tmp_path, TimedQuestion(60))
    assert explanation.causes == {"masterMissing": BOTH}


def test_questions_of_a_client_that_looks_elsewhere(tmp_path: Path) -> None:
    lists = RouteQuestion("orders", client_list="127.0.0.1:1,127.0.0.1:2")
    other, zone, listed, read_only = explain_scenario(
        small(),
        tmp_path,
        TimedQuestion(10, RouteQuestion("orders", cluster_name="cluster-b")),
        TimedQuestion(11, RouteQuestion("orders", zone_name="z")),
        TimedQuestion(12, lists),
        TimedQuestion(13, RouteQuestion("orders-history")),
    )
    assert other.causes == {"otherCluster": set()}
    assert zone.causes == {"zone": BOTH}
    assert list(listed.causes) == ["clientList"]
    assert read_only.causes == {"topicPermission": BOTH}


def test_a_registration_that_is_too_large(tmp_path: Path) -> None:
    """Topics come one by one and are registered, till all of them together are too many."""
    word = "t" * 110
    faults = "\n".join(
        f"  - {{at: {at}, fault: createTopic, brokers: broker-a-0:0, topic: {word}-{at}, count: 10000}}"
        for at in range(1, 7)
    )
    fleet = "namesrvs: 2\nduration: 46s\nfleet: {clusters: 1, groups: 1, replicas: 1, topics: 10}\nfaults:"
    master = ("broker-a-0:0",)
    early, late = explain_scenario(
        parse_scenario(f"{fleet}\n{faults}", "x.yaml", "x"),
        tmp_path,
        TimedQuestion(0.5, brokers=master),
        TimedQuestion(45, brokers=master, timeout=DEADLINE),
    )
    assert early.verdict == "fine"
    assert _too_large(late) > 16 << 20
    assert late.causes.keys() == {"wrongNameServer", "registrationTooLarge"}


def _too_large(said: RouteExplanation) -> int:
    """The size of the one registration that was measured."""
    [measured] = said.facts.sizes.values()
    assert measured.result is not None
    return measured.result.size_bytes
