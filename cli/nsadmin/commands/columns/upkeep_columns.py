"""Owns the column meanings that are special to the commands for broker upkeep, modes and static topics."""

_COLD_DATA_MEANINGS = {
    "coldAcc": "bytes of cold data that were read in the current second; null for a group without reads",
    "lastColdRead": "when the group last read cold data (UTC)",
    "since": "when the broker began to count for this group (UTC)",
    "threshold": "limit of cold data, in bytes per second",
}
_THRESHOLD_MEANINGS = {
    "before": "the previous limit, in bytes per second; null if the group had no limit",
    "after": "the new limit, in bytes per second; null if the group has no limit",
    "result": "done, unchanged, dry-run, failed or not found",
}
_SETTINGS_MEANINGS = {
    "before": "the previous broker settings for it",
    "after": "the new broker settings for it; in a dry run, the planned ones",
}
_INVENTORY_MEANINGS = {
    "firstSeen": "when a command first saw the broker (UTC); null for never",
    "lastSeen": "when a command last saw the broker (UTC), up to 5 minutes early; null for never",
    "pinned": "whether it stays in the inventory until you forget it",
    "state": "listed, missing, leaving or left; null if no name server answered",
    "topicCount": "topics of the broker name that commands saw; null for none",
}
_CONTAINER_MEANINGS = {
    "broker": "the broker: its file, or its cluster, name and id",
    "brokerContainerAddr": "address of the container, HOST:PORT",
}
_CONSUME_MODE_MEANINGS = {
    "mode": "PULL or POP",
    "popShareQueueNum": "for POP: how many more clients share a queue; below 0, all clients do",
}
_STATIC_TOPIC_MEANINGS = {
    "after": "the broker that will receive writes to the queue",
    "before": "the broker that receives writes now; null for a new queue",
    "brokerQueueId": "number of the queue on that broker",
    "logicOffset": "offset at which the logical queue continues there; null if unknown",
    "queueId": "number of the logical queue, from 0",
    "result": "done, dry-run or failed",
}

_ROCKSDB_MEANINGS = {
    "key": "topic or group; for offsets, TOPIC@GROUP",
    "value": "its settings; for offsets, the offsets of its queues",
}
_ROCKSDB_FILE_MEANINGS = {
    "file": "the file that was written",
    "size": "size in bytes",
    "result": "done, dry-run, failed, or unchanged (the broker has no such data in RocksDB)",
}

UPKEEP_MEANINGS: dict[str, dict[str, str]] = {
    "inventoryForget": {"result": "forgotten"},
    "inventoryList": _INVENTORY_MEANINGS,
    "inventoryPin": {"result": "pinned or unpinned"},
    "addBroker": _CONTAINER_MEANINGS,
    "checkMsgSendRT": {"result": "done, dry-run or failed"},
    "checkRocksdbCqWriteProgress": {
        "checkStatus": "answer of the broker: 0 equal, 1 different, 2 in progress, 3 failed",
        "result": "equal, different, started (the broker's log will show the findings) or failed",
    },
    "getColdDataFlowCtrInfo": {
        **_COLD_DATA_MEANINGS,
        "consumerGroup": "name of the group; null for the whole broker",
    },
    "getConsumeMode": {
        **_CONSUME_MODE_MEANINGS,
        "consumerGroup": "name of the group; null for the broker's default",
        "topic": "name of the topic; null for the broker's default",
    },
    "queryCq": {
        "bitMap": "filters that accept the message, if brokers calculate this in advance",
        "eval": "whether the filter of the given group accepts the message",
        "extendData": "further data of the entry, if brokers calculate filters in advance",
        "msg": "why eval is unknown",
        "physicalOffset": "position of the message in the commit log, in bytes",
        "tagsCode": "hash of the message's tag, or delivery time of a timed message, in ms",
    },
    "removeBroker": _CONTAINER_MEANINGS,
    "removeColdDataFlowCtrGroupConfig": _THRESHOLD_MEANINGS,
    "resetMasterFlushOffset": {
        "before": "the slave's previous value of its master's masterFlushOffset, in bytes",
        "after": "the new value, in bytes",
    },
    "setCommitLogReadAheadMode": _SETTINGS_MEANINGS,
    "setConsumeMode": {
        "before": "previous mode and popShareQueueNum; null for the broker's default",
        "after": "new mode and popShareQueueNum",
    },
    "switchTimerEngine": _SETTINGS_MEANINGS,
    "exportMetadataInRocksDB": _ROCKSDB_MEANINGS,
    "rocksDBConfigToJson": {**_ROCKSDB_MEANINGS, **_ROCKSDB_FILE_MEANINGS},
    "remappingStaticTopic": _STATIC_TOPIC_MEANINGS,
    "updateColdDataFlowCtrGroupConfig": _THRESHOLD_MEANINGS,
    "updateStaticTopic": _STATIC_TOPIC_MEANINGS,
}
