"""The files of a bundle while a command reads it."""

from pathlib import Path

import pytest

from nsadmin.client.bundles import bundle_state
from nsadmin.client.bundles.bundle_file import InvalidBundleError, SupportBundle
from nsadmin.operations.state_folder import find_state_home
from tests.support.bundles import write_bundle


def test_journals_and_state_are_files_until_the_command_ends(tmp_path: Path) -> None:
    files = {"journals/ns-1/0.jsonl": b"{}\n", "state/drains/c/x.json": b"[]"}
    with SupportBundle(write_bundle(tmp_path / "a.zip", {}, files=files)) as bundle:
        with bundle_state.enter_folder(bundle) as journal_folders:
            [journal_folder] = journal_folders
            assert (Path(journal_folder) / "0.jsonl").read_bytes() == b"{}\n"
            state_home = find_state_home()
            assert state_home == bundle_state.get_state_home()
            assert (state_home / "drains/c/x.json").read_bytes() == b"[]"
        assert bundle_state.get_state_home() is None
        assert not state_home.exists()
        assert find_state_home() != state_home


def test_a_file_outside_the_folders_is_refused(tmp_path: Path) -> None:
    with (
        SupportBundle(write_bundle(tmp_path / "a.zip", {}, files={"state/../../evil.json": b"{}"})) as bundle,
        pytest.raises(InvalidBundleError, match="a file outside its folders"),
        bundle_state.enter_folder(bundle),
    ):
        pass
