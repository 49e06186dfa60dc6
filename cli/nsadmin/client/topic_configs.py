"""`admin.topic_configs`: the configuration of topics on brokers, with partial updates.

A broker replaces the whole configuration of a topic. So each update reads it first, changes the given fields
only, and reads it back afterwards.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from namesrv_core.errors import NotSupported, RocketMQError, TopicNotExist
from namesrv_core.protocol import broker_headers, headers
from namesrv_core.protocol.codes import TOPIC_SYS_FLAG_UNIT, TOPIC_SYS_FLAG_UNIT_SUB, RequestCode
from namesrv_core.protocol.command import Command, request
from nsadmin.client.bodies import config_items, json_object
from nsadmin.client.caller import Caller
from nsadmin.client.results import NotApplied, ServerResult
from nsadmin.client.retry import decoded

DEFAULT_TOPIC = "TBW102"
_WIRE_NAMES = {
    "read_queue_nums": "readQueueNums",
    "write_queue_nums": "writeQueueNums",
    "topic_sys_flag": "topicSysFlag",
}


class TopicConfig(NamedTuple):
    """The configuration of a topic on one broker. The defaults are those of mqadmin.

    Attributes:
        topic_name: The topic.
        read_queue_nums: The number of read queues.
        write_queue_nums: The number of write queues.
        perm: Permission bits: 4 read, 2 write, 1 inherit.
        order: Whether the topic is ordered.
        topic_sys_flag: Flags of units.
        topic_filter_type: "SINGLE_TAG" or "MULTI_TAG".
        attributes: Pairs of (key, value), in the order of keys.
    """

    topic_name: str
    read_queue_nums: int = 8
    write_queue_nums: int = 8
    perm: int = 6
    order: bool = False
    topic_sys_flag: int = 0
    topic_filter_type: str = "SINGLE_TAG"
    attributes: tuple[tuple[str, str], ...] = ()


class TopicPatch(NamedTuple):
    """A partial update of a topic's configuration. None leaves a field unchanged.

    Attributes:
        read_queue_nums: The number of read queues.
        write_queue_nums: The number of write queues.
        perm: Permission bits: 4 read, 2 write, 1 inherit.
        order: Whether the topic is ordered.
        unit: The flag "unit".
        has_unit_sub: The flag "has a unit subscription".
        attributes: Changes in the form of brokers: "+message.type=FIFO,-other".
    """

    read_queue_nums: int | None = None
    write_queue_nums: int | None = None
    perm: int | None = None
    order: bool | None = None
    unit: bool | None = None
    has_unit_sub: bool | None = None
    attributes: str | None = None

    def applied_to(self, config: TopicConfig) -> TopicConfig:
        """Return the configuration after the update."""
        flag = _with_bit(config.topic_sys_flag, TOPIC_SYS_FLAG_UNIT, self.unit)
        named = {
            name: value
            for name, value in self._asdict().items()
            if value is not None and name in ("read_queue_nums", "write_queue_nums", "perm", "order")
        }
        return config._replace(
            **named,
            topic_sys_flag=_with_bit(flag, TOPIC_SYS_FLAG_UNIT_SUB, self.has_unit_sub),
            attributes=_altered(config.attributes, self.attributes),
        )


class TopicChange(NamedTuple):
    """A change of a topic on one broker.

    Attributes:
        broker_addr: The broker.
        broker_name: The name that the broker reports; None if it did not answer.
        before: The configuration before; None if the topic did not exist.
        after: The configuration after; None if the change is impossible.
        error: The reason why the change failed or is impossible; None otherwise.
    """

    broker_addr: str
    broker_name: str | None
    before: TopicConfig | None
    after: TopicConfig | None
    error: RocketMQError | None

    @property
    def is_change(self) -> bool:
        """Whether the change is possible and changes something."""
        return self.error is None and self.before != self.after


class TopicConfigs:
    """`admin.topic_configs`: the configuration of topics on brokers."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def each(self, addrs: Iterable[str], topic: str) -> list[ServerResult[TopicConfig]]:
        """Return the configuration of a topic on each broker (GET_TOPIC_CONFIG, 351).

        Brokers before 5.0 get GET_ALL_TOPIC_CONFIG (21) instead.

        Returns:
            One ServerResult per address, in order. The error is TopicNotExist without such a topic.
        """
        ext = headers.write(headers.TopicName(topic))
        answers = self._caller.ask_each(addrs, RequestCode.GET_TOPIC_CONFIG, ext)
        found = {answer.addr: decoded(answer, _own_config) for answer in answers}
        # Brokers before 5.0 have no request for a single topic.
        old = [addr for addr, config in found.items() if isinstance(config.error, NotSupported)]
        for answer in self._caller.ask_each(old, RequestCode.GET_ALL_TOPIC_CONFIG):
            found[answer.addr] = decoded(answer, lambda command: _config_among_all(command, topic))
        return list(found.values())

    def of_brokers(self, addrs: Iterable[str]) -> list[ServerResult[tuple[TopicConfig, ...]]]:
        """Return all topics of each broker (GET_ALL_TOPIC_CONFIG, 21).

        Returns:
            One ServerResult per address, in order: configurations in the order of topic names.
        """
        answers = self._caller.ask_each(addrs, RequestCode.GET_ALL_TOPIC_CONFIG)
        return [decoded(answer, _all_configs) for answer in answers]

    def plan(self, addrs: Iterable[str], topic: str, patch: TopicPatch, *, create: bool) -> list[TopicChange]:
        """Plan `apply_changes` without changing anything.

        Reads the role of each broker (GET_BROKER_CONFIG, 26), then the topic (GET_TOPIC_CONFIG, 351).

        Args:
            broker_addrs: The masters to change.
            topic: The topic.
            patch: The fields to change.
            create: Create the topic with mqadmin's defaults (8 queues, perm 6) on a broker without it.
                If False, the error is TopicNotExist.

        Returns:
            One TopicConfigChange per broker, in order. The error is NotApplied for a slave, which would lose
            the change at its next copy of the master.
        """
        roles = {answer.addr: answer for answer in self._masters(addrs)}
        configs = {config.addr: config for config in self.each(roles, topic)}
        return [_planned(configs[addr], role, topic, patch, create) for addr, role in roles.items()]

    def apply(self, changes: Sequence[TopicChange], patch: TopicPatch) -> list[TopicChange]:
        """Apply planned changes (UPDATE_AND_CREATE_TOPIC, 17), and read them back.

        Args:
            changes: The result of `plan_update`.
            patch: The patch of the plan.

        Returns:
            One TopicConfigChange per broker, in order. The error is NotApplied if values differ.
        """
        due = [change for change in changes if change.is_change]
        calls = [(change.broker_addr, _update(change.after, patch)) for change in due if change.after]
        answers = {answer.addr: answer for answer in self._caller.ask(calls)}
        done = [addr for addr, answer in answers.items() if answer.error is None]
        topic = next((change.after.topic_name for change in due if change.after), "")
        now = {config.addr: config for config in self.each(done, topic)}
        return [
            change
            if change.broker_addr not in answers
            else _checked(change, patch, answers[change.broker_addr].error, now.get(change.broker_addr))
            for change in changes
        ]

    def update(
        self, addrs: Iterable[str], topic: str, patch: TopicPatch, *, create: bool = True
    ) -> list[TopicChange]:
        """Create or update a topic on masters, and read it back: `plan_update`, then `apply_changes`."""
        return self.apply(self.plan(addrs, topic, patch, create=create), patch)

    def _masters(self, addrs: Iterable[str]) -> list[ServerResult[str]]:
        """Return the name of each broker; the error is NotApplied for a slave."""

        def check(command: Command) -> str:
            items = config_items(command)
            if items.get("brokerRole") == "SLAVE":
                raise NotApplied("this is a slave: change its master, whose topics it copies")
            return items["brokerName"]

        answers = self._caller.ask_each(addrs, RequestCode.GET_BROKER_CONFIG)
        return [decoded(answer, check) for answer in answers]


