"""Consume modes: whether the clients of a group pull from a topic's queues or pop. Since 5.0."""

from collections.abc import Iterable
from typing import NamedTuple

from namesrv_core.protocol import fastjson
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command
from nsadmin.client import targets
from nsadmin.client.bodies import config_items, json_object
from nsadmin.client.caller import Caller
from nsadmin.client.groups import Groups
from nsadmin.client.results import NotApplied, ServerResult
from nsadmin.client.retry import decoded
from nsadmin.client.topic_configs import TopicConfigs

MODES = ("PULL", "POP")


class ConsumeMode(NamedTuple):
    """PULL or POP; of who pops, `pop_share_queue_num` is how many clients beside its own share a queue.

    Below 0: all do. 0 is mqadmin's default.
    """

    mode: str
    pop_share_queue_num: int


class SetMode(NamedTuple):
    """The mode that was set for a group on a topic."""

    topic: str
    group: str
    mode: ConsumeMode


class ModeChange(NamedTuple):
    """The mode before and after; None where none was set, and the broker's default counts."""

    before: ConsumeMode | None
    after: ConsumeMode


class ConsumeModes:
    """`admin.consume_modes`."""

    def __init__(self, caller: Caller, groups: Groups, topic_configs: TopicConfigs) -> None:
        self._caller = caller
        self._groups = groups
        self._topic_configs = topic_configs

    def each(self, addrs: Iterable[str]) -> list[ServerResult[tuple[SetMode, ...]]]:
        """All that were set on each broker, by topic and group (GET_ALL_MESSAGE_REQUEST_MODE)."""
        answers = self._caller.ask_each(addrs, RequestCode.GET_ALL_MESSAGE_REQUEST_MODE)
        return [decoded(answer, _modes) for answer in answers]

    def defaults(self, addrs: Iterable[str]) -> list[ServerResult[ConsumeMode]]:
        """What counts on each broker for all others (defaultMessageRequestMode, defaultPopShareQueueNum)."""

        def default(command: Command) -> ConsumeMode:
            items = config_items(command)
            return ConsumeMode(items["defaultMessageRequestMode"], int(items["defaultPopShareQueueNum"]))

        answers = self._caller.ask_each(addrs, RequestCode.GET_BROKER_CONFIG)
        return [decoded(answer, default) for answer in answers]

    def plan(
        self, addrs: Iterable[str], topic: str, group: str, mode: ConsumeMode
    ) -> list[ServerResult[ModeChange]]:
        """What `set` would do on these masters.

        NotFound where the broker does not know the group, which it would make, TopicNotExist for the topic;
        NotApplied for a slave, which copies its master's.
        """
        found = self.each(addrs)
        able = [item.addr for item in found if item.error is None]
        refused = self._refused(able, topic, group)

        def change(modes: tuple[SetMode, ...]) -> ModeChange:
            before = next((item.mode for item in modes if (item.topic, item.group) == (topic, group)), None)
            return ModeChange(before, mode)

        return [refused.get(item.addr) or item.then(change) for item in found]

    def set(
        self, addrs: Iterable[str], topic: str, group: str, mode: ConsumeMode
    ) -> list[ServerResult[ModeChange]]:
        """Set the mode, and look again. Clients that are connected take it over within seconds."""
        plans = self.plan(addrs, topic, group, mode)
        due = [item.addr for item in plans if item.result and item.result.before != mode]
        body = {
            "topic": topic,
            "consumerGroup": group,
            "mode": mode.mode,
            "popShareQueueNum": mode.pop_share_queue_num,
        }
        code = RequestCode.SET_MESSAGE_REQUEST_MODE
        told = {
            answer.addr: answer for answer in self._caller.ask_each(due, code, None, fastjson.dumps(body))
        }
        now = {item.addr: item for item in self.each(addr for addr in due if told[addr].error is None)}

        def outcome(planned: ServerResult[ModeChange]) -> ServerResult[ModeChange]:
            if planned.addr not in told:
                return planned
            error = told[planned.addr].error or now[planned.addr].error
            if error is None and SetMode(topic, group, mode) not in (now[planned.addr].result or ()):
                error = NotApplied("the broker answered success, but has another mode")
            return planned if error is None else ServerResult(planned.addr, None, error)

        return [outcome(planned) for planned in plans]

    def _refused(self, addrs: list[str], topic: str, group: str) -> dict[str, ServerResult[ModeChange]]:
        """The brokers on which it cannot be set, and why."""

        def check(command: Command) -> bool:
            if config_items(command).get("brokerRole") == "SLAVE":
                raise NotApplied("this is a slave: change its master, whose modes it copies")
            return True

        roles = [decoded(item, check) for item in self._caller.ask_each(addrs, RequestCode.GET_BROKER_CONFIG)]
        topics = self._topic_configs.each(addrs, topic)
        groups = self._groups.holders(group, map(targets.at, addrs))
        errors = {item.addr: item.error for found in (groups, topics, roles) for item in found if item.error}
        return {addr: ServerResult(addr, None, error) for addr, error in errors.items()}


def _modes(command: Command) -> tuple[SetMode, ...]:
    table = json_object(command).get("messageRequestModeMap") or {}
    return tuple(
        SetMode(topic, group, ConsumeMode(item["mode"], int(item.get("popShareQueueNum") or 0)))
        for topic, groups in sorted(table.items())
        for group, item in sorted(groups.items())
    )
