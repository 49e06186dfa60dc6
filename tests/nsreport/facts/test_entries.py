"""Addresses of brokers and values of the KV config, from when to when."""

from pyspark.sql import SparkSession

from namesrv_core.events import Group, KvDeleted, KvPut, Member, ServerStarted
from nsreport.facts import entries
from tests.support.ns_events import Teller, empty, frame, lost, master
from tests.support.silver_rows import moment, turned


def test_entries_follow_events_and_fresh_snapshots(spark: SparkSession) -> None:
    here = (Group("c", "told", False, None, (Member(0, "10.0.0.7:10911"),)),)
    own = Teller().tell(0, empty(groups=here, kv={"N": {"kept": "1", "old": "2"}}), ServerStarted("1", 1))
    own.tell(10, master("b", "10.0.0.1:10911")).tell(20, master("b", "10.0.0.2:10911")).tell(30, lost("b"))
    own.tell(40, KvPut("N", "new", None, "3")).tell(50, KvDeleted("N", "old", "2"))
    # KV config is kept from one start to the next, and brokers are not.
    own.tell(60, empty(kv={"N": {"kept": "1", "new": "3"}}), ServerStarted("1", 2))
    events = frame(spark, own)
    found = (
        entries.build_entry_intervals(events, turned(events))
        .orderBy("field", "name", "key", "validFrom")
        .collect()
    )
    assert [tuple(row)[1:-2] for row in found] == [
        ("c", "brokerAddr", "b", "0", "10.0.0.1:10911", moment(10), moment(20)),
        ("c", "brokerAddr", "b", "0", "10.0.0.2:10911", moment(20), moment(30)),
        ("c", "brokerAddr", "told", "0", "10.0.0.7:10911", moment(0), moment(60)),
        ("-", "kv", "N", "kept", "1", moment(0), moment(60)),
        ("-", "kv", "N", "kept", "1", moment(60), None),
        ("-", "kv", "N", "new", "3", moment(40), moment(60)),
        ("-", "kv", "N", "new", "3", moment(60), None),
        ("-", "kv", "N", "old", "2", moment(0), moment(50)),
    ]
