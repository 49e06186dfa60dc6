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


def ha_status_json(broker_model: BrokerModel, now_ms: int) -> bytes:
    """HARuntimeInfo of a master or a slave."""
    return fastjson.encode_json(
        _master_status(broker_model, now_ms)
        if broker_model.spec.is_master
        else _slave_status(broker_model, now_ms)
    )


def _master_status(broker_model: BrokerModel, now_ms: int) -> dict[str, object]:
    log_end = broker_model.traffic.stored_bytes(now_ms)
    slave_links = []
    for (broker_name, broker_id), slave_model in sorted(broker_model.peer_models.items()):
        if broker_name == broker_model.spec.broker_name and broker_id != MASTER_BROKER_ID:
            acknowledged_offset = min(slave_model.traffic.stored_bytes(now_ms), log_end)
            slave_host = slave_model.broker_addr.rpartition(":")[0]
            slave_links.append(
                {
                    "addr": f"{slave_host}:{50_000 + broker_id}",
                    "diff": log_end - acknowledged_offset,
                    "inSync": log_end - acknowledged_offset < _IN_SYNC_BYTES,
                    "slaveAckOffset": acknowledged_offset,
                    "transferFromWhere": acknowledged_offset,
                    "transferredByteInSecond": broker_model.traffic.bytes_per_second(now_ms),
                }
            )
    return {
        "haClientRuntimeInfo": _NO_HA_CLIENT,
        "haConnectionInfo": slave_links,
        "inSyncSlaveNums": sum(bool(slave_link["inSync"]) for slave_link in slave_links),
        "master": True,
        "masterCommitLogMaxOffset": log_end,
    }


def _master_flush_offset(broker_model: BrokerModel, master_model: BrokerModel, now_ms: int) -> int:
    """The master's flush offset that the slave received, if it did."""
    set_offset = broker_model.master_flush_offset
    return master_model.traffic.stored_bytes(now_ms) if set_offset is None else set_offset


def _slave_status(broker_model: BrokerModel, now_ms: int) -> dict[str, object]:
    master_model = broker_model.peer_models.get((broker_model.spec.broker_name, MASTER_BROKER_ID))
    master_link: dict[str, object] = dict(_NO_HA_CLIENT)
    if master_model is not None:
        master_link = {
            "lastReadTimestamp": now_ms - 10,
            "lastWriteTimestamp": now_ms - 10,
            "masterAddr": master_model.ha_server_addr,
            "masterFlushOffset": _master_flush_offset(broker_model, master_model, now_ms),
            "maxOffset": broker_model.traffic.stored_bytes(now_ms),
            "transferredByteInSecond": broker_model.traffic.bytes_per_second(now_ms),
        }
    return {
        "haClientRuntimeInfo": master_link,
        "haConnectionInfo": [],
        "inSyncSlaveNums": 0,
        "master": False,
        "masterCommitLogMaxOffset": 0,
    }
