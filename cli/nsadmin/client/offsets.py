"""Offsets: moving a group to a time, to the end, to one offset, or to where another group is.

Every move is planned queue by queue first, so that what would be skipped or repeated is known before; then
carried out on masters, and read back.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol import broker_headers, headers
from namesrv_core.protocol.codes import MASTER_ID, RequestCode
from namesrv_core.protocol.command import request
from nsadmin.client import connections
from nsadmin.client.bodies import config_items, json_object
from nsadmin.client.caller import Caller
from nsadmin.client.clusters import Clusters
from nsadmin.client.committed import committed, offset_of
from nsadmin.client.groups import Groups
from nsadmin.client.queues import MessageQueue, queue_table
from nsadmin.client.results import NotApplied, NotFound
from nsadmin.client.retry import decoded
from nsadmin.client.targets import NO_MASTER, Target
from nsadmin.client.topics import Topics

END = -1
"""The time that stands for the end of a queue."""


class Move(NamedTuple):
    """A group on one queue: `old` is its committed offset (None: none), `new` where it is to go on.

    `result` is "planned", then "done", "pending" (an old broker told the group's clients, which move by
    themselves within seconds), "kept" (it is there already, may not move forward, or has nowhere to go,
    which is a `new` of None), or "failed".
    """

    addr: str
    queue: MessageQueue
    old: int | None
    new: int | None
    result: str
    error: RocketMQError | None

    @property
    def skipped(self) -> int | None:
        """How many messages the group would never see; None where nobody knows."""
        return None if self.old is None or self.new is None else max(0, self.new - self.old)

    @property
    def repeated(self) -> int | None:
        """How many messages the group would see once more; None where nobody knows."""
        return None if self.old is None or self.new is None else max(0, self.old - self.new)


class Plan(NamedTuple):
    """What is to happen to a group on a topic. `timestamp` is in ms, END for the end.

    `queue_id` is set where it is about one queue alone. Without `force`, brokers that let the clients do it
    (before 5.2) move a group backwards only.
    """

    group: str
    topic: str
    timestamp: int
    force: bool
    queue_id: int | None
    moves: tuple[Move, ...]


class Offsets:
    """`admin.offsets`."""

    def __init__(self, caller: Caller, clusters: Clusters, topics: Topics, groups: Groups) -> None:
        self._caller = caller
        self._clusters = clusters
        self._topics = topics
        self._groups = groups

    def plan_reset(
        self, group: str, topic: str, timestamp: int, *, cluster_name: str | None = None, force: bool = True
    ) -> Plan:
        """Every queue of the topic to a time: to the first message stored then or later.

        NotFound if no broker of the topic knows the group. A broker without a master is a Move that failed.
        """
        moves = self._targeted(self._queues(group, topic, cluster_name), group, timestamp)
        return Plan(group, topic, timestamp, force, None, tuple(moves))

    def plan_queue(
        self, group: str, queue: MessageQueue, addr: str, timestamp: int, offset: int | None = None
    ) -> Plan:
        """One queue of the broker at `addr` to a time, or to an offset that it has."""
        self._known(group, [addr])
        [move] = self._targeted([Move(addr, queue, None, None, "planned", None)], group, timestamp, offset)
        return Plan(group, queue.topic, timestamp, True, queue.queue_id, (move,))

    def reset(self, plan: Plan) -> list[Move]:
        """Carry out a plan to reset, each broker for itself, and read it back; call it once."""
        done: list[Move] = []
        for addr, moves in _by_addr(plan.moves).items():
            if any(move.error is not None for move in moves):
                rest = NotApplied("not touched, as another queue of this broker could not be planned")
                done += [move if move.error else _failed(move, rest) for move in moves]
            else:
                done += self._reset_broker(plan, addr, moves)
        return done

    def plan_clone(self, source: str, group: str, topic: str, *, offline: bool = False) -> Plan:
        """Every queue of the topic to where the group `source` is; kept where that never committed.

        NotFound as in `plan_reset`, for either group. NotApplied for `offline` while clients of the group
        are connected.
        """
        moves = self._with_old(self._queues(group, topic, None), group)
        addrs = list(dict.fromkeys(move.addr for move in moves if move.addr))
        self._known(source, addrs)
        if offline and (error := self._connected(group, addrs)):
            raise error
        ready = [move for move in moves if move.error is None]
        offsets = committed(self._caller, [(move.addr, source, move.queue) for move in ready])
        filled = {move: _toward(move, *offset) for move, offset in zip(ready, offsets, strict=True)}
        return Plan(group, topic, END, True, None, tuple(filled.get(move, move) for move in moves))

    def clone(self, plan: Plan) -> list[Move]:
        """Carry out what `plan_clone` planned, queue by queue, and read it back; call it once.

        NotApplied on a broker before 5.2 while clients of the group are connected to it.
        """
        return [
            done
            for addr, moves in _by_addr(plan.moves).items()
            for done in self._move_each(plan, addr, moves, bool(addr) and self._resets_by_itself(addr))
        ]

    def _queues(self, group: str, topic: str, cluster_name: str | None) -> list[Move]:
        """A Move without offsets for every readable queue of the topic, on the masters of its brokers."""
        inside = {item.broker_name for item in self._clusters.info().in_cluster(cluster_name)}
        moves = []
        for item in self._topics.route(topic).queues:
            if item.logical_queues is not None:
                raise NotApplied(f"{topic} is a static topic, whose logical queues brokers cannot reset")
            if item.broker_name not in inside or not item.read_queue_nums:
                continue
            master = item.broker_addrs.get(MASTER_ID, "")
            error = None if master else NotApplied(NO_MASTER)
            moves += [
                Move(
                    master,
                    MessageQueue(topic, item.broker_name, number),
                    None,
                    None,
                    "planned" if master else "failed",
                    error,
                )
                for number in range(item.read_queue_nums if master else 1)
            ]
        if not moves:
            raise NotFound(f"no broker of the cluster {cluster_name!r} has queues of {topic!r}")
        self._known(group, [move.addr for move in moves if move.addr])
        return moves

    def _known(self, group: str, addrs: Sequence[str]) -> None:
        at = [Target(None, MASTER_ID, addr) for addr in dict.fromkeys(addrs)]
        held = self._groups.holders(group, at)
        if held and all(isinstance(item.error, NotFound) for item in held):
            raise NotFound(f"no broker of the topic knows the consumer group {group!r}")

    def _with_old(self, moves: Iterable[Move], group: str) -> list[Move]:
        moves = list(moves)
        asked = [move for move in moves if move.error is None]
        offsets = iter(committed(self._caller, [(move.addr, group, move.queue) for move in asked]))
        filled = []
        for move in moves:
            if move.error is None:
                old, error = next(offsets)
                move = move._replace(old=old) if error is None else _failed(move, error)
            filled.append(move)
        return filled

    def _targeted(
        self, moves: Iterable[Move], group: str, timestamp: int, offset: int | None = None
    ) -> list[Move]:
        """The same with old and new offsets: the new one lies within what the queue has."""
        moves = self._with_old(moves, group)
        asked = [move for move in moves if move.error is None]
        ends = self._ends(asked, RequestCode.GET_MIN_OFFSET), self._ends(asked, RequestCode.GET_MAX_OFFSET)
        if timestamp == END:
            found = ends[1]
        else:
            found = self._ends(asked, RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, timestamp)
        filled = {}
        for move, low, high, new in zip(asked, *ends, found, strict=True):
            errors = [item for item in (low, high, new) if isinstance(item, RocketMQError)]
            if errors:
                filled[move] = _failed(move, errors[0])
                continue
            assert isinstance(low, int) and isinstance(high, int) and isinstance(new, int)  # noqa: PT018
            if offset is not None and not low <= offset <= high:
                filled[move] = _failed(move, NotApplied(f"offset {offset} is not within {low} to {high}"))
            else:
                # Before the first message, brokers answer with where its file begins, below the minimum.
                filled[move] = move._replace(new=min(max(new if offset is None else offset, low), high))
        return [filled.get(move, move) for move in moves]

    def _ends(
        self, moves: Sequence[Move], code: RequestCode, timestamp: int | None = None
    ) -> list[int | RocketMQError]:
        answers = self._caller.ask(
            (
                move.addr,
                request(
                    code,
                    headers.write(
                        broker_headers.QueueOffset(move.queue.topic, move.queue.queue_id, timestamp)
                    ),
                ),
            )
            for move in moves
        )
        results = [decoded(answer, offset_of) for answer in answers]
        return [item.result if item.result is not None else item.error or NotFound("") for item in results]

    def _reset_broker(self, plan: Plan, addr: str, moves: Sequence[Move]) -> list[Move]:
        """INVOKE_BROKER_TO_RESET_OFFSET, which old brokers refuse without clients: they are written to."""
        by_itself = self._resets_by_itself(addr)
        if plan.queue_id is not None:
            return self._move_each(plan, addr, moves, by_itself)
        if not by_itself and self._connected(plan.group, [addr]) is None:
            return self._committed(plan.group, [_unless_forward(move, plan.force) for move in moves])
        ext = broker_headers.ResetOffset(plan.group, plan.topic, plan.timestamp, plan.force)
        code = RequestCode.INVOKE_BROKER_TO_RESET_OFFSET
        [answer] = self._caller.ask_each([addr], code, headers.write(ext))
        told = decoded(answer, lambda command: queue_table(json_object(command).get("offsetTable")))
        if told.error is not None:
            return [_failed(move, told.error) for move in moves]
        offsets: Mapping[MessageQueue, object] = told.result or {}
        moved = [_told(move, offsets.get(move.queue)) for move in moves]
        return [
            move if move.error or move.result == "kept" else _read_back(move, now.old, by_itself)
            for move, now in zip(moved, self._with_old(moved, plan.group), strict=True)
        ]

    def _resets_by_itself(self, addr: str) -> bool:
        """Whether the broker moves offsets itself, as since 5.2: before, it leaves it to the clients."""
        [answer] = self._caller.ask_each([addr], RequestCode.GET_BROKER_CONFIG)
        config = decoded(answer, config_items).result or {}
        return config.get("useServerSideResetOffset") == "true"

    def _move_each(self, plan: Plan, addr: str, moves: Sequence[Move], by_itself: bool) -> list[Move]:
        """Every queue to its own offset, by the broker itself where it can (`by_itself`).

        There an offset that is just written would be ignored, with success for an answer, as long as an
        earlier reset waits for the group's clients.
        """
        if by_itself:
            return self._written(plan.group, moves, RequestCode.INVOKE_BROKER_TO_RESET_OFFSET)
        # Such a broker would not heed a queue id, and move all queues.
        if addr and (error := self._connected(plan.group, [addr])):
            return [move if move.error else _failed(move, error) for move in moves]
        return self._committed(plan.group, moves)

    def _connected(self, group: str, addrs: Sequence[str]) -> RocketMQError | None:
        """Why offsets cannot just be written: clients that would write their own over them."""
        online = connections.consumers_of(self._caller, [group], addrs)[group]
        if not online.clients:
            return next((error for error in online.errors.values() if error is not None), None)
        names = ", ".join(client.client_id for client in online.clients)
        return NotApplied(f"clients of {group!r} are connected and write offsets of their own: stop {names}")

    def _committed(self, group: str, moves: Sequence[Move]) -> list[Move]:
        return self._written(group, moves, RequestCode.UPDATE_CONSUMER_OFFSET)

    def _written(self, group: str, moves: Sequence[Move], code: RequestCode) -> list[Move]:
        """Each queue that is to move told where to go on, and read back."""
        wanted = [move for move in moves if move.error is None and move.result != "kept"]
        answers = self._caller.ask((move.addr, request(code, _target(code, group, move))) for move in wanted)
        done = {
            move: move if answer.error is None else _failed(move, answer.error)
            for move, answer in zip(wanted, answers, strict=True)
        }
        moved = [done.get(move, move) for move in moves]
        return [
            move if move.error or move.result == "kept" else _read_back(move, now.old, True)
            for move, now in zip(moved, self._with_old(moved, group), strict=True)
        ]


def _by_addr(moves: Iterable[Move]) -> dict[str, list[Move]]:
    found: dict[str, list[Move]] = {}
    for move in moves:
        found.setdefault(move.addr, []).append(move)
    return found


def _target(code: RequestCode, group: str, move: Move) -> dict[str, str]:
    topic, _, queue_id = move.queue
    if code == RequestCode.UPDATE_CONSUMER_OFFSET:
        return headers.write(broker_headers.ConsumerOffset(group, topic, queue_id, commit_offset=move.new))
    return headers.write(broker_headers.ResetOffset(group, topic, END, True, move.new, queue_id))


def _toward(move: Move, new: int | None, error: RocketMQError | None) -> Move:
    """The move to where another group is: nowhere if that never committed."""
    if error is not None:
        return _failed(move, error)
    return move._replace(new=new, result="kept" if new in (None, move.old) else "planned")


def _failed(move: Move, error: RocketMQError) -> Move:
    return move._replace(result="failed", error=error)


def _unless_forward(move: Move, force: bool) -> Move:
    """Without force, only a queue that would go back moves."""
    if force or move.old is None or move.new is None or move.new <= move.old:
        return move
    return move._replace(result="kept", new=move.old)


def _told(move: Move, offset: object) -> Move:
    """The move with the offset that the broker says it has set."""
    if isinstance(offset, int):
        return move._replace(new=offset)
    return _failed(move, NotApplied("the broker answered success, but does not name this queue"))


def _read_back(move: Move, now: int | None, at_once: bool) -> Move:
    """A group whose clients are at work may have gone on already: not moved is who stands where it was."""
    if now == move.new or (now != move.old and at_once):
        return move._replace(result="done")
    if not at_once:
        return move._replace(result="pending")
    return _failed(move, NotApplied(f"the broker answered success, but the offset is still {now}"))
