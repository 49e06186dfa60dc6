"""The examples of all commands, and where each of them is run: in the lab or on a real broker."""

import shlex
from typing import NamedTuple

from nsadmin.command_line.docstrings import CommandExample
from nsadmin.manual.command_descriptions import describe_all_commands
from nsadmin.registry import CommandEntry

ON_A_REAL_BROKER = {
    "checkMsgSendRT": "simulated brokers take no messages",
    "clusterRT": "simulated brokers take no messages",
    "getBrokerLiteInfo": "simulated brokers have no lite topics",
    "getLiteClientInfo": "simulated brokers have no lite topics",
    "getLiteGroupInfo": "simulated brokers have no lite topics",
    "getLiteTopicInfo": "simulated brokers have no lite topics",
    "getParentTopicInfo": "simulated brokers have no lite topics",
    "consumeMessage": "simulated brokers have deleted their first messages",
    "printMsg": "it is about a whole topic, of which simulated brokers have a hundred millions",
    "printMsgByQueue": "it counts a whole queue, of which simulated brokers have millions",
    "queryCq": "simulated brokers have deleted their first messages",
    "messageTrack": "its key or id is that of a message that was sent",
    "queryMsgById": "its key or id is that of a message that was sent",
    "queryMsgByKey": "its key or id is that of a message that was sent",
    "queryMsgByOffset": "simulated brokers have deleted their first messages",
    "queryMsgByUniqueKey": "its key or id is that of a message that was sent",
    "queryMsgTraceById": "simulated clients trace nothing",
    "sendMessage": "simulated brokers take no messages",
    "sendMsgStatus": "simulated brokers take no messages",
    "triggerLiteDispatch": "simulated brokers have no lite topics",
}
"""Commands whose examples the interop tests run, and why not the lab; all others are run in the lab."""

_WRITTEN_ON_ONE = ("updateKvConfig ORDER_TOPIC_CONFIG orders broker-a-0:4 -n 127.0.0.1:9876 --yes",)

ON_AN_OLD_BROKER = (
    "getAclConfig", "clusterAclConfigVersion", "updateAclConfig", "deleteAclConfig", "updateGlobalWhiteAddr",
)  # fmt: skip
"""Commands about 4.x; their examples are run on a real broker of 4.9.7."""

ON_A_CONTROLLER = (
    "getControllerMetaData", "getSyncStateSet", "getBrokerEpoch", "getControllerConfig",
    "updateControllerConfig", "electMaster", "cleanBrokerMetadata",
)  # fmt: skip
"""Commands about controllers, which the lab has none of; their examples are run on real ones."""

ELSEWHERE = {
    "rebalanceRun": "a run waits for consumers; interop tests run plans on real brokers",
    "rebalanceStatus": "a run waits for consumers; interop tests run plans on real brokers",
    "replicaDiff": "slaves of the lab have no lasting difference from their masters",
    "addBroker": "simulated brokers run in no container",
    "benchConsume": "simulated brokers take no messages",
    "benchLatency": "simulated brokers take no messages",
    "benchProduce": "simulated brokers take no messages",
    "clientList": "simulated clients use no proxy",
    "consume": "one of its examples follows a topic without an end",
    "delayedCancel": "its id is that of a message that was sent",
    "delayedList": "simulated brokers take no messages",
    "kubeDoctor": "the lab runs in no Kubernetes cluster",
    "dlqList": "simulated consumers never fail",
    "dlqPurge": "simulated consumers never fail",
    "dlqReplay": "simulated consumers never fail",
    "dlqShow": "simulated consumers never fail",
    "dumpCompactionLog": "it reads a file of a real broker",
    "exporter": "it serves until it is stopped",
    "mcp": "it serves a client on standard input",
    "exportMetadataInRocksDB": "it reads files of a real broker",
    "messagesExport": "simulated brokers have deleted their first messages",
    "messagesImport": "simulated brokers take no messages",
    "proxyList": "simulated clients use no proxy",
    "produce": "simulated brokers take no messages",
    "remappingStaticTopic": "simulated brokers have no static topics",
    "removeBroker": "simulated brokers run in no container",
    "rocksDBConfigToJson": "it reads files of a real broker",
    "reportRun": "Spark takes half a minute; a test of the pipeline runs them in one session",
    "reportStream": "Spark takes half a minute; a test of the pipeline runs them in one session",
    "reportHtml": "the lab has made no tables",
    "reportMarkdown": "the lab has made no tables",
    "checkReports": "the lab has made no tables",
    "reportExport": "the lab has made no tables",
    "reportSchema": "the lab has made no tables",
    "reportShow": "the lab has made no tables",
    "transferAcl": "its source and its target are two clusters",
    "transferGroups": "its source and its target are two clusters",
    "transferTopics": "its source and its target are two clusters",
    "transferMessages": "simulated brokers take no messages",
    "transferOffsets": "simulated brokers take no messages",
    "transferVerify": "simulated brokers take no messages",
    "updateStaticTopic": "simulated brokers have no static topics",
}
"""Commands whose examples interop tests of their own run, and why not the lab."""

_BACKUP = "backup create cluster-a --file cluster-a.nsbackup.zip"

