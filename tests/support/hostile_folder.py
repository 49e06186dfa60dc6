"""A current folder that somebody else fills: modules and programs there leave a trace if they run.

Also a disk that is full, and links of other users.
"""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

MODULES = (
    "json", "yaml", "socket", "subprocess", "random", "rich", "msgspec", "nsadmin", "namesrv_core",
    "nsreport", "pyspark", "py4j", "zstandard", "cloudpickle", "duckdb",
)  # fmt: skip


class HostileFolder:
    """`folder` is to be the current one. PySpark also looks for Spark in the folder above."""

    def __init__(self, above: Path) -> None:
        self.folder = above / "here"
        self._traces = above / "traces"
        for folder in (self.folder, self._traces, above / "bin", above / "jars"):
            folder.mkdir(parents=True)
        for name in MODULES:
            (self.folder / f"{name}.py").write_text(
                f"open({str(self._traces / name)!r}, 'w').close()\nraise SystemExit(77)\n"
            )
        program = above / "bin" / "spark-submit"
        program.write_text(f"#!/bin/sh\ntouch {self._traces}/spark-submit\nexit 77\n")
        program.chmod(0o755)

    @property
    def traces(self) -> list[str]:
        """What ran, by name."""
        return sorted(trace.name for trace in self._traces.iterdir())


@contextmanager
def limit_file_size(size: int) -> Iterator[None]:
    """Files of this process end at this size, as on a disk that is full."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a link to another user")


def foreign_link(path: Path, target: Path) -> Path:
    """A link of another user in a folder of ours."""
    path.symlink_to(target)
    os.chown(path, 12345, 12345, follow_symlinks=False)
    return path
