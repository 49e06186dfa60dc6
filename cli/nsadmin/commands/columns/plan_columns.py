"""Owns the meanings of columns that are particular to plan, apply, orphans, spread and whatIf."""

_PLAN_MEANINGS = {
    "action": "create, update or delete",
    "after": "the wanted settings, with the wire's names, or the wanted value; null for none",
    "before": "the current settings, with the wire's names, or the current value; null for none",
    "kind": "topic, group, orderConf, kv, or route (the routes of a deleted topic on name servers)",
    "messages": "messages in removed queues; null if no queue is removed, or if the number is unknown",
    "name": "name of the topic or group; for a KV value, its namespace and key",
    "servers": "the brokers (by name) or name servers (by address) of this row",
}

_LIST_MEANINGS = {
    **_PLAN_MEANINGS,
    "action": "create or update; null if nothing is sent",
    "kind": "topic or group",
    "name": "name of the topic or group",
    "result": "done, dry-run, unchanged, skipped, failed, or unknown (the broker does not answer)",
}

PLANNING_MEANINGS: dict[str, dict[str, str]] = {
    "apply": {
        **_PLAN_MEANINGS,
        "result": "done, dry-run, failed, skipped after a failure, or unknown (the server does not answer)",
    },
    "plan": {
        **_PLAN_MEANINGS,
        "result": "planned, failed (not possible), or unknown (the server does not answer)",
    },
    "updateSubGroupList": _LIST_MEANINGS,
    "updateTopicList": _LIST_MEANINGS,
    "orphans": {
        "kind": "noBroker, notThere, noNameServer or noGroup",
        "finding": "explanation of the kind",
        "brokers": "brokers that clients try without success; for the other kinds, brokers with the topic",
        "namesrvAddrs": "the name servers with the topic; for noNameServer, those without it",
        "group": "the missing group",
    },
    "spread": {
        "finding": "how many brokers have the topic, and whether they have equal queues",
        "missing": "brokers of the cluster that do not have the topic",
        "queues": "read and write queues by broker, READ/WRITE",
        "differing": "settings that differ between brokers with the topic",
    },
    "whatIf": {
        "clientsLeft": "clients of the group that remain connected",
        "proxyAddrs": "proxies that the client is connected to, by remoting port",
        "what": "topic, group, broker, client of name servers; or topics, brokers, clients with the "
        "same loss",
        "name": "name of the topic or group; the broker as NAME:ID, the client as GROUP ID",
        "count": "number of topics, brokers or clients in the row",
        "finding": "the interruption or the loss",
        "lostRatio": "lost part of the write queues, 0 to 1",
        "writeQueues": "write queues now",
        "writeQueuesLeft": "write queues that would remain",
        "readQueues": "read queues now",
        "readQueuesLeft": "read queues that would remain",
        "brokersLost": "the brokers that the topic loses",
        "topics": "affected topics of the group, with unreadable topics first",
        "clients": "consumers of the group that are connected to the brokers",
        "namesrvAddrs": "the name servers with this finding; others have a smaller loss or none",
        "nameServers": "the name servers in the list of the broker or client",
        "nameServersLeft": "name servers that would remain",
    },
}
