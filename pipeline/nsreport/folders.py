"""Folders: files and folders below a root, on any file system that Hadoop knows."""

from collections.abc import Iterator
from typing import Any

from pyspark.sql import SparkSession


class Folders:
    """Paths are relative to the root, with `/`; "" is the root itself."""

    def __init__(self, spark: SparkSession, root: str) -> None:
        self._jvm: Any = spark.sparkContext._jvm
        self._conf: Any = spark.sparkContext._jsc.hadoopConfiguration()
        self._root = self._path(root)
        self._system = self._system_of(self._root)
        self._root = self._system.makeQualified(self._root)

    def path(self, place: str) -> str:
        """The whole path, as Spark takes it."""
        return str(self._of(place).toString())

    def exists(self, place: str) -> bool:
        return bool(self._system.exists(self._of(place)))

    def is_there(self, path: str) -> bool:
        """Whether there is a file of that whole path."""
        return bool(self._system_of(self._path(path)).exists(self._path(path)))

    def make(self, place: str) -> None:
        """A folder, with those that it is in."""
        self._system.mkdirs(self._of(place))

    def remove(self, place: str) -> None:
        """With all that is in it; nothing where there is none."""
        self._system.delete(self._of(place), True)

    def move(self, here: str, there: str) -> None:
        """What is there is replaced."""
        target = self._of(there)
        self._system.delete(target, True)
        self._system.mkdirs(target.getParent())
        if not self._system.rename(self._of(here), target):
            raise OSError(f"{self.path(here)} cannot be moved to {target.toString()}")

    def text(self, place: str) -> str | None:
        """What a file says; None where there is none."""
        if not self.exists(place):
            return None
        stream = self._system.open(self._of(place))
        try:
            return str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def write(self, place: str, text: str) -> None:
        """Whole, or not at all."""
        fresh = self._of(f"{place}.new")
        stream = self._system.create(fresh, True)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()
        self.move(f"{place}.new", place)

    def files(self, place: str) -> list[str]:
        """The files in a folder and below it, relative to it; not those named _x or .x."""
        return sorted(name for name, _ in self._below(place))

    def leaves(self, place: str) -> list[str]:
        """The folders that have files, relative to this one; "" is the folder itself."""
        return sorted({name.rpartition("/")[0] for name in self.files(place)})

    def rows(self, place: str) -> int:
        """How many rows a file of Parquet says that it has."""
        parquet = self._jvm.org.apache.parquet.hadoop
        file = parquet.util.HadoopInputFile.fromPath(self._of(place), self._conf)
        reader = parquet.ParquetFileReader.open(file)
        try:
            return int(reader.getRecordCount())
        finally:
            reader.close()

    def sizes(self, place: str) -> list[int]:
        """How many bytes the files have."""
        return [size for _, size in self._below(place)]

    def _below(self, place: str) -> Iterator[tuple[str, int]]:
        folder = self._of(place)
        if not self._system.exists(folder):
            return
        begin = len(folder.toString()) + 1
        found = self._system.listFiles(folder, True)
        while found.hasNext():
            status = found.next()
            name = str(status.getPath().toString())[begin:]
            if not any(part.startswith(("_", ".")) for part in name.split("/")):
                yield name, int(status.getLen())

    def _of(self, place: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(self._root, place) if place else self._root

    def _system_of(self, path: Any) -> Any:
        return path.getFileSystem(self._conf)

    def _path(self, text: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(text)
