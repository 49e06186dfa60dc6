"""Files of this machine in a bundle."""

import json
import os
from pathlib import Path

import pytest

from namesrv_core.storage.journal import segments
from nsadmin.client.connection.addresses import BadAddress
from nsadmin.client.connection.tunnels.tunnel_targets import SshTarget
from nsadmin.operations.bundles import local_files
from nsadmin.operations.bundles.local_files import LocalFiles
from nsadmin.operations.bundles.redaction import Redactor

HOUR_MS = 3_600_000
NOW_MS = 1_700_000_000_000


def files_since(hours: int) -> LocalFiles:
    return LocalFiles(Redactor(), NOW_MS - hours * HOUR_MS)


def write_segment(folder: Path, seq: int, hours_ago: int, record: object = None) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    name = segments.segment_name(seq, NOW_MS - hours_ago * HOUR_MS)
    (folder / name).write_text(json.dumps({"seq": seq} if record is None else record) + "\n")
    return name


def test_the_segments_since_the_time_and_the_one_before_are_included(tmp_path: Path) -> None:
    journal = tmp_path / "ns-1"
    names = [write_segment(journal, seq, hours_ago) for seq, hours_ago in ((1, 9), (2, 7), (3, 5))]
    collected = files_since(6)
    collected.add_journals([str(journal), str(journal)])
    assert sorted(collected.members) == [f"journals/ns-1/{name}" for name in names[1:]]
    [left_out] = collected.left_out
    assert (left_out.item, left_out.quantity) == (f"segments of the journal {journal}", 1)


def test_a_folder_of_the_collector_has_several_journals_and_compressed_segments_are_read(
    tmp_path: Path,
) -> None:
    name = write_segment(tmp_path / "ns-1", 1, 5, {"type": "KvPut", "key": "token", "value": "abc"})
    segments.compress_segment(tmp_path / "ns-1" / name)
    write_segment(tmp_path / "ns-2", 1, 5)
    collected = files_since(6)
    collected.add_journals([str(tmp_path)])
    assert {member.split("/")[1] for member in collected.members} == {"ns-1", "ns-2"}
    assert json.loads(collected.members[f"journals/ns-1/{name}"])["value"] == "***"


def test_journals_in_folders_of_one_name_are_all_included(tmp_path: Path) -> None:
    names = [write_segment(tmp_path / server / "journal", seq, 5) for seq, server in enumerate("ab", 1)]
    collected = files_since(6)
    collected.add_journals([str(tmp_path), str(tmp_path / "a")])
    assert list(collected.members) == [f"journals/journal/{names[0]}", f"journals/journal-2/{names[1]}"]


def test_what_cannot_be_read_or_is_too_large_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_segment(tmp_path / "ns-1", 1, 5)
    monkeypatch.setattr(local_files, "_MAX_JOURNAL_BYTES", 3)
    collected = files_since(6)
    collected.add_journals([str(tmp_path / "nowhere"), str(tmp_path / "ns-1")])
    assert collected.members == {}
    assert [left_out.reason for left_out in collected.left_out] == [
        "No such file or directory",
        "journals are limited to 200 MiB",
    ]


def test_the_audit_log_has_the_recent_changes_of_this_cluster(tmp_path: Path) -> None:
    records = [
        {"time": NOW_MS, "nameServers": ["h:1"], "command": "kv put --password=abc"},
        {"time": NOW_MS - 9 * HOUR_MS, "nameServers": ["h:1"]},
        {"time": NOW_MS, "nameServers": ["h:2"]},
    ]
    audit_file = tmp_path / "audit.jsonl"
    audit_file.write_text("".join(json.dumps(record) + "\n" for record in records) + "no json\n")
    collected = files_since(6)
    collected.add_audit(audit_file, ["h:1"])
    [line] = collected.members["state/audit.jsonl"].splitlines()
    assert json.loads(line)["command"] == "kv put --password=***"
    collected.add_audit(None, ["h:1"])
    collected.add_audit(tmp_path / "none.jsonl", ["h:1"])


def test_saved_state_is_redacted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "drains" / "c"
    folder.mkdir(parents=True)
    (folder / "state.json").write_text('{"secretKey": "abc", "broker": "a"}')
    (folder / "events.jsonl").write_text('{"token": "abc"}\n{"a": 1}\n')
    (folder / "lock").write_text("")
    deep = "[" * 5000 + '{"password":"x"}' + "]" * 5000
    (folder / "deep.jsonl").write_text(f"{deep}\n")
    collected = files_since(6)
    collected.add_state(tmp_path, [tmp_path / "drains", tmp_path / "none"])
    assert (
        collected.members.pop("state/drains/c/deep.jsonl") == deep.partition("x")[0][:-1].encode() + b"***\n"
    )
    assert collected.members == {
        "state/drains/c/events.jsonl": b'{"token":"***"}\n{"a":1}\n',
        "state/drains/c/state.json": b'{"secretKey": "***", "broker": "a"}',
    }
    monkeypatch.setattr(local_files, "_MAX_STATE_FILE_BYTES", 3)
    collected.add_state(tmp_path, [tmp_path / "drains"])
    assert {left_out.reason for left_out in collected.left_out} == {"it is larger than 10 MiB"}


def test_logs_are_read_at_their_end_without_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_files, "_MAX_LOG_BYTES", 60)
    (tmp_path / "broker.log").write_text("old line\n" * 20 + "boot secretKey=abcdefgh12345\nlast line\n")
    collected = files_since(6)
    collected.add_logs([local_files.parse_log_folder(str(tmp_path), None)])
    [(name, content)] = collected.members.items()
    assert name.startswith("logs/01-")
    assert name.endswith("/broker.log")
    lines = content.decode().splitlines()
    assert (lines[0], lines[-1], "abcdefgh12345" in content.decode()) == ("old line", "last line", False)
    assert collected.left_out == []
    collected.add_logs([local_files.parse_log_folder(str(tmp_path / "none"), None)])
    assert [left_out.reason for left_out in collected.left_out] == ["No such file or directory"]


def test_logs_of_another_machine_are_read_through_ssh(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last word of the command is for the shell there."""
    program = tmp_path / "ssh"
    program.write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/words\nfor last; do :; done\nexec sh -c "$last"\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    logs = tmp_path / "it's here"
    logs.mkdir()
    (logs / "store.log").write_text("stored\n")
    collected = files_since(6)
    collected.add_logs([local_files.parse_log_folder(f"admin@b1:2222:{logs}", SshTarget("hop", 22))])
    assert list(collected.members.values()) == [b"stored\n"]
    assert collected.left_out == []
    assert "-oBatchMode=yes -J hop:22 -p 2222 admin@b1 tail -c" in (tmp_path / "words").read_text()
    with pytest.raises(BadAddress):
        local_files.parse_log_folder("-oProxyCommand=x:/logs", None)
