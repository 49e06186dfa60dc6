"""Who signs, and how connections are secured."""

from pathlib import Path
from typing import Any

import pytest

from namesrv_core.errors import BadSettings
from nsadmin.client.connection.access_options import Credentials, Tls
from nsadmin.client.connection.credentials import FoundCredentials
from nsadmin.console.contexts import Context, ContextTls
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.settings.connection_security import find_credentials, resolve_tls
from nsadmin.console.settings.context_choice import NO_CONTEXT, ChosenContext

ME = Credentials("me", "s3cret")


@pytest.fixture(autouse=True)
def environment(config: Path) -> None:
    pass


def chosen(context: Context, by_name: bool = False, folder: Path = Path("/etc/nsadmin")) -> ChosenContext:
    return ChosenContext("lab", context, by_name, folder)


def set_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NSADMIN_ACCESS_KEY", "env")
    monkeypatch.setenv("NSADMIN_SECRET_KEY", "s3cret")


def test_nobody_signs_where_nobody_is_named() -> None:
    assert find_credentials({}, NO_CONTEXT) is None


def test_a_context_signs_with_its_own_or_with_those_of_its_source(tmp_path: Path) -> None:
    assert find_credentials({}, chosen(Context(credentials=ME))) == FoundCredentials(ME, "context lab")
    (tmp_path / "me.yaml").write_text("accessKey: me\nsecretKey: s3cret\n")
    (tmp_path / "me.yaml").chmod(0o600)
    of_file = chosen(Context(credentials="file:me.yaml"), folder=tmp_path)
    assert find_credentials({}, of_file) == FoundCredentials(ME, "context lab (file:me.yaml)")


def test_the_environment_comes_before_the_context_in_use_but_not_before_one_that_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    set_environment(monkeypatch)
    of_environment = FoundCredentials(Credentials("env", "s3cret"), "env")
    assert find_credentials({}, NO_CONTEXT) == of_environment
    assert find_credentials({}, chosen(Context(credentials=ME))) == of_environment
    assert find_credentials({}, chosen(Context(credentials=ME), by_name=True)) == FoundCredentials(
        ME, "context lab"
    )
    assert find_credentials({}, chosen(Context(), by_name=True)) == of_environment


def test_a_source_that_is_given_comes_first_and_none_is_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_environment(monkeypatch)
    tools = tmp_path / "tools.yml"
    tools.write_text("accessKey: you\nsecretKey: s3cret\n")
    tools.chmod(0o600)
    credentials = find_credentials(
        {"credentials": f"tools:{tools}"}, chosen(Context(credentials=ME), by_name=True)
    )
    assert credentials == FoundCredentials(Credentials("you", "s3cret"), f"tools:{tools}")
    assert find_credentials({"credentials": "none"}, chosen(Context(credentials=ME))) is None
    with pytest.raises(BadSettings):
        find_credentials({"credentials": "nowhere"}, NO_CONTEXT)


def test_last_of_all_is_mqadmins_file_and_what_is_wrong_with_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "conf").mkdir()
    tools = tmp_path / "conf" / "tools.yml"
    tools.write_text("accessKey: mq\nsecretKey: s3cret\n")
    tools.chmod(0o644)
    monkeypatch.setenv("ROCKETMQ_HOME", str(tmp_path))
    credentials = find_credentials({}, chosen(Context()))
    assert credentials is not None
    assert (credentials.credentials, credentials.source) == (Credentials("mq", "s3cret"), f"tools:{tools}")
    warning = (
        f"nsadmin: all users of this machine can read the secret key in {tools}: run `chmod o-r {tools}`\n"
    )
    assert capsys.readouterr().err == warning
    assert find_credentials({}, chosen(Context(credentials=ME))) == FoundCredentials(ME, "context lab")


def test_connections_are_plain_unless_something_says_otherwise() -> None:
    assert resolve_tls({}, NO_CONTEXT) is None
    assert resolve_tls({"tls": True}, NO_CONTEXT) == Tls()
    assert resolve_tls({}, chosen(Context(tls=ContextTls()))) == Tls()
    assert resolve_tls({"tls": False}, chosen(Context(tls=ContextTls()))) is None


