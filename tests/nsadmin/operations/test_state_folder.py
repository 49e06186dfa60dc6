"""The folder of state, and the names of files in it."""

from pathlib import Path

from nsadmin.operations.state_folder import escape_file_name, find_state_home


def test_the_environment_decides_the_folder() -> None:
    assert find_state_home({"NSADMIN_STATE": "/s"}) == Path("/s")
    assert find_state_home({"XDG_STATE_HOME": "/x"}) == Path("/x/nsadmin")
    assert find_state_home({}) == Path("~/.local/state/nsadmin").expanduser()


def test_escaped_names_differ_and_cannot_leave_their_folder() -> None:
    raw_names = ["a", "A/b", "A b", "..", ".", "", "A%2fb", "A%b", "a\x00", "a\n", "é"]
    escaped_names = [escape_file_name(raw_name) for raw_name in raw_names]
    assert len(set(escaped_names)) == len(raw_names)
    assert not {".", "..", ""} & set(escaped_names)
    assert not any(character in name for name in escaped_names for character in "/\x00\n")
