"""Owns the meanings of columns that are particular to the commands that compare servers."""

_KV_CHANGE_MEANINGS = {
    "after": "the new text; null if the key is deleted",
    "before": "the previous text; null if there was no key",
    "key": "key within the namespace",
    "result": "done, dry-run, failed or not found",
}


COMPARISON_MEANINGS: dict[str, dict[str, str]] = {
    "configDiff": {
        "default": "the default of the release; null if it depends on the machine",
        "differs": "the servers with each value",
        "kind": "broker or namesrv",
        "values": "the value on each server",
    },
    "divergence": {
        "advice": "recommended action",
        "brokers": "number of broker names that the name server has",
        "brokerHash": "hash of brokers and addresses; equal if all of these are equal",
        "brokerName": "name of the broker; null if the row is not about one broker",
        "cause": "the probable cause of the difference, in words",
        "causeKind": "the probable cause as one word, such as partial-list, partition, wiped or "
        "kv-written-to-some",
        "count": "number of items that differ in this way",
        "differs": "the difference of the first item: which name server has which value",
        "kvHash": "hash of the compared KV namespaces",
        "name": "the first item: NAME:ID of a broker, a topic, NAMESPACE KEY, or a setting",
        "seenFor": "for how long nsadmin has seen the difference",
        "settingHash": "hash of the settings, without settings that contain paths or addresses",
        "state": "new, drift (lasts longer than convergence takes), or missing on all name servers",
        "topicHash": "hash of the queues of all topics",
        "values": "the value of the first item on each name server; null for none",
        "what": "broker, topic (its queues on a broker), kv or setting",
    },
    "kvDiff": {
        "differs": "the difference: which name server has which value",
        "key": "key within the namespace",
        "values": "the value on each name server; null for none",
    },
    "kvExport": {"entries": "number of written keys", "file": "the file that was written"},
    "kvImport": _KV_CHANGE_MEANINGS,
    "kvSync": _KV_CHANGE_MEANINGS,
    "replicaDiff": {
        "brokerId": "id of the slave",
        "brokerAddr": "address of the slave, HOST:PORT",
        "differs": "the difference in words",
        "kind": "topic, group, offset (of a group on a topic), consumeMode, epoch, user, acl or setting",
        "master": "the item on the master; null if it has none, or for a secret",
        "name": "name of the item",
        "reason": "why the difference is lag or drift",
        "since": "when nsadmin first saw the difference (UTC)",
        "slave": "the item on the slave; null if it has none, or for a secret",
        "state": "lag (the next copy may remove it) or drift (it stays)",
    },
    "orderConfCheck": {
        "kind": "the problem in one word, such as broker-gone or too-many-queues",
        "orderConf": "queues by broker name, from the first name server with an order configuration",
        "problem": "the problem in words",
        "servers": "the name servers with the problem",
        "severity": "error (sends fail, or the order is lost) or warning",
        "topic": "name of the topic; null if the row is about all topics",
    },
}
