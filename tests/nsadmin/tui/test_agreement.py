"""Whether name servers tell the same."""

from nsadmin.tui.agreement import Difference, Verdict, differences, pairs, verdict
from nsadmin.tui.model import Model
from nsadmin.tui.polls import NameServerPolled
from tests.support.screens import NOON, server

ONE, TWO, THREE = (f"10.0.0.{number}:9876" for number in (1, 2, 3))


def model_of(*polls: NameServerPolled) -> Model:
    model = Model([ONE, TWO])
    for poll in polls:
        model.apply(poll)
    return model


def test_they_agree_when_all_tell_the_same() -> None:
    assert verdict(model_of(server(ONE), server(TWO))) == Verdict("agree")


def test_nobody_knows_before_all_have_answered() -> None:
    assert verdict(model_of()).word == "unknown"
    found = verdict(model_of(server(ONE)))
    assert found == Verdict("unknown", (f"{TWO} does not answer",))


def test_one_that_is_alone_agrees_with_nobody() -> None:
    model = Model([ONE])
    model.apply(server(ONE))
    assert verdict(model) == Verdict("unknown", ("there is no other name server",))


def test_a_silent_one_hides_no_difference_of_the_others() -> None:
    found = verdict(
        model_of(server(ONE), server(TWO, groups={}), NameServerPolled(NOON, THREE, error="closed"))
    )
    assert found == Verdict("diverge", ("brokers", "permissions"))


def test_differences_say_what_each_server_has() -> None:
    model = model_of(
        server(ONE, perms={"broker-a": 4}),
        server(TWO, topics=("orders",), kv={"ORDER_TOPIC_CONFIG": {"t": "x"}}),
    )
    assert list(differences(model.fresh())) == [
        Difference("permissions", "broker-a", {ONE: "wiped", TWO: "written"}),
        Difference("topics", "payments", {ONE: "known", TWO: "absent"}),
        Difference("KV config", "ORDER_TOPIC_CONFIG t", {ONE: "absent", TWO: "x"}),
    ]
    assert [each.what for each in differences(model.fresh(), "topics")] == ["topics"]


def test_what_a_server_does_not_tell_is_not_compared() -> None:
    model = model_of(server(ONE), server(TWO, topics=None, untold={"topics": "not supported"}))
    assert verdict(model) == Verdict("agree", ("topics not compared",))


def test_how_many_differences_there_are_between_each_two() -> None:
    model = model_of(server(ONE), server(TWO, topics=()), server(THREE))
    found = pairs(list(model.servers.values()))
    assert (found[ONE, TWO], found[TWO, ONE], found[ONE, THREE]) == (2, 2, 0)
