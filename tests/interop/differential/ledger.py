"""What a sequence has done so far, as far as the tolerance table must know it."""

from dataclasses import dataclass, field

from tests.interop.differential.operations import Kind, Op, Outcome


@dataclass
class Ledger:
    """Fed with each operation and Java's outcome, in order."""

    left_traces: bool = False
    removals: int = 0
    shared_at_close: bool = False
    astray_at_close: bool = False
    clusters_of: dict[str, set[str]] = field(default_factory=dict)
    disconnected: set[tuple[str, str]] = field(default_factory=set)
    _owner: dict[tuple[str, str], tuple[int, set[str]]] = field(default_factory=dict)

    @property
    def loosely_clustered(self) -> set[str]:
        """Brokers that came or went under more than one cluster's name, and those clusters."""
        several = {name: clusters for name, clusters in self.clusters_of.items() if len(clusters) > 1}
        return set(several).union(*several.values())

    def record(self, op: Op, java: Outcome) -> None:
        """Note what the operation did to the servers."""
        self.left_traces = self.shared_at_close = self.astray_at_close = False
        if op.kind in (Kind.CLOSE, Kind.RESET) or java.closed:
            self._close(op.connection)
        elif op.code == 103:
            self._register(op, java)
        elif op.code in (104, 216):
            self.removals += 1
            if op.code == 104:
                self._unregister(op)

    def _register(self, op: Op, java: Outcome) -> None:
        ext = {key: str(value) for key, value in (op.ext or {}).items()}
        refused = bool(java.answers) and java.answers[0].code != 0
        if refused:
            self.left_traces = java.answers[0].remark == "register broker failed"
            return
        self.removals += "deletes topics" in op.marks
        self._name_cluster(op)
        entry = ext.get("clusterName", ""), ext.get("brokerAddr", "")
        names = self._owner.get(entry, (0, set()))[1] | {ext.get("brokerName", "")}
        self._owner[entry] = op.connection, names
        self.disconnected.discard(entry)

    def _unregister(self, op: Op) -> None:
        ext = {key: str(value) for key, value in (op.ext or {}).items()}
        self._owner.pop((ext.get("clusterName", ""), ext.get("brokerAddr", "")), None)
        self._name_cluster(op)

    def _name_cluster(self, op: Op) -> None:
        ext = op.ext or {}
        self.clusters_of.setdefault(str(ext.get("brokerName")), set()).add(str(ext.get("clusterName")))

    def _close(self, connection: int) -> None:
        """An address's live entry belongs to the connection that registered it last."""
        held = {entry: names for entry, (owner, names) in self._owner.items() if owner == connection}
        names = set().union(*held.values())
        self.shared_at_close = len(held) > 1 or len(names) > 1
        self.astray_at_close = not self.loosely_clustered.isdisjoint(names)
        self.removals += bool(held)
        self.disconnected.update(held)
        for entry in held:
            del self._owner[entry]
