"""`admin.broker_configs`: the settings of each broker, read and updated one by one."""

from collections.abc import Iterable
from typing import NamedTuple

from namesrv_core.protocol.codes import RequestCode
from nsadmin.client.bodies import config_items
from nsadmin.client.caller import Caller
from nsadmin.client.name_servers import properties_line
from nsadmin.client.results import NotApplied, NotFound, ServerResult
from nsadmin.client.retry import decoded

Config = dict[str, str]


class ItemChange(NamedTuple):
    """A change of one item.

    Attributes:
        before: The value before.
        after: The value after, or the planned value.
    """

    before: str
    after: str

    @property
    def is_change(self) -> bool:
        """Whether the values differ for the broker, for which "True" and "true" are equal."""
        return _plain(self.before) != _plain(self.after)


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
        read: RequestCode = RequestCode.GET_BROKER_CONFIG,
        write: RequestCode = RequestCode.UPDATE_BROKER_CONFIG,
        kind: str = "broker",
    ) -> None:
        self._caller = caller
        self._read, self._write, self._kind = read, write, kind

    def each(self, addrs: Iterable[str]) -> list[ServerResult[Config]]:
        """Return all settings of servers (GET_BROKER_CONFIG, 26; controllers: GET_CONTROLLER_CONFIG, 1010).

        Returns:
            One ServerResult per address, in order: key to value, as texts, in the order of keys.
        """
        answers = self._caller.ask_each(addrs, self._read)
        return [decoded(answer, config_items) for answer in answers]

    def plan(self, addrs: Iterable[str], key: str, value: str) -> list[ServerResult[ItemChange]]:
        """Plan `update_item` without changing anything.

        Returns:
            One ServerResult per address, in order. The error is NotFound for an unknown item.
        """

        def change(config: Config) -> ItemChange:
            if key not in config:
                raise NotFound(f"this {self._kind} has no item {key!r}")
            return ItemChange(config[key], value)

        return [config.then(change) for config in self.each(addrs)]

    def update(self, addrs: Iterable[str], key: str, value: str) -> list[ServerResult[ItemChange]]:
        """Update one item on servers, and read it back.

        Sends UPDATE_BROKER_CONFIG (25), or UPDATE_CONTROLLER_CONFIG (1009) to controllers. A server that has
        the value already gets no request, because a broker rewrites its whole file on each update.

        Returns:
            One ServerResult per address, in order. The error is NotFound for an unknown item, NotApplied for
            an invalid value. Brokers answer success in both cases.
        """
        plans = {planned.addr: planned for planned in self.plan(addrs, key, value)}
        due = [addr for addr, planned in plans.items() if planned.result and planned.result.is_change]
        body = properties_line(key, value).encode("ascii")
        updated = self._caller.ask_each(due, self._write, body=body)
        done = [answer.addr for answer in updated if answer.error is None]
        now = {config.addr: config for config in self.each(done)}
        for answer in updated:
            refused = ServerResult[Config](answer.addr, None, answer.error)
            found = now.get(answer.addr, refused)
            plans[answer.addr] = _checked(plans[answer.addr], found, key)
        return list(plans.values())

    def register_anew(self, broker_addr: str) -> ServerResult[str]:
        """Make a broker register all its topics on all its name servers (UPDATE_BROKER_CONFIG, 25).

        Writes the broker's own `brokerPermission` back to it. Brokers of 4.x and 5.x register again after
        each such update, also with an equal value (`AdminBrokerProcessor#updateBrokerConfig`). The broker
        rewrites its configuration file.

        Returns:
            The permission that was written.
        """
        key = "brokerPermission"

        def told(config: Config) -> str:
            body = properties_line(key, config[key]).encode("ascii")
            [answer] = self._caller.ask_each([broker_addr], RequestCode.UPDATE_BROKER_CONFIG, body=body)
            if answer.error is not None:
                raise answer.error
            return config[key]

        [config] = self.each([broker_addr])
        return config.then(told)


def _checked(
    planned: ServerResult[ItemChange], found: ServerResult[Config], key: str
) -> ServerResult[ItemChange]:
    def check(change: ItemChange) -> ItemChange:
        if found.error is not None:
            raise found.error
        now = (found.result or {}).get(key)
        if now is None or not _equal(now, change.after):
            raise NotApplied(f"ignored: it is still {now!r}")
        return ItemChange(change.before, now)

    return planned.then(check)


def _plain(text: str) -> str:
    """Normalize a value like a broker: "true" and "false" in lower case."""
    text = text.strip()
    return text.lower() if text.lower() in ("true", "false") else text


def _equal(one: str, other: str) -> bool:
    """Return whether two texts are the same value for a broker, which reformats numbers."""
    return _plain(one) == _plain(other) or _number(one) == _number(other) is not None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
