"""TopicDeletion, which deletes a topic on every master of a cluster, then on every name server.

If a master fails, the name servers stay unchanged: the route still shows where the topic is, and the master
would register it again anyway.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from namesrv_core.errors import NotSupported, RocketMQError, TopicNotExist
from namesrv_core.protocol import headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command
from namesrv_core.transport.calls import CallError
from nsadmin.client.bodies import json_object
from nsadmin.client.caller import Caller
from nsadmin.client.clusters import ClusterInfo
from nsadmin.client.results import NotApplied, NotFound, ServerResult
from nsadmin.client.retry import decoded
from nsadmin.client.routes import TopicRoute, get_route, route_of

Role = Literal["master", "nameserver"]


class DeletionStep(NamedTuple):
    """The part of one server in a deletion.

    Attributes:
        target: The server's address, or the name of a broker without a master.
        role: "master" or "nameserver".
        result: "done", "failed", "skipped" (not asked) or "dry-run".
        error: The reason of "failed"; None otherwise.
        before: The state before, by wire name: the topic's configuration on a master, the topic's queues by
            broker on a name server. None if there was nothing, or it is unknown.
    """

    target: str
    role: Role
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
    brokers: frozenset[str]

    @classmethod
    def plan(cls, caller: Caller, info: ClusterInfo, topic: str, cluster_name: str) -> "TopicDeletion":
        """Check that the topic exists, and return its deletion.

        Asks every name server (GET_ROUTEINFO_BY_TOPIC, 105); the masters (GET_TOPIC_CONFIG, 351) if no name
        server has the topic. A master that does not answer counts as having it.

        Raises:
            NotFound: No such cluster, or no such topic in it.
        """
        groups = info.in_cluster(cluster_name)
        planned = cls(
            caller,
            topic,
            cluster_name,
            tuple(group.master for group in groups if group.master),
            tuple(group.broker_name for group in groups if not group.master),
            frozenset(group.broker_name for group in groups),
        )
        if not planned._is_known():
            raise NotFound(f"no topic {topic!r} in the cluster {cluster_name!r}")
        return planned

    @property
    def name_servers(self) -> tuple[str, ...]:
        """The addresses of the name servers, which delete the topic last."""
        return self.caller.name_servers.addrs

    def planned(self) -> list[DeletionStep]:
        """Return the steps of `run_deletion` without deleting anything.

        Returns:
            One DeletionStep per server: "dry-run", or "failed" for a server that does not answer.
        """
        masters = [_planned(found, "master") for found in self._on_masters_now()]
        servers = [_planned(found, "nameserver") for found in self._on_name_servers_now()]
        return masters + self._masterless() + servers

    def run(self) -> list[DeletionStep]:
        """Delete the topic, and verify it. Call it once.

        Sends DELETE_TOPIC_IN_BROKER (215) to the masters, then DELETE_TOPIC_IN_NAMESRV (216) to every name
        server. If a master fails, the name servers are "skipped".

        Returns:
            One DeletionStep per server.
        """
        found = (*self._on_masters_now(), *self._on_name_servers_now())
        before = {item.addr: item.result for item in found}
        return [step._replace(before=before.get(step.target)) for step in self._deleted()]

    def _deleted(self) -> list[DeletionStep]:
        steps = self._on_masters()
        if any(step.error is not None for step in steps):
            return steps + [DeletionStep(addr, "nameserver", "skipped", None) for addr in self.name_servers]
        return steps + self._on_name_servers()

    def _on_masters_now(self) -> list[ServerResult[dict[str, Any]]]:
        return [decoded(held, self._own_config) for held in self._held_by(self.masters)]

    def _own_config(self, command: Command) -> dict[str, Any]:
        body = json_object(command)
        return dict(body["topicConfigTable"][self.topic] if "topicConfigTable" in body else body)

    def _on_name_servers_now(self) -> list[ServerResult[dict[str, Any]]]:
        return [found.then(self._own_queues) for found in self._routes(self.name_servers)]

    def _own_queues(self, route: TopicRoute) -> dict[str, Any]:
        return {name: queue for name, queue in _queues(route).items() if name in self.brokers}

    def _on_masters(self) -> list[DeletionStep]:
        ext = headers.write(headers.DeleteTopic(self.topic))
        deleted = self.caller.ask_each(self.masters, RequestCode.DELETE_TOPIC_IN_BROKER, ext)
        checked = _verified(deleted, self._still_on_masters, "the master still has the topic")
        return [_step(result, "master") for result in checked] + self._masterless()

    def _masterless(self) -> list[DeletionStep]:
        error = NotApplied("this broker has no master now: its slaves would keep the topic")
        return [DeletionStep(name, "master", "failed", error) for name in self.masterless]

    def _on_name_servers(self) -> list[DeletionStep]:
        ext = headers.write(headers.DeleteTopic(self.topic, self.cluster_name))
        deleted = self.caller.ask_name_servers(RequestCode.DELETE_TOPIC_IN_NAMESRV, ext)
        again = "the topic is still routed here: a broker registered it again"
        return [_step(result, "nameserver") for result in _verified(deleted, self._still_routed, again)]

    def _is_known(self) -> bool:
        """Return whether a name server or master has the topic. A master that fails counts as having it."""
        if self._still_routed(self.name_servers):
            return True
        return any(not isinstance(held.error, TopicNotExist) for held in self._held_by(self.masters))

    def _still_on_masters(self, addrs: Sequence[str]) -> set[str]:
        return {held.addr for held in self._held_by(addrs) if held.error is None}

    def _held_by(self, masters: Sequence[str]) -> list[ServerResult[Command]]:
        """Ask masters for the topic: success if the master has it, TopicNotExist if not."""
        ext = headers.write(headers.TopicName(self.topic))
        held = {item.addr: item for item in self.caller.ask_each(masters, RequestCode.GET_TOPIC_CONFIG, ext)}
        # Brokers before 5.0 have no request for a single topic.
        old = [addr for addr, item in held.items() if isinstance(item.error, NotSupported)]
        for item in self.caller.ask_each(old, RequestCode.GET_ALL_TOPIC_CONFIG):
            held[item.addr] = decoded(item, self._among_all)
        return list(held.values())

    def _among_all(self, command: Command) -> Command:
        if self.topic not in (json_object(command).get("topicConfigTable") or {}):
            raise TopicNotExist(None)
        return command

    def _routes(self, addrs: Sequence[str]) -> list[ServerResult[TopicRoute]]:
        code = RequestCode.GET_ROUTEINFO_BY_TOPIC
        answers = self.caller.ask_each(addrs, code, get_route(self.topic))
        return [decoded(answer, route_of) for answer in answers]

    def _still_routed(self, addrs: Sequence[str]) -> set[str]:
        return {
            found.addr
            for found in self._routes(addrs)
            if found.result and any(queue.broker_name in self.brokers for queue in found.result.queues)
        }


def forget(caller: Caller, topic: str, addrs: Sequence[str], *, dry_run: bool) -> list[DeletionStep]:
    """Remove a topic from name servers in all clusters (DELETE_TOPIC_IN_NAMESRV, 216), and verify it.

    Args:
        caller: The connections.
        topic: The topic.
        namesrv_addrs: The name servers.
        dry_run: Only read the routes (GET_ROUTEINFO_BY_TOPIC, 105).

    Returns:
        One DeletionStep per name server, in order.
    """

    def routes() -> list[ServerResult[dict[str, Any]]]:
        answers = caller.ask_each(addrs, RequestCode.GET_ROUTEINFO_BY_TOPIC, get_route(topic))
        return [decoded(answer, route_of).then(_queues) for answer in answers]

    before = routes()
    if dry_run:
        return [_planned(found, "nameserver") for found in before]
    ext = headers.write(headers.DeleteTopic(topic))
    deleted = caller.ask_each(addrs, RequestCode.DELETE_TOPIC_IN_NAMESRV, ext)
    left = {found.addr for found in routes() if found.error is None}
    complaint = "the topic is still routed here: a broker registered it again"
    checked = _verified(deleted, lambda _: left, complaint)
    return [
        _step(result, "nameserver")._replace(before=found.result)
        for result, found in zip(checked, before, strict=True)
    ]


def _queues(route: TopicRoute) -> dict[str, Any]:
    return {
        queue.broker_name: {
            "readQueueNums": queue.read_queue_nums,
            "writeQueueNums": queue.write_queue_nums,
            "perm": queue.perm,
        }
        for queue in route.queues
    }


def _verified(
    results: list[ServerResult[Command]], still_there: Callable[[Sequence[str]], set[str]], complaint: str
) -> list[ServerResult[Command]]:
    """Add an error to servers that answered success but still have the topic."""
    left = still_there([result.addr for result in results if result.error is None])
    return [
        ServerResult(result.addr, None, NotApplied(complaint)) if result.addr in left else result
        for result in results
    ]


def _planned(found: ServerResult[dict[str, Any]], role: Role) -> DeletionStep:
    """Plan the step of a server. It fails if the server does not answer; an unreadable body is harmless."""
    if isinstance(found.error, CallError) and found.error.kind != "unreadable":
        return DeletionStep(found.addr, role, "failed", found.error)
    return DeletionStep(found.addr, role, "dry-run", None, found.result or None)


def _step(result: ServerResult[Command], role: Role) -> DeletionStep:
    return DeletionStep(result.addr, role, "done" if result.error is None else "failed", result.error)
