"""The released mqadmin against simulated brokers: it understands them, and what it changes is changed."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from nsadmin import AdminClient
from nsadmin.client.message_queues import MessageQueue
from tests.interop.java_parts import MqAdmin
from tests.support.lab import Lab, start_lab

CLIENT = "10.0.226.10@warehouse-1"


class Fleet(NamedTuple):
    there: Lab
    mqadmin: MqAdmin
    admin: AdminClient

    def say(self, line: str) -> str:
        """What mqadmin says of a command line."""
        return self.mqadmin(*line.split())


@pytest.fixture(scope="module")
def fleet(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    home = tmp_path_factory.mktemp("fleet")
    with (
        start_lab(home / "lab") as there,
        MqAdmin(home / "mqadmin", there.namesrv_addrs) as mqadmin,
        AdminClient(there.namesrv_addrs) as admin,
    ):
        yield Fleet(there, mqadmin, admin)


@pytest.mark.parametrize(
    ("line", "rows"),
    [
        ("clusterList -c cluster-a", {r"^cluster-a +broker-a-\d +[01] +\S+ +V5_5_0 ": 6}),
        ("brokerStatus -b MASTER", {r"^putTps +: [\d.]+ [\d.]+ [\d.]+": 1}),
        ("getBrokerConfig -b MASTER", {r"^\w+ += ": 450}),
        ("haStatus -b MASTER", {r"^#SlaveNum\t1$": 1, r"^127\.0\.0\.1:\d+ .* OK ": 1}),
        ("haStatus -b SLAVE", {r"^#MasterAddr\t127\.0\.0\.1:\d+$": 1, r"^#CommitLogMaxOffset\t\d{6,}$": 1}),
        ("topicStatus -t payments", {r"^payments|^broker-[ab]-\d +\d+ +\d+ +\d+ +20": 48}),
        ("statsAll -t payments", {r"^payments +warehouse +\d+ +[\d.]{3,} +[\d.]{3,} +\d{4,} +\d{4,}": 1}),
        ("consumerProgress", {r"^[\w-]+ +3 +V5_5_0 +PUSH +CLUSTERING +\d+ +\d+$": 7}),
        (
            "consumerProgress -g warehouse -t payments -s true",
            {r"^payments +broker-\S+ +\d+ +\d+ +\d+ +10\.0\.226\.1\d +\d+ ": 48},
        ),
        ("consumerConnection -g warehouse", {r"^10\.0\.226\.1\d@warehouse-\d +\S+ +JAVA +V5_5_0": 3}),
        (
            f"consumerStatus -g warehouse -i {CLIENT} -s",
            {r"^payments +broker-\S+ +\d+ +\d+": 16, "^ConsumeMessageThread_1": 1},
        ),
        ("brokerConsumeStats -b MASTER -l 1000", {r"^\S+ +analytics +broker-a-0 +\d+ +\d+ +\d+ +\d{4,}": 8}),
        ("producer -b MASTER", {r"^producer group \(payments-producer\) .*remoteIP=/10\.": 2}),
        ("producerConnection -g payments-producer -t payments", {r"^000\d +10\.\S+ +\S+ +JAVA +V5_5_0": 2}),
        ("getConsumerConfig -g warehouse", {r"^groupName += +warehouse": 6, r"^retryMaxTimes += +16": 6}),
        ("updateOrderConf -t orders -m get", {r"orderConf=\[broker-a-0:8;broker-a-1:8;.*broker-b-2:8\]": 1}),
        ("topicList -c", {r"^cluster-[ab] +payments +warehouse": 1}),
    ],
)
def test_mqadmin_understands_what_they_say(fleet: Fleet, line: str, rows: dict[str, int]) -> None:
    brokers = fleet.there.brokers
    line = line.replace("MASTER", brokers["broker-a-0", 0]).replace("SLAVE", brokers["broker-a-0", 1])
    mqadmin_output = fleet.say(line)
    assert "Exception" not in mqadmin_output, mqadmin_output
    for pattern, number in rows.items():
        assert len(re.findall(pattern, mqadmin_output, re.M)) >= number, (pattern, mqadmin_output)


def test_mqadmin_finds_the_messages_that_we_find(fleet: Fleet) -> None:
    [stats, *_] = fleet.admin.topics.get_stats("payments")
    assert stats.stats
    offset = stats.stats.queues[0].max_offset - 100
    message = fleet.admin.messages.get_at_offset("payments", "broker-a-0", 0, offset).message
    for line in (
        f"queryMsgByOffset -t payments -b broker-a-0 -i 0 -o {offset}",
        f"queryMsgByUniqueKey -t payments -i {message.msg_id}",
        f"queryMsgById -t payments -i {message.offset_msg_id}",
    ):
        mqadmin_output = fleet.say(line)
        for name, value in (
            ("Keys", message.keys[0]),
            ("Tags", message.tags),
            ("Queue Offset", offset),
        ):
            assert re.search(rf"^{name}: +\[?{value}\]?$", mqadmin_output, re.M), (line, mqadmin_output)
    mqadmin_output = fleet.say(f"queryMsgByKey -t payments -k {message.keys[0]}")
    assert re.search(rf"^{message.msg_id} +0 +{offset}", mqadmin_output, re.M), mqadmin_output
    since, until = message.store_timestamp, message.store_timestamp + 60_000
    lines = f"printMsgByQueue -t payments -a broker-a-0 -i 0 -b {since} -e {until} -p true -d true"
    assert f"MSGID: {message.msg_id} " in fleet.say(lines)


def test_what_mqadmin_changes_is_changed(fleet: Fleet) -> None:
    admin = fleet.admin
    assert "success" in fleet.say("updateSubGroup -g warehouse -c cluster-a -r 7")
    settings = [item.settings or {} for item in admin.groups.get_settings("warehouse", "cluster-a")]
    assert [item["retryMaxTimes"] for item in settings] == [7, 7, 7]
    assert "success" in fleet.say("updateTopic -t vouchers -c cluster-a -r 3 -w 3")
    assert [queue.write_queue_nums for queue in admin.topics.get_route("vouchers").queues] == [3, 3, 3]
    assert "success" in fleet.say("deleteSubGroup -g ledger -c cluster-a -r true")
    assert admin.groups.get_settings("ledger", "cluster-b")[0].settings
    with pytest.raises(Exception, match='no broker has the consumer group "ledger"'):
        admin.groups.get_settings("ledger", "cluster-a")


def test_offsets_that_mqadmin_moves_are_those_that_we_read(fleet: Fleet) -> None:
    mqadmin_output = fleet.say("skipAccumulatedMessage -g analytics -t customers")
    mqadmin_offsets = {
        MessageQueue("customers", name, int(queue)): int(offset)
        for name, queue, offset in re.findall(r"^(broker-\S+) +(\d+) +(\d+)", mqadmin_output, re.M)
    }
    results = fleet.admin.consumers.get_progress("analytics", "customers")
    read = {
        lag.queue: lag.consumer_offset for result in results if result.result for lag in result.result.queues
    }
    assert mqadmin_offsets == read
    assert len({queue.broker_name for queue in mqadmin_offsets}) == 6
