"""Targets for Prometheus."""

import json

from nsadmin.operations.exporter.service_discovery import build_target_groups, format_target_groups
from tests.support.exporter_series import BROKER


def test_a_target_group_for_each_server() -> None:
    assert build_target_groups("prod", ["n:1"], [BROKER]) == [
        {
            "targets": ["n:1"],
            "labels": {
                "__meta_rocketmq_kind": "namesrv",
                "__meta_rocketmq_address": "n:1",
                "__meta_rocketmq_context": "prod",
            },
        },
        {
            "targets": ["h:1"],
            "labels": {
                "__meta_rocketmq_kind": "broker",
                "__meta_rocketmq_address": "h:1",
                "__meta_rocketmq_cluster": "C",
                "__meta_rocketmq_broker": "a",
                "__meta_rocketmq_broker_id": "0",
                "__meta_rocketmq_context": "prod",
            },
        },
    ]


def test_another_port_and_no_context() -> None:
    [group] = build_target_groups("", ["[::1]:9876"], [], 9100)
    assert group["targets"] == ["[::1]:9100"]
    assert "__meta_rocketmq_context" not in group["labels"]


def test_the_text_is_json() -> None:
    assert json.loads(format_target_groups([])) == []
    groups = build_target_groups("", ["n:1"], [])
    assert json.loads(format_target_groups(groups)) == groups
