"""Owns the meanings of columns that are particular to plan, apply, orphans, spread and whatIf."""

_PLAN_MEANINGS = {
    "action": "create, update or delete",
    "after": "what is wanted: all settings, under the wire's names, or the value; null for nothing",
    "before": "all settings that are there, under the wire's names, or the value; null for nothing",
    "kind": "topic, group, orderConf, kv, or route (what name servers tell of a topic that goes)",
    "messages": "messages in queues that go; null where none go, or nobody could tell",
    "name": "name of the topic or group; of a KV value its namespace and key",
    "servers": "brokers by name, or name servers by address, where it is so",
}

_LIST_MEANINGS = {
    **_PLAN_MEANINGS,
    "action": "create or update; null where nothing is sent",
    "kind": "topic or group",
    "name": "its name",
    "result": "done, dry-run, unchanged, skipped, failed, or unknown (the broker does not answer)",
}

PLANNING_MEANINGS: dict[str, dict[str, str]] = {
    "apply": {
        **_PLAN_MEANINGS,
        "result": "done, dry-run, failed, skipped after a failure, or unknown (the server does not answer)",
    },
    "plan": {
        **_PLAN_MEANINGS,
        "result": "planned, failed (it cannot be done), or unknown (the server does not answer)",
    },
    "updateSubGroupList": _LIST_MEANINGS,
    "updateTopicList": _LIST_MEANINGS,
    "orphans": {
        "kind": "noBroker, notThere, noNameServer or noGroup",
        "finding": "what that means",
        "brokers": "brokers that clients are sent to in vain; for the other kinds, those that have it",
        "namesrvAddrs": "the name servers that have it; for noNameServer, those that do not",
        "group": "the group that it was for",
    },
    "spread": {
        "finding": "on how many brokers it is, and whether with the same queues",
        "missing": "brokers of the cluster that do not have the topic",
        "queues": "queues to read and to write, READ/WRITE, by broker",
        "differing": "settings that are not the same on all brokers that have it",
    },
    "whatIf": {
        "what": "topic or group; broker or client of name servers; topics, brokers, clients that lose alike",
        "name": "name of the topic or group; the broker as NAME:ID, the client as GROUP ID",
        "count": "topics, brokers or clients that the row is about",
        "finding": "what could not go on, or what less there would be",
        "lostRatio": "the part of the queues for writing that is lost, 0 to 1",
        "writeQueues": "queues that clients may write to now",
        "writeQueuesLeft": "those that would be left",
        "readQueues": "queues that clients may read now",
        "readQueuesLeft": "those that would be left",
        "brokersLost": "the brokers that the topic loses",
        "topics": "topics that the group reads and that lose something, those that it cannot read first",
        "clients": "consumers of the group that are connected to the brokers",
        "namesrvAddrs": "the name servers that show it so; others show less or nothing",
        "nameServers": "the list of name servers that the broker or client has",
        "nameServersLeft": "those of them that would be left",
    },
}
