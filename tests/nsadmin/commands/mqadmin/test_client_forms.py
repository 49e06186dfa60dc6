"""Connected clients and settings as mqadmin shows them."""

from typing import Any

from nsadmin.commands.mqadmin.output_forms import OUTPUT_FORMS
from nsadmin.console.output import ResultRow, ResultRows

CLIENT = {"clientId": "c@1", "clientAddr": "h:5", "language": "JAVA", "version": "V5_5_0"}


def lines(command: str, rows: list[ResultRow], **arguments: Any) -> list[str]:
    totals = {"subscriptions": {"T": "*", "U": "a||b"}}
    return OUTPUT_FORMS[command](ResultRows((), rows, totals=totals), arguments).split("\n")[:-1]


def test_the_clients_of_a_group_and_what_it_reads() -> None:
    row = {
        **CLIENT, "consumeType": "CONSUME_PASSIVELY", "messageModel": "CLUSTERING",
        "consumeFromWhere": "CONSUME_FROM_LAST_OFFSET", "subscriptions": {"T": "*"},
    }  # fmt: skip
    assert lines("consumerConnection", [row]) == [
        f"{'#ClientId':<36} {'#ClientAddr':<22} {'#Language':<10} #Version",
        f"{'c@1':<36} {'h:5':<22} {'JAVA':<10} V5_5_0",
        "",
        "Below is subscription:",
        f"{'#Topic':<20} #SubExpression",
        f"{'T':<20} *",
        f"{'U':<20} a||b",
        "",
        "ConsumeType: CONSUME_PASSIVELY",
        "MessageModel: CLUSTERING",
        "ConsumeFromWhere: CONSUME_FROM_LAST_OFFSET",
    ]
    assert lines("consumerConnection", []) == []


def test_producers_are_numbered() -> None:
    assert lines("producerConnection", [CLIENT, CLIENT])[1] == (
        f"0002  {'c@1':<32} {'h:5':<22} {'JAVA':<8} V5_5_0"
    )


def test_settings_of_one_broker_and_of_a_cluster() -> None:
    rows: list[ResultRow] = [
        {"brokerAddr": addr, "brokerId": broker_id, "key": "k", "value": "v"}
        for addr, broker_id in (("h:1", 0), ("h:1", 0), ("h:2", 1))
    ]
    item = f"{'k':<50}=  v"
    assert lines("getBrokerConfig", rows[:2], cluster_name=None) == [
        "============h:1============", item, item, "",
    ]  # fmt: skip
    assert lines("getBrokerConfig", rows, cluster_name="C") == [
        "============Master: h:1============", item, item, "",
        "============My Master: h:1=====Slave: h:2============", item, "",
    ]  # fmt: skip


def test_clusters_of_a_topic() -> None:
    assert lines("topicClusterList", [{"clusterName": "C"}, {"clusterName": "D"}]) == ["C", "D"]
