"""A file of contexts to write, and an environment that says nothing."""

import os
from pathlib import Path

import pytest


@pytest.fixture
def config(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for name in (
        "NAMESRV_ADDR",
        "ROCKETMQ_HOME",
        *filter(lambda name: name.startswith("NSADMIN_"), os.environ),
    ):
        monkeypatch.delenv(name, raising=False)
    file = tmp_path / "config.yaml"
    monkeypatch.setenv("NSADMIN_CONFIG", str(file))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return file
