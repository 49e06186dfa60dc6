"""The class-data archive: what makes Spark start in half the time, made by the first session that ends well.

An archive is of one Java and one Spark; another of either makes its own, and those that nobody used for a
month go then. Java passes over what does not fit.
"""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pyspark

UNUSED = 30 * 86_400
"""Seconds."""


class Archive:
    """A file in `cache`, for the Java of `java_home`."""

    def __init__(self, cache: Path, java_home: str) -> None:
        where = f"{pyspark.__version__} {pyspark.__file__} {Path(java_home).resolve()} {_release(java_home)}"
        self.path = cache / f"spark-{hashlib.sha256(where.encode()).hexdigest()[:16]}.jsa"
        self._fresh = self.path.with_name(f"{self.path.name}.{os.getpid()}")

    @property
    def flags(self) -> str:
        """What Java is told: use it, or write it at its end."""
        if self.path.exists():
            self.path.touch()
            return f"-XX:SharedArchiveFile={self.path} -Xlog:cds=off -Xlog:cds+dynamic=off"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        return f"-XX:ArchiveClassesAtExit={self._fresh} -Xlog:cds=off -Xlog:cds+dynamic=off"

    def keep(self, end: Callable[[], int]) -> None:
        """Once `end` has ended Java: keep what it wrote, if it ended well."""
        if self.path.exists():
            return
        try:
            if end() == 0 and self._fresh.exists():
                self._fresh.replace(self.path)
                self._forget(self.path.stat().st_mtime - UNUSED)
        finally:
            self._fresh.unlink(missing_ok=True)

    def _forget(self, moment: float) -> None:
        """Remove archives that were used before that for the last time; each has 190 MB."""
        for path in self.path.parent.glob("spark-*.jsa"):
            if path.stat().st_mtime < moment:
                path.unlink(missing_ok=True)


def _release(java_home: str) -> str:
    """What tells one build of Java from another; nothing where there is no such file."""
    try:
        return Path(java_home, "release").read_text()
    except OSError:
        return ""
