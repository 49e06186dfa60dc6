"""What may stand where a command line has a TOPIC, an ADDR and so on: the one table that says so.

A source is the name of live values, choices as "a|b|c", FILES, FOLDERS or COLUMNS, or "" for what nobody can
know.
"""

from nsadmin.output import OUTPUT_FORMATS

FILE_SOURCE = "files"
FOLDER_SOURCE = "folders"
COLUMN_SOURCE = "columns"
"""Those of the rows of the command, one or several."""

LIVE_SOURCES = {
    "topics": "names of topics",
    "clusters": "names of clusters",
    "brokers": "names of brokers, with their cluster",
    "addresses": "brokers: NAME, NAME/ID and addresses",
    "groups": "consumer groups, as masters know them",
    "producer-groups": "producer groups with a client that is connected",
    "contexts": "contexts, with their name servers",
    "name-servers": "name servers of contexts and of NAMESRV_ADDR",
    "namespaces": "KV namespaces that are known or were used",
    "kv-keys": "keys of the KV namespace on the line",
    "broker-keys": "settings of a broker: the one on the line, else any",
    "namesrv-keys": "settings of a name server",
}
"""Live values, and what they are."""

LOCAL_SOURCES = frozenset({"contexts", "name-servers"})
"""Those that no server has to be asked for."""

DETAIL_METAVARS = {"kv-keys": "NAMESPACE", "broker-keys": "ADDR"}
"""Those that depend on something else on the line, by its metavar."""

ORDER_TOPIC_CONFIG = "ORDER_TOPIC_CONFIG"
"""The one KV namespace that RocketMQ itself uses; name servers do not list theirs."""

_SOURCE_BY_METAVAR = {
    "TOPIC": "topics",
    "CLUSTER": "clusters",
    "BROKER": "brokers",
    "ADDR": "addresses",
    "GROUP": "groups",
    "NAMESPACE": "namespaces",
    "FORMAT": "|".join(OUTPUT_FORMATS),
    "FILE": FILE_SOURCE,
    "DIR": FOLDER_SOURCE,
    "A,B": COLUMN_SOURCE,
    "A,-B": COLUMN_SOURCE,
    "CONDITION": COLUMN_SOURCE,
}


def source_of_metavar(metavar: str, declared_source: str | None = None) -> str:
    """What was declared, else what the metavar says; a metavar like `true|false` is its own choices."""
    if declared_source is not None:
        return declared_source
    return metavar if "|" in metavar else _SOURCE_BY_METAVAR.get(metavar, "")


def is_known_source(source: str) -> bool:
    """Whether a declared source is one."""
    return (
        source in ("", FILE_SOURCE, FOLDER_SOURCE, COLUMN_SOURCE) or source in LIVE_SOURCES or "|" in source
    )
