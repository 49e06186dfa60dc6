"""One simulated removal of a broker by the command line, `drain --for-good --move-queues`, with faults."""

import io
import os
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from typing import ClassVar
from unittest.mock import patch

from namesrv_core.errors import RocketMQError
from nsadmin.app import BatchContext, run_command_line
from nsadmin.commands.procedures import queue_removal, signals
from nsadmin.console import session
from nsadmin.operations.inventory.keeper import OFF_VARIABLE
from tests.simulation.broker import HEARTBEAT_MS
from tests.simulation.cluster import BROKER, FAULT_KINDS
from tests.simulation.operated_run import STATE_HOME
from tests.simulation.queue_run import QueueRun
from tests.simulation.world import InvariantBroken

_PATIENCE_MS = 30 * 60_000
"""After this time all faults end."""


class RemovalRun(QueueRun):
    """A run of one seed. The broker is removed when the command has succeeded."""

    # Another operator who changes topics makes the plan stale.
    fault_kinds: ClassVar = tuple(
        kind
        for kind in FAULT_KINDS
        if kind not in ("change topic", "create topic", "delete topic", "stale slave", "undrain by other")
    )
    step_count: ClassVar = 600

    def run(self) -> None:
        self.prepare_clients()
        backlog = self.random.choice((0, 20, 200))
        for queue_id in range(4):
            self.masters[BROKER].queues.stored["emails", queue_id] = [self.world.true_ms] * backlog
        self.start_cluster()
        self.begin_faults()
        self.cluster.network.after_change = self.require_writable
        self.repeat_command(f"drain {BROKER} --for-good --move-queues", self._remove, lambda error: False)
        self._require_removable()

    def _remove(self) -> bool:
        world, began_ms = self.world, self.world.true_ms

        def pause_seconds(seconds: float) -> None:
            world.pause_seconds(seconds)
            if world.true_ms - began_ms > _PATIENCE_MS:
                self.end_faults()
            if world.true_ms - began_ms > 3 * _PATIENCE_MS:
                raise InvariantBroken("the command does not end")

        clock = self.clock._replace(pause_seconds=pause_seconds)
        output = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
        environment = {"NSADMIN_STATE": str(STATE_HOME), OFF_VARIABLE: "off"}
        words = ["drain", BROKER, "--for-good", "--move-queues", "--yes"]
        with ExitStack() as stack:
            stack.enter_context(redirect_stdout(output))
            stack.enter_context(redirect_stderr(output))
            stack.enter_context(patch.dict(os.environ, environment))
            stack.enter_context(patch.object(signals, "SYSTEM_CLOCK", clock))
            stack.enter_context(patch.object(signals, "_SLICE_SECONDS", 1_000))
            stack.enter_context(patch.object(queue_removal, "sleep", pause_seconds))
            stack.enter_context(patch.object(session, "time", lambda: world.clock_ms / 1000))
            batch = BatchContext({}, self.cluster.network.pool)
            exit_code = run_command_line([*words, "-n", ";".join(self.cluster.name_servers)], batch)
        for line in output.buffer.getvalue().decode().splitlines():
            world.tell(f"nsadmin: {line.rstrip()}")
        if exit_code:
            raise RocketMQError(f"exit code {exit_code}")
        return True

    def _require_removable(self) -> None:
        """Nobody writes to the broker or has anything to read there, and the other one has its queues."""
        broker = self.masters[BROKER]
        self.require_no_writers(broker)
        for name, group in self.groups.items():
            for topic in group.topics:
                if unread := broker.queues.count_unread(name, topic, 0):
                    raise InvariantBroken(
                        f"safe to remove, but {name} has not read {unread} messages of {topic}"
                    )
        broker.stop(is_abrupt=False)
        self.end_faults()
        self.world.begin_process()
        self.world.pass_time(HEARTBEAT_MS)
        for topic in self.topics:
            if topic in broker.model.topic_table.configs:
                raise InvariantBroken(f"the queues were moved, and {BROKER} still has {topic}")
        self.require_no_rejected_sends()
        self.require_audited()
        del self.masters[BROKER]
        self.require_everything_read()