def _planned(
    found: ServerResult[TopicConfig],
    master: ServerResult[str],
    topic: str,
    patch: TopicPatch,
    create: bool,
) -> TopicChange:
    before, error = found.result, master.error or found.error
    if create and master.error is None and isinstance(error, TopicNotExist):
        error = None
    after = None if error is not None else patch.applied_to(before or TopicConfig(topic))
    return TopicChange(found.addr, master.result, before, after, error)


def _checked(
    change: TopicChange,
    patch: TopicPatch,
    error: RocketMQError | None,
    now: ServerResult[TopicConfig] | None,
) -> TopicChange:
    """Compare the wanted configuration with the one read back; add an error for a difference."""
    found = None if now is None else now.result
    error = error or (None if now is None else now.error)
    if error is not None or found is None or change.after is None:
        return change._replace(error=error)
    # A broker sets a topic to ordered if name servers have an order configuration for it.
    wanted = change.after if patch.order is not None else change.after._replace(order=found.order)
    differences = [name for name in wanted._fields if getattr(wanted, name) != getattr(found, name)]
    if differences:
        listed = " and ".join(_WIRE_NAMES.get(name, name) for name in differences)
        is_kept = "order" in differences and found.order
        why = "; a topic with an order configuration stays ordered: updateOrderConf" if is_kept else ""
        return change._replace(error=NotApplied(f"ignored: the broker did not take the new {listed}{why}"))
    return change._replace(after=found)


