"""`admin.topic_configs`: the settings of topics on brokers, with partial updates.

A broker replaces all settings of a topic. So each update reads it first, changes the given fields
only, and reads it back afterwards.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from namesrv_core.errors import NotSupported, RocketMQError, TopicNotExist
from namesrv_core.protocol import broker_headers, headers
from namesrv_core.protocol.codes import TOPIC_SYS_FLAG_UNIT, TOPIC_SYS_FLAG_UNIT_SUB, V5_0_0, RequestCode
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.protocol.resource_attributes import apply_changes, find_refusal, parse_changes, sign_changes
from namesrv_core.protocol.resource_names import find_topic_name_problem
from nsadmin.client.advised_command import quote_command
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.json_object import JsonObject
from nsadmin.client.connection.requests import make_request
from nsadmin.client.connection.response_bodies import decode_answer, parse_config_items, parse_json_object
from nsadmin.client.results import NotApplied, ServerResult, is_unreachable

DEFAULT_TOPIC = "TBW102"
_WIRE_NAMES = {
    "read_queue_nums": "readQueueNums",
    "write_queue_nums": "writeQueueNums",
    "topic_sys_flag": "topicSysFlag",
}


class BrokerTopicConfig(NamedTuple):
    """The settings of a topic on one broker. The defaults are those of mqadmin.

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

    @property
    def message_type(self) -> str:
        """Return the type that brokers and proxies assume, as `TopicConfig#getTopicMessageType`."""
        return dict(self.attributes).get("message.type", "NORMAL")


