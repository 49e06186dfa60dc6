"""One simulated move of a group's offsets and its undo, by the commands of nsadmin, while faults happen.

The group has no clients. Its audit is that of the command line.
"""

import io
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from functools import partial
from typing import ClassVar
from unittest.mock import patch

from namesrv_core.errors import RocketMQError
from nsadmin.app import BatchContext, run_command_line
from nsadmin.commands.consumers import offset_moves
from nsadmin.console import session
from tests.simulation.cluster import FAULT_KINDS
from tests.simulation.consumer import ConsumerGroup
from tests.simulation.queue_run import GROUP, QueueRun, read_audit
from tests.simulation.world import START_MS, Fault, InvariantBroken

_SOURCE, _TOPIC = "others", "emails"
Offsets = dict[tuple[str, int], int]


class OffsetRun(QueueRun):
    """A run of one seed: one or two moves, and the undo of the last one."""

    # A late reset may arrive after the next one, and nobody can know.
    fault_kinds: ClassVar = tuple(
        k
        for k in FAULT_KINDS
        if k not in ("deliver late", "delete topic", "stale slave", "undrain by other", "change topic")
    )
    step_count: ClassVar = 70

    def __init__(self, seed: int, faults: list[Fault]) -> None:
        super().__init__(seed, faults)
        random = self.random
        self._moves = [random.choice(("skip", "clone", "time")) for _ in range(random.choice((1, 1, 2)))]
        self._may_differ = self._is_killed = False
        self._known_records = 0

    def prepare_clients(self) -> None:
        super().prepare_clients()
        random = self.random
        self.groups.clear()
        self.groups[GROUP] = ConsumerGroup(GROUP, (_TOPIC,))
        self.cluster.producers = []
        for broker in self.masters.values():
            if random.random() < 0.7:
                # As brokers since 5.2.
                broker.model.properties._values["useServerSideResetOffset"] = "true"
            broker.model.group_table.put_config({"groupName": _SOURCE}, START_MS)
            for queue_id in range(4):
                end = random.randrange(30)
                broker.queues.stored[_TOPIC, queue_id] = sorted(
                    START_MS - random.randrange(600_000) for _ in range(end)
                )
                for group in (GROUP, _SOURCE):
                    broker.queues.committed[group, _TOPIC, queue_id] = random.randint(0, end)

    def run(self) -> None:
        self.prepare_clients()
        self.start_cluster()
        self.begin_faults()
        for move in self._moves:
            before = self._offsets_of(GROUP)
            words = {
                "skip": ("skipAccumulatedMessage", GROUP, _TOPIC),
                "clone": ("cloneGroupOffset", _SOURCE, GROUP, _TOPIC),
                "time": ("resetOffsetByTime", GROUP, _TOPIC, "-s", str(START_MS - 300_000)),
            }[move]
            self.repeat_command(" ".join(words), partial(self._call, *words), lambda error: False)
            self._require_moved(move)
        if before != self._offsets_of(GROUP):
            self.repeat_command("resetOffsetByTime --undo", self._undo, self._cannot_undo)
        if not self._may_differ and not self.has_met("fill disk"):
            self._require_before(before)
        self.require_audited()

    def _undo(self) -> bool:
        return self._call("resetOffsetByTime", GROUP, _TOPIC, "--undo")

    def _cannot_undo(self, error: BaseException) -> bool:
        text = str(error)
        return "the audit has no" in text

    def _call(self, *words: str) -> bool:
        if self._is_killed and any(r["exitCode"] == 0 for r in read_audit()[self._known_records :]):
            # Killed after its last write: `nsadmin audit list` shows that it has succeeded.
            self._is_killed = False
            return True
        if not self._is_killed:
            self._known_records = len(read_audit())
        self._is_killed = True
        servers = ";".join(self.cluster.name_servers)
        world, output = self.world, io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
        with ExitStack() as stack:
            stack.enter_context(redirect_stdout(output))
            stack.enter_context(redirect_stderr(output))
            stack.enter_context(patch.object(offset_moves, "sleep", world.pause_seconds))
            stack.enter_context(patch.object(session, "time", lambda: world.clock_ms / 1000))
            batch = BatchContext({}, self.cluster.network.pool)
            try:
                exit_code = run_command_line([*words, "-n", servers, "--yes"], batch)
            except RocketMQError:
                self._is_killed = False
                raise
        self._is_killed = False
        text = output.buffer.getvalue().decode()
        if "--undo" not in words and not all(f"{name} " in text for name in self.masters):
            # The operator knows both brokers, and repeats a command that did not. nsadmin has done it twice.
            self._may_differ |= not exit_code
            exit_code = exit_code or 1
        for line in text.splitlines():
            world.tell(f"nsadmin: {line.rstrip()}")
        if exit_code:
            raise RocketMQError(f"exit code {exit_code}")
        return True

    # What must hold

    def _offsets_of(self, group: str) -> Offsets:
        return {
            (name, queue_id): offset
            for name, broker in self.masters.items()
            for (reader, topic, queue_id), offset in broker.queues.committed.items()
            if (reader, topic) == (group, _TOPIC)
        }

    def _require_moved(self, move: str) -> None:
        moved = self._offsets_of(GROUP)
        ends = {(n, i): b.queues.end_of(_TOPIC, i) for n, b in self.masters.items() for i in range(4)}
        if (move == "skip" and moved != ends) or (move == "clone" and moved != self._offsets_of(_SOURCE)):
            raise InvariantBroken(f"the move has succeeded, and the group is at {moved}")

    def _require_before(self, before: Offsets) -> None:
        moved = self._offsets_of(GROUP)
        if moved != before:
            differing = {
                place: (offset, moved[place]) for place, offset in before.items() if moved[place] != offset
            }
            raise InvariantBroken(f"the move is undone, but (before, now) of queues differ: {differing}")
