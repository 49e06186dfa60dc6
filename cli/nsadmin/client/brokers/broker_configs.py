"""`admin.broker_configs`: the settings of each broker, read and updated one by one."""

from collections.abc import Iterable
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol import fastjson
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.json_object import JsonObject
from nsadmin.client.connection.response_bodies import parse_config_items, read_ext_fields
from nsadmin.client.results import NotFound, ServerResult, is_unreachable
from nsadmin.client.server_settings import (
    format_properties_line,
    normalize_text,
    require_change,
    require_value,
)

BrokerConfig = dict[str, str]


class ConfigItemChange(NamedTuple):
    """A change of one item.

    Attributes:
        before: The value before.
        after: The value after, or the planned value.
        late_error: Why there was no answer to a change that the server made all the same; None otherwise.
    """

    before: str
    after: str
    late_error: RocketMQError | None = None

    @property
    def is_change(self) -> bool:
        """Whether the values differ for the broker, for which "True" and "true" are equal."""
        return normalize_text(self.before) != normalize_text(self.after)


class BrokerConfigs:
    """`admin.broker_configs`: the settings of brokers.

    Args:
        caller: The connections.
        read_code: The request code to read settings; `admin.controllers.configs` passes that of controllers.
        update_code: The request code to update settings.
        server_kind: The kind of server, for error texts.
    """

    def __init__(
        self,
        caller: Caller,
        read_code: RequestCode = RequestCode.GET_BROKER_CONFIG,
        update_code: RequestCode = RequestCode.UPDATE_BROKER_CONFIG,
        server_kind: str = "broker",
    ) -> None:
        self._caller = caller
        self._read_code, self._update_code, self._server_kind = read_code, update_code, server_kind

    def get_each(self, broker_addrs: Iterable[str]) -> list[ServerResult[BrokerConfig]]:
        """Return all settings of servers (GET_BROKER_CONFIG, 26; controllers: GET_CONTROLLER_CONFIG, 1010).

        Args:
            broker_addrs: The addresses of brokers or controllers.

        Returns:
            One ServerResult per address, in order: key to value, as texts, in the order of keys.
        """
        return self._caller.read_each(broker_addrs, parse_config_items, self._read_code)

    def get_change_times(self, broker_addrs: Iterable[str]) -> list[ServerResult[int]]:
        """Return when the settings of servers were last changed by a request (GET_BROKER_CONFIG, 26).

        It is the timestamp of the DataVersion that the answer has in its header
        (`Configuration#getDataVersionJson`). Its counter is 0 until the first change after a start.

        Args:
            broker_addrs: The addresses of brokers or controllers.

        Returns:
            One ServerResult per address, in order: ms since 1970, by the server's clock. The error is
            NotFound if no request changed a setting since the start, or the server does not report it.
        """
        return self._caller.read_each(broker_addrs, _parse_change_time, self._read_code)

    def plan_update(
        self, broker_addrs: Iterable[str], item_key: str, item_value: str
    ) -> list[ServerResult[ConfigItemChange]]:
        """Plan `apply_update` without changing anything.

        Args:
            broker_addrs: The addresses of brokers or controllers.
            item_key: The key, such as "brokerPermission".
            item_value: The new value, as text.

        Returns:
            One ServerResult per address, in order: the current and the new value. The error is NotFound for
            an unknown item, NotApplied for a value of another type than the present one.
        """

        def plan_change(config: BrokerConfig) -> ConfigItemChange:
            value_now = require_change(config, item_key, item_value, self._server_kind)
            return ConfigItemChange(value_now, item_value)

        return [config.then(plan_change) for config in self.get_each(broker_addrs)]

    def update_item(
        self, broker_addrs: Iterable[str], item_key: str, item_value: str
    ) -> list[ServerResult[ConfigItemChange]]:
        """Update one item on servers, and read it back: `plan_update`, then `apply_update`.

        Args:
            broker_addrs: The addresses of brokers or controllers.
            item_key: The key, such as "brokerPermission".
            item_value: The new value, as text.

        Returns:
            One ServerResult per address, in order: the value before and after. A change without an answer
            that the server made all the same has a `late_error`. The error is NotFound for an unknown item,
            NotApplied for an invalid value. Brokers answer success in both cases.
        """
        return self.apply_update(self.plan_update(broker_addrs, item_key, item_value), item_key, item_value)

    def apply_update(
        self, plans: Iterable[ServerResult[ConfigItemChange]], item_key: str, item_value: str
    ) -> list[ServerResult[ConfigItemChange]]:
        """Apply a planned update of one item, and read it back.

        Sends UPDATE_BROKER_CONFIG (25), or UPDATE_CONTROLLER_CONFIG (1009) to controllers. A server that has
        the value already gets no request, because a broker rewrites its whole file on each update.

        Args:
            plans: The result of `plan_update`.
            item_key: The key of the plan.
            item_value: The new value of the plan.

        Returns:
            One ServerResult per address, in order, as of `update_item`.
        """
        plans_by_addr = {c.addr: c for c in plans}
        changing_addrs = [
            addr for addr, change in plans_by_addr.items() if change.result and change.result.is_change
        ]
        body = format_properties_line(item_key, item_value).encode("ascii")
        update_answers = self._caller.send_to_each(changing_addrs, self._update_code, request_body=body)
        # A broker answers a new brokerPermission only after its name servers did, so a change without an
        # answer may have been made.
        updated_addrs = [a.addr for a in update_answers if a.error is None or is_unreachable(a.error)]
        configs_by_addr = {config.addr: config for config in self.get_each(updated_addrs)}
        for answer in update_answers:
            refused_config = ServerResult[BrokerConfig](answer.addr, None, answer.error)
            config_result = configs_by_addr.get(answer.addr, refused_config)
            verified_change = self._verify_update(plans_by_addr[answer.addr], config_result, item_key)
            if answer.error is not None:
                verified_change = _add_late_error(verified_change, answer.error)
            plans_by_addr[answer.addr] = verified_change
        return list(plans_by_addr.values())

    def force_registration(self, broker_addr: str) -> ServerResult[str]:
        """Make a broker register all its topics on all its name servers (UPDATE_BROKER_CONFIG, 25).

        Writes the broker's own `brokerPermission` back to it. Brokers of 4.x and 5.x register again after
        each such update, also with an equal value (`AdminBrokerProcessor#updateBrokerConfig`). The broker
        rewrites its configuration file.

        Args:
            broker_addr: The broker address.

        Returns:
            A ServerResult: the permission that was written, as text.
        """
        item_key = "brokerPermission"

        def rewrite_permission(config: BrokerConfig) -> str:
            request_body = format_properties_line(item_key, config[item_key]).encode("ascii")
            [answer] = self._caller.send_to_each(
                [broker_addr], RequestCode.UPDATE_BROKER_CONFIG, request_body=request_body
            )
            if answer.error is not None:
                raise answer.error
            return config[item_key]

        [config] = self.get_each([broker_addr])
        return config.then(rewrite_permission)

    def _verify_update(
        self,
        plan: ServerResult[ConfigItemChange],
        config_result: ServerResult[BrokerConfig],
        item_key: str,
    ) -> ServerResult[ConfigItemChange]:
        return plan.then(
            lambda change: change._replace(
                after=require_value(config_result.value(), item_key, change.after, self._server_kind)
            )
        )


def _parse_change_time(response: RemotingCommand) -> int:
    version_text = read_ext_fields(response).text("version", "") or "{}"
    data_version = JsonObject(fastjson.decode_json(version_text.encode()), "version")
    if not data_version.integer("counter", 0):
        raise NotFound("no request changed a setting since the start")
    return data_version.integer("timestamp")


def _add_late_error(
    verified_change: ServerResult[ConfigItemChange], answer_error: RocketMQError
) -> ServerResult[ConfigItemChange]:
    """Add the error of an answer: to a change that was made as `late_error`, else as the result's error."""
    if verified_change.error is not None:
        return verified_change._replace(error=answer_error)
    return verified_change.then(lambda item_change: item_change._replace(late_error=answer_error))
