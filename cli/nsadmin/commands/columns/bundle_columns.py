"""Owns the meanings of columns that are particular to the commands about bundles."""

BUNDLE_MEANINGS: dict[str, dict[str, str]] = {
    "bundleCreate": {
        "anonymised": "kinds of names with pseudonyms: addresses, names; null for none",
        "answers": "number of answers of servers in the bundle",
        "file": "the bundle",
        "leftOut": "number of gaps; bundle show lists them",
        "nameServers": "number of name servers",
        "nsadmin": "version of nsadmin that made the bundle",
        "seconds": "duration of the collection, in seconds",
        "servers": "number of servers with answers in the bundle",
        "size": "size of the file, in bytes",
        "time": "moment for which ages are computed (UTC)",
    },
    "bundleDiff": {
        "after": "the item in the later bundle; null for none",
        "before": "the item in the first bundle; null for none",
        "brokerName": "name of the broker; null for the KV config and for backlogs",
        "differs": "the difference in words",
        "name": "name of the item: broker id, topic, group, key; TOPIC GROUP for a backlog",
        "section": "brokers, topics, groups, orderConf, kv, consumeModes, users, acls, settings or lags",
    },
    "bundleShow": {
        "count": "number of answers of the server, or of requests that were left out",
        "item": "address of the server, name of the journal, or the missing item",
        "kind": "server, journal or leftOut",
        "reason": "why it was left out",
    },
}
