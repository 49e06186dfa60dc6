"""What a sequence has done so far, as far as the tolerance table must know it."""

from dataclasses import dataclass, field

from tests.interop.differential.operations import Kind, Op, Outcome


@dataclass
class LiveEntry:
    """One (cluster, address): the brokers that gave it, and the connections it may belong to."""

    names: set[str] = field(default_factory=set)
    connections: set[int] = field(default_factory=set)


@dataclass
class Ledger:
    """Fed with each operation and Java's outcome, in order."""

    left_traces: bool = False
    removals: int = 0
    shared_at_close: bool = False
    astray_at_close: bool = False
    orphan_at_close: bool = False
    clusters_of: dict[str, set[str]] = field(default_factory=dict)
    disconnected: set[tuple[str, str]] = field(default_factory=set)
    orphans: set[tuple[str, str]] = field(default_factory=set)
    _live: dict[tuple[str, str], LiveEntry] = field(default_factory=dict)

    @property
    def loosely_clustered(self) -> set[str]:
        """Brokers that came or went under more than one cluster's name, and those clusters."""
        several = {name: clusters for name, clusters in self.clusters_of.items() if len(clusters) > 1}
        return set(several).union(*several.values())

    def record(self, op: Op, java: Outcome) -> None:
        """Note what the operation did to the servers."""
        self.left_traces = self.shared_at_close = self.astray_at_close = self.orphan_at_close = False
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
        live = self._live.setdefault(entry, LiveEntry())
        live.names.add(ext.get("brokerName", ""))
        # Whether a oneway registration was accepted is not seen.
        live.connections = live.connections | {op.connection} if op.oneway else {op.connection}
        self.disconnected.discard(entry)
        self.orphans.discard(entry)

    def _unregister(self, op: Op) -> None:
        ext = {key: str(value) for key, value in (op.ext or {}).items()}
        entry = ext.get("clusterName", ""), ext.get("brokerAddr", "")
        live = self._live.get(entry, LiveEntry())
        live.names.discard(ext.get("brokerName", ""))
        if live.names:
            self.orphans.add(entry)
        else:
            self._live.pop(entry, None)
        self._name_cluster(op)

    def _name_cluster(self, op: Op) -> None:
        ext = op.ext or {}
        self.clusters_of.setdefault(str(ext.get("brokerName")), set()).add(str(ext.get("clusterName")))

    def _close(self, connection: int) -> None:
        held = {entry: live for entry, live in self._live.items() if connection in live.connections}
        names = {name for live in held.values() for name in live.names}
        self.shared_at_close = len(held) > 1 or len(names) > 1
        self.astray_at_close = not self.loosely_clustered.isdisjoint(names)
        self.orphan_at_close = not self.orphans.isdisjoint(held)
        self.removals += bool(held)
        self.disconnected.update(held)
        for entry, live in held.items():
            live.connections.discard(connection)
            if not live.connections:
                del self._live[entry]
