"""Faults that are planted in the procedures, one at a time, to see that the simulation finds each of them."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Any, NamedTuple
from unittest.mock import patch

from namesrv_core import private_files
from namesrv_core.errors import RequestError
from namesrv_core.storage import atomic_write
from nsadmin.app import CommandRun
from nsadmin.client.brokers import broker_routes
from nsadmin.client.consumers.offset_moves import OffsetAdmin
from nsadmin.client.messages.dead_letter_replay import DeadLetterReplay
from nsadmin.client.messages.dead_letters import DeadLetters
from nsadmin.client.messages.replay_memory import ReplayMemory, ReplayPlace
from nsadmin.client.name_servers.kv_config import KvAdmin
from nsadmin.client.results import ServerResult
from nsadmin.commands.consumers import offset_undo
from nsadmin.commands.procedures import queue_removal
from nsadmin.console import audit
from nsadmin.console.exit_codes import ExitCode
from nsadmin.library.audited_caller import AuditedCaller
from nsadmin.operations import process_lock
from nsadmin.operations.backups import observer as backup_observer
from nsadmin.operations.backups import restore_run
from nsadmin.operations.backups.access_restore import AccessRestore
from nsadmin.operations.drain import runner as drain_runner
from nsadmin.operations.drain import safety, state_machine, undo
from nsadmin.operations.drain.cluster_environment import ClusterEnvironment
from nsadmin.operations.drain.runner import DrainRun
from nsadmin.operations.drain.state import DrainFolder, QueueSnapshot
from nsadmin.operations.drain.state_machine import DrainStateMachine
from nsadmin.operations.drain.undo import UndoRun
from nsadmin.operations.plans import plan_file
from nsadmin.operations.plans.executor import _StepExecutor
from nsadmin.operations.procedure_clock import ProcedureClock
from nsadmin.operations.rebalance import change_sender, stage_conditions, topic_start
from nsadmin.operations.rebalance.move_stages import OPEN_WRITES, list_move_stages
from nsadmin.operations.rebalance.rebalance_plan import QueuePair
from nsadmin.operations.rebalance.run_facts import PutTopic
from nsadmin.operations.rebalance.run_machine import RebalanceMachine
from nsadmin.operations.restart import runner as restart_runner
from nsadmin.operations.restart.runner import RollingRestart
from nsadmin.operations.run_folder import StateFile
from nsadmin.operations.transfer import (
    metadata_transfer,
    offset_translation,
)
from nsadmin.operations.transfer.group_transfer import GroupTransfer
from nsadmin.operations.transfer.topic_plan import TopicPlan, TopicPlanner
from nsadmin.operations.transfer.transfer_run import TransferRun
from tests.simulation.cluster import plan_faults
from tests.simulation.procedures import PROCEDURES
from tests.simulation.repeated_reads import forget_reads
from tests.simulation.world import Fault

Wrap = Callable[..., Any]
"""Takes the original function and its arguments."""


class PlantedFault(NamedTuple):
    """`wrap` replaces the function `name` of `owner`. The schedule of `seed` finds it.

    `kinds` are the faults of its schedules, for a fault that needs certain ones; by default all.
    """

    seed: int
    title: str
    owner: Any
    name: str
    wrap: Wrap
    procedure: str = "drain"
    kinds: tuple[str, ...] | None = None

    def plan(self, seed: int) -> list[Fault]:
        run_class = PROCEDURES[self.procedure]
        random = Random(f"faults {seed}")
        return plan_faults(random, self.kinds or run_class.fault_kinds, run_class.step_count)

    @contextmanager
    def plant(self) -> Iterator[None]:
        original = getattr(self.owner, self.name)
        if isinstance(original, property):
            getter = original.fget
            replacement: Any = property(lambda own: self.wrap(getter, own))
        else:

            def replacement(*args: Any, **options: Any) -> Any:
                return self.wrap(original, *args, **options)

        forget_reads()
        with patch.object(self.owner, self.name, replacement):
            yield
        forget_reads()


def _begin_with_rules(**changes: Any) -> Wrap:
    def begin(original: Any, machine: Any, rules: Any, *args: Any) -> None:
        original(machine, rules._replace(**changes), *args)

    return begin


def _write_in_place(original: Any, path: Any, content: bytes, **options: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.write(descriptor, content)
    os.fsync(descriptor)
    os.close(descriptor)


def _write_without_sync(original: Any, path: Any, content: bytes, *modes: Any) -> None:
    with atomic_write.open_new_file(path) as file:
        file.write(content)


def _take_snapshot_again(original: Any, run: Any, saved: Any, *args: Any) -> Any:
    machine = original(run, saved, *args)
    machine.snapshot = QueueSnapshot({}, machine.snapshot.own_queues)
    return machine


def _forget_snapshot(original: Any, folder: Any, state: Any, snapshot: QueueSnapshot) -> None:
    original(folder, state, snapshot if any(state.wipes.values()) and state.closed_since else QueueSnapshot())


def _close_at_once(original: Any, run: Any, machine: Any) -> Any:
    """What was asked to close counts as closed: nothing is read back."""
    observation = original(run, machine)
    wiped = {addr for addr, times in machine.state.wipes.items() if times}
    return observation._replace(
        servers=tuple(
            server._replace(topics={t: _close_topic(facts) for t, facts in server.topics.items()})
            if server.namesrv_addr in wiped
            else server
            for server in observation.servers
        )
    )


def _close_topic(facts: Any) -> Any:
    return facts._replace(own_queue=facts.own_queue._replace(perm=facts.own_queue.perm & ~2))


def _resume_with_waits(original: Any, run: Any, saved: Any, *args: Any) -> Any:
    machine = original(run, saved, *args)
    if saved is not None:
        machine.state = machine.state._replace(closed_since=saved.state.closed_since)
    return machine


def _keep_settle_time(original: Any, machine: Any, server: Any, *args: Any) -> Any:
    closed_since = machine.state.closed_since
    is_open = original(machine, server, *args)
    machine.state = machine.state._replace(closed_since=closed_since)
    return is_open


def _believe_restored(original: Any, *args: Any) -> Any:
    with patch.object(undo, "find_differing_queues", lambda *_: {}):
        yield from original(*args)


def _open_all(original: Any, snapshot: Any, own: Any, server: Any) -> Any:
    return {t: q._replace(perm=q.perm | 2) for t, q in original(snapshot, own, server).items()}


def _restore_unseen(original: Any, routes: Any, *args: Any) -> Any:
    def find_all(topics_by_addr: Any) -> Any:
        return {a: ServerResult(a, dict.fromkeys(topics), None) for a, topics in topics_by_addr.items()}

    with (
        patch.object(routes, "_read_routes", find_all),
        patch.object(broker_routes, "_has_queues", lambda *_: True),
    ):
        return original(routes, *args)


def _overwrite_permission(original: Any, run: Any, machine: Any, observation: Any) -> Any:
    machine.state = machine.state._replace(permission=None)
    return original(run, machine, observation)


def _forget_at_any_error(original: Any, letters: Any, group: Any, span: Any, memory: Any) -> None:
    place = ReplayPlace(span.cluster_name, span.queue_span.broker_name, span.queue_span.queue_id)
    send = letters._caller.send_requests

    def note_errors(*args: Any, **options: Any) -> Any:
        answers = send(*args, **options)
        if any(answer.error is not None for answer in answers):
            memory.forget_place(place)
        return answers

    with patch.object(letters._caller, "send_requests", note_errors):
        original(letters, group, span, memory)


def _keep_routed_since(original: Any, machine: Any, topic: Any, progress: Any, *args: Any) -> Any:
    return progress if progress.routed_since is not None else original(machine, topic, progress, *args)


def _forget_failures(original: Any, records: Any, *args: Any) -> Any:
    return original([record | {"exitCode": 0} for record in records], *args)


def _record_at_end(original: Any, run: Any, rows: Any, exit_code: int) -> None:
    if exit_code != ExitCode.INTERRUPTED:
        original(run, rows, exit_code)


def _return_to_listed(original: Any, *args: Any) -> Any:
    plan = original(*args)
    return plan._replace(moves=tuple(move for move in plan.moves if move.broker_addr))


def _list_unordered_stages(original: Any, move: Any) -> Any:
    return list_move_stages(move.before, move.after)


def _open_new_queues_at_once(original: Any, move: Any) -> Any:
    return tuple(
        stage._replace(counts={b: QueuePair(max(pair), pair.write) for b, pair in stage.counts.items()})
        for stage in original(move)
    )


def _believe_batch(original: Any, run: Any, queue: Any, error: Any) -> None:
    if queue.is_unsettled and not queue.is_empty:
        queue.confirm_batch(len(queue.choose_batch()), queue.record.target_end)
        queue.is_unsettled = False
    else:
        original(run, queue, error)


PLANTED_FAULTS = (
    PlantedFault(2, "no settle time", DrainStateMachine, "__init__", _begin_with_rules(settle_ms=0)),
    PlantedFault(
        11, "half of the settle time", DrainStateMachine, "__init__", _begin_with_rules(settle_ms=15_000)
    ),
    PlantedFault(
        13, "no intervals without writes", DrainStateMachine, "__init__", _begin_with_rules(quiet_intervals=0)
    ),
    PlantedFault(
        13,
        "any number of writes is none",
        DrainStateMachine,
        "__init__",
        _begin_with_rules(write_threshold=10**9),
    ),
    PlantedFault(
        1,
        "the last name server is forgotten",
        ClusterEnvironment,
        "read_servers",
        lambda original, environment: original(environment)[:-1] or original(environment),
    ),
    PlantedFault(0, "routes are not read back", DrainRun, "_observe_cluster", _close_at_once),
    PlantedFault(
        3,
        "snapshot taken again after a kill",
        DrainRun,
        "_begin_drain",
        _take_snapshot_again,
    ),
    PlantedFault(4, "snapshot saved after the change", DrainFolder, "save", _forget_snapshot),
    PlantedFault(159, "state written in place", atomic_write, "replace_file", _write_in_place),
    PlantedFault(8, "no sync of the state file", atomic_write, "_write_new_file", _write_without_sync),
    PlantedFault(
        1,
        "state is never saved",
        StateFile,
        "save",
        lambda original, file, state: setattr(file, "_last_state", state),
    ),
    PlantedFault(31, "lock ignored", process_lock, "_try_lock", lambda original, file: True),
    PlantedFault(
        31,
        "waits continue after a kill",
        DrainRun,
        "_begin_drain",
        _resume_with_waits,
        kinds=("kill nsadmin", "step clock", "lose power"),
    ),
    PlantedFault(
        24,
        "the system's time measures the waits",
        ProcedureClock,
        "count_steadily",
        lambda original, clock: clock.now_ms,
        kinds=("step clock",),
    ),
    PlantedFault(
        380,
        "the settle time goes on without answers",
        DrainStateMachine,
        "_process_server",
        _keep_settle_time,
        kinds=("freeze name server",),
    ),
    PlantedFault(
        270,
        "name servers without the broker are safe",
        DrainStateMachine,
        "unsure_servers",
        lambda original, machine: tuple(machine.unknown_servers),
        kinds=("cut broker", "restart name server"),
    ),
    PlantedFault(
        61,
        "silent name servers are safe",
        DrainStateMachine,
        "unsure_servers",
        lambda *args: (),
        kinds=("cut name server",),
    ),
    PlantedFault(33, "lone topics are closed", state_machine, "find_lone_topics", lambda original, *args: []),
    PlantedFault(
        3,
        "topics created meanwhile are closed",
        state_machine,
        "find_lone_topics",
        lambda original, server, saved, system: [t for t in original(server, saved, system) if t in saved],
        kinds=("create topic",),
    ),
    PlantedFault(
        2_005_383,
        "undo opens what the drain did not close",
        undo,
        "find_differing_queues",
        lambda original, snapshot, own, server: original(snapshot._replace(closes_all=True), own, server),
    ),
    PlantedFault(5, "risks are not found", drain_runner, "find_risks", lambda original, *args: ()),
    PlantedFault(
        10,
        "a slave that is behind does not count",
        state_machine,
        "list_waiting_for",
        lambda original, *args: tuple(text for text in original(*args) if "the slave" not in text),
        kinds=("stale slave",),
    ),
    PlantedFault(53, "undo is not read back", UndoRun, "_verify_restored", _believe_restored),
    PlantedFault(4, "undo opens everything", undo, "find_differing_queues", _open_all),
    PlantedFault(
        9,
        "undo from the wrong snapshot",
        undo,
        "_target_queue",
        lambda original, topic, saved, saved_own, *others: saved_own.get(topic),
    ),
    PlantedFault(
        146,
        "undo forgets what changed on the broker",
        undo,
        "_target_queue",
        lambda original, topic, saved, saved_own, *others: original(topic, saved, None, *others),
    ),
    PlantedFault(
        904,
        "undo restores old numbers of queues",
        undo,
        "_target_queue",
        lambda original, topic, saved, saved_own, own, current: (
            (saved or {}).get(topic)
            if own and saved_own and own.get(topic) == saved_own.get(topic)
            else original(topic, saved, saved_own, own, current)
        ),
        kinds=("cut broker", "change topic"),
    ),
    PlantedFault(
        1,
        "undo forgets the last name server",
        ClusterEnvironment,
        "restore_queues",
        lambda original, environment, addr, queues: (
            dict.fromkeys(queues) if addr.startswith("10.0.0.2") else original(environment, addr, queues)
        ),
    ),
    PlantedFault(
        6093,
        "undo brings back a topic that was deleted",
        broker_routes.BrokerRoutes,
        "restore_queues",
        _restore_unseen,
        kinds=("delete topic",),
    ),
    PlantedFault(69, "undo reopens 4.x name servers", undo, "_needs_wipe", lambda *args: False),
    PlantedFault(
        9, "undo forgets brokerPermission", UndoRun, "_restore_permission", lambda original, *args: iter(())
    ),
    PlantedFault(
        9, "permission is saved after its removal", DrainRun, "_set_permission", _overwrite_permission
    ),
    PlantedFault(
        75,
        "a durable drain does not register again",
        ClusterEnvironment,
        "request_registration",
        lambda original, *args: None,
        kinds=("add by other",),
    ),
    PlantedFault(0, "changes are not in the audit", audit, "append_audit_record", lambda *args: None),
    PlantedFault(
        18,
        "a full disk ends the audit in silence",
        audit,
        "append_audit_record",
        lambda original, record, warn: original(record, lambda text: None),
        kinds=("fill disk",),
    ),
    PlantedFault(
        4,
        "changes without an answer are not in the audit",
        AuditedCaller,
        "_append_record",
        lambda original, caller, calls, outcomes, started_ms, errors: (
            None if any(errors) else original(caller, calls, outcomes, started_ms, errors)
        ),
        kinds=("lose answer", "cut connection"),
    ),
    PlantedFault(
        40,
        "the drain is archived before it is undone",
        UndoRun,
        "_restore_all",
        lambda original, run, *args: (run._folder.archive(), original(run, *args))[1],
    ),
    PlantedFault(
        391,
        "a busy broker makes a replay forget",
        DeadLetters,
        "_forget_other_queue",
        _forget_at_any_error,
        "replay",
    ),
    PlantedFault(9, "a batch is not noted", ReplayMemory, "begin_batch", lambda *args: None, "replay"),
    PlantedFault(
        5,
        "a lost answer means not sent",
        DeadLetterReplay,
        "_find_arrived_offsets",
        lambda *args: [],
        "replay",
    ),
    PlantedFault(
        48,
        "records are appended without sync",
        private_files,
        "append_record",
        lambda original, path, record, **options: original(path, record),
        "replay",
    ),
    PlantedFault(
        2_002_814,
        "a restart leaves out a master",
        restart_runner,
        "require_masters",
        lambda *args: None,
        "restart",
    ),
    PlantedFault(
        32,
        "a restart stops without another drain",
        RollingRestart,
        "_may_be_open",
        lambda original, *args: False,
        "restart",
        kinds=("lose power", "register again", "kill nsadmin"),
    ),
    PlantedFault(
        5,
        "a restore does not read back",
        _StepExecutor,
        "_verify_results",
        lambda original, executor, errors: dict.fromkeys(errors),
        "restore",
    ),
    PlantedFault(
        0,
        "a restore deletes what the backup lacks",
        restore_run,
        "compute_diff",
        lambda original, *args, **options: original(*args, prune=True),
        "restore",
    ),
    PlantedFault(
        0,
        "changed users are not reported",
        AccessRestore,
        "_restore_user",
        lambda original, *args: original(*args)._replace(result="unchanged"),
        "restore",
    ),
    PlantedFault(
        5,
        "a change without an answer is not in the audit",
        AuditedCaller,
        "_append_record",
        lambda original, caller, calls, outcomes, *args: (
            original(caller, calls, outcomes, *args)
            if all("no answer" not in text for text in outcomes)
            else None
        ),
        "restore",
    ),
    PlantedFault(
        10,
        "a silent name server gets no order configuration",
        restore_run.RestoreRun,
        "_silent_servers",
        lambda *args: {},
        "transfer",
    ),
    PlantedFault(
        152,
        "a silent broker gets no topics",
        restore_run.RestoreRun,
        "_silent_servers",
        lambda *args: {},
        "transfer",
    ),
    PlantedFault(
        16,
        "a silent broker of the source has nothing",
        backup_observer,
        "_list_silent_servers",
        lambda *args: [],
        "transfer",
    ),
    PlantedFault(
        0,
        "the last broker of the target is forgotten",
        metadata_transfer,
        "prepare_metadata",
        lambda original, backup, releases: original(
            backup._replace(brokers=dict(list(backup.brokers.items())[:-1])), releases
        ),
        "transfer",
    ),
    PlantedFault(
        416,
        "a busy broker of the source has no users",
        backup_observer,
        "_is_gap",
        lambda original, error: original(error) and not isinstance(error, RequestError),
        "transfer",
    ),
    PlantedFault(
        234,
        "a rebalance continues its settle time after an outage",
        RebalanceMachine,
        "_note_settled",
        _keep_routed_since,
        "rebalance",
        kinds=("restart name server",),
    ),
    PlantedFault(
        13,
        "new queues have no start offset",
        stage_conditions,
        "_prepare_new_queues",
        lambda original, *args: [a for a in original(*args) if isinstance(a, PutTopic)],
        "rebalance",
    ),
    PlantedFault(
        174,
        "unread messages are not waited for",
        stage_conditions,
        "_list_undrained",
        lambda original, *args: iter(()),
        "rebalance",
    ),
    PlantedFault(
        3,
        "queues are closed before others are opened",
        topic_start,
        "list_move_stages",
        lambda original, before, after: tuple(
            stage for stage in original(before, after) if stage.kind != OPEN_WRITES
        ),
        "rebalance",
    ),
    PlantedFault(
        3,
        "changes of another operator are undone",
        RebalanceMachine,
        "_finds_other_change",
        lambda original, *args: False,
        "rebalance",
        kinds=("change topic",),
    ),
    PlantedFault(
        54,
        "topics are put without a second look",
        change_sender,
        "_refuse_other_queues",
        lambda original, *args: None,
        "rebalance",
        kinds=("change topic",),
    ),
    PlantedFault(
        9,
        "the plan is not compared with the cluster again",
        topic_start,
        "describe_difference",
        lambda original, *args: None,
        "rebalance",
        kinds=("change topic",),
    ),
    PlantedFault(
        2,
        "an ordered topic moves as any other",
        topic_start,
        "list_ordered_stages",
        _list_unordered_stages,
        "ordered",
    ),
    PlantedFault(
        1,
        "new queues of an ordered topic are read at once",
        topic_start,
        "list_ordered_stages",
        _open_new_queues_at_once,
        "ordered",
    ),
    PlantedFault(
        53,
        "a transfer goes on without unlisted queues",
        TopicPlan,
        "missing_queues",
        lambda original, plan: None,
        "copy",
        kinds=("restart name server", "restart broker"),
    ),
    PlantedFault(
        53,
        "the record forgets unlisted queues",
        TopicPlanner,
        "plan_topic",
        lambda original, *args: original(*args)._replace(unlisted={}),
        "copy",
        kinds=("restart name server", "restart broker"),
    ),
    PlantedFault(
        42,
        "a batch without an answer counts as copied",
        TransferRun,
        "_note_failure",
        _believe_batch,
        "copy",
    ),
    PlantedFault(
        692,
        "one name server has the records of all transfers",
        KvAdmin,
        "get_entries_each",
        lambda original, kv, namespace: [r for r in original(kv, namespace) if r.error is None][:1],
        "copy",
        kinds=("restart name server", "restart broker"),
    ),
    PlantedFault(
        0,
        "a group moves back in the target",
        GroupTransfer,
        "_make_move",
        lambda original, transfer, pair, translated, committed: original(transfer, pair, translated, {}),
        "copy",
    ),
    PlantedFault(
        11,
        "a group misses messages of another producer",
        offset_translation._TargetSearch,
        "_find_foreign",
        lambda original, search, end_offset: end_offset,
        "copy",
    ),
    PlantedFault(
        0,
        "a removal that was killed is planned again",
        queue_removal,
        "find_unfinished_removal",
        lambda *args: None,
        "removal",
        kinds=("kill nsadmin", "lose power"),
    ),
    PlantedFault(
        2,
        "unread messages stay on a removed broker",
        safety,
        "_explain_lag",
        lambda original, *args: [],
        "scale-in",
    ),
    PlantedFault(
        2,
        "a repeated move forgets its first attempt",
        offset_undo,
        "find_former_offsets",
        _forget_failures,
        "offsets",
    ),
    PlantedFault(
        77,
        "a move has no record before it begins",
        CommandRun,
        "_append_to_audit",
        _record_at_end,
        "offsets",
    ),
    PlantedFault(
        5,
        "the audit of a move is not synced",
        private_files,
        "append_record",
        lambda original, path, record, **options: original(path, record),
        "offsets",
        kinds=("lose power",),
    ),
    PlantedFault(
        56,
        "undo leaves out queues without a route",
        OffsetAdmin,
        "plan_return",
        _return_to_listed,
        "offsets",
        kinds=("restart name server", "restart broker"),
    ),
    PlantedFault(
        0,
        "a plan that is out of date is applied",
        plan_file,
        "explain_changes",
        lambda original, *args: [],
        "apply",
        kinds=("change topic", "create topic"),
    ),
    PlantedFault(
        12,
        "steps are not read back",
        _StepExecutor,
        "_verify_results",
        lambda original, executor, errors: dict.fromkeys(errors),
        "apply",
    ),
)
