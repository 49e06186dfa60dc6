"""Owns the meanings of the columns of commands about journals, snapshots and the audit."""

_JOURNAL_MEANINGS = {
    "time": "time of the event, by the name server's clock (UTC)",
    "type": "type of the event, from docs/reference/journal.md",
    "client": "address of the client that sent the request, HOST:PORT",
    "cause": "the request, or another cause",
    "server": "the name server that wrote the record",
}

_SNAPSHOT_MEANINGS = {
    "file": "name of the file",
    "nameServers": "the source: name server, journal or collector",
    "size": "bytes on the disk",
    "time": "time of the snapshot (UTC)",
}

HISTORY_MEANINGS = {
    "auditList": {
        "time": "start of the command (UTC)",
        "origin": "the program that started the command for a client, such as mcp; null if an operator did",
    },
    "collect": {
        "brokers": "brokers on the name server, including slaves",
        "events": "events that the poll added to the journal",
        "journal": "folder of the journal",
        "result": "done or failed",
        "took": "duration of the poll",
        "topics": "topics on the name server",
    },
    "history": {
        **_JOURNAL_MEANINGS,
        "event": "fields of the event; of lists, only the items that match the filters",
    },
    "journalCat": _JOURNAL_MEANINGS,
    "journalStat": {
        "type": "type of the event",
    },
    "journalTail": _JOURNAL_MEANINGS,
    "journalVerify": {
        "result": "whole, open (a server may be writing to it), or damaged",
        "size": "bytes on the disk",
    },
    "routeAt": {"server": "the name server of the journal"},
    "routeDiff": {
        "name": "name of the broker or topic",
        "before": "the value on the one side; null for none",
        "after": "the value on the other side; null for none",
    },
    "snapshotList": _SNAPSHOT_MEANINGS,
    "snapshotSave": _SNAPSHOT_MEANINGS,
    "snapshotShow": {
        "what": "broker, topic (its queues on a broker), order (its order configuration), kv or setting",
        "name": "name of the item",
        "summary": "value of the item",
        "value": "value of the item, with the wire's names",
    },
}
