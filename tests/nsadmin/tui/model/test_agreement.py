"""Whether name servers tell the same."""

from nsadmin.tui.model.agreement import (
    AgreementVerdict,
    NameServerDifference,
    count_pairwise_differences,
    find_differences,
    judge_agreement,
)
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.polling.poll_records import NameServerPolled
from tests.support.screens import NOON, make_server_poll

ONE, TWO, THREE = (f"10.0.0.{number}:9876" for number in (1, 2, 3))


def model_of(*polls: NameServerPolled) -> ClusterModel:
    model = ClusterModel([ONE, TWO])
    for poll in polls:
        model.apply_poll(poll)
    return model


def test_they_agree_when_all_tell_the_same() -> None:
    found = judge_agreement(model_of(make_server_poll(ONE), make_server_poll(TWO)))
    assert found == AgreementVerdict("agree")


def test_nobody_knows_before_all_have_answered() -> None:
    assert judge_agreement(model_of()).outcome == "unknown"
    agreement = judge_agreement(model_of(make_server_poll(ONE)))
    assert agreement == AgreementVerdict("unknown", (f"{TWO} does not answer",))


def test_a_name_server_that_stopped_answering_is_counted() -> None:
    agreement = judge_agreement(model_of(make_server_poll(ONE), NameServerPolled(NOON, TWO, error="closed")))
    assert agreement == AgreementVerdict("partial", (f"{TWO} does not answer",))


def test_two_names_of_one_name_server_are_one_witness() -> None:
    model = model_of(
        make_server_poll(ONE, peer="10.0.0.1:9876"), make_server_poll(TWO, peer="10.0.0.1:9876", topics=())
    )
    assert judge_agreement(model) == AgreementVerdict("single")
    assert [model.find_other_name(model.name_servers[addr]) for addr in (ONE, TWO)] == [None, ONE]
    model.apply_poll(make_server_poll(THREE, peer="10.0.0.3:9876"))
    assert judge_agreement(model).outcome == "agree"
    assert [server.addr for server in model.list_fresh_servers()] == [ONE, THREE]


def test_one_that_is_alone_agrees_with_nobody() -> None:
    model = ClusterModel([ONE])
    model.apply_poll(make_server_poll(ONE))
    assert judge_agreement(model) == AgreementVerdict("single")


def test_name_servers_that_are_all_silent_are_an_alarm() -> None:
    dead = [NameServerPolled(NOON, addr, error="closed") for addr in (ONE, TWO)]
    reasons = (f"{ONE} does not answer", f"{TWO} does not answer")
    assert judge_agreement(model_of(*dead)) == AgreementVerdict("silent", reasons)


def test_a_silent_one_hides_no_difference_of_the_others() -> None:
    agreement = judge_agreement(
        model_of(
            make_server_poll(ONE),
            make_server_poll(TWO, groups={}),
            NameServerPolled(NOON, THREE, error="closed"),
        )
    )
    assert agreement == AgreementVerdict("diverge", ("brokers", "permissions"))


def test_differences_say_what_each_server_has() -> None:
    model = model_of(
        make_server_poll(ONE, perms={"broker-a": 4}),
        make_server_poll(TWO, topics=("orders",), kv={"ORDER_TOPIC_CONFIG": {"t": "x"}}),
    )
    assert list(find_differences(model.list_fresh_servers())) == [
        NameServerDifference("permissions", "broker-a", {ONE: "wiped", TWO: "written"}),
        NameServerDifference("topics", "payments", {ONE: "known", TWO: "absent"}),
        NameServerDifference("KV config", "ORDER_TOPIC_CONFIG t", {ONE: "absent", TWO: "x"}),
    ]
    found = [difference.aspect_name for difference in find_differences(model.list_fresh_servers(), "topics")]
    assert found == ["topics"]


def test_what_a_server_does_not_tell_is_not_compared() -> None:
    model = model_of(
        make_server_poll(ONE), make_server_poll(TWO, topics=None, unreported={"topics": "not supported"})
    )
    assert judge_agreement(model) == AgreementVerdict("agree", ("topics not compared",))


def test_how_many_differences_there_are_between_each_two() -> None:
    model = model_of(make_server_poll(ONE), make_server_poll(TWO, topics=()), make_server_poll(THREE))
    difference_counts = count_pairwise_differences(list(model.name_servers.values()))
    assert difference_counts[ONE, TWO] == 2
    assert difference_counts[TWO, ONE] == 2
    assert difference_counts[ONE, THREE] == 0
