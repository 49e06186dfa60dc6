"""`admin.kv`: the KV config, texts by namespace and key, that each name server stores separately."""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from namesrv_core.errors import QueryNotFound
from namesrv_core.protocol import headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.name_server_reader import NameServerReader
from nsadmin.client.connection.requests import make_request
from nsadmin.client.connection.response_bodies import decode_answer, parse_config_items, parse_text_table
from nsadmin.client.results import ServerResult, ignored_change

KvTables = Mapping[str, Mapping[str, str]]
"""Namespace to key to value. Missing namespaces are omitted."""


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


class KvAdmin:
    """`admin.kv`: the KV config of name servers. A missing key or namespace gives QueryNotFound."""

    def __init__(self, caller: Caller, reader: NameServerReader) -> None:
        self._caller, self._reader = caller, reader

    def get_value(self, namespace: str, key: str) -> str:
        """Return the value of a key from the first name server that has one (GET_KV_CONFIG, 101).

        Args:
            namespace: The namespace, such as "ORDER_TOPIC_CONFIG".
            key: The key.

        Raises:
            QueryNotFound: No name server has the key.
            NoneReachable: No name server answered.
        """
        subject_text = f'the key "{key}" of the namespace "{namespace}"'
        return self._reader.read_first(
            subject_text, _parse_value, RequestCode.GET_KV_CONFIG, headers.KvKey(namespace, key)
        )

    def get_value_each(self, namespace: str, key: str) -> list[ServerResult[str]]:
        """Return the value of a key from every name server (GET_KV_CONFIG, 101).

        Args:
            namespace: The namespace, such as "ORDER_TOPIC_CONFIG".
            key: The key.

        Returns:
            One ServerResult per name server; the error is QueryNotFound for a missing key.
        """
        return self._reader.read_each(_parse_value, RequestCode.GET_KV_CONFIG, headers.KvKey(namespace, key))

    def get_entries(self, namespace: str) -> dict[str, str]:
        """Return a namespace from the first name server that has it (GET_KVLIST_BY_NAMESPACE, 219).

        Args:
            namespace: The namespace, such as "ORDER_TOPIC_CONFIG".

        Returns:
            Key to value, in the order of keys.

        Raises:
            QueryNotFound: No name server has the namespace.
            NoneReachable: No name server answered.
        """
        ext_fields = headers.KvNamespace(namespace)
        return self._reader.read_first(
            f'the namespace "{namespace}"', parse_text_table, RequestCode.GET_KVLIST_BY_NAMESPACE, ext_fields
        )

    def get_entries_each(self, namespace: str) -> list[ServerResult[dict[str, str]]]:
        """Return a namespace from every name server (GET_KVLIST_BY_NAMESPACE, 219).

        Args:
            namespace: The namespace, such as "ORDER_TOPIC_CONFIG".

        Returns:
            One ServerResult per name server: key to value, in the order of keys. The error is QueryNotFound
            without the namespace.
        """
        ext_fields = headers.KvNamespace(namespace)
        return self._reader.read_each(parse_text_table, RequestCode.GET_KVLIST_BY_NAMESPACE, ext_fields)

    def list_namespaces_each(self, namesrv_addrs: Iterable[str]) -> list[ServerResult[list[str] | None]]:
        """Return the namespaces of name servers that list them (GET_NAMESRV_CONFIG, 319).

        Args:
            namesrv_addrs: The name servers.

        Returns:
            One ServerResult per address, in order. None for Apache's name servers, which cannot list them.
        """
        # nsadmin's name servers list them if they are asked. Apache's ignore the field.
        return self._caller.read_each(
            namesrv_addrs, _parse_namespaces, RequestCode.GET_NAMESRV_CONFIG, {"kvNamespaces": "true"}
        )

    def get_tables_each(
        self, namespaces: Sequence[str], namesrv_addrs: Iterable[str]
    ) -> list[ServerResult[KvTables]]:
        """Return namespaces from name servers, all requested at once (GET_KVLIST_BY_NAMESPACE, 219).

        Args:
            namespaces: The namespaces.
            namesrv_addrs: The name server addresses.

        Returns:
            One ServerResult per address, in order: namespace to key to value, without missing namespaces.
        """
        return read_tables(self._caller, namespaces, namesrv_addrs)

    def apply_changes(self, kv_changes: Sequence[KvChange]) -> list[ServerResult[KvChange]]:
        """Apply changes, each on its name server, and read them back.

        Sends PUT_KV_CONFIG (100) or DELETE_KV_CONFIG (102) per change, then GET_KVLIST_BY_NAMESPACE (219).

        Args:
            kv_changes: The changes. `before` is not compared with the current value.

        Returns:
            One ServerResult per change, in order. The value read back decides: the error is NotApplied if it
            differs from the wanted one.
        """
        answers = self._caller.send_requests(
            (c.addr, build_value_request(c.namespace, c.key, c.after)) for c in kv_changes
        )
        namespaces_by_addr: dict[str, dict[str, None]] = {}
        for kv_change in kv_changes:
            namespaces_by_addr.setdefault(kv_change.addr, {})[kv_change.namespace] = None
        tables_by_addr = {
            a: r for a in namespaces_by_addr for r in self.get_tables_each(list(namespaces_by_addr[a]), [a])
        }
        return [
            _verify_change(kv_change, answer, tables_by_addr[kv_change.addr])
            for kv_change, answer in zip(kv_changes, answers, strict=True)
        ]

    def put_value(self, namespace: str, key: str, value: str) -> list[ServerResult[str]]:
        """Write a value on every name server (PUT_KV_CONFIG, 100).

        Args:
            namespace: The namespace, such as "ORDER_TOPIC_CONFIG".
            key: The key.
            value: The new value.

        Returns:
            One ServerResult per name server: the written value.
        """
        ext_fields = headers.PutKvConfig(namespace, key, value)
        return self._reader.read_each(lambda _: value, RequestCode.PUT_KV_CONFIG, ext_fields)

    def delete_key(self, namespace: str, key: str) -> list[ServerResult[str]]:
        """Delete a key on every name server (DELETE_KV_CONFIG, 102).

        Name servers also answer success for a missing key, so the value is read first (GET_KV_CONFIG, 101).

        Args:
            namespace: The namespace, such as "ORDER_TOPIC_CONFIG".
            key: The key.

        Returns:
            One ServerResult per name server: the value before. The error is QueryNotFound for a missing key.
        """
        values_before = {result.addr: result for result in self.get_value_each(namespace, key)}
        delete_results = self._reader.read_each(
            lambda _: "", RequestCode.DELETE_KV_CONFIG, headers.KvKey(namespace, key)
        )
        return [_choose_deleted_value(r, values_before[r.addr]) for r in delete_results]


