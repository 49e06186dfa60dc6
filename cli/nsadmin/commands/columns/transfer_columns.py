"""Owns the meanings of columns that are particular to the commands about transfers."""

_QUEUE_MEANINGS = {
    "brokerName": "name of the source broker",
    "queueId": "number of the source queue on its broker, from 0",
    "targetBroker": "name of the target broker",
    "targetQueue": "number of the target queue on its broker, from 0",
    "targetTopic": "name of the topic in the target",
}

TRANSFER_MEANINGS: dict[str, dict[str, str]] = {
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
}