class TopicPatch(NamedTuple):
    """A partial update of a topic's settings. None leaves a field unchanged.

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

    def apply_to(self, topic_config: BrokerTopicConfig) -> BrokerTopicConfig:
        """Return the configuration after the update.

        Args:
            topic_config: The configuration before.

        Raises:
            ValueError: An attribute has no sign.
        """
        unit_flag = _set_flag_bit(topic_config.topic_sys_flag, TOPIC_SYS_FLAG_UNIT, self.unit)
        changed_fields = {
            field_name: value
            for field_name, value in self._asdict().items()
            if value is not None and field_name in ("read_queue_nums", "write_queue_nums", "perm", "order")
        }
        return topic_config._replace(
            **changed_fields,
            topic_sys_flag=_set_flag_bit(unit_flag, TOPIC_SYS_FLAG_UNIT_SUB, self.has_unit_sub),
            attributes=tuple(
                sorted(apply_changes(dict(topic_config.attributes), parse_changes(self.attributes)).items())
            ),
        )


class TopicConfigChange(NamedTuple):
    """A change of a topic on one broker.

    Attributes:
        broker_addr: The broker.
        broker_name: The name that the broker reports; None if it did not answer.
        before: The configuration before; None if the topic did not exist.
        after: The configuration after; None if the change is impossible.
        error: The reason why the change failed or is impossible; None otherwise.
        late_error: Why there was no answer to a change that the broker made all the same; None otherwise.
            A broker answers only after its name servers did, so one silent name server can delay it.
    """

    broker_addr: str
    broker_name: str | None
    before: BrokerTopicConfig | None
    after: BrokerTopicConfig | None
    error: RocketMQError | None
    late_error: RocketMQError | None = None

    @property
    def is_change(self) -> bool:
        """Whether the change is possible and changes something."""
        return self.error is None and self.before != self.after


class TopicConfigs:
    """`admin.topic_configs`: the settings of topics on brokers."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def get_each(self, broker_addrs: Iterable[str], topic: str) -> list[ServerResult[BrokerTopicConfig]]:
        """Return the settings of a topic on each broker (GET_TOPIC_CONFIG, 351).

        Brokers before 5.0 get GET_ALL_TOPIC_CONFIG (21) instead.

        Args:
            broker_addrs: The broker addresses. Repeated addresses give one result.
            topic: The topic.

        Returns:
            One ServerResult per distinct address, in order. The error is TopicNotExist without such a topic.
        """
        return [
            decode_answer(answer, lambda response: _parse_config(find_topic_members(response, topic)))
            for answer in ask_for_topic(self._caller, broker_addrs, topic)
        ]

    def list_broker_topics(
        self, broker_addrs: Iterable[str]
    ) -> list[ServerResult[tuple[BrokerTopicConfig, ...]]]:
        """Return all topics of each broker (GET_ALL_TOPIC_CONFIG, 21).

        Args:
            broker_addrs: The broker addresses.

        Returns:
            One ServerResult per address, in order: configurations in the order of topic names.
        """
        return self._caller.read_each(broker_addrs, _parse_all_configs, RequestCode.GET_ALL_TOPIC_CONFIG)

    def plan_update(
        self, broker_addrs: Iterable[str], topic: str, patch: TopicPatch, *, create: bool
    ) -> list[TopicConfigChange]:
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
            the change at its next copy of the master. So it is for a new topic whose name no broker accepts,
            and for attributes that brokers refuse.

        Raises:
            ValueError: An attribute has no sign.
        """
        roles_by_addr = {
            answer.addr: answer for answer in self._require_masters(broker_addrs, patch.attributes)
        }
        configs_by_addr = {result.addr: result for result in self.get_each(roles_by_addr, topic)}
        return [_plan_change(configs_by_addr[a], r, topic, patch, create) for a, r in roles_by_addr.items()]

    def apply_changes(
        self, changes: Sequence[TopicConfigChange], patch: TopicPatch
    ) -> list[TopicConfigChange]:
        """Apply planned changes (UPDATE_AND_CREATE_TOPIC, 17), and read them back.

        Args:
            changes: The result of `plan_update`.
            patch: The patch of the plan.

        Returns:
            One TopicConfigChange per broker, in order. The error is NotApplied if values differ. A change
            without an answer that the broker made all the same has a `late_error` instead.
        """
        to_send = [change for change in changes if change.is_change]
        update_calls = [(c.broker_addr, _build_update_request(c.before, c.after)) for c in to_send if c.after]
        answers = {answer.addr: answer for answer in self._caller.send_requests(update_calls)}
        # A change without an answer may have been made.
        updated_addrs = [addr for addr, a in answers.items() if a.error is None or is_unreachable(a.error)]
        topic = next((change.after.topic_name for change in to_send if change.after), "")
        configs_by_addr = {result.addr: result for result in self.get_each(updated_addrs, topic)}
        return [
            change
            if change.broker_addr not in answers
            else _verify_change(
                change, patch, answers[change.broker_addr].error, configs_by_addr.get(change.broker_addr)
            )
            for change in changes
        ]

    def update_topic(
        self, broker_addrs: Iterable[str], topic: str, patch: TopicPatch, *, create: bool = True
    ) -> list[TopicConfigChange]:
        """Create or update a topic on masters, and read it back: `plan_update`, then `apply_changes`.

        Args:
            broker_addrs: The masters to change.
            topic: The topic.
            patch: The fields to change.
            create: Create the topic on a broker without it. If False, the error is TopicNotExist.

        Returns:
            One TopicConfigChange per broker, in order. The error is NotApplied for a slave, or if values
            differ afterwards.
        """
        return self.apply_changes(self.plan_update(broker_addrs, topic, patch, create=create), patch)

    def _require_masters(
        self, broker_addrs: Iterable[str], attribute_changes: str | None
    ) -> list[ServerResult[str]]:
        """Return the name of each broker; the error is NotApplied for a slave, or one without attributes."""

        def require_master(response: RemotingCommand) -> str:
            config_items = parse_config_items(response)
            if config_items.get("brokerRole") == "SLAVE":
                raise NotApplied("this is a slave: change its master, which it copies")
            if attribute_changes and response.version < V5_0_0:
                raise NotApplied("topics of brokers before 5.0 have no attributes")
            return config_items["brokerName"]

        return self._caller.read_each(broker_addrs, require_master, RequestCode.GET_BROKER_CONFIG)


def _plan_change(
    config_result: ServerResult[BrokerTopicConfig],
    role_result: ServerResult[str],
    topic: str,
    patch: TopicPatch,
    create: bool,
) -> TopicConfigChange:
    before, error = config_result.result, role_result.error or config_result.error
    if create and role_result.error is None and isinstance(error, TopicNotExist):
        name_problem = find_topic_name_problem(topic)
        error = None if name_problem is None else NotApplied(name_problem)
    after = None if error is not None else patch.apply_to(before or BrokerTopicConfig(topic))
    if after:
        refusal = find_refusal("topic", before and dict(before.attributes), dict(after.attributes))
        if refusal is not None:
            error, after = NotApplied(refusal), None
    return TopicConfigChange(config_result.addr, role_result.result, before, after, error)


def _verify_change(
    change: TopicConfigChange,
    patch: TopicPatch,
    error: RocketMQError | None,
    config_result: ServerResult[BrokerTopicConfig] | None,
) -> TopicConfigChange:
    """Compare the wanted configuration with the one read back; add an error for a difference."""
    if is_unreachable(error):
        read_change = _verify_change(change, patch, None, config_result)
        return change._replace(error=error) if read_change.error else read_change._replace(late_error=error)
    current_config = None if config_result is None else config_result.result
    error = error or (None if config_result is None else config_result.error)
    if error is not None or current_config is None or change.after is None:
        return change._replace(error=error)
    # A broker sets a topic to ordered if name servers have an order configuration for it.
    wanted_config = (
        change.after if patch.order is not None else change.after._replace(order=current_config.order)
    )
    ignored_fields = [
        n for n in wanted_config._fields if getattr(wanted_config, n) != getattr(current_config, n)
    ]
    if ignored_fields:
        ignored_text = " and ".join(_WIRE_NAMES.get(field_name, field_name) for field_name in ignored_fields)
        command = quote_command("updateOrderConf", current_config.topic_name, "get")
        hint = (
            f"; a topic with an order configuration stays ordered: see `{command}`"
            if "order" in ignored_fields and current_config.order
            else ""
        )
        return change._replace(error=NotApplied(f"ignored: the broker kept the old {ignored_text}{hint}"))
    return change._replace(after=current_config)


def _build_update_request(
    before: BrokerTopicConfig | None, topic_config: BrokerTopicConfig
) -> RemotingCommand:
    # A broker refuses to remove an attribute that it does not have.
    signed = sign_changes(dict(before.attributes if before else ()), dict(topic_config.attributes))
    update_header = broker_headers.CreateTopic(
        topic=topic_config.topic_name,
        default_topic=DEFAULT_TOPIC,
        read_queue_nums=topic_config.read_queue_nums,
        write_queue_nums=topic_config.write_queue_nums,
        perm=topic_config.perm,
        topic_filter_type=topic_config.topic_filter_type,
        topic_sys_flag=topic_config.topic_sys_flag,
        order=topic_config.order,
        attributes=format_attribute_changes(signed),
    )
    return make_request(RequestCode.UPDATE_AND_CREATE_TOPIC, update_header)


def format_attribute_changes(signed_changes: Mapping[str, str]) -> str | None:
    """Return changes as in the header of a request; None if there is none."""
    return ",".join(f"{key}={v}" if key.startswith("+") else key for key, v in signed_changes.items()) or None


def ask_for_topic(
    caller: Caller, broker_addrs: Iterable[str], topic: str
) -> list[ServerResult[RemotingCommand]]:
    """Ask each distinct broker for a topic; the error is TopicNotExist if it does not have the topic."""

    def require_topic(response: RemotingCommand) -> RemotingCommand:
        if topic not in parse_json_object(response).child("topicConfigTable"):
            raise TopicNotExist(f"No topic in this broker. topic: {topic}")
        return response

    header = headers.TopicName(topic)
    answers = {a.addr: a for a in caller.send_to_each(broker_addrs, RequestCode.GET_TOPIC_CONFIG, header)}
    # Brokers before 5.0 have no request for a single topic.
    old_addrs = [addr for addr, answer in answers.items() if isinstance(answer.error, NotSupported)]
    for answer in caller.send_to_each(old_addrs, RequestCode.GET_ALL_TOPIC_CONFIG):
        answers[answer.addr] = decode_answer(answer, require_topic)
    return list(answers.values())


def find_topic_members(response: RemotingCommand, topic: str) -> JsonObject:
    """Return the configuration in an answer of `ask_for_topic`."""
    json_body = parse_json_object(response)
    table = json_body.child("topicConfigTable")
    return table.child(topic) if topic in table else json_body


def _parse_all_configs(response: RemotingCommand) -> tuple[BrokerTopicConfig, ...]:
    config_table = parse_json_object(response).child("topicConfigTable")
    return tuple(_parse_config(config) for _, config in config_table.sorted_children())


def _parse_config(config: JsonObject) -> BrokerTopicConfig:
    attributes = config.child("attributes")
    return BrokerTopicConfig(
        config.text("topicName"),
        config.integer("readQueueNums"),
        config.integer("writeQueueNums"),
        config.integer("perm"),
        config.flag("order"),
        config.integer("topicSysFlag", 0),
        config.text("topicFilterType", "") or "SINGLE_TAG",
        tuple((key, attributes.text(key, "")) for key in sorted(attributes.members)),
    )


def _set_flag_bit(sys_flag: int, flag_bit: int, is_wanted: bool | None) -> int:
    return sys_flag if is_wanted is None else sys_flag | flag_bit if is_wanted else sys_flag & ~flag_bit
