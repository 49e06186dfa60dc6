"""Owns the column meanings that are special to the commands for dead letters and message streams."""

_LETTER_MEANINGS = {
    "ageMs": "ms since the broker stored the dead letter",
    "attempts": "deliveries before the message became a dead letter",
    "file": "the file that was written",
    "messageCount": "messages in the file",
    "originMsgId": "offset id of the message in its origin topic; null if unknown",
    "originTopic": "topic that the producer sent the message to; null if unknown",
    "replays": "replays with `dlq replay` before the message died again",
}

_THROUGHPUT_MEANINGS = {
    "bodyBytes": "size of these bodies, in bytes",
    "bytesPerSecond": "bytes of bodies per second on this broker",
    "failed": "messages that the broker refused",
    "messageCount": "messages that were measured on this broker",
    "messagesPerSecond": "messages per second on this broker",
    "result": "done, dry-run or failed",
    "seconds": "duration of the run, in seconds",
}
_LATENCY_MEANINGS = {
    "failed": "messages that the broker refused",
    "kind": "ack (until the broker answered) or end to end (until a consumer had the message)",
    "max": "the longest latency, in ms",
    "messageCount": "messages that were measured on this broker",
    "p50": "half of the latencies are at most this long, in ms",
    "p90": "90 % of the latencies are at most this long, in ms",
    "p99": "99 % of the latencies are at most this long, in ms",
    "p999": "99.9 % of the latencies are at most this long, in ms",
    "result": "done, dry-run or failed",
}

DEAD_LETTER_MEANINGS = {
    "benchConsume": _THROUGHPUT_MEANINGS,
    "benchLatency": _LATENCY_MEANINGS,
    "benchProduce": _THROUGHPUT_MEANINGS,
    "dlqList": {
        "brokerNames": "brokers with the dead-letter topic",
        "lastHourCount": "dead letters stored in the last hour",
        "messageCount": "dead letters on the brokers that answered",
        "newest": "when a broker stored the newest dead letter (UTC)",
        "oldest": "when a broker stored the oldest dead letter (UTC)",
        "originTopics": "origin topics of a sample: the oldest 32 dead letters of each queue, and the newest",
    },
    "dlqPurge": {
        "newer": "dead letters that are not older than --before",
        "notReplayed": "dead letters that no `dlq replay` of this account replayed",
        "older": "dead letters that are older than --before",
        "result": "done, dry-run, blocked (newer dead letters exist) or failed",
        "topic": "the dead-letter topic",
    },
    "dlqShow": _LETTER_MEANINGS,
    "dlqReplay": {
        "copies": "messages that were skipped because they are further copies of a dead letter",
        "age": "upper limit of the age: 1h, 1d, 7d or 30d, or over 30d",
        "deadLetters": "dead letters in the time range",
        "examined": "dead letters that were read",
        "failed": "messages that could not be sent",
        "failedAgain": "replayed messages that the group failed to consume again, until now",
        "messageCount": "dead letters that a replay would send",
        "originTopic": "topic that the producer sent the messages to; null if unknown",
        "replayed": "messages that were sent",
        "replayedBefore": "messages that were skipped because an earlier run replayed them",
        "result": "done, dry-run, failed or not found",
        "skipped": "messages that were skipped because they died again after 3 replays",
    },
    "delayedCancel": {
        "deliverTime": "when the broker would deliver it (UTC)",
        "result": "done, dry-run or failed",
    },
    "delayedList": {
        "cancelled": "whether the message was cancelled, so that the broker does not deliver it",
        "deliverTime": "when the broker delivers it (UTC)",
        "level": "delay level; null for a timed message",
        "remainingMs": "ms until the delivery",
    },
    "messageTrack": {
        "detail": "the event in words",
        "group": "the consumer group; of a trace also a producer group",
        "step": "produced, stored, retry, replay, dead letter, trace, or group (its current state)",
        "time": "when it happened (UTC); null for the state of a group",
        "topic": "topic of the copy that the event is about; null without a copy",
    },
    "messagesExport": {
        "bodyBytes": "size of the bodies, in bytes",
        "file": "the file that was written",
        "messageCount": "messages of the topic in the file",
        "result": "done or failed (the file lacks messages)",
    },
    "messagesImport": {
        "failed": "messages that the broker refused",
        "file": "the file that was read",
        "messageCount": "messages of the topic in the file",
        "result": "done, dry-run, failed or not found",
        "sent": "messages that were sent",
        "sentBefore": "messages that an earlier import of the file sent",
        "toTopic": "the topic that they are sent to",
        "topic": "the topic in the file",
    },
    "produce": {
        "bodyBytes": "size of the bodies, before compression, in bytes",
        "failed": "messages that the broker refused",
        "messageCount": "messages that the broker stored; in a dry run, messages of the input",
        "messagesPerSecond": "messages per second on this broker, from start to end",
        "result": "done, dry-run or failed",
        "transaction": "commit or rollback; null without a transaction",
    },
}
