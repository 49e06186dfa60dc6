"""Class archive: the JVM's class-data archive (CDS), with which Spark starts in half the time.

The first session that exits cleanly writes it. An archive fits one Java and one Spark; another version writes
its own and removes archives that were unused for a month. Java ignores an archive that does not fit.
"""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pyspark

UNUSED = 30 * 86_400
"""An archive that was unused for longer is removed."""


class Archive:
    """The archive file in `cache_folder` for the Java of `java_home`."""

    def __init__(self, cache: Path, java_home: str) -> None:
        where = f"{pyspark.__version__} {pyspark.__file__} {Path(java_home).resolve()} {_release(java_home)}"
        self.path = cache / f"spark-{hashlib.sha256(where.encode()).hexdigest()[:16]}.jsa"
        self._fresh = self.path.with_name(f"{self.path.name}.{os.getpid()}")

    @property
    def flags(self) -> str:
        """The JVM options that read the archive, or that write it at exit if there is none."""
        if self.path.exists():
            self.path.touch()
            return f"-XX:SharedArchiveFile={self.path} -Xlog:cds=off -Xlog:cds+dynamic=off"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        return f"-XX:ArchiveClassesAtExit={self._fresh} -Xlog:cds=off -Xlog:cds+dynamic=off"

    def keep(self, end: Callable[[], int]) -> None:
        """Call `end_java` and keep the archive that Java wrote, if Java exited with 0."""
        if self.path.exists():
            return
        try:
            if end() == 0 and self._fresh.exists():
                self._fresh.replace(self.path)
                self._forget(self.path.stat().st_mtime - UNUSED)
        finally:
            self._fresh.unlink(missing_ok=True)

    def _forget(self, moment: float) -> None:
        """Remove archives whose last use was before `unused_since`; each has 190 MB."""
        for path in self.path.parent.glob("spark-*.jsa"):
            if path.stat().st_mtime < moment:
                path.unlink(missing_ok=True)


def _release(java_home: str) -> str:
    """Return the text of Java's `release` file, which identifies the build; "" if there is no such file."""
    try:
        return Path(java_home, "release").read_text()
    except OSError:
        return ""
