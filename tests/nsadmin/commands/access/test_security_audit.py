"""securityAudit: formats and exit codes."""

import json

import pytest

from namesrv_core.protocol.codes import RequestCode
from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeNameServer, closed_port, refuse_with


def test_what_stands_open_is_a_warning_with_what_to_do(run: Run) -> None:
    with FakeNameServer() as server:
        result = run("securityAudit", "-n", server.addr)
        assert result.code == 1
        lines = result.out.splitlines()
        assert lines[0] == "WARNING: 0 critical problems, 2 warnings; servers: 1"
        assert "    name server " + server.addr in lines
        assert any(
            line.startswith("    remedy: Apache's name server cannot authenticate clients") for line in lines
        )
        result = run("securityAudit", "-n", server.addr, "--format", "json")
        whole = json.loads(result.out)
        assert (result.code, whole["check"], whole["state"], whole["exitCode"]) == (
            1,
            "security",
            "WARNING",
            1,
        )
        assert {part["check"]: part["state"] for part in whole["checks"]} == {
            "openNameServer": "WARNING",
            "noTls": "WARNING",
            "openReads": "OK",
        }


@pytest.mark.parametrize("form", ["nagios", "prometheus", "text"])
def test_other_formats(run: Run, form: str) -> None:
    with FakeNameServer() as server:
        result = run("securityAudit", "-n", server.addr, "--format", form, "--warning", "~:")
    assert result.code == 0
    heads = {
        "nagios": "SECURITY OK - 0 critical problems, 2 warnings; servers: 1",
        "prometheus": "# HELP nsadmin_check_state",
        "text": "OK: 0 critical",
    }
    assert result.out.startswith(heads[form])


def test_a_secret_that_is_told_is_critical_and_not_repeated(run: Run) -> None:
    with FakeNameServer() as server:
        server.config["controllerPassword"] = "tell nobody"
        result = run("securityAudit", "-n", server.addr)
    assert result.code == 2
    assert "openSecrets" in result.out
    assert "controllerPassword" in result.out
    assert "tell nobody" not in result.out + result.err


def test_what_cannot_be_seen_is_unknown(run: Run) -> None:
    gone = f"127.0.0.1:{closed_port()}"
    result = run("securityAudit", "-n", gone)
    assert (result.code, result.out.splitlines()[0]) == (
        3,
        "UNKNOWN: 0 critical problems, 0 warnings; servers: 1",
    )
    with FakeNameServer() as server:
        for code in (RequestCode.GET_NAMESRV_CONFIG, RequestCode.GET_BROKER_CLUSTER_INFO):
            server.handlers[code] = refuse_with(16, "who are you?")
        result = run("securityAudit", "-n", server.addr, "--warning", "~:")
    assert result.code == 3
    assert "unreadSettings" in result.out


def test_a_limit_that_is_none_is_refused(run: Run) -> None:
    result = run("securityAudit", "--critical", "many")
    assert (result.code, result.out) == (3, "")
