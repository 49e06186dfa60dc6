"""Broker configs: the settings in force on brokers, each asked and changed by itself."""

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
    """One item of one broker: the text it had, and the text it has now (or would have)."""

    before: str
    after: str

    @property
    def is_change(self) -> bool:
        """Whether the broker has to be told: True and true are the same to it."""
        return _plain(self.before) != _plain(self.after)


class BrokerConfigs:
    """`admin.broker_configs`; controllers have settings of the same kind, under codes of their own."""

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
        """The whole configuration of these brokers, as texts in the order of keys."""
        answers = self._caller.ask_each(addrs, self._read)
        return [decoded(answer, config_items) for answer in answers]

    def plan(self, addrs: Iterable[str], key: str, value: str) -> list[ServerResult[ItemChange]]:
        """What `update` would do: NotFound for a broker that has no such item."""

        def change(config: Config) -> ItemChange:
            if key not in config:
                raise NotFound(f"this {self._kind} has no item {key!r}")
            return ItemChange(config[key], value)

        return [config.then(change) for config in self.each(addrs)]

    def update(self, addrs: Iterable[str], key: str, value: str) -> list[ServerResult[ItemChange]]:
        """Change one item on each of these brokers, and read it back.

        A broker answers success for an item it does not have and for a value it cannot read: these are
        NotFound and NotApplied here. One that has the value already is not asked to change anything, as a
        broker rewrites its whole file each time.
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
        """Have a broker register all its topics at once with all its name servers, as it has them.

        That is what a broker does, 4.x or 5.x, whenever it is told its `brokerPermission`, be it the one that
        it has (`AdminBrokerProcessor#updateBrokerConfig`); its file is written anew. The result is that
        permission.
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
    """The text as a broker writes it: true and false in small letters."""
    text = text.strip()
    return text.lower() if text.lower() in ("true", "false") else text


def _equal(one: str, other: str) -> bool:
    """Whether a broker that took the one shows the other: it writes numbers in its own way."""
    return _plain(one) == _plain(other) or _number(one) == _number(other) is not None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
