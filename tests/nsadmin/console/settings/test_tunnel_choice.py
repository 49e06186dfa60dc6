"""Which tunnel is used: command line, --context, environment, current context."""

import pytest

from nsadmin.client.connection.tunnels.tunnel_targets import KubeTarget, SshTarget
from nsadmin.console.contexts import Context
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.settings.context_choice import NO_CONTEXT, ChosenContext
from nsadmin.console.settings.tunnel_choice import choose_tunnel


def context(is_named: bool = False, kube: str | None = None, ssh: str | None = None) -> ChosenContext:
    return ChosenContext("prod", Context(kube=kube, ssh=ssh), is_named, "")


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NSADMIN_KUBE", "NSADMIN_SSH"):
        monkeypatch.delenv(name, raising=False)


def test_connections_are_direct_by_default() -> None:
    assert choose_tunnel({}, NO_CONTEXT) is None


def test_the_command_line_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NSADMIN_KUBE", "env")
    chosen = choose_tunnel({"kube": None, "ssh": "ops@jump:22"}, context(kube="mq"))
    assert chosen == (SshTarget("ops@jump", 22), "given", False)


def test_the_environment_comes_before_the_context_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NSADMIN_KUBE", " prod/env ")
    assert choose_tunnel({}, context(ssh="jump")) == (KubeTarget("env", "prod"), "environment", True)
    assert choose_tunnel({}, context(True, ssh="jump")) == (SshTarget("jump"), "context", False)
    monkeypatch.setenv("NSADMIN_KUBE", "")
    assert choose_tunnel({}, context(kube="mq")) == (KubeTarget("mq"), "context", True)


@pytest.mark.parametrize(
    ("values", "context_ssh", "variables", "text"),
    [
        ({"kube": "a", "ssh": "b"}, None, {}, "--kube and --ssh exclude each other: keep only one of them"),
        (
            {},
            None,
            {"NSADMIN_KUBE": "a", "NSADMIN_SSH": "b"},
            "NSADMIN_KUBE and NSADMIN_SSH exclude each other: keep only one of them",
        ),
        ({"ssh": "-x"}, None, {}, '--ssh: invalid SSH host "-x": use USER@HOST, USER@HOST:PORT or an alias'),
        (
            {},
            None,
            {"NSADMIN_KUBE": "A"},
            'NSADMIN_KUBE: invalid Kubernetes namespace "A": use NAMESPACE or CONTEXT/NAMESPACE',
        ),
        ({}, "", {}, 'ssh of context prod: invalid SSH host "": use USER@HOST, USER@HOST:PORT or an alias'),
    ],
)
def test_a_mistake_names_its_source(
    values: dict[str, str],
    context_ssh: str | None,
    variables: dict[str, str],
    text: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(UsageError) as raised:
        choose_tunnel(values, context(ssh=context_ssh))
    assert str(raised.value) == text
