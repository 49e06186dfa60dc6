"""KV config: texts by namespace and key that each name server keeps for itself."""

from namesrv_core.errors import QueryNotFound
from namesrv_core.protocol import headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command
from nsadmin.client.bodies import text_table
from nsadmin.client.results import ServerResult
from nsadmin.client.retry import Reader


class Kv:
    """`admin.kv`; QueryNotFound is the error of what is not there."""

    def __init__(self, reader: Reader) -> None:
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
        return [done if done.error is not None else before[done.addr] for done in deleted]


def _key(namespace: str, key: str) -> dict[str, str]:
    return headers.write(headers.KvKey(namespace, key))


def _value(command: Command) -> str:
    value = (command.ext or {}).get("value")
    if value is None:
        raise QueryNotFound("the key has no value")
    return value
