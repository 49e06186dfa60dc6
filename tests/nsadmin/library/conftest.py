"""An environment of the test's own: audit, state and contexts in its folder."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

AuditLines = Callable[[], list[dict[str, Any]]]


@pytest.fixture
def audit_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AuditLines:
    """Read the audit file that the library writes to in this test."""
    audit_file = tmp_path / "audit.jsonl"
    monkeypatch.setenv("NSADMIN_AUDIT", str(audit_file))

    def read_lines() -> list[dict[str, Any]]:
        if not audit_file.exists():
            return []
        return [json.loads(line) for line in audit_file.read_text().splitlines()]

    return read_lines


@pytest.fixture
def state_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of drains and inventories."""
    monkeypatch.setenv("NSADMIN_STATE", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def contexts_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of contexts; it does not exist yet."""
    monkeypatch.setenv("NSADMIN_CONFIG", str(tmp_path / "config.yaml"))
    return tmp_path / "config.yaml"
