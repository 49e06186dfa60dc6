"""Brokers whose tables a test chooses, as masters and slaves."""

import json
from functools import partial

from namesrv_core.protocol.command import build_reply
from tests.support.fake_servers import FakeBroker

TOPICS = {"orders": {"perm": 6}, "payments": {"perm": 6}}
SETTINGS = "brokerName=broker-a\nfileReservedTime=72\nrocketmqSecretKey=secret"
RUNTIME = {"brokerVersion": "493", "brokerVersionDesc": "V5_5_0", "commitLogMaxOffset": "500"}


def serve_tables(
    broker: FakeBroker,
    topics: dict[str, dict[str, int]],
    settings: str = SETTINGS,
    changed_ms: int = 1_700_000_000_000,
) -> None:
    version = {"counter": 3, "stateVersion": 0, "timestamp": changed_ms}
    bodies: dict[int, object] = {
        21: {"topicConfigTable": topics, "dataVersion": version},
        28: {"table": RUNTIME},
        43: {"offsetTable": {}},
        201: {"subscriptionGroupTable": {}, "dataVersion": version},
    }
    encoded = {26: settings.encode(), **{code: json.dumps(body).encode() for code, body in bodies.items()}}
    for code, body in encoded.items():
        broker.handlers[code] = partial(build_reply, body=body)
