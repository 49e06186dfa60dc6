"""Folders for Unix sockets."""

import os
from pathlib import Path

import pytest

from nsadmin.client.connection.tunnels.tunnel import make_socket_folder


def test_only_this_user_can_open_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long_folder = tmp_path / ("f" * 100)
    long_folder.mkdir()
    for temporary_folder, parent_folder in (("/var/tmp", "/var/tmp"), (str(long_folder), "/tmp")):
        monkeypatch.setattr("tempfile.tempdir", temporary_folder)
        folder = make_socket_folder()
        assert (os.path.dirname(folder), os.stat(folder).st_mode & 0o777) == (parent_folder, 0o700)
        os.rmdir(folder)
