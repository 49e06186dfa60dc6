"""KV config: texts by namespace and key that each name server keeps for itself."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from namesrv_core.errors import QueryNotFound
from namesrv_core.protocol import headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command, request
from nsadmin.client.bodies import text_table
from nsadmin.client.caller import Caller
from nsadmin.client.results import NotApplied, ServerResult
from nsadmin.client.retry import Reader, decoded

KvTables = Mapping[str, Mapping[str, str]]
"""Namespaces by name, keys and values within; none that is not there."""


class KvChange(NamedTuple):
    """One key on one name server: the text it has and the one it gets; None is for no key."""

    addr: str
    namespace: str
    key: str
    before: str | None
    after: str | None


class Kv:
    """`admin.kv`; QueryNotFound is the error of what is not there."""

    def __init__(self, caller: Caller, reader: Reader) -> None:
        self._caller = caller
        self._reader = reader

    def get(self, namespace: str, key: str) -> str:
        """The value that the first name server with one has."""
        what = f"the key {key!r} of {namespace!r}"
        return self._reader.read(what, _value, RequestCode.GET_KV_CONFIG, _key(namespace, key))

    def get_each(self, namespace: str, key: str) -> list[ServerResult[str]]:
        """The value on every name server."""
        return self._reader.each(_value, RequestCode.GET_KV_CONFIG, _key(namespace, key))

    def entries(self, namespace: str) -> dict[str, str]:
        """All keys and values of a namespace on the first name server that has it, in the order of keys."""
        ext = headers.write(headers.KvNamespace(namespace))
        what = f"the namespace {namespace!r}"
        return self._reader.read(what, text_table, RequestCode.GET_KVLIST_BY_NAMESPACE, ext)

    def entries_each(self, namespace: str) -> list[ServerResult[dict[str, str]]]:
        """All keys and values of a namespace on every name server."""
        ext = headers.write(headers.KvNamespace(namespace))
        return self._reader.each(text_table, RequestCode.GET_KVLIST_BY_NAMESPACE, ext)

    def tables_each(self, namespaces: Sequence[str], addrs: Iterable[str]) -> list[ServerResult[KvTables]]:
        """These namespaces as each of these name servers has them."""
        code, addrs = RequestCode.GET_KVLIST_BY_NAMESPACE, list(addrs)
        exts = [headers.write(headers.KvNamespace(namespace)) for namespace in namespaces]
        answers = iter(self._caller.ask((addr, request(code, ext)) for addr in addrs for ext in exts))
        return [_tables(addr, namespaces, list(islice(answers, len(exts)))) for addr in addrs]

    def change(self, changes: Sequence[KvChange]) -> list[ServerResult[KvChange]]:
        """Write and delete, each on its name server, and look again: what is there then is what counts.

        NotApplied where it is something else than what was wanted.
        """
        answers = self._caller.ask((change.addr, _request(change)) for change in changes)
        touched: dict[str, dict[str, None]] = {}
        for change in changes:
            touched.setdefault(change.addr, {})[change.namespace] = None
        now = {addr: found for addr in touched for found in self.tables_each(list(touched[addr]), [addr])}
        return [
            _checked(change, answer, now[change.addr])
            for change, answer in zip(changes, answers, strict=True)
        ]

    def put(self, namespace: str, key: str, value: str) -> list[ServerResult[str]]:
        """Write a value on every name server; the result is what was written."""
        ext = headers.write(headers.PutKvConfig(namespace, key, value))
        return self._reader.each(lambda _: value, RequestCode.PUT_KV_CONFIG, ext)

    def delete(self, namespace: str, key: str) -> list[ServerResult[str]]:
        """Delete a key on every name server: the value it had, or QueryNotFound where there was none.

        Servers answer success in both cases, so the value is read first.
        """
        before = {found.addr: found for found in self.get_each(namespace, key)}
        deleted = self._reader.each(lambda _: "", RequestCode.DELETE_KV_CONFIG, _key(namespace, key))
        return [_deleted(done, before[done.addr]) for done in deleted]


def _deleted(done: ServerResult[str], before: ServerResult[str]) -> ServerResult[str]:
    """What a name server had; of one that would not say it, that it is deleted."""
    had_none = before.error is None or isinstance(before.error, QueryNotFound)
    return before if done.error is None and had_none else done


def _tables(
    addr: str, namespaces: Sequence[str], answers: Sequence[ServerResult[Command]]
) -> ServerResult[KvTables]:
    found = {}
    for namespace, answer in zip(namespaces, answers, strict=True):
        table = decoded(answer, text_table)
        if table.result is not None:
            found[namespace] = table.result
        elif not isinstance(table.error, QueryNotFound):
            return ServerResult(addr, None, table.error)
    return ServerResult(addr, found, None)


def _request(change: KvChange) -> Command:
    if change.after is None:
        return request(RequestCode.DELETE_KV_CONFIG, _key(change.namespace, change.key))
    header = headers.PutKvConfig(change.namespace, change.key, change.after)
    return request(RequestCode.PUT_KV_CONFIG, headers.write(header))


def _checked(
    change: KvChange, answer: ServerResult[Command], now: ServerResult[KvTables]
) -> ServerResult[KvChange]:
    if now.result is None:
        return ServerResult(change.addr, None, answer.error or now.error)
    there = now.result.get(change.namespace, {}).get(change.key)
    if there == change.after:
        return ServerResult(change.addr, change, None)
    error = answer.error or NotApplied(f"ignored: it is {'not there' if there is None else repr(there)}")
    return ServerResult(change.addr, None, error)


def _key(namespace: str, key: str) -> dict[str, str]:
    return headers.write(headers.KvKey(namespace, key))


def _value(command: Command) -> str:
    value = (command.ext or {}).get("value")
    if value is None:
        raise QueryNotFound("the key has no value")
    return value
