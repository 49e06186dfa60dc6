"""Repetitions are written out, and patterns mean brokers."""

from namesrv_core.lab.scenario import Fault, Scenario, match_names


def test_repetitions_are_written_out_in_the_order_of_time() -> None:
    scenario = Scenario("x", faults=(Fault(60, "kill", times=3, every=30), Fault(70, "stop")))
    assert [(fault.at, fault.kind) for fault in scenario.expand_repetitions()] == [
        (60, "kill"), (70, "stop"), (90, "kill"), (120, "kill"),
    ]  # fmt: skip
    assert {fault.times for fault in scenario.expand_repetitions()} == {1}


def test_a_pattern_without_an_id_means_the_group() -> None:
    names = ["broker-a-0:0", "broker-a-0:1", "broker-b-0:0"]
    assert match_names(("broker-a-0",), names) == names[:2]
    assert match_names(("*:0",), names) == [names[0], names[2]]
    assert match_names(("*",), names) == names
    assert match_names((), names) == []


def test_what_is_said_of_all_is_true_of_each() -> None:
    specs = Scenario("x", acting=True, traffic=3).initial_specs()
    assert {(spec.acting_master, spec.traffic_factor) for spec in specs} == {(True, 3)}
    assert Scenario("x", namesrvs=2).server_names() == ["ns-1", "ns-2"]


def test_name_servers_wait_only_if_they_are_told_to() -> None:
    assert Scenario("x", settings={"waitSecondsForService": 9}).wait_seconds == 0
    assert Scenario("x", settings={"waitSecondsForService": 9, "needWaitForService": True}).wait_seconds == 9
    assert Scenario("x", settings={"needWaitForService": True}).wait_seconds == 45


def test_brokers_that_create_no_topics() -> None:
    assert {spec.auto_create for spec in Scenario("x", auto_create=False).initial_specs()} == {False}
