"""The examples of all commands, and where each of them is run: in the lab or on a real broker."""

import shlex
from typing import NamedTuple

from nsadmin.commands.documented import Example
from nsadmin.manual.describe import commands
from nsadmin.registry import Entry

ON_A_REAL_BROKER = {
    "clusterRT": "simulated brokers take no messages",
    "printMsg": "it is about a whole topic, of which simulated brokers have a hundred millions",
    "printMsgByQueue": "it counts a whole queue, of which simulated brokers have millions",
    "queryMsgById": "its key or id is that of a message that was sent",
    "queryMsgByKey": "its key or id is that of a message that was sent",
    "queryMsgByOffset": "simulated brokers have deleted their first messages",
    "queryMsgByUniqueKey": "its key or id is that of a message that was sent",
    "queryMsgTraceById": "simulated clients trace nothing",
    "sendMessage": "simulated brokers take no messages",
    "sendMsgStatus": "simulated brokers take no messages",
}
"""Commands whose examples the interop tests run, and why not the lab; all others are run in the lab."""

BEFORE = {
    "auditList": ("updateKvConfig DEPLOYMENT stage canary --yes",),
    "contextDelete": ("contextSet prod -n 127.0.0.1:9876",),
    "contextList": ("contextSet prod -n 127.0.0.1:9876",),
    "contextLogin": ("contextSet prod -n 127.0.0.1:9876",),
    "contextShow": ("contextSet prod -n 127.0.0.1:9876",),
    "snapshotList": ("snapshotSave before.snapshot.zst",),
    "snapshotShow": ("snapshotSave before.snapshot.zst",),
    "contextUse": ("contextSet test -n 127.0.0.1:9876", "contextSet prod -n 127.0.0.1:9876"),
}
"""Command lines that make what the examples of a command are about."""


JOURNAL = {
    "namesrv/journal/0000000000000001-20250201T000000000Z.jsonl": """\
{"v":1,"seq":1,"time":1738368000000,"server":"h:9876","type":"Snapshot","cause":"start","reason":"start"\
,"clusters":[],"groups":[],"live":[],"queues":[],"routes":[],"mappings":[],"kv":{},"settings":{}}
{"v":1,"seq":2,"time":1738368000001,"server":"h:9876","type":"ServerReady","cause":"start","address":"h:9876"}
{"v":1,"seq":3,"time":1738368001000,"server":"h:9876","type":"BrokerRegistered","cause":"REGISTER_BROKER",\
"client":"10.0.0.1:4","clusterName":"cluster-a","brokerName":"broker-a","brokerId":0,"brokerAddr":"10.0.0.1:10911",\
"topics":1,"enableActingMaster":false,"info":{"heartbeatTimeoutMillis":120000,"filterServers":[]}}
{"v":1,"seq":4,"time":1738368001000,"server":"h:9876","type":"TopicsChanged","cause":"REGISTER_BROKER",\
"client":"10.0.0.1:4","brokerName":"broker-a","reason":"registration","changes":[{"topics":["orders"],\
"after":{"brokerName":"broker-a","readQueueNums":8,"writeQueueNums":8,"perm":6,"topicSysFlag":0}}]}
{"v":1,"seq":5,"time":1738368003000,"server":"h:9876","type":"WritePermWiped","cause":"WIPE_WRITE_PERM_OF_BROKER",\
"client":"10.0.0.9:5","brokerName":"broker-a","topics":1,"changes":[{"topics":["orders"],\
"before":{"brokerName":"broker-a","readQueueNums":8,"writeQueueNums":8,"perm":6,"topicSysFlag":0},\
"after":{"brokerName":"broker-a","readQueueNums":8,"writeQueueNums":8,"perm":4,"topicSysFlag":0}}]}
"""
}
OF_JOURNALS = ("journalCat", "journalTail", "journalStat", "journalVerify", "history", "routeAt", "routeDiff")
FILES = {
    "batch": {"round.txt": "topicRoute orders\nupdateKvConfig DEPLOYMENT stage canary\n"},
    **dict.fromkeys(OF_JOURNALS, JOURNAL),
}
"""Files that the examples of a command name."""


STANDARD_INPUT = {"contextLogin": "operator\ns3cret\n"}
"""What a command reads while its examples are run."""


class Case(NamedTuple):
    """A command and its examples, to be run one after the other."""

    entry: Entry
    examples: tuple[Example, ...]

    @property
    def standard_input(self) -> str:
        return STANDARD_INPUT.get(self.entry.name, "")

    @property
    def before(self) -> list[list[str]]:
        return [shlex.split(line) for line in BEFORE.get(self.entry.name, ())]

    @property
    def files(self) -> dict[str, str]:
        return FILES.get(self.entry.name, {})


def words(example: Example) -> list[str]:
    """What stands behind `nsadmin` in an example, as a shell would hand it over."""
    return shlex.split(example.line)[1:]


ALL = [Case(command.entry, tuple(command.examples)) for command in commands()]
IN_THE_LAB = [case for case in ALL if case.entry.name not in ON_A_REAL_BROKER]
ON_BROKERS = [case for case in ALL if case.entry.name in ON_A_REAL_BROKER]
