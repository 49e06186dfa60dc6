"""FaultContext, which applies faults to a lab cluster and records the truth about them."""

from collections.abc import Sequence
from typing import Any

from namesrv_core.lab.lab_cluster import LabBroker, LabCluster, LabNameServer
from namesrv_core.lab.scenario import Fault, match_names
from namesrv_core.lab.truth_log import Deed, ExpectedEvent, TruthLog


class FaultContext:
    """A lab cluster and its truth log. `began` is the start of the scenario, in seconds."""

    def __init__(self, cluster: LabCluster, truth_log: TruthLog, began_seconds: float) -> None:
        self.cluster = cluster
        self._truth_log = truth_log
        self._began_seconds = began_seconds

    def record_deed(
        self,
        fault: str,
        phase: str,
        affected_names: Sequence[str] = (),
        expected: Sequence[ExpectedEvent] = (),
        **details: Any,
    ) -> None:
        now_seconds = self.cluster.clock_seconds()
        elapsed_seconds = round(now_seconds - self._began_seconds, 3)
        self._truth_log.append_deed(
            Deed(
                int(now_seconds * 1000),
                elapsed_seconds,
                fault,
                phase,
                tuple(affected_names),
                details,
                tuple(expected),
            )
        )

    def matching_brokers(self, fault: Fault) -> list[LabBroker]:
        """The running brokers that the fault names."""
        names = match_names(fault.brokers, self.cluster.lab_brokers)
        return [b for b in map(self.cluster.lab_brokers.__getitem__, names) if b.run_state == "up"]

    def matching_servers(self, fault: Fault) -> list[LabNameServer]:
        """The running name servers that the fault names."""
        names = match_names(fault.namesrvs, self.cluster.name_servers)
        return [s for s in map(self.cluster.name_servers.__getitem__, names) if s.run_state == "up"]


def member_names(lab_members: Sequence[LabBroker] | Sequence[LabNameServer]) -> list[str]:
    return [lab_member.name for lab_member in lab_members]


def broker_addrs(brokers: Sequence[LabBroker]) -> list[str]:
    return [broker.reserved_port.socket_addr for broker in brokers]
