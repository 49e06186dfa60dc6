"""Owns the meanings of the columns of commands about journals, snapshots and the audit."""

_JOURNAL_MEANINGS = {
    "time": "when it happened, by the name server's clock (UTC)",
    "type": "kind of event, as docs/reference/journal.md has them",
    "client": "address of the one who asked, HOST:PORT",
    "cause": "request, or what else caused it",
    "server": "the name server that wrote it",
}

_SNAPSHOT_MEANINGS = {
    "file": "name of the file",
    "nameServers": "where it was taken",
    "size": "bytes on the disk",
    "time": "when it was taken (UTC)",
}

HISTORY_MEANINGS = {
    "auditList": {"time": "when the command was started (UTC)"},
    "collect": {
        "brokers": "brokers that it knows, slaves included",
        "events": "events that lead from what was known to what the poll saw",
        "journal": "folder of its journal",
        "result": "done or failed",
        "took": "how long the poll took",
        "topics": "topics that it lists",
    },
    "history": {
        **_JOURNAL_MEANINGS,
        "event": "the event's fields; of its lists, what concerns the one asked for",
    },
    "journalCat": _JOURNAL_MEANINGS,
    "journalStat": {
        "type": "kind of event",
    },
    "journalTail": _JOURNAL_MEANINGS,
    "journalVerify": {
        "result": "whole, open (a server may be writing to it), or damaged",
        "size": "bytes on the disk",
    },
    "routeAt": {"server": "the name server whose journal says so"},
    "routeDiff": {
        "name": "name of the broker or topic",
        "before": "what the one side has; null for nothing",
        "after": "what the other side has; null for nothing",
    },
    "snapshotList": _SNAPSHOT_MEANINGS,
    "snapshotSave": _SNAPSHOT_MEANINGS,
    "snapshotShow": {
        "what": "broker, topic (its queues on a broker), order (its order configuration), kv or setting",
        "name": "its name",
        "summary": "what is known of it",
        "value": "the same, under the wire's names",
    },
}
