"""What to run if a package is missing."""

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from nsadmin.client import extras


def test_pip_of_this_environment_installs_the_packages_of_the_extra() -> None:
    assert extras.describe_missing("lz4", "messages") == (
        f"the Python package lz4 is missing: run {sys.executable} -m pip install 'lz4>=4.3'"
    )


def test_pipx_and_uv_have_environments_without_pip(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name == "pip" else find_spec(name))
    text = extras.describe_missing("lz4", "messages")
    assert text.endswith(f"run uv pip install --python {sys.executable} 'lz4>=4.3'")
    (tmp_path / "pipx_metadata.json").write_text("{}")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert extras.describe_missing("lz4", "messages").endswith("run pipx inject nsadmin 'lz4>=4.3'")
