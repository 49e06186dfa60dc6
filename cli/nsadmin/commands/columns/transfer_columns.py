"""Owns the meanings of columns that are particular to the commands about transfers."""

_TARGET_MEANINGS = {
    "targetBroker": "name of the target broker",
    "targetQueue": "number of the target queue on its broker, from 0",
    "targetTopic": "name of the topic in the target",
}
_QUEUE_MEANINGS = {
    **_TARGET_MEANINGS,
    "brokerName": "name of the source broker",
    "queueId": "number of the source queue on its broker, from 0",
}

_METADATA_MEANINGS = {
    "name": "the topic, group, user, subject or account",
    "reason": "why the target cannot have the item; null for others",
    "result": "done, dry-run, unknown, failed, or left out (the target cannot have it)",
    "section": "kind of the item: topics, groups, orderConf, consumeModes, users, acls or accounts",
    "server": "name of the target broker, or address of a name server",
}

TRANSFER_MEANINGS: dict[str, dict[str, str]] = {
    "transferAcl": _METADATA_MEANINGS,
    "transferGroups": _METADATA_MEANINGS,
    "transferTopics": _METADATA_MEANINGS,
    "transferMessages": {
        **_QUEUE_MEANINGS,
        "beginOffset": "source offset where the transfer began",
        "copied": "messages that this run copied",
        "lost": "messages that the source deleted before they were copied",
        "nextOffset": "first source offset that is not copied yet",
        "remaining": "source messages that were not copied, of those at the start of the command",
        "result": "done, dry-run or failed",
        "skipped": "messages that a condition such as --key excluded; those of --tag and --sql do not count",
    },
    "transferOffsets": {
        **_TARGET_MEANINGS,
        "from": "offset of the group in the target before; null for none",
        "missed": "messages that the group did not consume in the source, and that have no copy",
        "repeated": "messages that the group gets again, or twice",
        "result": "done, dry-run, kept, failed or not carried",
        "sourceOffsets": "offset of the group on each source queue, by BROKER/QUEUE",
        "to": "offset in the target where the group continues",
        "topic": "name of the topic in the source",
    },
    "transferVerify": {
        **_QUEUE_MEANINGS,
        "changed": "copies with another content",
        "compared": "source messages that were compared",
        "copies": "copies in the target, repeated ones too",
        "duplicates": "copies of messages that the target has already",
        "expired": "messages that the source deleted, so that they were not compared",
        "misplaced": "copies that come after the copy of a later message",
        "missing": "source messages without a copy",
        "missingOffsets": "source offsets without a copy: the first 10 ranges",
        "remaining": "source messages after the last copy",
        "result": "equal, duplicates, different or unfinished",
        "sourceHash": "hash of the source messages in their order",
        "targetHash": "the same hash of the first copies",
    },
}
