"""What an operand may be: a file, a name server, a context, a time."""

from pathlib import Path
from typing import Any

import pytest

from namesrv_core.events import EventsLost, KvPut
from nsadmin.client.connection.access_options import Access
from nsadmin.client.snapshots import ClusterSnapshot, encode_snapshot
from nsadmin.commands.history import snapshot_source
from nsadmin.commands.history.snapshot_source import resolve_snapshot
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.session import Session, SharedOptions
from tests.nsadmin.client.test_snapshots import PICTURE
from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeNameServer
from tests.support.journals import make_snapshot, registration_events, write_journal


@pytest.fixture
def session(run: Run) -> Session:
    """With no environment, and a file of contexts of the test's own."""
    return Session(SharedOptions())


def seen(session: Session, text: str, *journals: str, server: str | None = None) -> str:
    return resolve_snapshot(session, "--from", text, list(journals), server).source


def test_each_kind(session: Session, run: Run, first_server: FakeNameServer, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(encode_snapshot(PICTURE))
    folder = write_journal(
        tmp_path / "j", [make_snapshot("start"), *registration_events("a", "T"), KvPut("n", "k", None, "v")]
    )
    assert run("contextSet", "prod", "-n", first_server.addr).code == 0
    assert seen(session, str(tmp_path / "file")) == "s:9876"
    assert seen(session, first_server.addr) == seen(session, "prod") == first_server.addr
    at = "2025-11-21T14:03:02Z"
    assert seen(session, at, folder) == "s:9876 at 2025-11-21T14:03:02.000Z"
    other = write_journal(tmp_path / "k", [make_snapshot("start"), EventsLost(1)], "t:1")
    with pytest.raises(
        UsageError,
        match="the journals are of several name servers: pass --namesrv NAME with one of s:9876, t:1",
    ):
        seen(session, at, folder, other)
    assert seen(session, at, folder, other, server="s").startswith("s:9876 at")
    with pytest.raises(
        UsageError,
        match=r"t:1: its state at 2025-11-21T14:03:02\.000Z is unknown: the journal lost 1 event at "
        r"2025-11-21T14:03:01\.000Z; no snapshot followed yet",
    ):
        seen(session, at, other)


def test_a_context_is_asked_as_it_wants_to_be(
    session: Session, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def live(session: Session, access: Access, addrs: Any) -> ClusterSnapshot:
        return PICTURE._replace(source=f"{addrs().addrs} {access.timeout}")

    monkeypatch.setattr(snapshot_source, "_take_live_snapshot", live)
    assert run("contextSet", "prod", "-n", "h:1", "--timeout", "7").code == 0
    assert seen(session, "prod") == "('h:1',) 7.0"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "nonsense",
            (
                r'invalid value "nonsense" for --from: use a snapshot file, a name server '
                r"\(HOST:PORT\), a context, or a time, such as 2h or 2026-11-23T14:03Z$"
            ),
        ),
        ("2999-01-01", 'invalid time "2999-01-01" for --from: it is in the future, now is '),
    ],
)
def test_what_is_none(session: Session, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        seen(session, text)


def test_a_file_that_is_no_snapshot(session: Session, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("{}")
    with pytest.raises(UsageError, match=r".*file is not a snapshot: not an nsadmin-snapshot"):
        seen(session, str(tmp_path / "file"))


def test_a_damaged_journal(session: Session, tmp_path: Path) -> None:
    (tmp_path / "0000000000000001-20251121T140300000Z.jsonl.zst").write_bytes(b"nonsense")
    with pytest.raises(UsageError, match=r"cannot decompress"):
        seen(session, "2025-11-21T14:03:02Z", str(tmp_path))
