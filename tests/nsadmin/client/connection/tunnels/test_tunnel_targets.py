"""Texts of --kube and --ssh."""

import pytest

from nsadmin.client.connection.addresses import BadAddress
from nsadmin.client.connection.tunnels.tunnel_targets import (
    KubeTarget,
    SshTarget,
    parse_kube_target,
    parse_ssh_target,
)


@pytest.mark.parametrize(
    ("text", "target", "label"),
    [
        ("jump", SshTarget("jump"), "ssh jump"),
        ("ops@jump.example", SshTarget("ops@jump.example"), "ssh ops@jump.example"),
        ("ops@jump:2222", SshTarget("ops@jump", 2222), "ssh ops@jump:2222"),
        ("ssh://ops@jump:22/", SshTarget("ops@jump", 22), "ssh ops@jump:22"),
        ("ops@[::1]:22", SshTarget("ops@::1", 22), "ssh ops@::1:22"),
    ],
)
def test_a_host(text: str, target: SshTarget, label: str) -> None:
    assert (parse_ssh_target(text), str(target)) == (target, label)


@pytest.mark.parametrize(
    "text", ["", "-oProxyCommand=x", "-x@jump", "a b", "ops@", "jump:0", "jump:65536", "jump:x", "ops@-x"]
)
def test_what_is_no_host(text: str) -> None:
    with pytest.raises(BadAddress, match=f'invalid SSH host "{text}": use USER@HOST'):
        parse_ssh_target(text)


@pytest.mark.parametrize(
    ("text", "target", "label"),
    [
        ("mq", KubeTarget("mq"), "kubectl mq"),
        ("prod/mq", KubeTarget("mq", "prod"), "kubectl prod/mq"),
        (
            "arn:aws:eks:eu-1:12:cluster/prod/mq",
            KubeTarget("mq", "arn:aws:eks:eu-1:12:cluster/prod"),
            "kubectl arn:aws:eks:eu-1:12:cluster/prod/mq",
        ),
    ],
)
def test_a_namespace(text: str, target: KubeTarget, label: str) -> None:
    assert (parse_kube_target(text), str(target)) == (target, label)


@pytest.mark.parametrize("text", ["", "/mq", "prod/", "Upper", "-mq", "--x/mq", "a b/mq", "m" * 64])
def test_what_is_no_namespace(text: str) -> None:
    with pytest.raises(
        BadAddress, match=r"invalid Kubernetes namespace .*: use NAMESPACE or CONTEXT/NAMESPACE"
    ):
        parse_kube_target(text)