def _choose_deleted_value(result: ServerResult[str], value_before: ServerResult[str]) -> ServerResult[str]:
    """Return the value before; or the result of the deletion if that value could not be read."""
    is_certain = value_before.error is None or isinstance(value_before.error, QueryNotFound)
    return value_before if result.error is None and is_certain else result


def read_tables(
    caller: Caller, namespaces: Sequence[str], namesrv_addrs: Iterable[str]
) -> list[ServerResult[KvTables]]:
    """As `KvAdmin.get_tables_each`."""
    namesrv_addrs = list(namesrv_addrs)
    request_code = RequestCode.GET_KVLIST_BY_NAMESPACE
    requests = [make_request(request_code, headers.KvNamespace(namespace)) for namespace in namespaces]
    answers = iter(caller.send_requests((addr, r) for addr in namesrv_addrs for r in requests))
    return [_collect_tables(a, namespaces, list(islice(answers, len(requests)))) for a in namesrv_addrs]


def _collect_tables(
    namesrv_addr: str, namespaces: Sequence[str], answers: Sequence[ServerResult[RemotingCommand]]
) -> ServerResult[KvTables]:
    tables_by_namespace = {}
    for namespace, answer in zip(namespaces, answers, strict=True):
        table_result = decode_answer(answer, parse_text_table)
        if table_result.result is not None:
            tables_by_namespace[namespace] = table_result.result
        elif not isinstance(table_result.error, QueryNotFound):
            return ServerResult(namesrv_addr, None, table_result.error)
    return ServerResult(namesrv_addr, tables_by_namespace, None)


def build_value_request(namespace: str, key: str, value: str | None) -> RemotingCommand:
    """Build PUT_KV_CONFIG (100), or DELETE_KV_CONFIG (102) for the value None."""
    if value is None:
        return make_request(RequestCode.DELETE_KV_CONFIG, headers.KvKey(namespace, key))
    return make_request(RequestCode.PUT_KV_CONFIG, headers.PutKvConfig(namespace, key, value))


def _verify_change(
    kv_change: KvChange, answer: ServerResult[RemotingCommand], tables_now: ServerResult[KvTables]
) -> ServerResult[KvChange]:
    if tables_now.result is None:
        return ServerResult(kv_change.addr, None, answer.error or tables_now.error)
    current_value = tables_now.result.get(kv_change.namespace, {}).get(kv_change.key)
    if current_value == kv_change.after:
        return ServerResult(kv_change.addr, kv_change, None)
    error = answer.error or ignored_change(
        kv_change.addr,
        "the key is not there" if current_value is None else f"the value is {current_value!r}",
        "kv",
        "get",
        kv_change.namespace,
        kv_change.key,
    )
    return ServerResult(kv_change.addr, None, error)


def _parse_namespaces(response: RemotingCommand) -> list[str] | None:
    namespaces_json = parse_config_items(response).get("kvNamespaces")
    return None if namespaces_json is None else [str(namespace) for namespace in json.loads(namespaces_json)]


def _parse_value(response: RemotingCommand) -> str:
    kv_value = (response.ext or {}).get("value")
    if kv_value is None:
        raise QueryNotFound("the key has no value")
    return kv_value
