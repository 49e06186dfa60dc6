"""Hadoop folder: files and folders below a root, on any file system that Hadoop supports."""

import os
from collections.abc import Iterator
from typing import Any

from pyspark.sql import SparkSession

_LOCAL_PREFIX = "file:"


class HadoopFolder:
    """A root folder. Paths are relative to it and use `/`; "" is the root itself."""

    def __init__(self, spark: SparkSession, root_path: str) -> None:
        self._jvm: Any = spark.sparkContext._jvm
        self._hadoop_conf: Any = spark.sparkContext._jsc.hadoopConfiguration()
        self._root_path = self._make_hadoop_path(root_path)
        self._file_system = self._find_file_system(self._root_path)
        self._root_path = self._file_system.makeQualified(self._root_path)
        root_text = str(self._root_path.toString())
        self._local_root = (
            root_text.removeprefix(_LOCAL_PREFIX) if root_text.startswith(f"{_LOCAL_PREFIX}/") else None
        )
        if self._local_root is not None:
            # Hadoop writes a checksum file for each file, and starts a program to set its permissions.
            self._file_system.setWriteChecksum(False)

    def qualify_path(self, relative_path: str) -> str:
        """Return the qualified path, as Spark takes it."""
        return str(self._resolve_path(relative_path).toString())

    def has_path(self, relative_path: str) -> bool:
        return bool(self._file_system.exists(self._resolve_path(relative_path)))

    def has_qualified_path(self, qualified_path: str) -> bool:
        """Whether a file exists at a qualified path, on any file system."""
        return bool(
            self._find_file_system(self._make_hadoop_path(qualified_path)).exists(
                self._make_hadoop_path(qualified_path)
            )
        )

    def make_folder(self, relative_path: str) -> None:
        """Create a folder and its parents."""
        self._file_system.mkdirs(self._resolve_path(relative_path))

    def remove(self, relative_path: str) -> None:
        """Remove a file, or a folder with its content, if it exists."""
        self._file_system.delete(self._resolve_path(relative_path), True)

    def move(self, source_path: str, target_path: str) -> None:
        """Move a file or folder; an existing target is replaced. Raises OSError."""
        hadoop_target = self._resolve_path(target_path)
        self._file_system.delete(hadoop_target, True)
        self._file_system.mkdirs(hadoop_target.getParent())
        if not self._file_system.rename(self._resolve_path(source_path), hadoop_target):
            raise OSError(f'cannot move "{self.qualify_path(source_path)}" to "{hadoop_target.toString()}"')

    def read_text(self, relative_path: str) -> str | None:
        """Return the text of a file, or None if it does not exist."""
        if not self.has_path(relative_path):
            return None
        input_stream = self._file_system.open(self._resolve_path(relative_path))
        try:
            return str(self._jvm.org.apache.commons.io.IOUtils.toString(input_stream, "UTF-8"))
        finally:
            input_stream.close()

    def write(self, relative_path: str, file_text: str) -> None:
        """Write a text file completely or not at all."""
        new_path = self._resolve_path(f"{relative_path}.new")
        output_stream = self._file_system.create(new_path, True)
        try:
            output_stream.write(bytearray(file_text.encode()))
        finally:
            output_stream.close()
        self.move(f"{relative_path}.new", relative_path)

    def list_sized_files(self, relative_path: str) -> list[tuple[str, int]]:
        """Return the files below a folder, relative to it, with their sizes in bytes.

        Files and folders with names that begin with `_` or `.` are left out.
        """
        return sorted(self._walk_files(relative_path))

    def count_parquet_rows(self, relative_path: str) -> int:
        """Return the row count from the footer of a Parquet file."""
        parquet_package = self._jvm.org.apache.parquet.hadoop
        parquet_file = parquet_package.util.HadoopInputFile.fromPath(
            self._resolve_path(relative_path), self._hadoop_conf
        )
        # Without these options, the reader parses Hadoop's configuration files again.
        read_options = self._jvm.org.apache.parquet.HadoopReadOptions.builder(self._hadoop_conf).build()
        parquet_reader = parquet_package.ParquetFileReader.open(parquet_file, read_options)
        try:
            return int(parquet_reader.getRecordCount())
        finally:
            parquet_reader.close()

    def _walk_files(self, relative_path: str) -> Iterator[tuple[str, int]]:
        # Hadoop starts a program for each local file, to read its permissions.
        file_iterator = (
            self._walk_hadoop_files(relative_path)
            if self._local_root is None
            else _walk_local_files(os.path.join(self._local_root, relative_path))
        )
        for file_name, byte_count in file_iterator:
            if not any(path_part.startswith(("_", ".")) for path_part in file_name.split("/")):
                yield file_name, byte_count

    def _walk_hadoop_files(self, relative_path: str) -> Iterator[tuple[str, int]]:
        folder_path = self._resolve_path(relative_path)
        if not self._file_system.exists(folder_path):
            return
        prefix_length = len(folder_path.toString()) + 1
        file_iterator = self._file_system.listFiles(folder_path, True)
        while file_iterator.hasNext():
            file_status = file_iterator.next()
            yield str(file_status.getPath().toString())[prefix_length:], int(file_status.getLen())

    def _resolve_path(self, relative_path: str) -> Any:
        return (
            self._jvm.org.apache.hadoop.fs.Path(self._root_path, relative_path)
            if relative_path
            else self._root_path
        )

    def _find_file_system(self, hadoop_path: Any) -> Any:
        return hadoop_path.getFileSystem(self._hadoop_conf)

    def _make_hadoop_path(self, path_text: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(path_text)


def _walk_local_files(folder_path: str) -> Iterator[tuple[str, int]]:
    for parent_path, _, file_names in os.walk(folder_path):
        for file_name in file_names:
            file_path = os.path.join(parent_path, file_name)
            yield os.path.relpath(file_path, folder_path), os.path.getsize(file_path)
