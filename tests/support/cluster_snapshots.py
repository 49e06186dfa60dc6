"""Pictures of name servers, as tests want them."""

from collections.abc import Mapping
from typing import Any

from nsadmin.client.snapshots import ClusterSnapshot


def make_queue_entry(perm: int = 6, number: int = 8) -> dict[str, int]:
    return {"readQueueNums": number, "writeQueueNums": number, "perm": perm, "topicSysFlag": 0}


def make_broker_entry(addr: str = "x:1", cluster: str = "c", broker_id: str = "0") -> dict[str, Any]:
    return {"clusterName": cluster, "brokerAddrs": {broker_id: addr}}


def make_cluster_snapshot(
    source: str,
    brokers: Mapping[str, Mapping[str, Any]] | None = None,
    topics: Mapping[str, Mapping[str, Mapping[str, int]]] | None = None,
    kv: Mapping[str, Mapping[str, str]] | None = None,
    settings: Mapping[str, str] | None = None,
) -> ClusterSnapshot:
    """What a name server knows; if nothing is said, the broker a with the topic T."""
    return ClusterSnapshot(
        source,
        0,
        {"a": make_broker_entry()} if brokers is None else brokers,
        {"T": {"a": make_queue_entry()}} if topics is None else topics,
        kv or {},
        settings or {},
    )
