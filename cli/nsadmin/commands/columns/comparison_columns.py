"""Owns the meanings of columns that are particular to the commands that compare servers."""

_KV_CHANGE_MEANINGS = {
    "after": "the text that is written; null where the key is deleted",
    "before": "the text before; null for no key",
    "key": "key within the namespace",
    "result": "done, dry-run, failed or not found",
}


COMPARISON_MEANINGS: dict[str, dict[str, str]] = {
    "configDiff": {
        "default": "what the release has where nobody set it; null where that depends on the machine",
        "differs": "which servers have which text",
        "kind": "broker or namesrv",
        "values": "the text that each server has",
    },
    "divergence": {
        "advice": "what to do about it",
        "brokers": "how many brokers it knows, by name",
        "brokerHash": "hash of brokers and addresses, equal where all that is equal",
        "brokerName": "name of the broker; null where it is about none",
        "cause": "what probably made the difference, in words",
        "causeKind": "the same in one word, such as partial-list, partition, wiped or kv-written-to-some",
        "count": "how many things differ in this way",
        "differs": "how the first of them differs: what which name server knows",
        "kvHash": "hash of the KV namespaces that were compared",
        "name": "the first of them: NAME:ID of a broker, a topic, NAMESPACE KEY, a setting",
        "seenFor": "for how long that has been seen, from look to look",
        "settingHash": "hash of the settings, but for those that name a place",
        "state": "new, drift where it lasts longer than convergence does, or missing on all name servers",
        "topicHash": "hash of the queues of all topics",
        "values": "what each name server knows of the first of them; null for nothing",
        "what": "broker, topic (its queues on a broker), kv or setting",
    },
    "kvDiff": {
        "differs": "how it differs: what which name server has",
        "key": "key within the namespace",
        "values": "what each name server has; null for nothing",
    },
    "kvExport": {"entries": "how many keys were written", "file": "the file that was written"},
    "kvImport": _KV_CHANGE_MEANINGS,
    "kvSync": _KV_CHANGE_MEANINGS,
    "orderConfCheck": {
        "kind": "the problem in one word, such as broker-gone or too-many-queues",
        "orderConf": "queues by broker name, as the first name server with one has it",
        "problem": "what is wrong with it, in words",
        "servers": "the name servers on which that is so",
        "severity": "error where sends fail or the order is lost, else warning",
        "topic": "name of the topic; null for what is about all",
    },
}
