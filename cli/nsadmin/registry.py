"""The table of commands: what there is, where it lives, what it is for. No command is imported here."""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

Kind = Literal["read", "change", "delete", "mixed", "local", "batch", "program"]


class Entry(NamedTuple):
    """One command.

    `kind` says what it does to servers: "change" can be undone, "delete" cannot, "local" has to do with none.
    "mixed" reads or changes, as its words say, and asks `Session.require_writable` itself where it changes.
    "batch" runs other commands. A "program" gets the words behind its name as they are.
    """

    name: str
    module: str
    group: str
    kind: Kind
    help: str

    @property
    def may_change(self) -> bool:
        return self.kind in ("change", "delete", "mixed")

    @property
    def function(self) -> str:
        """The command's name as Python has it: topicRoute is topic_route."""
        return re.sub(r"(?<=[a-z])([A-Z]+)", r"_\1", self.name).lower()


# name, module, kind, help
_GROUPS: dict[str, tuple[tuple[str, str, Kind, str], ...]] = {
    "Clusters": (
        ("clusterList", "clusters", "read", "Brokers with their load and state"),
        ("brokerStatus", "clusters", "read", "All that a broker tells about itself"),
    ),
    "Brokers": (
        ("wipeWritePerm", "brokers", "change", "Stop writes to a broker"),
        ("addWritePerm", "brokers", "change", "Allow writes to a broker again"),
        ("haStatus", "replication", "read", "How far slaves are behind"),
        ("getBrokerConfig", "broker_configs", "read", "Settings in force on brokers"),
        ("updateBrokerConfig", "broker_configs", "change", "Set one item on brokers"),
        ("sendMsgStatus", "probing", "change", "Write test messages to a broker, and time each"),
        ("clusterRT", "probing", "change", "Write test messages to all masters, and time them"),
        ("cleanExpiredCQ", "upkeep", "change", "Delete parts of queues whose messages expired"),
        ("cleanUnusedTopic", "upkeep", "delete", "Delete queues of topics without config"),
    ),
    "Topics": (
        ("topicList", "topics", "read", "Names of topics, or who consumes them"),
        ("topicRoute", "topics", "read", "Brokers and queues of a topic"),
        ("topicClusterList", "topics", "read", "Clusters that have a topic"),
        ("topicStatus", "topic_stats", "read", "Offsets of a topic's queues"),
        ("statsAll", "traffic", "read", "What topics take and groups read"),
        ("allocateMQ", "allocation", "read", "Which client gets which queues"),
        ("updateTopic", "topic_configs", "change", "Create or change a topic"),
        ("updateTopicPerm", "topic_configs", "change", "Change a topic's permission"),
        ("updateOrderConf", "order_conf", "mixed", "Show or write a topic's order configuration"),
        ("deleteTopic", "topics", "delete", "Delete a topic with its messages"),
    ),
    "Consumers": (
        ("consumerProgress", "consumers", "read", "How far a group is behind, or all groups"),
        ("consumerConnection", "consumers", "read", "Clients of a group, and what they subscribe to"),
        ("consumerStatus", "consumer_status", "read", "What the clients of a group tell about themselves"),
        ("brokerConsumeStats", "consumers", "read", "How far all groups are behind on one broker"),
        ("getConsumerConfig", "groups", "read", "Settings of a group"),
        ("updateSubGroup", "groups", "change", "Create or change a group"),
        ("deleteSubGroup", "groups", "delete", "Delete a group"),
        ("resetOffsetByTime", "offsets", "delete", "Move a group to a time or an offset"),
        ("skipAccumulatedMessage", "offsets", "delete", "Move a group to the end of a topic"),
        ("cloneGroupOffset", "offsets", "delete", "Move a group to where another one is"),
    ),
    "Producers": (
        ("producer", "producers", "read", "All producers of a broker, or of all"),
        ("producerConnection", "producers", "read", "Clients of a group"),
    ),
    "Messages": (
        ("queryMsgByKey", "messages", "read", "Messages with a business key"),
        ("queryMsgByUniqueKey", "messages", "mixed", "Messages by the id in a producer's log"),
        ("queryMsgById", "messages", "mixed", "A message by an id of either kind"),
        ("queryMsgByOffset", "messages", "read", "The message at one place of a queue"),
        ("printMsgByQueue", "queue_reading", "read", "Messages in one queue, or its tags"),
        ("printMsg", "queue_reading", "read", "Messages in all queues of a topic"),
        ("sendMessage", "sending", "change", "Send one text message to a topic"),
        ("queryMsgTraceById", "traces", "read", "Who sent and who consumed a message"),
    ),
    "Name servers": (
        ("where", "where", "read", "Which are asked, who said so, and whether they answer"),
        ("kvGet", "kv", "read", "One value of the KV config"),
        ("kvList", "kv", "read", "All values of a KV namespace"),
        ("updateKvConfig", "kv", "change", "Write a value of the KV config"),
        ("deleteKvConfig", "kv", "delete", "Delete a value of the KV config"),
        ("getNamesrvConfig", "name_servers", "read", "Settings in force"),
        ("updateNamesrvConfig", "name_servers", "change", "Set one item"),
    ),
    "Contexts": (
        ("contextList", "contexts", "local", "Clusters that are known by name"),
        ("contextShow", "contexts", "local", "One of them"),
        ("contextUse", "contexts", "local", "Choose one for all commands"),
        ("contextSet", "context_set", "local", "Make or change one"),
        ("contextLogin", "credentials", "local", "Store its credentials"),
        ("contextDelete", "contexts", "local", "Forget one"),
    ),
    "History": (
        ("history", "history", "read", "What happened to a topic, a broker or a key"),
        ("routeAt", "past_routes", "read", "The route of a topic at a moment of the past"),
        ("routeDiff", "route_diff", "read", "What differs between two moments or places"),
        ("snapshotSave", "snapshots", "read", "All that name servers know, in a file"),
        ("snapshotShow", "snapshots", "local", "What is in such a file"),
        ("snapshotList", "snapshots", "local", "Such files in a folder"),
    ),
    "Journals": (
        ("journalCat", "journal", "local", "What a name server's journal says"),
        ("journalTail", "journal", "local", "The end of it, and what comes"),
        ("journalStat", "journal", "local", "What is in it, by type of event"),
        ("journalVerify", "journal", "local", "Whether it is whole"),
        ("collect", "collect", "read", "Write journals of name servers that keep none"),
    ),
    "Audit": (("auditList", "audit", "local", "Changes that were made from this account"),),
    "Help": (("mqadminMap", "mqadmin_map", "local", "What to type instead of a command of mqadmin"),),
    "Programs": (
        ("batch", "batch", "batch", "Run many commands, one a line"),
        ("namesrv", "namesrv", "program", "Run a name server here"),
        ("lab", "lab", "program", "Run a name server and simulated brokers, to play with"),
        ("completion", "completion", "program", "Write the completion of a shell"),
    ),
}

