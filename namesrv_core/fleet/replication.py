"""The replication status of simulated brokers: slaves are a moment behind their masters."""

from namesrv_core.fleet.broker_model import BrokerModel
from namesrv_core.protocol import fastjson
from namesrv_core.protocol.codes import MASTER_BROKER_ID

_IN_SYNC_BYTES = 256 * 1024**2
"""Bytes that a slave may be behind (haMaxGapNotInSync)."""
_NO_HA_CLIENT = {
    "lastReadTimestamp": 0,
    "lastWriteTimestamp": 0,
    "masterFlushOffset": 0,
    "maxOffset": 0,
    "transferredByteInSecond": 0,
}


def ha_status_json(model: BrokerModel, now_ms: int) -> bytes:
    """HARuntimeInfo of a master or a slave."""
    return fastjson.encode_json(
        _master_status(model, now_ms) if model.spec.is_master else _slave_status(model, now_ms)
    )


def _master_status(model: BrokerModel, now_ms: int) -> dict[str, object]:
    log_end = model.traffic.stored_bytes(now_ms)
    links = []
    for (broker_name, broker_id), slave in sorted(model.peer_models.items()):
        if broker_name == model.spec.broker_name and broker_id != MASTER_BROKER_ID:
            acknowledged = min(slave.traffic.stored_bytes(now_ms), log_end)
            slave_host = slave.broker_addr.rpartition(":")[0]
            links.append(
                {
                    "addr": f"{slave_host}:{50_000 + broker_id}",
                    "diff": log_end - acknowledged,
                    "inSync": log_end - acknowledged < _IN_SYNC_BYTES,
                    "slaveAckOffset": acknowledged,
                    "transferFromWhere": acknowledged,
                    "transferredByteInSecond": model.traffic.bytes_per_second(now_ms),
                }
            )
    return {
        "haClientRuntimeInfo": _NO_HA_CLIENT,
        "haConnectionInfo": links,
        "inSyncSlaveNums": sum(bool(link["inSync"]) for link in links),
        "master": True,
        "masterCommitLogMaxOffset": log_end,
    }


def _slave_status(model: BrokerModel, now_ms: int) -> dict[str, object]:
    master = model.peer_models.get((model.spec.broker_name, MASTER_BROKER_ID))
    master_link: dict[str, object] = dict(_NO_HA_CLIENT)
    if master is not None:
        # What an operator told the slave counts, if there is such an offset.
        flushed = model.master_flush_offset
        master_link = {
            "lastReadTimestamp": model.traffic.newest_stored_ms(now_ms),
            "lastWriteTimestamp": model.traffic.newest_stored_ms(now_ms),
            "masterAddr": master.ha_server_addr,
            "masterFlushOffset": master.traffic.stored_bytes(now_ms) if flushed is None else flushed,
            "maxOffset": model.traffic.stored_bytes(now_ms),
            "transferredByteInSecond": model.traffic.bytes_per_second(now_ms),
        }
    return {
        "haClientRuntimeInfo": master_link,
        "haConnectionInfo": [],
        "inSyncSlaveNums": 0,
        "master": False,
        "masterCommitLogMaxOffset": 0,
    }
