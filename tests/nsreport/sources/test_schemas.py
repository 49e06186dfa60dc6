"""What an event looks like to Spark, beside what journals hold."""

import json
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.functions import from_json

from namesrv_core.events import EVENT_TYPES_BY_NAME
from namesrv_core.history.record_schema import build_record_schema
from nsreport.sources import schemas


def test_every_field_of_every_event_is_a_column() -> None:
    columns = set(schemas.record_schema().fieldNames())
    defs = build_record_schema()["$defs"]
    for name in EVENT_TYPES_BY_NAME:
        assert set(defs[name]["properties"]) <= columns
    assert set(build_record_schema()["properties"]) <= columns


RECORDS: list[dict[str, Any]] = [
    {"type": "KvPut", "seq": 7, "time": 1_700_000_000_123, "namespace": "N", "key": "k", "value": "v"},
    {
        "type": "TopicsChanged",
        "changes": [{"topics": ["A", "B"], "after": {"brokerName": "b", "readQueueNums": 4, "perm": 6}}],
    },
    {"type": "Snapshot", "kv": {"N": {"k": None, "l": "w"}}, "settings": {"listenPort": "9876"}},
    {"type": "MappingsChanged", "mappingChanges": [{"topic": "S", "after": {"currIdMap": [[0, 1], [2, 3]]}}]},
    {"type": "Snapshot", "mappings": [{"topic": "S", "mappings": [["b", {"epoch": 3}]]}]},
    {"type": "ServerPaused", "pauseMillis": 300, "ofLaterDays": {"x": 1}},
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record["type"])
def test_a_record_is_read_as_it_was_written(spark: SparkSession, record: dict[str, Any]) -> None:
    lines = spark.createDataFrame([(json.dumps(record),)], "line string")
    [row] = lines.select(from_json("line", schemas.record_schema()).alias("record")).collect()
    read = row.record.asDict(recursive=True)
    assert {name: value for name, value in read.items() if value is not None} == {
        name: EXPECTED.get(name, value) for name, value in record.items() if name != "ofLaterDays"
    }


EXPECTED: dict[str, Any] = {
    "changes": [
        {
            "topics": ["A", "B"],
            "before": None,
            "after": {
                "brokerName": "b",
                "readQueueNums": 4,
                "writeQueueNums": None,
                "perm": 6,
                "topicSysFlag": None,
            },
        }
    ],
    "mappingChanges": [
        {
            "topic": "S",
            "bname": None,
            "before": None,
            "after": {
                "topic": None,
                "scope": None,
                "totalQueues": None,
                "bname": None,
                "epoch": None,
                "dirty": None,
                "currIdMap": [[0, 1], [2, 3]],
            },
        }
    ],
    "mappings": [{"topic": "S", "mappings": [["b", '{"epoch":3}']]}],
}
