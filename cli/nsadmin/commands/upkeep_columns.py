"""Owns the column meanings that are special to the commands for broker upkeep, modes and static topics."""

_COLD = {
    "coldAcc": "bytes of cold data that were read in the present second; null for a group that was not seen",
    "lastColdRead": "when the group last read cold data (UTC)",
    "since": "since when the broker has counted for this group (UTC)",
    "threshold": "bytes of cold data that may be read in a second",
}
_THRESHOLD = {
    "before": "the threshold before, in bytes per second; null where the group had none of its own",
    "after": "the threshold afterwards, in bytes per second; null where it has none of its own",
    "result": "done, unchanged, dry-run, failed or not found",
}
_SETTINGS = {
    "before": "the settings before by which the broker remembers it",
    "after": "the same afterwards; in a dry run, as they would be",
}
_CONTAINER = {
    "broker": "which broker: its file, or its cluster, name and id",
    "brokerContainerAddr": "address of the container, HOST:PORT",
}
_MODE = {
    "mode": "PULL or POP",
    "popShareQueueNum": "of POP: how many more clients share a queue; below 0 all do",
}
_STATIC = {
    "after": "the broker that is to take what is written to the queue",
    "before": "the broker that takes it now; null for a new queue",
    "brokerQueueId": "number of the queue on that broker",
    "logicOffset": "offset at which the logical queue goes on there; null as long as nobody knows",
    "queueId": "number of the logical queue, from 0",
    "result": "done, dry-run or failed",
}

_ROCKSDB = {
    "key": "topic or group; of offsets, TOPIC@GROUP",
    "value": "its settings; of offsets, those of its queues",
}
_ROCKSDB_FILES = {
    "file": "the file that was written",
    "size": "bytes of it",
    "result": "done, dry-run, failed, or unchanged where the broker has nothing in RocksDB to write",
}

UPKEEP: dict[str, dict[str, str]] = {
    "addBroker": _CONTAINER,
    "checkMsgSendRT": {"result": "done, dry-run or failed"},
    "checkRocksdbCqWriteProgress": {
        "checkStatus": "what the broker answered: 0 equal, 1 different, 2 it looks now, 3 it failed",
        "result": "equal, different, started (what is found stands in the broker's log) or failed",
    },
    "getColdDataFlowCtrInfo": {
        **_COLD,
        "consumerGroup": "name of the group; null for the whole broker",
    },
    "getConsumeMode": {
        **_MODE,
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
    "removeBroker": _CONTAINER,
    "removeColdDataFlowCtrGroupConfig": _THRESHOLD,
    "resetMasterFlushOffset": {
        "before": "what the slave took for its master's masterFlushOffset before, in bytes",
        "after": "the same afterwards, in bytes",
    },
    "setCommitLogReadAheadMode": _SETTINGS,
    "setConsumeMode": {
        "before": "mode and popShareQueueNum before; null where the broker's default counted",
        "after": "the same afterwards",
    },
    "switchTimerEngine": _SETTINGS,
    "exportMetadataInRocksDB": _ROCKSDB,
    "rocksDBConfigToJson": {**_ROCKSDB, **_ROCKSDB_FILES},
    "remappingStaticTopic": _STATIC,
    "updateColdDataFlowCtrGroupConfig": _THRESHOLD,
    "updateStaticTopic": _STATIC,
}
