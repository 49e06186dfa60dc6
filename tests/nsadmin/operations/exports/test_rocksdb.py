"""What is read off RocksDB stores, and that nothing is written there."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from nsadmin.client import NotApplied
from nsadmin.operations.exports import rocksdb
from tests.support.rocksdb_stores import VERSION, separate_stores, shared_store


@pytest.mark.parametrize("make", [separate_stores, shared_store])
def test_each_kind_is_read_and_the_folder_stays_as_it_is(
    tmp_path: Path, make: Callable[[Path], Path]
) -> None:
    config = make(tmp_path / "config")
    before = {file: file.stat().st_mtime_ns for file in config.rglob("*")}
    topics = rocksdb.read_rocksdb_document(config, "topics")
    assert topics == {
        "dataVersion": VERSION,
        "topicConfigTable": {
            "bills": {"perm": 4, "topicName": "bills"},
            "orders": {"perm": 6, "topicName": "orders"},
        },
    }
    assert "dataVersion" not in rocksdb.read_rocksdb_document(config, "topics", include_version=False)
    groups = rocksdb.read_rocksdb_document(config, "subscriptionGroups")
    assert groups["subscriptionGroupTable"] == {"warehouse": {"groupName": "warehouse"}}
    assert rocksdb.read_rocksdb_document(config, "consumerOffsets") == {
        "offsetTable": {"orders@warehouse": {"0": 7}}
    }
    assert {file: file.stat().st_mtime_ns for file in config.rglob("*")} == before


def test_what_is_not_there_or_broken_is_said_with_what_to_do(tmp_path: Path) -> None:
    config = separate_stores(tmp_path / "config")
    with pytest.raises(NotApplied, match="use a broker's config folder"):
        rocksdb.read_rocksdb_document(tmp_path, "topics")
    with pytest.raises(NotApplied, match="use the parent folder"):
        rocksdb.read_rocksdb_document(config / "topics", "topics")
    (tmp_path / "rdb").mkdir()
    (tmp_path / "rdb" / "CURRENT").touch()
    with pytest.raises(NotApplied, match="configManagerVersion=v2"):
        rocksdb.read_rocksdb_document(tmp_path, "topics")
    (config / "topics" / "CURRENT").write_text("MANIFEST-000999\n")
    with pytest.raises(NotApplied, match="not readable"):
        rocksdb.read_rocksdb_document(config, "topics")


def test_a_shared_store_has_no_family_for_what_was_never_kept(tmp_path: Path) -> None:
    config = shared_store(tmp_path / "config", {"topics"})
    assert set(rocksdb.read_rocksdb_document(config, "topics")["topicConfigTable"]) == {"bills", "orders"}
    assert rocksdb.read_rocksdb_document(config, "consumerOffsets") == {"offsetTable": {}}


def test_without_the_package_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rocksdict", None)
    with pytest.raises(rocksdb.RocksDbReaderMissing, match="the Python package rocksdict is missing: run"):
        rocksdb.read_rocksdb_document(separate_stores(tmp_path / "config"), "topics")
