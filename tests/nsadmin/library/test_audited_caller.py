"""Changes that scripts make are lines of the audit, like those of commands."""

import subprocess
import sys
from pathlib import Path

import pytest

from nsadmin import AdminClient, AsyncAdminClient, ReadOnlyAccess
from nsadmin.console.audit import describe_user
from nsadmin.console.contexts import Context, Contexts, save_contexts
from tests.nsadmin.library.conftest import AuditLines
from tests.support.fake_servers import FakeNameServer, closed_port
from tests.support.name_servers import ROOT, ServerProgram, run_on_loop

REFUSED = "connection refused, no server listens on this port"


def test_a_change_is_one_line_with_what_was_sent_and_what_came_of_it(
    first_server: FakeNameServer,
    audit_lines: AuditLines,
    contexts_file: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "argv", ["/opt/rotate_keys.py", "--all"])
    gone = f"127.0.0.1:{closed_port()}"
    save_contexts(contexts_file, Contexts({"prod": Context(f"{first_server.addr};{gone}")}))
    with AdminClient.from_context("prod") as admin:
        admin.topics.list_names()
        admin.kv.put_value("N", "a key", "v")
    [line] = audit_lines()
    assert line.pop("time") > 1_700_000_000_000
    assert line.pop("command").startswith("python ")
    assert line == {
        "user": describe_user(),
        "context": "prod",
        "nameServers": [first_server.addr, gone],
        "sent": [
            {"server": first_server.addr, "request": "PUT_KV_CONFIG", "outcome": "SUCCESS (0)"},
            {"server": gone, "request": "PUT_KV_CONFIG", "outcome": REFUSED},
        ],
        "results": [{"request": "PUT_KV_CONFIG", "namespace": "N", "key": "a key", "value": "v"}],
        "exitCode": 3,
    }


def test_secrets_are_hidden(first_server: FakeNameServer, audit_lines: AuditLines) -> None:
    with AdminClient(first_server.addr) as admin:
        admin.kv.put_value("N", "db.password", "hush-hush")
    assert "hush-hush" not in str(audit_lines())
    assert audit_lines()[0]["results"][0]["value"] == "***"


def test_nothing_is_written_with_the_audit_off_or_for_a_refused_change(
    first_server: FakeNameServer, audit_lines: AuditLines, monkeypatch: pytest.MonkeyPatch
) -> None:
    with AdminClient(first_server.addr, read_only=True) as admin, pytest.raises(ReadOnlyAccess):
        admin.kv.put_value("N", "k", "v")
    monkeypatch.setenv("NSADMIN_AUDIT", "off")
    with AdminClient(first_server.addr) as admin:
        admin.kv.put_value("N", "k", "v")
    assert audit_lines() == []


@run_on_loop
async def test_changes_of_the_asynchronous_client_are_lines_too(
    first_server: FakeNameServer, audit_lines: AuditLines
) -> None:
    async with AsyncAdminClient(first_server.addr) as admin:
        await admin.kv.put_value("N", "k", "v")
    assert [line["exitCode"] for line in audit_lines()] == [0]


def test_an_audit_file_that_cannot_be_written_is_a_warning(
    first_server: FakeNameServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NSADMIN_AUDIT", str(tmp_path))
    with (
        AdminClient(first_server.addr) as admin,
        pytest.warns(RuntimeWarning, match="the audit has no record of this change"),
    ):
        [result] = admin.kv.put_value("N", "k", "v")
    assert (result.error, first_server.kv) == (None, {"N": {"k": "v"}})


def test_the_line_names_the_script_and_the_command_line_shows_it(
    first_server: FakeNameServer, audit_lines: AuditLines, tmp_path: Path
) -> None:
    script = tmp_path / "set stage.py"
    script.write_text(
        "import sys\nfrom nsadmin import AdminClient\n"
        "with AdminClient(sys.argv[1]) as admin:\n    admin.kv.put_value('N', 'k', sys.argv[2])\n"
    )
    environment = ServerProgram.make_environment() | {"NSADMIN_AUDIT": str(tmp_path / "audit.jsonl")}
    subprocess.run([sys.executable, script, first_server.addr, "v"], env=environment, check=True, timeout=60)
    [line] = audit_lines()
    assert line["command"] == f"python '{script}'"
    audit_list = subprocess.run(
        [sys.executable, "-m", "nsadmin", "audit", "list"],
        env=environment,
        cwd=ROOT / "cli",
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert "set stage.py" in audit_list.stdout
