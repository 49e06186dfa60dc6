"""The connection of a context and of the environment, and which source wins."""

from pathlib import Path

import pytest

from nsadmin import AdminClient, BadAddress, BadSettings, Credentials, ReadOnlyAccess, Tls
from nsadmin.console.contexts import Context, Contexts, ContextTls, save_contexts
from nsadmin.library.context_connection import resolve_connection
from tests.support.bundles import NAMESRV, json_answer, request_key, write_bundle

PROD = Context(
    "a:1;b:2",
    timeout=7.0,
    credentials=Credentials("context-key", "context-secret"),
    tls=ContextTls(server_name="rmq.example"),
)


@pytest.fixture(autouse=True)
def saved_contexts(contexts_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_contexts(contexts_file, Contexts({"prod": PROD, "empty": Context()}, current_name="prod"))
    for name in ("NAMESRV_ADDR", "NSADMIN_ACCESS_KEY", "NSADMIN_SECRET_KEY", "ROCKETMQ_HOME"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("name", ["prod", None])
def test_a_context_has_name_servers_credentials_and_tls(name: str | None) -> None:
    connection = resolve_connection(name)
    assert connection.find_name_servers().addrs == ("a:1", "b:2")
    access = connection.access
    assert (access.timeout, access.tls and access.tls.server_name) == (7.0, "rmq.example")
    assert access.credentials == Credentials("context-key", "context-secret")
    assert connection.context_name == "prod"


def test_arguments_win_over_the_context() -> None:
    access = resolve_connection(
        "prod", timeout=1.0, credentials=Credentials("k", "s"), tls=Tls(server_name="other")
    ).access
    assert (access.timeout, access.credentials, access.tls) == (
        1.0,
        Credentials("k", "s"),
        Tls(server_name="other"),
    )
    connection = resolve_connection("prod", namesrv_addr="c:3", credentials="none", tls=False)
    assert connection.find_name_servers().addrs == ("c:3",)
    assert (connection.access.credentials, connection.access.tls) == (None, None)


def test_the_environment_wins_over_the_context_in_use_but_not_over_a_named_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in {
        "NAMESRV_ADDR": "e:5",
        "NSADMIN_ACCESS_KEY": "environment-key",
        "NSADMIN_SECRET_KEY": "s",
        "NSADMIN_TLS_CA": "/ca.pem",
        "NSADMIN_TLS_SERVER_NAME": "environment.example",
    }.items():
        monkeypatch.setenv(name, value)
    in_use, named = resolve_connection(None), resolve_connection("prod")
    assert in_use.find_name_servers().addrs == ("e:5",)
    assert in_use.access.credentials == Credentials("environment-key", "s")
    assert in_use.access.tls == Tls(Path("/ca.pem"), server_name="environment.example")
    assert named.access == resolve_connection("prod").access
    assert named.access.tls == Tls(server_name="rmq.example")
    assert resolve_connection("empty").access.tls == in_use.access.tls


def test_a_mistake_is_an_error_of_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadSettings, match=r'no context "prd"; did you mean "prod"\?'):
        AdminClient.from_context("prd")
    with pytest.raises(BadAddress):
        AdminClient.from_context("prod", namesrv_addr="a:b:c/")
    with pytest.raises(BadSettings, match="timeout"):
        AdminClient.from_context("prod", timeout=-1)
    monkeypatch.setenv("NSADMIN_TLS", "yes")
    with pytest.raises(BadSettings, match="invalid NSADMIN_TLS 'yes': use 1 or 0"):
        AdminClient.from_context("empty")


def test_a_warning_is_a_python_warning_and_not_a_line_on_stderr(
    contexts_file: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    save_contexts(contexts_file, Contexts({"lab": Context("a:1", tls=ContextTls(verify=False))}))
    with pytest.warns(RuntimeWarning, match="certificates are not verified"):
        AdminClient.from_context("lab").close()
    assert capfd.readouterr().err == ""


def test_a_bundle_replaces_the_servers(tmp_path: Path, contexts_file: Path) -> None:
    answers = {request_key(206): json_answer({"topicList": ["orders"]})}
    bundle_path = write_bundle(tmp_path / "case.nsbundle.zip", {NAMESRV: answers})
    save_contexts(contexts_file, Contexts({"case": Context(bundle=str(bundle_path))}))
    for admin in (AdminClient.from_context("case"), AdminClient.from_context(bundle=bundle_path)):
        with admin:
            assert admin.topics.list_names() == ("orders",)
            with pytest.raises(ReadOnlyAccess):
                admin.kv.put_value("N", "k", "v")
    with pytest.raises(BadSettings, match="--bundle: cannot read"):
        AdminClient.from_context(bundle=tmp_path / "none.zip")
