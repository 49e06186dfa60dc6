"""Class archive: the JVM's class-data archive (CDS), with which Spark starts in half the time.

The first session that exits cleanly writes it. An archive fits one Java and one Spark; another version writes
its own and removes archives that were unused for a month. Java ignores an archive that does not fit.
"""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pyspark

MAX_UNUSED_SECONDS = 30 * 86_400
"""An archive that was unused for longer is removed."""


class ClassArchive:
    """The archive file in `cache_folder` for the Java of `java_home`."""

    def __init__(self, cache_folder: Path, java_home: str) -> None:
        runtime_identity = (
            f"{pyspark.__version__} {pyspark.__file__} {Path(java_home).resolve()} "
            f"{_read_java_release(java_home)}"
        )
        self.archive_path = (
            cache_folder / f"spark-{hashlib.sha256(runtime_identity.encode()).hexdigest()[:16]}.jsa"
        )
        self._new_path = self.archive_path.with_name(f"{self.archive_path.name}.{os.getpid()}")

    @property
    def java_options(self) -> str:
        """The JVM options that read the archive, or that write it at exit if there is none."""
        if self.archive_path.exists():
            self.archive_path.touch()
            return f"-XX:SharedArchiveFile={self.archive_path} -Xlog:cds=off -Xlog:cds+dynamic=off"
        self.archive_path.parent.mkdir(parents=True, exist_ok=True)
        return f"-XX:ArchiveClassesAtExit={self._new_path} -Xlog:cds=off -Xlog:cds+dynamic=off"

    def keep_new_archive(self, end_java: Callable[[], int]) -> None:
        """Call `end_java` and keep the archive that Java wrote, if Java exited with 0."""
        if self.archive_path.exists():
            return
        try:
            if end_java() == 0 and self._new_path.exists():
                self._new_path.replace(self.archive_path)
                self._remove_unused(self.archive_path.stat().st_mtime - MAX_UNUSED_SECONDS)
        finally:
            self._new_path.unlink(missing_ok=True)

    def _remove_unused(self, unused_since: float) -> None:
        """Remove archives whose last use was before `unused_since`; each has 190 MB."""
        for other_archive in self.archive_path.parent.glob("spark-*.jsa"):
            if other_archive.stat().st_mtime < unused_since:
                other_archive.unlink(missing_ok=True)


def _read_java_release(java_home: str) -> str:
    """Return the text of Java's `release` file, which identifies the build; "" if there is no such file."""
    try:
        return Path(java_home, "release").read_text()
    except OSError:
        return ""
