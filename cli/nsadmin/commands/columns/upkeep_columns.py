"""Owns the column meanings that are special to the commands for broker upkeep, modes and static topics."""

_COLD_DATA_MEANINGS = {
    "coldAcc": "bytes of cold data that were read in the present second; null for a group that was not seen",
    "lastColdRead": "when the group last read cold data (UTC)",
    "since": "since when the broker has counted for this group (UTC)",
    "threshold": "bytes of cold data that may be read in a second",
}
_THRESHOLD_MEANINGS = {
    "before": "the threshold before, in bytes per second; null where the group had none of its own",
    "after": "the threshold afterwards, in bytes per second; null where it has none of its own",
    "result": "done, unchanged, dry-run, failed or not found",
}
_SETTINGS_MEANINGS = {
    "before": "the settings before by which the broker remembers it",
    "after": "the same afterwards; in a dry run, as they would be",
}
_INVENTORY_MEANINGS = {
    "firstSeen": "when a command saw the broker for the first time (UTC); null for never",
    "lastSeen": "when one saw it for the last time (UTC), at most 5 minutes too early; null for never",
    "pinned": "whether it stays in the inventory until it is forgotten",
    "state": "listed, missing, leaving or left; null if no name server answered",
    "topicCount": "topics of the broker name that commands saw; null for none",
}
_CONTAINER_MEANINGS = {
    "broker": "which broker: its file, or its cluster, name and id",
    "brokerContainerAddr": "address of the container, HOST:PORT",
}
_CONSUME_MODE_MEANINGS = {
    "mode": "PULL or POP",
    "popShareQueueNum": "of POP: how many more clients share a queue; below 0 all do",
}
_STATIC_TOPIC_MEANINGS = {
    "after": "the broker that is to take what is written to the queue",
    "before": "the broker that takes it now; null for a new queue",
    "brokerQueueId": "number of the queue on that broker",
    "logicOffset": "offset at which the logical queue goes on there; null as long as nobody knows",
    "queueId": "number of the logical queue, from 0",
    "result": "done, dry-run or failed",
}

_ROCKSDB_MEANINGS = {
    "key": "topic or group; of offsets, TOPIC@GROUP",
    "value": "its settings; of offsets, those of its queues",
}
_ROCKSDB_FILE_MEANINGS = {
    "file": "the file that was written",
    "size": "bytes of it",
    "result": "done, dry-run, failed, or unchanged where the broker has nothing in RocksDB to write",
}

UPKEEP_MEANINGS: dict[str, dict[str, str]] = {
    "inventoryForget": {"result": "forgotten"},
    "inventoryList": _INVENTORY_MEANINGS,
    "inventoryPin": {"result": "pinned or unpinned"},
    "addBroker": _CONTAINER_MEANINGS,
    "checkMsgSendRT": {"result": "done, dry-run or failed"},
    "checkRocksdbCqWriteProgress": {
        "checkStatus": "what the broker answered: 0 equal, 1 different, 2 it looks now, 3 it failed",
        "result": "equal, different, started (what is found stands in the broker's log) or failed",
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
        "bitMap": "which filters take the message, where brokers calculate that in advance",
        "eval": "whether the filter of the group that was named takes the message",
        "extendData": "more that the entry says, where brokers calculate filters in advance",
        "msg": "why eval could not be told",
        "physicalOffset": "where the message is in the commit log, in bytes",
        "tagsCode": "hash of the message's tag, or when a timed message is due, in ms",
    },
    "removeBroker": _CONTAINER_MEANINGS,
    "removeColdDataFlowCtrGroupConfig": _THRESHOLD_MEANINGS,
    "resetMasterFlushOffset": {
        "before": "what the slave took for its master's masterFlushOffset before, in bytes",
        "after": "the same afterwards, in bytes",
    },
    "setCommitLogReadAheadMode": _SETTINGS_MEANINGS,
    "setConsumeMode": {
        "before": "mode and popShareQueueNum before; null where the broker's default counted",
        "after": "the same afterwards",
    },
    "switchTimerEngine": _SETTINGS_MEANINGS,
    "exportMetadataInRocksDB": _ROCKSDB_MEANINGS,
    "rocksDBConfigToJson": {**_ROCKSDB_MEANINGS, **_ROCKSDB_FILE_MEANINGS},
    "remappingStaticTopic": _STATIC_TOPIC_MEANINGS,
    "updateColdDataFlowCtrGroupConfig": _THRESHOLD_MEANINGS,
    "updateStaticTopic": _STATIC_TOPIC_MEANINGS,
}
