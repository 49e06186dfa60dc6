"""A broker with two topics and two consumer groups."""

import pytest

from namesrv_core.fleet.broker_model import BrokerModel, BrokerSpec
from namesrv_core.fleet.topics import make_topic_config

NOW = 1_700_000_000_000


@pytest.fixture
def model() -> BrokerModel:
    topics = (make_topic_config("orders", 8), make_topic_config("payments", 8))
    spec = BrokerSpec("c", "b", 0, topics, {"orders": ("z", "a")})
    return BrokerModel(spec, "127.0.0.1:1000", [], NOW)
