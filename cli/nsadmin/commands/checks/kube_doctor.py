"""Owns kube doctor, a read-only check of RocketMQ in a Kubernetes namespace."""

from nsadmin.client.connection.tunnels.tunnel import TunnelError
from nsadmin.client.connection.tunnels.tunnel_targets import KubeTarget
from nsadmin.command_line.declarations import command
from nsadmin.commands.checks.check_runner import (
    CheckOutcome,
    CriticalKindsOption,
    WarningKindsOption,
    parse_limits,
    run_probe,
)
from nsadmin.commands.columns.checks import CHECK_COLUMNS, CHECKS
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import CheckVerdict
from nsadmin.console.session import Session

DOCTOR_COLUMNS = (*CHECK_COLUMNS, CHECKS)


@command(
    columns=DOCTOR_COLUMNS,
    agent_refusal="it runs kubectl of this machine",
    examples=("elsewhere", "the lab runs in no Kubernetes cluster"),
)
def kube_doctor(
    session: Session, warning: WarningKindsOption = None, critical: CriticalKindsOption = None
) -> CheckVerdict:
    """Examine RocketMQ in a Kubernetes namespace: access, addresses, volumes and restarts, with remedies.

    nsadmin reads pods, services and volumes with kubectl, and the registered brokers from the name servers.
    It recognizes servers of the operator, of Helm charts and of plain StatefulSets by their labels, ports
    and programs. Nothing is changed.

    Critical findings: no name server, a server that is not ready, a store without a persistent volume, no
    right to forward ports. Warnings: addresses that nsadmin cannot forward, brokers that no name server
    lists, and settings that lose messages or stop producers during a restart. Findings with the state OK
    show what is deployed.

    Examples:
        # Examine the namespace rocketmq of the current context of kubectl
        nsadmin kube doctor --kube rocketmq
        # Alert only on critical findings, for Nagios
        nsadmin kube doctor --kube prod/rocketmq --warning '~:' --format nagios
    """
    from nsadmin.operations.kubernetes.observer import observe_namespace
    from nsadmin.operations.kubernetes.rules import DOCTOR_MEASURES, judge_namespace

    target = session.options.access.tunnel
    if not isinstance(target, KubeTarget):
        raise UsageError("missing namespace: pass --kube NAMESPACE, or use a context with kube")
    kube_target: KubeTarget = target
    scale = parse_limits("kubernetes", DOCTOR_MEASURES, warning, critical)

    def examine_namespace() -> CheckOutcome:
        try:
            return judge_namespace(scale, observe_namespace(kube_target, session.admin))
        except TunnelError as error:
            raise TunnelError(f"{kube_target}: {error}") from None

    return run_probe(session, "kubernetes", examine_namespace)
