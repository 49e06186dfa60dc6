"""Requests about consumer groups, as a broker of 5.5.0 answers them."""

import json

from namesrv_core.fleet.broker_model import BrokerModel
from tests.namesrv_core.fleet.test_request_handlers import ask


def test_a_list_of_groups(model: BrokerModel) -> None:
    listed = json.dumps({"groupConfigList": [{"groupName": "g", "retryMaxTimes": 3}, {"groupName": "h"}]})
    assert ask(model, 225, {}, listed.encode()).code == 0
    assert model.group_table.configs["g"]["retryMaxTimes"] == 3
    assert "h" in model.group_table.configs
