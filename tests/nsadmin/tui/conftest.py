"""What tests of the screen have in common."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Times of day are those of Greenwich."""
    with monkeypatch.context() as patched:
        patched.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


@pytest.fixture
def audit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The audit log of commands that the screen runs, with no contexts of the machine."""
    monkeypatch.setenv("NSADMIN_AUDIT", str(tmp_path / "audit.jsonl"))
    monkeypatch.setenv("NSADMIN_CONFIG", str(tmp_path / "config.yaml"))
    return tmp_path / "audit.jsonl"
