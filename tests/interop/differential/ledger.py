"""What a sequence has done so far, as far as the tolerance table must know it."""

from dataclasses import dataclass, field

from tests.interop.differential.operations import Kind, Op, Outcome


@dataclass
class Ledger:
    """Fed with each operation and Java's outcome, in order."""

    ghost_made: bool = False
    removals: int = 0
    shared_at_close: bool = False
    clusters_of: dict[str, set[str]] = field(default_factory=dict)
    _owner: dict[tuple[str, str], int] = field(default_factory=dict)

    @property
    def doubly_clustered(self) -> list[str]:
        return [name for name, clusters in self.clusters_of.items() if len(clusters) > 1]

    def record(self, op: Op, java: Outcome) -> None:
        """Note what the operation did to the servers."""
        self.ghost_made = self.shared_at_close = False
        if op.kind in (Kind.CLOSE, Kind.RESET) or java.closed:
            self._close(op.connection)
        elif op.code == 103:
            self._register(op, java)
        elif op.code in (104, 216):
            self.removals += 1

    def _register(self, op: Op, java: Outcome) -> None:
        ext = {key: str(value) for key, value in (op.ext or {}).items()}
        name, cluster = ext.get("brokerName", ""), ext.get("clusterName", "")
        refused = bool(java.answers) and java.answers[0].code != 0
        if refused:
            self.ghost_made = java.answers[0].remark == "register broker failed" and name not in self.clusters_of
            return
        self.removals += "deletes topics" in op.marks
        self.clusters_of.setdefault(name, set()).add(cluster)
        self._owner[cluster, ext.get("brokerAddr", "")] = op.connection

    def _close(self, connection: int) -> None:
        held = [key for key, owner in self._owner.items() if owner == connection]
        self.shared_at_close = len(held) > 1
        self.removals += bool(held)
        for key in held:
            del self._owner[key]
