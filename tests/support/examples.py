"""The examples of all commands, and where each of them is run: in the lab or on a real broker."""

import shlex
from typing import NamedTuple

from nsadmin.command_line.declarations import ExamplesPlace, declaration_of
from nsadmin.command_line.docstrings import CommandExample
from nsadmin.command_line.registry import CommandEntry
from nsadmin.manual.command_descriptions import describe_all_commands

_WRITTEN_ON_ONE = ("updateKvConfig ORDER_TOPIC_CONFIG orders broker-a-0:4 -n 127.0.0.1:9876 --yes",)

_BACKUP = "backup create cluster-a --file cluster-a.nsbackup.zip"

_SHOP = "createUser shop -c cluster-a --passwordFile shop.password --yes"
_PASSWORD = {"shop.password": "s3cret\n"}

USES_CONTEXT = ("history", "routeAt", "routeDiff", "snapshotSave")
"""The commands whose examples read the journal of a context."""
_CONTEXT = ("contextSet prod -n 127.0.0.1:9876 --journal namesrv/journal", "contextUse prod")

BEFORE = {
    **dict.fromkeys(USES_CONTEXT, _CONTEXT),
    "createAcl": (_SHOP,),
    "updateAcl": (_SHOP,),
    "deleteAcl": (_SHOP, "createAcl shop -r Topic:orders,Group:g -a Sub -d Allow -c cluster-a --yes"),
    "backupShow": (_BACKUP, "backup create cluster-a --dir backups"),
    "backupDiff": (
        _BACKUP,
        "backup create cluster-a --file monday.nsbackup.zip",
        "backup create cluster-a --dir backups",
        "updateTopic vouchers -c cluster-a --yes",
        "backup create cluster-a --file tuesday.nsbackup.zip",
        "backup create cluster-a --file backups/cluster-a-20200101T000000Z.nsbackup.zip",
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
    "configDiff": (
        "updateBrokerConfig fileReservedTime 48 -b 127.0.0.1:10911 --yes",
        "contextSet staging -n 127.0.0.1:9876",
    ),
    "spread": ("updateSubGroup new -b 127.0.0.1:10911 --yes",),
    "kvDiff": (*_WRITTEN_ON_ONE, "updateKvConfig DEPLOYMENT stage canary -n 127.0.0.1:9876 --yes"),
    "kvExport": ("updateKvConfig DEPLOYMENT stage canary --yes",),
    "kvSync": _WRITTEN_ON_ONE,
    "contextDelete": ("contextSet prod -n 127.0.0.1:9876", "contextSet staging -n 127.0.0.1:9877"),
    "contextList": ("contextSet prod -n 127.0.0.1:9876",),
    "contextLogin": ("contextSet prod -n 127.0.0.1:9876",),
    "contextShow": ("contextSet prod -n 127.0.0.1:9876",),
    "snapshotList": ("snapshotSave before.snapshot.zst",),
    "snapshotShow": ("snapshotSave before.snapshot.zst",),
    "orphans": (
        "updateTopic %RETRY%retired -c cluster-a --yes",
        "updateTopic %DLQ%retired -c cluster-a --yes",
    ),
    "statsAll": ("updateTopic vouchers -c cluster-a --yes",),
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
    **dict.fromkeys(("createUser", "updateUser", "createAcl", "updateAcl", "deleteAcl"), _PASSWORD),
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
    def changes_nothing(self) -> bool:
        """Whether the lab is afterwards as it was."""
        return self.entry.kind in ("read", "check", "local") and not self.before

    @property
    def before(self) -> list[list[str]]:
        return [shlex.split(line) for line in BEFORE.get(self.entry.name, ())]

    @property
    def name_servers(self) -> int:
        return NAME_SERVERS.get(self.entry.name, 1)

    @property
    def files(self) -> dict[str, str]:
        return FILES.get(self.entry.name, {})


FINDS_NOTHING = (
    "nsadmin broker explain --filter 'result~warning|cause'",
    "nsadmin topicList -c --idle 30d --no-system",
)
"""Examples that find nothing in the lab, where all topics are busy. Lines on stderr say so."""


def split_example(example: CommandExample) -> list[str]:
    """What stands behind `nsadmin` in an example, as a shell would hand it over."""
    return shlex.split(example.command_line)[1:]


ALL = [ExampleCase(command.entry, tuple(command.examples)) for command in describe_all_commands()]


def list_cases(place: ExamplesPlace) -> list[ExampleCase]:
    """The commands whose examples are run at this place, as their declarations say."""
    return [case for case in ALL if declaration_of(case.entry.load_function()).examples_place == place]


IN_THE_LAB, ON_BROKERS = list_cases("lab"), list_cases("broker")
ON_OLD_BROKERS, ON_CONTROLLERS = list_cases("old broker"), list_cases("controller")


def list_cases_elsewhere(*names: str) -> list[ExampleCase]:
    """The cases of these commands, whose examples a test of their own runs."""
    cases = [case for case in list_cases("elsewhere") if case.entry.name in names]
    assert {case.entry.name for case in cases} == set(names)
    return cases
