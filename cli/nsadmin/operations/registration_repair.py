"""Restores a broker's registration on name servers: its permissions by topic, or all of its topics.

The broker's own topic configuration decides. Every repair is read back.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.codes import Perm, perm_text
from nsadmin.client.results import NotApplied, NotFound
from nsadmin.console.phrases import abbreviate_names
from nsadmin.operations.drain.facts import DrainEnvironment, NameServerFacts, QueuesByTopic
from nsadmin.operations.drain.risks import find_master_addr
from nsadmin.operations.drain.undo import BY_BROKER, BY_TOPIC
from nsadmin.operations.procedure_clock import ProcedureClock

_MAX_ROUNDS = 20
_PAUSE_SECONDS = 0.5
_READ_WRITE = Perm.READ | Perm.WRITE
_SHOWN_TOPICS = 3


class RepairPlan(NamedTuple):
    """The repair of one name server. With an `error`, its topics are unknown and stay unchanged.

    `before` and `after` have the permission of each topic that differs from the broker's own.
    `missing_topics` are topics of the broker that the name server does not have. `method` says how the repair
    is made, None if nothing differs.
    """

    namesrv_addr: str
    topic_count: int
    before: Mapping[str, int]
    after: Mapping[str, int]
    missing_topics: tuple[str, ...]
    method: str | None
    error: RocketMQError | None


class RegistrationRepair:
    """Repairs the topics of one broker on name servers."""

    def __init__(
        self, broker_name: str, environment: DrainEnvironment, procedure_clock: ProcedureClock
    ) -> None:
        self._broker_name = broker_name
        self._environment = environment
        self._procedure_clock = procedure_clock
        self._server_facts = environment.read_servers()
        self.master_addr = find_master_addr(self._server_facts)
        self._own_queues = self._read_registered_queues()

    @property
    def cluster_name(self) -> str | None:
        """The cluster of the broker, as the first name server that lists it has it."""
        return next((server.cluster_name for server in self._server_facts if server.cluster_name), None)

    def plan_permissions(self) -> list[RepairPlan]:
        """Plan to restore the permission of each topic that a name server has."""
        return [self._plan_server(server) for server in self._server_facts]

    def plan_registration(self) -> list[RepairPlan]:
        """Plan to have the broker register all of its topics, also where nothing differs."""
        return [plan if plan.error else plan._replace(method=BY_BROKER) for plan in self.plan_permissions()]

    def restore_permissions(self) -> list[RepairPlan]:
        """Restore permissions topic by topic (REGISTER_TOPIC_IN_NAMESRV, 217), and read them back.

        Name servers of 4.x do not know that request. For them, the broker registers all of its topics.
        """
        plans = self.plan_permissions()
        request_errors: dict[str, str] = {}
        if any(plan.method == BY_BROKER for plan in plans):
            register_error = self._environment.request_registration(self.master_addr or "")
            if register_error is not None:
                request_errors = {
                    plan.namesrv_addr: register_error for plan in plans if plan.method == BY_BROKER
                }
        for plan in plans:
            if plan.method == BY_TOPIC:
                topic_errors = self._environment.restore_queues(
                    plan.namesrv_addr, {topic: self._own_queues[topic] for topic in plan.after}
                )
                first_error = next(filter(None, topic_errors.values()), None)
                if first_error is not None:
                    request_errors[plan.namesrv_addr] = first_error
        return self._verify_plans(plans, request_errors, with_missing_topics=False)

    def register_all(self) -> list[RepairPlan]:
        """Have the broker register all of its topics with its name servers, and read them back."""
        plans = self.plan_registration()
        register_error = self._environment.request_registration(self.master_addr or "")
        request_errors = (
            {} if register_error is None else {plan.namesrv_addr: register_error for plan in plans}
        )
        return self._verify_plans(plans, request_errors, with_missing_topics=True)

    def _read_registered_queues(self) -> QueuesByTopic:
        """Return the queues that the broker registers; brokerPermission limits their permission.

        Raises:
            NotFound: No name server that answered has the broker.
            NotApplied: The broker has no master, or its master does not return its topics.
        """
        if self.master_addr is None:
            if any(server.is_registered for server in self._server_facts):
                raise NotApplied(f"{self._broker_name} has no master, so its own topics are unknown")
            reason_texts = [
                f"{server.namesrv_addr}: {server.error or 'not registered here'}"
                for server in self._server_facts
            ]
            raise NotFound(
                f'no name server lists the broker "{self._broker_name}": {"; ".join(reason_texts)}'
            )
        own_queues = self._environment.read_own_queues(self.master_addr)
        allowed_perm = self._environment.read_permission(self.master_addr)
        for read_value in (own_queues, allowed_perm):
            if isinstance(read_value, str):
                raise NotApplied(f"{self.master_addr} did not return its topics: {read_value}")
        assert not isinstance(own_queues, str)
        assert not isinstance(allowed_perm, str)
        if allowed_perm & _READ_WRITE == _READ_WRITE:
            return own_queues
        return {topic: queue._replace(perm=queue.perm & allowed_perm) for topic, queue in own_queues.items()}

    def _plan_server(self, server: NameServerFacts) -> RepairPlan:
        server_error: RocketMQError | None = None
        if server.error is not None:
            server_error = NotApplied(server.error)
        elif not server.is_registered:
            server_error = NotFound(f'no broker "{self._broker_name}" is registered here')
        if server_error is not None:
            return RepairPlan(server.namesrv_addr, 0, {}, {}, (), None, server_error)
        differing_queues = {
            topic: self._own_queues[topic]
            for topic, queue in sorted(server.queues_by_topic.items())
            if topic in self._own_queues and self._own_queues[topic].perm != queue.perm
        }
        restore_method = BY_TOPIC if server.can_restore_queues else BY_BROKER
        return RepairPlan(
            server.namesrv_addr,
            len(server.topics),
            {topic: server.topics[topic].own_queue.perm for topic in differing_queues},
            {topic: queue.perm for topic, queue in differing_queues.items()},
            tuple(sorted(self._own_queues.keys() - server.topics.keys())),
            restore_method if differing_queues else None,
            None,
        )

    def _verify_plans(
        self, plans: Sequence[RepairPlan], request_errors: Mapping[str, str], with_missing_topics: bool
    ) -> list[RepairPlan]:
        """Read the name servers back, for up to 10 s where the broker registers, and add errors."""
        waits_for_broker = any(plan.method == BY_BROKER for plan in plans)
        for _ in range(_MAX_ROUNDS if waits_for_broker and not request_errors else 1):
            self._server_facts = self._environment.read_servers()
            gaps_by_addr = {
                plan.namesrv_addr: _describe_gaps(plan, with_missing_topics)
                for plan in self.plan_permissions()
            }
            if not any(gaps_by_addr[plan.namesrv_addr] for plan in plans if plan.error is None):
                break
            if waits_for_broker:
                self._procedure_clock.pause_seconds(_PAUSE_SECONDS)
        return [
            plan
            if plan.error
            else _add_error(plan, gaps_by_addr[plan.namesrv_addr], request_errors.get(plan.namesrv_addr))
            for plan in plans
        ]


def _describe_gaps(plan: RepairPlan, with_missing_topics: bool) -> list[str]:
    """Describe what still differs at a name server, a text for each topic."""
    if plan.error is not None:
        return [str(plan.error)]
    missing_topics: Iterable[str] = plan.missing_topics if with_missing_topics else ()
    return [
        *(
            f"{topic} is {perm_text(plan.before[topic])} instead of {perm_text(perm)}"
            for topic, perm in plan.after.items()
        ),
        *(f"{topic} is missing" for topic in missing_topics),
    ]


def _add_error(plan: RepairPlan, gap_texts: Sequence[str], request_error: str | None) -> RepairPlan:
    if not gap_texts:
        return plan
    gaps_text = abbreviate_names(list(gap_texts), _SHOWN_TOPICS)
    request_remark = f"; {request_error}" if request_error else ""
    return plan._replace(error=NotApplied(f"{gaps_text}{request_remark}"))