def test_what_is_given_comes_over_what_the_context_has() -> None:
    context = Context(tls=ContextTls("ca.pem", "me.pem", "me.key", "pa55", None, "mq"))
    folder = Path("/etc/nsadmin")
    assert resolve_tls({}, chosen(context)) == Tls(
        folder / "ca.pem", folder / "me.pem", folder / "me.key", "pa55", "mq"
    )
    given = {"tls_ca": "/x/ca.pem", "tls_server_name": "other"}
    assert resolve_tls(given, chosen(context)) == Tls(
        Path("/x/ca.pem"), folder / "me.pem", folder / "me.key", "pa55", "other"
    )
    assert resolve_tls({"tls_cert": "c", "tls_key": "k"}, NO_CONTEXT) == Tls(None, Path("c"), Path("k"))


@pytest.mark.parametrize(
    ("values", "context"), [({"insecure": True}, Context()), ({}, Context(tls=ContextTls(verify=False)))]
)
def test_whoever_checks_no_certificates_is_told_so(
    values: dict[str, Any], context: Context, capsys: pytest.CaptureFixture[str]
) -> None:
    assert resolve_tls(values, chosen(context)) == Tls(verify=False)
    warning = (
        "nsadmin: INSECURE: certificates are not verified, so an attacker can answer in a server's place\n"
    )
    assert capsys.readouterr().err == warning


def test_no_tls_with_files_of_tls_is_refused() -> None:
    with pytest.raises(UsageError, match="--no-tls excludes the other TLS options: pass only one of them"):
        resolve_tls({"tls": False, "tls_ca": "x"}, NO_CONTEXT)


def key_password(source: str | None, folder: Path = Path("/etc/nsadmin")) -> str | None:
    tls = resolve_tls({}, chosen(Context(tls=ContextTls(key_password_from=source)), folder=folder))
    assert tls is not None
    return tls.key_password


def test_the_password_of_a_key_is_where_it_is_said_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NSADMIN_KEY_PASSWORD", "usual")
    monkeypatch.setenv("PW", "of the environment")
    (tmp_path / "pw").write_text("of a file\nmore\n")
    assert key_password(None) == "usual"
    assert key_password("env:PW") == "of the environment"
    assert key_password("file:pw", tmp_path) == "of a file"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("env:NOPE", "env:NOPE (context lab: tls.keyPasswordFrom) is empty: set the key's password"),
        ("file:/nowhere", "context lab: tls.keyPasswordFrom: cannot read /nowhere: "),
        ("pa55", "invalid value for context lab: tls.keyPasswordFrom: write env:NAME or file:PATH"),
        ("env:", "invalid value for context lab: tls.keyPasswordFrom: write env:NAME or file:PATH"),
    ],
)
def test_a_password_that_is_not_there_is_one_line(source: str, said: str) -> None:
    with pytest.raises(UsageError) as failed:
        key_password(source)
    assert str(failed.value).startswith(said)
    assert "pa55" not in str(failed.value)


def test_tls_of_the_environment_comes_before_the_context_in_use_and_after_a_named_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    context = Context(tls=ContextTls(server_name="context"))
    monkeypatch.setenv("NSADMIN_TLS_CA", "/x/ca.pem")
    monkeypatch.setenv("NSADMIN_TLS_SERVER_NAME", "environment")
    monkeypatch.setenv("NSADMIN_KEY_PASSWORD", "pa55")
    environment_tls = Tls(Path("/x/ca.pem"), key_password="pa55", server_name="environment")
    assert resolve_tls({}, NO_CONTEXT) == environment_tls
    assert resolve_tls({}, chosen(context)) == environment_tls
    named_tls = resolve_tls({}, chosen(context)._replace(is_named=True))
    assert named_tls is not None
    assert named_tls.server_name == "context"
    # An option replaces its own field, and --no-tls all of them.
    assert resolve_tls({"tls_server_name": "given"}, NO_CONTEXT) == environment_tls._replace(
        server_name="given"
    )
    assert resolve_tls({"tls": False}, NO_CONTEXT) is None


@pytest.mark.parametrize(("text", "expected"), [("1", Tls()), ("0", None), ("", None)])
def test_the_switch_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, text: str, expected: Tls | None
) -> None:
    monkeypatch.setenv("NSADMIN_TLS", text)
    assert resolve_tls({}, NO_CONTEXT) == expected


def test_a_switch_of_the_environment_that_is_neither_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NSADMIN_TLS", "yes")
    with pytest.raises(UsageError, match="invalid NSADMIN_TLS 'yes': use 1 or 0"):
        resolve_tls({}, NO_CONTEXT)
