"""Mapping files."""

from pathlib import Path

import pytest

from nsadmin.operations.static_topics.mapping_files import (
    AFTER_SUFFIX,
    BEFORE_SUFFIX,
    InvalidMappingFileError,
    load_mapping_file,
    save_mapping,
)
from nsadmin.operations.static_topics.mapping_planner import plan_creation, plan_remapping

MQADMIN = (
    b'{"brokerConfigMap":{"a":{"attributes":{},"mappingDetail":{"bname":"a","currIdMap":{},"dirty":false,'
    b'"epoch":7,"hostedQueues":{0:[{"bname":"a","endOffset":-1,"gen":0,"logicOffset":0,"queueId":0,'
    b'"startOffset":0,"timeOfEnd":-1,"timeOfStart":-1}]},"scope":"__global__","topic":"T","totalQueues":1},'
    b'"order":false,"perm":6,"readQueueNums":1,"topicFilterType":"SINGLE_TAG","topicName":"T",'
    b'"topicSysFlag":0,"writeQueueNums":1}},"brokerToMapIn":[],"brokerToMapOut":[],"epoch":7,"topic":"T",'
    b'"type":"CREATE_OR_UPDATE"}'
)


def test_a_plan_is_kept_whole(tmp_path: Path) -> None:
    before = plan_creation("T", {}, ("a",), ("a", "b"), 2, 5).shares
    plan = plan_remapping("T", before, ("b",), ("a", "b"), 5)
    assert load_mapping_file(save_mapping(tmp_path / "new", plan, AFTER_SUFFIX)) == plan
    assert load_mapping_file(save_mapping(tmp_path / "new", plan, BEFORE_SUFFIX, before)).shares == before
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == [
        f"T-{plan.epoch}.after",
        f"T-{plan.epoch}.before",
    ]


def test_a_file_of_mqadmin(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(MQADMIN)
    plan = load_mapping_file(tmp_path / "f")
    assert (plan.topic, plan.epoch, plan.mapping_type) == ("T", 7, "CREATE_OR_UPDATE")
    assert plan.shares["a"].hosted_queues[0][0].bname == "a"


@pytest.mark.parametrize("content", [b"", b"[]", b'{"topic": "T"}', MQADMIN.replace(b'"gen"', b'"no"'), None])
def test_what_is_no_mapping_file(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "f").write_bytes(content)
    with pytest.raises(InvalidMappingFileError):
        load_mapping_file(tmp_path / "f")
