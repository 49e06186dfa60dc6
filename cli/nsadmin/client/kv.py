"""`admin.kv`: the KV config, texts by namespace and key, that each name server stores separately."""

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
"""Namespace to key to value. Missing namespaces are left out."""


class KvChange(NamedTuple):
    """A change of one key on one name server.

    Attributes:
        addr: The name server.
        namespace: The namespace.
        key: The key.
        before: The value before; None if the key does not exist.
        after: The value after; None deletes the key.
    """

    addr: str
    namespace: str
    key: str
    before: str | None
    after: str | None


class Kv:
    """`admin.kv`: the KV config of name servers. A missing key or namespace gives QueryNotFound."""

    def __init__(self, caller: Caller, reader: Reader) -> None:
        self._caller = caller
        self._reader = reader

    def get(self, namespace: str, key: str) -> str:
        """Return the value of a key from the first name server that has one (GET_KV_CONFIG, 101).

        Raises:
            QueryNotFound: No name server has the key.
        """
        what = f"the key {key!r} of {namespace!r}"
        return self._reader.read(what, _value, RequestCode.GET_KV_CONFIG, _key(namespace, key))

    def get_each(self, namespace: str, key: str) -> list[ServerResult[str]]:
        """Return the value of a key from every name server (GET_KV_CONFIG, 101).

        Returns:
            One ServerResult per name server; the error is QueryNotFound for a missing key.
        """
        return self._reader.each(_value, RequestCode.GET_KV_CONFIG, _key(namespace, key))

    def entries(self, namespace: str) -> dict[str, str]:
        """Return a namespace from the first name server that has it (GET_KVLIST_BY_NAMESPACE, 219).

        Returns:
            Key to value, in the order of keys.

        Raises:
            QueryNotFound: No name server has the namespace.
        """
        ext = headers.write(headers.KvNamespace(namespace))
        what = f"the namespace {namespace!r}"
        return self._reader.read(what, text_table, RequestCode.GET_KVLIST_BY_NAMESPACE, ext)

    def entries_each(self, namespace: str) -> list[ServerResult[dict[str, str]]]:
        """Return a namespace from every name server (GET_KVLIST_BY_NAMESPACE, 219).

        Returns:
            One ServerResult per name server: key to value. The error is QueryNotFound without the namespace.
        """
        ext = headers.write(headers.KvNamespace(namespace))
        return self._reader.each(text_table, RequestCode.GET_KVLIST_BY_NAMESPACE, ext)

    def tables_each(self, namespaces: Sequence[str], addrs: Iterable[str]) -> list[ServerResult[KvTables]]:
        """Return namespaces from name servers, all requested at once (GET_KVLIST_BY_NAMESPACE, 219).

        Args:
            namespaces: The namespaces.
            namesrv_addrs: The name servers.

        Returns:
            One ServerResult per address, in order: namespace to key to value, without missing namespaces.
        """
        code, addrs = RequestCode.GET_KVLIST_BY_NAMESPACE, list(addrs)
        exts = [headers.write(headers.KvNamespace(namespace)) for namespace in namespaces]
        answers = iter(self._caller.ask((addr, request(code, ext)) for addr in addrs for ext in exts))
        return [_tables(addr, namespaces, list(islice(answers, len(exts)))) for addr in addrs]

    def change(self, changes: Sequence[KvChange]) -> list[ServerResult[KvChange]]:
        """Apply changes, each on its name server, and read them back.

        Sends PUT_KV_CONFIG (100) or DELETE_KV_CONFIG (102) per change, then GET_KVLIST_BY_NAMESPACE (219).

        Returns:
            One ServerResult per change, in order. The value read back decides: the error is NotApplied if it
            differs from the wanted one.
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
        """Write a value on every name server (PUT_KV_CONFIG, 100).

        Returns:
            One ServerResult per name server: the written value.
        """
        ext = headers.write(headers.PutKvConfig(namespace, key, value))
        return self._reader.each(lambda _: value, RequestCode.PUT_KV_CONFIG, ext)

    def delete(self, namespace: str, key: str) -> list[ServerResult[str]]:
        """Delete a key on every name server (DELETE_KV_CONFIG, 102).

        Name servers also answer success for a missing key, so the value is read first (GET_KV_CONFIG, 101).

        Returns:
            One ServerResult per name server: the value before. The error is QueryNotFound for a missing key.
        """
        before = {found.addr: found for found in self.get_each(namespace, key)}
        deleted = self._reader.each(lambda _: "", RequestCode.DELETE_KV_CONFIG, _key(namespace, key))
        return [_deleted(done, before[done.addr]) for done in deleted]


def _deleted(done: ServerResult[str], before: ServerResult[str]) -> ServerResult[str]:
    """Return the value before; or the result of the deletion if that value could not be read."""
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
