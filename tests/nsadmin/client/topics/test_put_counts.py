"""Messages that came to a broker in the last minute."""

from namesrv_core.protocol.command import RemotingCommand, build_reply
from nsadmin.client import AdminClient
from tests.support.fake_servers import Server, answer_json

SUMS = {"TOPIC_PUT_NUMS@orders": 12, "BROKER_PUT_NUMS_WITHOUT_SYSTEM_TOPIC@C": 15}


def counted(asked: RemotingCommand) -> RemotingCommand:
    ext = asked.ext or {}
    count = SUMS.get(f"{ext['statsName']}@{ext['statsKey']}")
    if count is None:
        return build_reply(asked, 1, remark=f"The stats <{ext['statsName']}> <{ext['statsKey']}> not exist")
    return answer_json(
        asked, {"statsMinute": {"sum": count, "tps": 0.2, "avgpt": 1.0}, "statsHour": {"sum": 99}}
    )


def test_the_sums_of_a_minute_are_told_and_what_was_never_counted_is_none_or_nothing() -> None:
    with Server({315: counted}) as broker, AdminClient("h:1", timeout=5) as admin:
        assert admin.put_counts.count_user_messages(broker.addr, "C").result == 15
        assert admin.put_counts.count_user_messages(broker.addr, "D") == (broker.addr, None, None)
        counts = admin.put_counts.count_topic_messages(broker.addr, ["orders", "quiet"])
        assert [item.result for item in counts] == [("orders", 12), ("quiet", 0)]


def test_a_broker_that_refuses_has_an_error_and_no_zero() -> None:
    with (
        Server({315: lambda asked: build_reply(asked, 16, remark="no")}) as broker,
        AdminClient("h:1", timeout=5) as admin,
    ):
        [result] = admin.put_counts.count_topic_messages(broker.addr, ["orders"])
        assert (result.result, result.error is not None) == (None, True)
        assert admin.put_counts.count_user_messages(broker.addr, "C").error is not None


def test_a_topic_on_each_of_several_brokers() -> None:
    with Server({315: counted}) as broker, AdminClient("h:1", timeout=5) as admin:
        [orders], [quiet] = (
            admin.put_counts.get_topic_counts([broker.addr], name) for name in ("orders", "quiet")
        )
        assert (orders.result, quiet.result) == ((0.2, 99), (0.0, 0))


def test_any_counters_of_a_broker_with_their_rates() -> None:
    with Server({315: counted}) as broker, AdminClient("h:1", timeout=5) as admin:
        counters = [("TOPIC_PUT_NUMS", "orders"), ("GROUP_GET_NUMS", "orders@nobody")]
        known, unknown = admin.put_counts.get_minute_stats(broker.addr, counters)
        assert known.result == (0.2, 12)
        assert unknown == (broker.addr, None, None)