_HIDDEN = (Entry("complete", "complete", "Programs", "program", "Values for a TAB"),)
"""For other programs: named in no list of commands."""

COMMANDS = tuple(
    Entry(name, module, group, kind, text)
    for group, entries in _GROUPS.items()
    for name, module, kind, text in entries
)


def _plain(name: str) -> str:
    return name.replace("-", "").replace("_", "").lower()


_BY_NAME = {_plain(entry.name): entry for entry in COMMANDS}
_ALL = {**_BY_NAME, **{_plain(entry.name): entry for entry in _HIDDEN}}


def find(word: str) -> Entry | None:
    """The command of that name: topicRoute, TOPICROUTE, topic-route and topic_route are the same."""
    return _ALL.get(_plain(word))


def take(words: Sequence[str]) -> tuple[Entry | None, list[str]]:
    """The command that a line begins with, its name in one word or in two, and what stands behind it."""
    entry = find(words[0])
    if entry is None and len(words) > 1 and words[1].isalpha():
        entry = find(words[0] + words[1])
        if entry is not None:
            return entry, list(words[2:])
    return entry, list(words[1:])


def nearest(word: str) -> list[str]:
    """Up to three command names that look like this one."""
    from difflib import get_close_matches

    return [_BY_NAME[name].name for name in get_close_matches(_plain(word), _BY_NAME, 3, 0.5)]
