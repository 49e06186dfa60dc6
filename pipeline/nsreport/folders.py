"""Hadoop folder: files and folders below a root, on any file system that Hadoop supports."""

from collections.abc import Iterator
from typing import Any

from pyspark.sql import SparkSession


class Folders:
    """A root folder. Paths are relative to it and use `/`; "" is the root itself."""

    def __init__(self, spark: SparkSession, root: str) -> None:
        self._jvm: Any = spark.sparkContext._jvm
        self._conf: Any = spark.sparkContext._jsc.hadoopConfiguration()
        self._root = self._path(root)
        self._system = self._system_of(self._root)
        self._root = self._system.makeQualified(self._root)

    def path(self, place: str) -> str:
        """Return the qualified path, as Spark takes it."""
        return str(self._of(place).toString())

    def exists(self, place: str) -> bool:
        return bool(self._system.exists(self._of(place)))

    def is_there(self, path: str) -> bool:
        """Whether a file exists at a qualified path, on any file system."""
        return bool(self._system_of(self._path(path)).exists(self._path(path)))

    def make(self, place: str) -> None:
        """Create a folder and its parents."""
        self._system.mkdirs(self._of(place))

    def remove(self, place: str) -> None:
        """Remove a file, or a folder with its content, if it exists."""
        self._system.delete(self._of(place), True)

    def move(self, here: str, there: str) -> None:
        """Move a file or folder; an existing target is replaced. Raises OSError."""
        target = self._of(there)
        self._system.delete(target, True)
        self._system.mkdirs(target.getParent())
        if not self._system.rename(self._of(here), target):
            raise OSError(f"{self.path(here)} cannot be moved to {target.toString()}")

    def text(self, place: str) -> str | None:
        """Return the text of a file, or None if it does not exist."""
        if not self.exists(place):
            return None
        stream = self._system.open(self._of(place))
        try:
            return str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def write(self, place: str, text: str) -> None:
        """Write a text file completely or not at all."""
        fresh = self._of(f"{place}.new")
        stream = self._system.create(fresh, True)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()
        self.move(f"{place}.new", place)

    def files(self, place: str) -> list[str]:
        """Return the files below a folder, relative to it, without names that begin with `_` or `.`."""
        return sorted(name for name, _ in self._below(place))

    def leaves(self, place: str) -> list[str]:
        """Return the folders that contain files, relative to this one; "" is the folder itself."""
        return sorted({name.rpartition("/")[0] for name in self.files(place)})

    def rows(self, place: str) -> int:
        """Return the row count from the footer of a Parquet file."""
        parquet = self._jvm.org.apache.parquet.hadoop
        file = parquet.util.HadoopInputFile.fromPath(self._of(place), self._conf)
        reader = parquet.ParquetFileReader.open(file)
        try:
            return int(reader.getRecordCount())
        finally:
            reader.close()

    def sizes(self, place: str) -> list[int]:
        """Return the sizes in bytes of the files below a folder."""
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
