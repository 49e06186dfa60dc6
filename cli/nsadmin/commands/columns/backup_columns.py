"""Owns the meanings of columns that are particular to the commands about backups."""

_ITEM_MEANINGS = {
    "brokerName": "name of the broker; null for order configurations and KV config",
    "name": "name of the item; offsets and consume modes have TOPIC GROUP",
    "section": "topics, staticTopics, groups, orderConf, kv, consumeModes, offsets, users, acls, accounts or "
    "settings",
}

BACKUP_MEANINGS: dict[str, dict[str, str]] = {
    "backupCreate": {
        "brokers": "number of brokers in the backup",
        "file": "the backup",
        "groups": "number of consumer groups",
        "missing": "number of servers and sections that the backup lacks",
        "offsets": "number of pairs of topic and group with committed offsets",
        "size": "size of the file, in bytes",
        "time": "when the backup began (UTC)",
        "topics": "number of topics",
        "users": "number of users",
    },
    "backupDiff": {
        **_ITEM_MEANINGS,
        "after": "the item in the later backup, or now; null for none",
        "before": "the item in the first backup; null for none",
        "differs": "the difference in words",
    },
    "backupRestore": {
        "name": _ITEM_MEANINGS["name"],
        "section": _ITEM_MEANINGS["section"],
        "after": "the state after the restore; for offsets, the new offset by queue",
        "before": "the state before, null for none; for offsets, the committed offset by queue",
        "reason": "for offsets: position or time, or why the offset was kept",
        "result": "done, dry-run, kept, unknown, skipped or failed",
        "server": "name of the broker, or address of the name server",
    },
    "backupShow": {**_ITEM_MEANINGS, "value": "the fields of the item"},
}
