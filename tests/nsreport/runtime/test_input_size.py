"""How much there is to read."""

import os
from pathlib import Path

from nsreport.runtime.input_size import estimate_plain_bytes, last_write_seconds


def test_files_folders_and_patterns_are_counted_as_if_none_were_packed(tmp_path: Path) -> None:
    for name, length in (("ns-1/a.jsonl", 100), ("ns-1/old/b.log.gz", 10), ("ns-2/c.jsonl.zst", 1)):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * length)
    assert estimate_plain_bytes([str(tmp_path)]) == 100 + 11 * 15
    assert estimate_plain_bytes([f"{tmp_path}/ns-*"]) == 100 + 11 * 15
    assert estimate_plain_bytes([f"file://{tmp_path}/ns-1/a.jsonl", str(tmp_path / "missing")]) == 100


def test_what_was_there_before_is_not_counted_if_that_is_asked(tmp_path: Path) -> None:
    for name, at in (("old.jsonl", 100), ("new.jsonl", 300)):
        (tmp_path / name).write_text(name)
        os.utime(tmp_path / name, (at, at))
    assert last_write_seconds(str(tmp_path)) == 300
    assert estimate_plain_bytes([str(tmp_path)], 100) == len("new.jsonl")
    assert estimate_plain_bytes([str(tmp_path)], 300) == 0
    assert last_write_seconds(str(tmp_path / "missing")) == last_write_seconds("s3a://bucket/journals") == 0


def test_nobody_here_knows_how_much_is_elsewhere(tmp_path: Path) -> None:
    assert estimate_plain_bytes([str(tmp_path), "s3a://bucket/journals"]) is None