BEFORE = {
    "backupShow": (_BACKUP,),
    "backupDiff": (
        _BACKUP,
        "backup create cluster-a --file monday.nsbackup.zip",
        "updateTopic vouchers -c cluster-a --yes",
        "backup create cluster-a --file tuesday.nsbackup.zip",
    ),
    "backupRestore": (_BACKUP, "deleteTopic orders -c cluster-a --yes"),
    "bundleShow": ("bundle create incident.nsbundle.zip",),
    "bundleDiff": (
        "bundle create monday.nsbundle.zip",
        "updateTopic vouchers -c cluster-a --yes",
        "bundle create tuesday.nsbundle.zip",
    ),
    "checkBackup": ("backup create cluster-a --dir backups",),
    "drainStatus": ("drain broker-a-0 --force --yes",),
    "undrain": ("drain broker-a-0 --force --yes",),
    "inventoryForget": ("clusterList",),
    "auditList": ("updateKvConfig DEPLOYMENT stage canary --yes",),
    "divergence": _WRITTEN_ON_ONE,
    "checkRocksdbCqWriteProgress": ("updateBrokerConfig rocksdbCQDoubleWriteEnable true -c cluster-a --yes",),
    "removeColdDataFlowCtrGroupConfig": (
        "updateColdDataFlowCtrGroupConfig search-indexer 1048576 -c cluster-a --yes",
    ),
    "configDiff": ("updateBrokerConfig fileReservedTime 48 -b 127.0.0.1:10911 --yes",),
    "kvDiff": (*_WRITTEN_ON_ONE, "updateKvConfig DEPLOYMENT stage canary -n 127.0.0.1:9876 --yes"),
    "kvExport": ("updateKvConfig DEPLOYMENT stage canary --yes",),
    "kvSync": _WRITTEN_ON_ONE,
    "contextDelete": ("contextSet prod -n 127.0.0.1:9876",),
    "contextList": ("contextSet prod -n 127.0.0.1:9876",),
    "contextLogin": ("contextSet prod -n 127.0.0.1:9876",),
    "contextShow": ("contextSet prod -n 127.0.0.1:9876",),
    "snapshotList": ("snapshotSave before.snapshot.zst",),
    "snapshotShow": ("snapshotSave before.snapshot.zst",),
    "orphans": (
        "updateTopic %RETRY%retired -c cluster-a --yes",
        "updateTopic %DLQ%retired -c cluster-a --yes",
    ),
    "contextUse": ("contextSet test -n 127.0.0.1:9876", "contextSet prod -n 127.0.0.1:9876"),
}
"""Command lines that make what the examples of a command are about."""

NAME_SERVERS = {"divergence": 2, "kvDiff": 2, "kvSync": 2}
"""How many name servers the lab has for examples that are about several; the documented one is the first."""


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
OF_JOURNALS = (
    "journalCat", "journalTail", "journalStat", "journalVerify", "history", "routeAt", "routeDiff",
    "snapshotSave", "checkJournal",
)  # fmt: skip
CLUSTER = """\
cluster: cluster-a
topics:
  orders: {readQueueNums: 16, writeQueueNums: 16, attributes: {message.type: FIFO}}
  ratings: {}
groups:
  warehouse: {retryMaxTimes: 3}
"""
FILES = {
    "plan": {"cluster.yaml": CLUSTER},
    "apply": {"cluster.yaml": CLUSTER},
    "updateTopicList": {
        "topics.json": '[{"topicName": "vouchers", "readQueueNums": 4, "writeQueueNums": 4},'
        ' {"topicName": "refunds", "perm": 4}]'
    },
    "updateSubGroupList": {"groups.json": '[{"groupName": "auditors", "retryMaxTimes": 3}]'},
    "createUser": {"shop.password": "s3cret\n"},
    "updateUser": {"shop.password": "s3cret\n"},
    "batch": {"round.txt": "topicRoute orders\nupdateKvConfig DEPLOYMENT stage canary\n"},
    "kvImport": {"kv.json": '{"configTable": {"DEPLOYMENT": {"stage": "canary"}}}'},
    **dict.fromkeys(OF_JOURNALS, JOURNAL),
}
"""Files that the examples of a command name."""


STANDARD_INPUT = {"contextLogin": "operator\ns3cret\n", "createUser": "s3cret\n"}
"""What a command reads while its examples are run."""


class ExampleCase(NamedTuple):
    """A command and its examples, to be run one after the other."""

    entry: CommandEntry
    examples: tuple[CommandExample, ...]

    @property
    def standard_input(self) -> str:
        return STANDARD_INPUT.get(self.entry.name, "")

    @property
    def before(self) -> list[list[str]]:
        return [shlex.split(line) for line in BEFORE.get(self.entry.name, ())]

    @property
    def name_servers(self) -> int:
        return NAME_SERVERS.get(self.entry.name, 1)

    @property
    def files(self) -> dict[str, str]:
        return FILES.get(self.entry.name, {})


def split_example(example: CommandExample) -> list[str]:
    """What stands behind `nsadmin` in an example, as a shell would hand it over."""
    return shlex.split(example.command_line)[1:]


ALL = [ExampleCase(command.entry, tuple(command.examples)) for command in describe_all_commands()]
ON_OLD_BROKERS = [case for case in ALL if case.entry.name in ON_AN_OLD_BROKER]
ON_CONTROLLERS = [case for case in ALL if case.entry.name in ON_A_CONTROLLER]
_NOT_THERE = {*ON_A_REAL_BROKER, *ON_AN_OLD_BROKER, *ON_A_CONTROLLER, *ELSEWHERE}
IN_THE_LAB = [case for case in ALL if case.entry.name not in _NOT_THERE]
ON_BROKERS = [case for case in ALL if case.entry.name in ON_A_REAL_BROKER]


def list_cases_elsewhere(*names: str) -> list[ExampleCase]:
    """The cases of these commands, which are in ELSEWHERE."""
    assert ELSEWHERE.keys() >= set(names)
    return [case for case in ALL if case.entry.name in names]
