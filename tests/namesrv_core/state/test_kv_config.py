"""KV config."""

from pathlib import Path

import pytest

from namesrv_core.events import KvDeleted, KvPut
from namesrv_core.state.kv_config import ORDER_TOPIC_CONFIG, KvConfig, entry_size
from namesrv_core.storage.kv_file import save_kv_tables
from tests.support.memory import MEGABYTE, kept_megabytes


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
    assert [entry_size("ä", "k", value) for value in (None, "", "v")] == [3, 3, 4]


def test_a_namespace_that_a_delete_empties_goes() -> None:
    kv = KvConfig({"n": {"k": "v"}})
    assert kv.delete_key("n", "k") == KvDeleted("n", "k", "v")
    assert kv.tables_by_namespace == {}


def test_the_namespace_of_ordered_topics_stays_because_its_table_answers_registrations() -> None:
    kv = KvConfig({ORDER_TOPIC_CONFIG: {"T": "a:8"}})
    kv.delete_key(ORDER_TOPIC_CONFIG, "T")
    assert kv.tables_by_namespace == {ORDER_TOPIC_CONFIG: {}}


def test_empty_namespaces_of_a_file_or_of_earlier_tables_are_left_out() -> None:
    tables: dict[str, dict[str, str | None]] = {"n": {}, ORDER_TOPIC_CONFIG: {}, "m": {"k": "v"}}
    kept = {ORDER_TOPIC_CONFIG: {}, "m": {"k": "v"}}
    kv = KvConfig(tables)
    assert kv.tables_by_namespace == kept
    kv.restore_tables(tables)
    assert kv.tables_by_namespace == kept


def test_deleting_nothing_is_no_event() -> None:
    kv = KvConfig({"n": {"other": "v"}})
    assert kv.delete_key("n", "k") is None
    assert kv.delete_key("x", "k") is None
    assert kv.tables_by_namespace == {"n": {"other": "v"}}
    assert kv.generation == 0


@pytest.mark.parametrize("text", ["a", "\x00", '"', "\u00e9", "\U0001f600", "\ud800"])
def test_the_file_is_never_larger_than_the_bytes_that_count(tmp_path: Path, text: str) -> None:
    kv = KvConfig()
    for number in range(20):
        kv.put_value(text * number, text * 3, text * 100)
        kv.put_value("n", f"{text}{number}", None)
    path = tmp_path / "kv.json"
    save_kv_tables(path, kv.tables_by_namespace)
    assert path.stat().st_size <= kv.total_bytes


def test_namespaces_that_are_put_and_deleted_leave_nothing_in_the_file(tmp_path: Path) -> None:
    kv = KvConfig()
    for number in range(1_000):
        kv.put_value(f"n{number}", "k", "v")
        kv.delete_key(f"n{number}", "k")
    path = tmp_path / "kv.json"
    save_kv_tables(path, kv.tables_by_namespace)
    assert (kv.total_bytes, path.stat().st_size) == (0, len('{"configTable":{}}'))


def test_many_tiny_entries_count_for_the_memory_that_they_take() -> None:
    kv = KvConfig()

    def put_tiny_entries() -> None:
        for number in range(5_000):
            kv.put_value(f"{number}", "", "")

    assert kept_megabytes(put_tiny_entries) * MEGABYTE < 5 * kv.total_bytes


def test_the_generation_moves_with_every_change() -> None:
    kv = KvConfig()
    generations = [kv.generation]
    kv.put_value("n", "k", "v")
    generations.append(kv.generation)
    kv.delete_key("n", "k")
    generations.append(kv.generation)
    kv.restore_tables({"n": {"k": "v"}})
    generations.append(kv.generation)
    assert generations == sorted(set(generations))


def test_tables_of_before_can_be_restored_and_are_not_shared() -> None:
    before = {"n": {"k": "v"}}
    kv = KvConfig(before)
    kv.put_value("n", "k", "w")
    kv.put_value("m", "k", "w")
    kv.restore_tables(before)
    assert kv.tables_by_namespace == {"n": {"k": "v"}}
    kv.put_value("n", "k", "w")
    assert before == {"n": {"k": "v"}}
