"""The passphrase of a backup."""

from pathlib import Path

import pytest

from nsadmin.commands.backups.backup_arguments import PASSPHRASE_VARIABLE, read_passphrase
from nsadmin.console.exit_codes import UsageError


def test_the_passphrase_is_that_of_the_file_or_else_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(PASSPHRASE_VARIABLE, raising=False)
    assert read_passphrase(None) is None
    monkeypatch.setenv(PASSPHRASE_VARIABLE, "of the environment")
    assert read_passphrase(None) == "of the environment"
    (tmp_path / "passphrase").write_text("of the file\n")
    assert read_passphrase(str(tmp_path / "passphrase")) == "of the file"


@pytest.mark.parametrize("content", [b"", b"\n", b"\xff\xfe", None])
def test_a_file_without_a_passphrase_is_refused(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "passphrase").write_bytes(content)
    with pytest.raises(UsageError, match="--passphrase-file"):
        read_passphrase(str(tmp_path / "passphrase"))
