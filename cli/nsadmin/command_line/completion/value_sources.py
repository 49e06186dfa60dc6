"""Owns the table of value sources: which values TAB offers for a TOPIC, an ADDR and so on.

A source is the name of live values, choices such as "a|b|c", FILE_SOURCE, FOLDER_SOURCE or COLUMN_SOURCE, or
"" if there are no values to offer.
"""

from nsadmin.console.output import OUTPUT_FORMATS

FILE_SOURCE = "files"
FOLDER_SOURCE = "folders"
COLUMN_SOURCE = "columns"
"""The columns of the command's rows, one or several."""

LIVE_SOURCES = {
    "topics": "names of topics",
    "clusters": "names of clusters",
    "brokers": "names of brokers, with their cluster",
    "addresses": "brokers: NAME, NAME:ID and addresses",
    "groups": "consumer groups, as masters know them",
    "producer-groups": "producer groups with a connected client",
    "contexts": "contexts, with their name servers",
    "name-servers": "name servers of contexts and of NAMESRV_ADDR",
    "proxies": "remoting ports of proxies in cluster mode that have consumers",
    "namespaces": "KV namespaces that are known or were used",
    "kv-keys": "keys of the KV namespace on the line",
    "broker-keys": "settings of a broker: the one on the line, else any",
    "namesrv-keys": "settings of a name server",
    "guides": "pages of the documentation",
}
"""Live values, with a description."""

LOCAL_SOURCES = frozenset({"contexts", "name-servers", "guides"})
"""Live values that need no request to a server."""

DETAIL_METAVARS = {"kv-keys": "NAMESPACE", "broker-keys": "ADDR"}
"""The metavar of the value on the line that a source depends on."""

ORDER_TOPIC_CONFIG = "ORDER_TOPIC_CONFIG"
"""The KV namespace that RocketMQ itself uses. Name servers cannot list their namespaces."""

_SOURCE_BY_METAVAR = {
    "TOPIC": "topics",
    "CLUSTER": "clusters",
    "BROKER": "brokers",
    "ADDR": "addresses",
    "GROUP": "groups",
    "NAMESPACE": "namespaces",
    "PAGE": "guides",
    "FORMAT": "|".join(OUTPUT_FORMATS),
    "FILE": FILE_SOURCE,
    "DIR": FOLDER_SOURCE,
    "A,B": COLUMN_SOURCE,
    "A,-B": COLUMN_SOURCE,
    "CONDITION": COLUMN_SOURCE,
}


def source_of_metavar(metavar: str, declared_source: str | None = None) -> str:
    """Return the declared source, else that of the metavar. A metavar like `true|false` lists its choices."""
    if declared_source is not None:
        return declared_source
    return metavar if "|" in metavar else _SOURCE_BY_METAVAR.get(metavar, "")


def is_known_source(source: str) -> bool:
    return (
        source in ("", FILE_SOURCE, FOLDER_SOURCE, COLUMN_SOURCE) or source in LIVE_SOURCES or "|" in source
    )
