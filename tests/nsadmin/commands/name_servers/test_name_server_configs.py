"""getNamesrvConfig and updateNamesrvConfig."""

import json

import pytest

from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeNameServer


def test_settings_of_every_server(run: Run, first_server: FakeNameServer, dead_addr: str) -> None:
    result = run("getNamesrvConfig", "-n", f"{dead_addr};{first_server.addr}", "--json")
    assert (result.code, result.err) == (
        3,
        f"nsadmin: name server {dead_addr}: connection refused, no server listens on this port\n",
    )
    assert json.loads(result.out) == [
        {"namesrvAddr": first_server.addr, "key": "listenPort", "value": "9876"},
        {"namesrvAddr": first_server.addr, "key": "waitSecondsForService", "value": "45"},
    ]


@pytest.mark.parametrize(
    "words", [("waitSecondsForService", "9"), ("-k", "waitSecondsForService", "-v", "9")]
)
def test_an_update_shows_what_was_read_back(run: Run, both_servers: str, words: tuple[str, ...]) -> None:
    result = run("updateNamesrvConfig", *words, both_servers, "--json")
    undo = "nsadmin updateNamesrvConfig -k waitSecondsForService -v 45"
    assert (result.code, result.err) == (0, f"nsadmin: to undo it: {undo}\n")
    assert [list(row.items())[1:] for row in json.loads(result.out)] == [
        [
            ("key", "waitSecondsForService"),
            ("changes", "45 -> 9"),
            ("before", "45"),
            ("after", "9"),
            ("result", "done"),
            ("error", None),
        ]
    ] * 2


@pytest.mark.parametrize(
    ("key", "value", "error"),
    [
        ("listenPort", "x", 'invalid value "x" of listenPort: use a whole number (now "9876")'),
        ("kvConfigPath", "/x", "NO_PERMISSION (16): Can not update config in black list."),
    ],
)
def test_what_is_invalid_or_refused_fails(
    run: Run, first_server: FakeNameServer, key: str, value: str, error: str
) -> None:
    first_server.config["kvConfigPath"] = "/y"
    result = run("updateNamesrvConfig", key, value, "-n", first_server.addr, "--json")
    assert result.code == 1
    assert [(row["after"], row["result"], row["error"]) for row in json.loads(result.out)] == [
        (None, "failed", error)
    ]


def test_a_dry_run_knows_which_keys_there_are(
    run: Run, both_servers: str, first_server: FakeNameServer
) -> None:
    result = run("updateNamesrvConfig", "listenPort", "1", both_servers, "--dry-run", "--json")
    planned_rows = [
        (row["before"], row["after"], row["changes"], row["result"]) for row in json.loads(result.out)
    ]
    assert planned_rows == [("9876", "1", "9876 -> 1", "dry-run")] * 2
    unknown = run("updateNamesrvConfig", "nope", "1", both_servers)
    assert (unknown.code, unknown.err) == (
        5, 'nsadmin: no setting "nope": `nsadmin getNamesrvConfig` lists the settings\n',
    )  # fmt: skip
    assert set(first_server.asked_codes()) == {319}
