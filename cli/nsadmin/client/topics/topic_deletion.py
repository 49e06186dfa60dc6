"""TopicDeletion, which deletes a topic on every master of a cluster, then on every name server.

If a master fails, the name servers stay unchanged: the route still shows where the topic is, and the master
would register it again anyway.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from namesrv_core.errors import RequestError, ResponseCode, RocketMQError, TopicNotExist
from namesrv_core.protocol import headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.brokers.clusters import ClusterInfo
from nsadmin.client.brokers.list_deletions import send_topic_deletions
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.response_bodies import decode_answer
from nsadmin.client.results import NotApplied, NotFound, ServerResult
from nsadmin.client.topic_routes import TopicRoute, parse_route, route_header
from nsadmin.client.topics.topic_configs import ask_for_topic, find_topic_members
from nsadmin.client.wire_configs import read_config

ServerRole = Literal["master", "namesrv"]


class DeletionStep(NamedTuple):
    """The part of one server in a deletion.

    Attributes:
        server: The server's address, or the name of a broker without a master.
        role: "master" or "namesrv".
        result: "done", "failed", "skipped" (not asked), "dry-run", or "not found": the server had nothing to
            delete.
        error: The reason of "failed"; None otherwise.
        before: The state before, by wire name: the topic's settings on a master, the topic's queues by
            broker on a name server. None if there was nothing, or it is unknown.
    """

    server: str
    role: ServerRole
    result: str
    error: RocketMQError | None
    before: Mapping[str, Any] | None = None


class TopicDeletion(NamedTuple):
    """A checked deletion of a topic from a cluster.

    Attributes:
        caller: The connections.
        topic: The topic.
        cluster_name: The cluster.
        masters: The addresses of the masters.
        masterless: The names of brokers without a master now.
        broker_names: The names of all brokers of the cluster.
    """

    caller: Caller
    topic: str
    cluster_name: str
    masters: tuple[str, ...]
    masterless: tuple[str, ...]
    broker_names: frozenset[str]

    @classmethod
    def plan_for_cluster(
        cls, caller: Caller, cluster_info: ClusterInfo, topic: str, cluster_name: str
    ) -> "TopicDeletion":
        """Check that the topic exists, and return its deletion.

        Asks every name server (GET_ROUTEINFO_BY_TOPIC, 105); the masters (GET_TOPIC_CONFIG, 351) if no name
        server has the topic. A master that does not answer counts as having it.

        Args:
            caller: The connections.
            cluster_info: The clusters, as a name server lists them.
            topic: The topic.
            cluster_name: The cluster.

        Raises:
            NotFound: No such cluster, or no such topic in it.
        """
        broker_groups = cluster_info.groups_in_cluster(cluster_name)
        deletion = cls(
            caller,
            topic,
            cluster_name,
            # A broker that was renamed has two names with one address.
            tuple(dict.fromkeys(group.master_addr for group in broker_groups if group.master_addr)),
            tuple(broker_group.broker_name for broker_group in broker_groups if not broker_group.master_addr),
            frozenset(broker_group.broker_name for broker_group in broker_groups),
        )
        if not deletion._is_known_somewhere():
            raise NotFound(f'no topic "{topic}" in the cluster "{cluster_name}"')
        return deletion

    @property
    def namesrv_addrs(self) -> tuple[str, ...]:
        """The addresses of the name servers, which delete the topic last."""
        return self.caller.name_servers.addrs

    def list_planned_steps(self) -> list[DeletionStep]:
        """Return the steps of `run_deletion` without deleting anything.

        Returns:
            One DeletionStep per server: "dry-run", "not found", or "failed" without an answer.
        """
        master_steps = [_plan_step(server_result, "master") for server_result in self._read_master_configs()]
        namesrv_steps = [_plan_step(result, "namesrv") for result in self._read_namesrv_queues()]
        return master_steps + self._fail_masterless() + namesrv_steps

    def run_deletion(self) -> list[DeletionStep]:
        """Delete the topic, and verify it. Call it once.

        Sends DELETE_TOPIC_IN_BROKER (215) to the masters, then DELETE_TOPIC_IN_NAMESRV (216) to every name
        server. If a master fails, the name servers are "skipped".

        Returns:
            One DeletionStep per server.
        """
        return run_deletions([self])[0]

    def _read_state(self) -> dict[str, ServerResult[dict[str, Any]]]:
        return {r.addr: r for r in (*self._read_master_configs(), *self._read_namesrv_queues())}

    def _finish(self, delete_answers: list[ServerResult[RemotingCommand]]) -> list[DeletionStep]:
        """Verify the deletion on the masters, and delete the topic on the name servers."""
        # A 5.5.0 broker with timerWheelEnable=false deletes the topic, and then fails at its timer's metrics.
        failed_addrs = [
            answer.addr
            for answer in delete_answers
            if isinstance(answer.error, RequestError) and answer.error.code == ResponseCode.SYSTEM_ERROR
        ]
        gone_addrs = {
            a.addr
            for a in ask_for_topic(self.caller, failed_addrs, self.topic)
            if isinstance(a.error, TopicNotExist)
        }
        delete_answers = [a._replace(error=None) if a.addr in gone_addrs else a for a in delete_answers]
        complaint = "the master still has the topic"
        verified_answers = _verify_absence(delete_answers, self._find_remaining_masters, complaint)
        master_steps = [_make_step(a, "master") for a in verified_answers] + self._fail_masterless()
        if any(master_step.error is not None for master_step in master_steps):
            return master_steps + [DeletionStep(a, "namesrv", "skipped", None) for a in self.namesrv_addrs]
        return master_steps + self._delete_on_name_servers()

    def _read_master_configs(self) -> list[ServerResult[dict[str, Any]]]:
        return [
            decode_answer(a, lambda r: read_config(find_topic_members(r, self.topic).members, self.topic))
            for a in ask_for_topic(self.caller, self.masters, self.topic)
        ]

    def _read_namesrv_queues(self) -> list[ServerResult[dict[str, Any]]]:
        return [result.then(self._select_own_queues) for result in self._read_routes(self.namesrv_addrs)]

    def _select_own_queues(self, route: TopicRoute) -> dict[str, Any]:
        return {name: r for name, r in _queues_by_broker(route).items() if name in self.broker_names}

    def _fail_masterless(self) -> list[DeletionStep]:
        no_master_error = NotApplied("this broker has no master now: its slaves would keep the topic")
        return [DeletionStep(name, "master", "failed", no_master_error) for name in self.masterless]

    def _delete_on_name_servers(self) -> list[DeletionStep]:
        ext_fields = headers.DeleteTopic(self.topic, self.cluster_name)
        request_code = RequestCode.DELETE_TOPIC_IN_NAMESRV
        delete_answers = self.caller.send_to_each(self.namesrv_addrs, request_code, ext_fields)
        complaint = "the topic is still routed here: a broker registered it again"
        return [
            _make_step(verified_answer, "namesrv")
            for verified_answer in _verify_absence(delete_answers, self._find_remaining_routes, complaint)
        ]

    def _is_known_somewhere(self) -> bool:
        """Return whether a name server or master has the topic. A master that fails counts as having it."""
        if self._find_remaining_routes(self.namesrv_addrs):
            return True
        return any(
            not isinstance(a.error, TopicNotExist)
            for a in ask_for_topic(self.caller, self.masters, self.topic)
        )

    def _find_remaining_masters(self, broker_addrs: Sequence[str]) -> set[str]:
        return {a.addr for a in ask_for_topic(self.caller, broker_addrs, self.topic) if a.error is None}

    def _read_routes(self, namesrv_addrs: Sequence[str]) -> list[ServerResult[TopicRoute]]:
        request_code = RequestCode.GET_ROUTEINFO_BY_TOPIC
        return self.caller.read_each(namesrv_addrs, parse_route, request_code, route_header(self.topic))

    def _find_remaining_routes(self, namesrv_addrs: Sequence[str]) -> set[str]:
        return {
            r.addr
            for r in self._read_routes(namesrv_addrs)
            if r.result and any(route.broker_name in self.broker_names for route in r.result.queues)
        }


def run_deletions(deletions: Sequence[TopicDeletion]) -> list[list[DeletionStep]]:
    """Delete several topics from one cluster, as `run_deletion` does.

    Brokers since 5.5.1 get lists of topics (DELETE_TOPIC_IN_BROKER_LIST, 5002).

    Returns:
        The steps of each deletion.
    """
    if not deletions:
        return []
    states = [deletion._read_state() for deletion in deletions]
    places = [(addr, deletion.topic) for deletion in deletions for addr in deletion.masters]
    answers = iter(send_topic_deletions(deletions[0].caller, places))
    answers_by_topic = [[next(answers) for _ in deletion.masters] for deletion in deletions]
    return [
        [
            _add_state(step, state[step.server]) if step.server in state else step
            for step in deletion._finish(delete_answers)
        ]
        for deletion, state, delete_answers in zip(deletions, states, answers_by_topic, strict=True)
    ]


def forget_topic(
    caller: Caller, topic: str, namesrv_addrs: Sequence[str], *, dry_run: bool
) -> list[DeletionStep]:
    """Remove a topic from name servers in all clusters (DELETE_TOPIC_IN_NAMESRV, 216), and verify it."""

    def read_queues() -> list[ServerResult[dict[str, Any]]]:
        answers = caller.send_to_each(namesrv_addrs, RequestCode.GET_ROUTEINFO_BY_TOPIC, route_header(topic))
        return [decode_answer(answer, parse_route).then(_queues_by_broker) for answer in answers]

    queues_before = read_queues()
    if dry_run:
        return [_plan_step(queues_result, "namesrv") for queues_result in queues_before]
    ext_fields = headers.DeleteTopic(topic)
    delete_answers = caller.send_to_each(namesrv_addrs, RequestCode.DELETE_TOPIC_IN_NAMESRV, ext_fields)
    remaining_addrs = {queues_result.addr for queues_result in read_queues() if queues_result.error is None}
    complaint = "the topic is still routed here: a broker registered it again"
    verified_answers = _verify_absence(delete_answers, lambda _: remaining_addrs, complaint)
    return [
        _add_state(_make_step(verified_answer, "namesrv"), queues_result)
        for verified_answer, queues_result in zip(verified_answers, queues_before, strict=True)
    ]


def _queues_by_broker(route: TopicRoute) -> dict[str, Any]:
    return {
        queue_route.broker_name: {
            "readQueueNums": queue_route.read_queue_nums,
            "writeQueueNums": queue_route.write_queue_nums,
            "perm": queue_route.perm,
        }
        for queue_route in route.queues
    }


def _verify_absence(
    delete_answers: list[ServerResult[RemotingCommand]],
    find_remaining: Callable[[Sequence[str]], set[str]],
    complaint: str,
) -> list[ServerResult[RemotingCommand]]:
    """Add an error to servers that answered success but still have the topic."""
    remaining_addrs = find_remaining([a.addr for a in delete_answers if a.error is None])
    return [
        ServerResult(answer.addr, None, NotApplied(complaint)) if answer.addr in remaining_addrs else answer
        for answer in delete_answers
    ]


def _plan_step(server_result: ServerResult[dict[str, Any]], server_role: ServerRole) -> DeletionStep:
    """Plan the step of a server. It fails if the server does not answer; an unreadable body is harmless."""
    if isinstance(server_result.error, CallError) and server_result.error.kind != "unreadable":
        return DeletionStep(server_result.addr, server_role, "failed", server_result.error)
    step_result = "not found" if _has_nothing(server_result) else "dry-run"
    return DeletionStep(server_result.addr, server_role, step_result, None, server_result.result or None)


def _has_nothing(state: ServerResult[dict[str, Any]]) -> bool:
    """Whether a server said that it does not have the topic, or no queues of it in this cluster."""
    return isinstance(state.error, TopicNotExist) or state.result == {}


def _add_state(step: DeletionStep, state: ServerResult[dict[str, Any]]) -> DeletionStep:
    """Add the state before a deletion to its step."""
    step_result = "not found" if step.result == "done" and _has_nothing(state) else step.result
    return step._replace(result=step_result, before=state.result or None)


def _make_step(result: ServerResult[RemotingCommand], server_role: ServerRole) -> DeletionStep:
    return DeletionStep(result.addr, server_role, "done" if result.error is None else "failed", result.error)
