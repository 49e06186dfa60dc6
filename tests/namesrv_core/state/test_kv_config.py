"""KV config."""

from namesrv_core.events import KvDeleted, KvPut
from namesrv_core.state.kv_config import KvConfig


def test_what_was_put_is_got() -> None:
    kv = KvConfig()
    assert kv.put_value("n", "k", "v") == KvPut("n", "k", None, "v")
    assert kv.get_value("n", "k") == "v"
    assert kv.put_value("n", "k", "w") == KvPut("n", "k", "v", "w")
    assert kv.get_value("n", "k") == "w"


def test_what_is_not_there_is_none() -> None:
    kv = KvConfig({"n": {"k": "v"}})
    assert [
        kv.get_value("x", "k"),
        kv.get_value("n", "x"),
        kv.get_value(None, "k"),
        kv.get_value("n", None),
    ] == [None] * 4


def test_a_null_is_kept_and_reads_as_absent() -> None:
    kv = KvConfig()
    kv.put_value("n", "k", None)
    assert kv.get_value("n", "k") is None
    assert kv.tables_by_namespace == {"n": {"k": None}}


def test_a_namespace_that_a_delete_empties_stays() -> None:
    kv = KvConfig({"n": {"k": "v"}})
    assert kv.delete_key("n", "k") == KvDeleted("n", "k", "v")
    assert kv.tables_by_namespace == {"n": {}}


def test_deleting_nothing_is_no_event() -> None:
    kv = KvConfig({"n": {}})
    assert kv.delete_key("n", "k") is None
    assert kv.delete_key("x", "k") is None
    assert kv.tables_by_namespace == {"n": {}}
    assert kv.generation == 0


def test_the_generation_moves_with_every_change() -> None:
    kv = KvConfig()
    seen = [kv.generation]
    kv.put_value("n", "k", "v")
    seen.append(kv.generation)
    kv.delete_key("n", "k")
    seen.append(kv.generation)
    kv.restore_tables({"n": {"k": "v"}})
    seen.append(kv.generation)
    assert seen == sorted(set(seen))


def test_tables_of_before_can_be_restored_and_are_not_shared() -> None:
    before = {"n": {"k": "v"}}
    kv = KvConfig(before)
    kv.put_value("n", "k", "w")
    kv.put_value("m", "k", "w")
    kv.restore_tables(before)
    assert kv.tables_by_namespace == {"n": {"k": "v"}}
    kv.put_value("n", "k", "w")
    assert before == {"n": {"k": "v"}}