def _update(config: TopicConfig, patch: TopicPatch) -> Command:
    header = broker_headers.CreateTopic(
        topic=config.topic_name,
        default_topic=DEFAULT_TOPIC,
        read_queue_nums=config.read_queue_nums,
        write_queue_nums=config.write_queue_nums,
        perm=config.perm,
        topic_filter_type=config.topic_filter_type,
        topic_sys_flag=config.topic_sys_flag,
        order=config.order,
        attributes=patch.attributes,
    )
    return request(RequestCode.UPDATE_AND_CREATE_TOPIC, headers.write(header))


def _own_config(command: Command) -> TopicConfig:
    return _config(json_object(command))


def _config_among_all(command: Command, topic: str) -> TopicConfig:
    body = (json_object(command).get("topicConfigTable") or {}).get(topic)
    if body is None:
        raise TopicNotExist(f"No topic in this broker. topic: {topic}")
    return _config(body)


def _all_configs(command: Command) -> tuple[TopicConfig, ...]:
    table: Mapping[str, Any] = json_object(command).get("topicConfigTable") or {}
    return tuple(_config(body) for _, body in sorted(table.items()))


def _config(body: Mapping[str, Any]) -> TopicConfig:
    attributes = body.get("attributes") or {}
    return TopicConfig(
        body["topicName"],
        int(body["readQueueNums"]),
        int(body["writeQueueNums"]),
        int(body["perm"]),
        bool(body.get("order")),
        int(body.get("topicSysFlag") or 0),
        body.get("topicFilterType") or "SINGLE_TAG",
        tuple(sorted((key, str(value)) for key, value in attributes.items())),
    )


def _with_bit(flags: int, bit: int, wanted: bool | None) -> int:
    return flags if wanted is None else flags | bit if wanted else flags & ~bit


def _altered(current: tuple[tuple[str, str], ...], text: str | None) -> tuple[tuple[str, str], ...]:
    """Apply "+key=value,-key" to attributes, like `AttributeParser` of a broker."""
    attributes = dict(current)
    for part in filter(None, (item.strip() for item in (text or "").split(","))):
        key, _, value = part[1:].partition("=")
        if part[0] == "+":
            attributes[key] = value
        else:
            attributes.pop(key, None)
    return tuple(sorted(attributes.items()))
