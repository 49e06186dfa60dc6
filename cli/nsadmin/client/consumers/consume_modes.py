"""`admin.consume_modes`: whether the clients of a group pull or pop messages of a topic (since 5.0)."""

from collections.abc import Iterable
from typing import NamedTuple

from namesrv_core.protocol import fastjson
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.brokers import targets
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.response_bodies import parse_config_items, parse_json_object
from nsadmin.client.consumers.groups import GroupAdmin
from nsadmin.client.results import NotApplied, ServerResult, confirm_plans, ignored_change
from nsadmin.client.topics.topic_configs import TopicConfigs

MODE_NAMES = ("PULL", "POP")


class ConsumeMode(NamedTuple):
    """A consume mode.

    Attributes:
        mode: "PULL" or "POP".
        pop_share_queue_num: For POP, the number of further clients that share a queue; negative for all
            clients. The default of mqadmin is 0.
    """

    mode: str
    pop_share_queue_num: int


class AssignedMode(NamedTuple):
    """The mode that is set for a group on a topic."""

    topic: str
    group: str
    mode: ConsumeMode


class ModeChange(NamedTuple):
    """A change of a mode.

    Attributes:
        mode_before: The mode before; None if none is set and the broker's default applies.
        mode_after: The mode after.
    """

    mode_before: ConsumeMode | None
    mode_after: ConsumeMode


class ConsumeModes:
    """`admin.consume_modes`: consume modes. Each method returns one ServerResult per address, in order."""

    def __init__(self, caller: Caller, groups: GroupAdmin, topic_configs: TopicConfigs) -> None:
        self._caller, self._groups, self._topic_configs = caller, groups, topic_configs

    def list_modes(self, broker_addrs: Iterable[str]) -> list[ServerResult[tuple[AssignedMode, ...]]]:
        """Return all modes set on brokers, by topic and group (GET_ALL_MESSAGE_REQUEST_MODE, 402).

        Returns:
            One ServerResult per address: the modes in the order of topics and groups; () if none is set.
        """
        return self._caller.read_each(broker_addrs, parse_modes, RequestCode.GET_ALL_MESSAGE_REQUEST_MODE)

    def get_defaults(self, broker_addrs: Iterable[str]) -> list[ServerResult[ConsumeMode]]:
        """Return the default mode of brokers (GET_BROKER_CONFIG, 26).

        The settings are defaultMessageRequestMode and defaultPopShareQueueNum.

        Returns:
            One ServerResult per address. The error is CallError for a broker without these settings.
        """

        def parse_default(response: RemotingCommand) -> ConsumeMode:
            items = parse_config_items(response)
            return ConsumeMode(items["defaultMessageRequestMode"], int(items["defaultPopShareQueueNum"]))

        return self._caller.read_each(broker_addrs, parse_default, RequestCode.GET_BROKER_CONFIG)

    def plan_change(
        self, broker_addrs: Iterable[str], topic: str, group: str, wanted_mode: ConsumeMode
    ) -> list[ServerResult[ModeChange]]:
        """Plan `set_mode` without changing anything.

        Args:
            broker_addrs: The masters to change.
            topic: The topic.
            group: The consumer group.
            wanted_mode: The mode to set.

        Returns:
            One ServerResult per address. The error is NotFound for an unknown group (which the broker would
            create), TopicNotExist for an unknown topic, NotApplied for a slave, which copies the modes of its
            master.
        """
        mode_results = self.list_modes(broker_addrs)
        answering_addrs = [mode_result.addr for mode_result in mode_results if mode_result.error is None]
        refusals_by_addr = self._find_refusals(answering_addrs, topic, group)

        def plan_mode(assigned_modes: tuple[AssignedMode, ...]) -> ModeChange:
            current_mode = next(
                (m.mode for m in assigned_modes if (m.topic, m.group) == (topic, group)), None
            )
            return ModeChange(current_mode, wanted_mode)

        return [refusals_by_addr.get(result.addr) or result.then(plan_mode) for result in mode_results]

    def set_mode(
        self, broker_addrs: Iterable[str], topic: str, group: str, wanted_mode: ConsumeMode
    ) -> list[ServerResult[ModeChange]]:
        """Set the mode on masters, and read it back (SET_MESSAGE_REQUEST_MODE, 401).

        Connected clients adopt the mode within seconds.

        Args:
            broker_addrs: The masters to change. A master that has the mode gets no request.
            topic: The topic.
            group: The consumer group.
            wanted_mode: The mode to set.

        Returns:
            One ServerResult per address. The errors are those of `plan_change`; also NotApplied if the broker
            has another mode afterwards.
        """
        plans = self.plan_change(broker_addrs, topic, group, wanted_mode)
        changing_addrs = [p.addr for p in plans if p.result and p.result.mode_before != wanted_mode]
        fields = {
            "topic": topic,
            "consumerGroup": group,
            "mode": wanted_mode.mode,
            "popShareQueueNum": wanted_mode.pop_share_queue_num,
        }
        answers = self._caller.send_to_each(
            changing_addrs, RequestCode.SET_MESSAGE_REQUEST_MODE, None, fastjson.encode_json(fields)
        )

        def confirm(addr: str, change: ModeChange, modes: tuple[AssignedMode, ...]) -> ModeChange:
            if AssignedMode(topic, group, wanted_mode) not in modes:
                raise ignored_change(addr, f"{group} has another mode", "getConsumeMode", "-b", addr)
            return change

        return confirm_plans(plans, answers, self.list_modes, confirm)

    def _find_refusals(self, addrs: list[str], topic: str, group: str) -> dict[str, ServerResult[ModeChange]]:
        """Find the brokers on which the mode cannot be set: address to a result with the reason."""

        def require_master(response: RemotingCommand) -> bool:
            if parse_config_items(response).get("brokerRole") == "SLAVE":
                raise NotApplied("this is a slave: change its master, which it copies")
            return True

        role_results = self._caller.read_each(addrs, require_master, RequestCode.GET_BROKER_CONFIG)
        topic_results = self._topic_configs.get_each(addrs, topic)
        group_results = self._groups.find_holders(group, map(targets.target_at_addr, addrs))
        errors_by_addr = {
            server_result.addr: server_result.error
            for result_list in (group_results, topic_results, role_results)
            for server_result in result_list
            if server_result.error
        }
        return {addr: ServerResult(addr, None, error) for addr, error in errors_by_addr.items()}


def parse_modes(response: RemotingCommand) -> tuple[AssignedMode, ...]:
    """Parse the body of GET_ALL_MESSAGE_REQUEST_MODE (402)."""
    return tuple(
        AssignedMode(topic, group, ConsumeMode(mode.text("mode"), mode.integer("popShareQueueNum", 0)))
        for topic, modes in parse_json_object(response).child("messageRequestModeMap").sorted_children()
        for group, mode in modes.sorted_children()
    )
