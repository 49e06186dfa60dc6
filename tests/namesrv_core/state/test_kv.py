"""KV config."""

from namesrv_core.events import KvDeleted, KvPut
from namesrv_core.state.kv import KvConfig


def test_what_was_put_is_got() -> None:
    kv = KvConfig()
    assert kv.put("n", "k", "v") == KvPut("n", "k", None, "v")
    assert kv.get("n", "k") == "v"
    assert kv.put("n", "k", "w") == KvPut("n", "k", "v", "w")
    assert kv.get("n", "k") == "w"


def test_what_is_not_there_is_none() -> None:
    kv = KvConfig({"n": {"k": "v"}})
    assert [kv.get("x", "k"), kv.get("n", "x"), kv.get(None, "k"), kv.get("n", None)] == [None] * 4


def test_a_null_is_kept_and_reads_as_absent() -> None:
    kv = KvConfig()
    kv.put("n", "k", None)
    assert kv.get("n", "k") is None
    assert kv.tables == {"n": {"k": None}}


def test_a_namespace_that_a_delete_empties_stays() -> None:
    kv = KvConfig({"n": {"k": "v"}})
    assert kv.delete("n", "k") == KvDeleted("n", "k", "v")
    assert kv.tables == {"n": {}}


def test_deleting_nothing_is_no_event() -> None:
    kv = KvConfig({"n": {}})
    assert kv.delete("n", "k") is None
    assert kv.delete("x", "k") is None
    assert kv.tables == {"n": {}}
    assert kv.generation == 0


def test_the_generation_moves_with_every_change() -> None:
    kv = KvConfig()
    seen = [kv.generation]
    kv.put("n", "k", "v")
    seen.append(kv.generation)
    kv.delete("n", "k")
    seen.append(kv.generation)
    kv.restore({"n": {"k": "v"}})
    seen.append(kv.generation)
    assert seen == sorted(set(seen))


def test_tables_of_before_can_be_restored_and_are_not_shared() -> None:
    before = {"n": {"k": "v"}}
    kv = KvConfig(before)
    kv.put("n", "k", "w")
    kv.put("m", "k", "w")
    kv.restore(before)
    assert kv.tables == {"n": {"k": "v"}}
    kv.put("n", "k", "w")
    assert before == {"n": {"k": "v"}}
