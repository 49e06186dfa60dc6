"""Replaces addresses and names in a bundle by pseudonyms: the same name by the same pseudonym everywhere.

Pseudonyms depend on a random key that is thrown away, so they cannot be computed from guessed names.
"""

import getpass
import hashlib
import hmac
import json
import re
import secrets
import socket
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from ipaddress import ip_address
from typing import Any

from namesrv_core import operator_files
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.protocol.resource_names import GROUP_TOPIC_PREFIXES
from nsadmin.client.brokers.clusters import parse_cluster_info
from nsadmin.client.bundles.answer_table import AnswerTable, RecordedAnswer
from nsadmin.client.connection.response_bodies import DECODE_ERRORS, parse_json_object, parse_topic_names
from nsadmin.client.consumers.groups import is_system_group
from nsadmin.client.topics.topics import SYSTEM_TOPIC_PREFIX

ADDRESSES, NAMES = "addresses", "names"

_IPV4 = re.compile(r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?!\.?\d)")
_IPV6 = re.compile(r"(?<![\w:])[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){2,7}(?![\w:])")
_WORD = re.compile(r"[\w%|.\-]+")
_HOST_OF_ADDRESS = re.compile(r"(?<![\w.\-])([a-zA-Z][\w\-]{0,62}(?:\.[\w\-]{1,63}){0,8}):\d{2,5}(?!\d)")
_HOST_OF_CLIENT = re.compile(r"(?<![\w.\-])([a-zA-Z][\w\-]{0,62}(?:\.[\w\-]{1,63}){0,8})@\d")
_INSTANCE_OF_CLIENT = re.compile(r"@([\w\-]{0,200}[A-Za-z][\w\-]{0,200})")
"""The name of a client's instance, which users may choose; by default it has only digits."""
_REPLY_TOPIC_SUFFIX = "_REPLY_TOPIC"
_SEPARATOR = re.compile(r"([_\-])")
_KINDS_WITHIN_WORDS = frozenset(("broker", "cluster", "host"))
_KEPT_HOSTS = frozenset(("localhost", "http", "https"))
_FIELD_NAMES = frozenset((
    "addr", "address", "attributes", "body", "brokerAddrs", "brokerDatas", "brokerName", "brokers",
    "bodies", "answers", "client", "clientId", "cluster", "clusterName", "code", "connection",
    "consumer", "count", "default", "error", "filter", "group", "groupName", "groups", "host", "id",
    "key", "language", "message", "name", "null", "offset", "order", "perm", "producer", "properties",
    "queue", "queueDatas", "queueId", "reason", "result", "server", "status", "table", "time", "topic",
    "topicName", "topics", "true", "false", "type", "user", "username", "value", "version",
))  # fmt: skip
"""Names that are also names of fields. They stay, because they say nothing about a cluster."""


def choose_kinds(*, anonymise: bool, anonymise_names: bool) -> tuple[str, ...]:
    """Return the kinds of names to replace. Names are replaced only together with addresses."""
    if anonymise_names:
        return (ADDRESSES, NAMES)
    return (ADDRESSES,) if anonymise else ()


class Pseudonyms:
    """Replaces the names that occur in the answers of a cluster; the `key` is random by default.

    `kinds` has ADDRESSES (host names, IP addresses) or NAMES (topics, groups, brokers, clusters, users).
    """

    def __init__(
        self,
        tables: Mapping[str, AnswerTable],
        namesrv_addrs: Iterable[str],
        kinds: Collection[str],
        key: bytes | None = None,
    ) -> None:
        self._key = secrets.token_bytes(32) if key is None else key
        self._replaces_addresses = ADDRESSES in kinds
        self._pseudonym_by_word: dict[str, str] = {}
        self._pseudonym_by_ip: dict[str, str] = {}
        self._renamed_words: dict[str, str] = {}
        self._kept_topics: set[str] = set()
        self._inner_names: set[str] = set()
        if NAMES in kinds:
            self._add_names(tables)
        if self._replaces_addresses:
            self._add_hosts([*namesrv_addrs, *tables], tables)

    def rename_member(self, name: str, content: bytes) -> tuple[str, bytes]:
        lines = content.split(b"\n") if name.endswith(".jsonl") else [content]
        return self.rename_text(name), b"\n".join(map(self._rename_line, lines))

    def rename_json(self, json_value: Any) -> Any:
        if isinstance(json_value, str):
            return self.rename_text(json_value)
        if isinstance(json_value, list):
            return list(map(self.rename_json, json_value))
        if isinstance(json_value, dict):
            return {self.rename_text(name): self.rename_json(value) for name, value in json_value.items()}
        return json_value

    def rename_text(self, text: str) -> str:
        if self._replaces_addresses:
            text = _IPV4.sub(self._replace_ip, text)
            if text.count(":") >= 2:
                text = _IPV6.sub(self._replace_ip, text)
        return _WORD.sub(self._replace_word, text) if self._pseudonym_by_word else text

    def _rename_line(self, line: bytes) -> bytes:
        text = line.decode("utf-8", "surrogatepass")
        try:
            renamed_text = json.dumps(
                self.rename_json(operator_files.parse_json(text)), ensure_ascii=False, separators=(",", ":")
            )
        except (ValueError, RecursionError):
            renamed_text = self.rename_text(text)
        return renamed_text.encode("utf-8", "surrogatepass")

    def _replace_word(self, match: re.Match[str]) -> str:
        word = match[0]
        renamed_word = self._renamed_words.get(word)
        if renamed_word is None:
            renamed_word = self._pseudonym_by_word.get(word) or self._rename_parts(word)
            self._renamed_words[word] = renamed_word
        return renamed_word

    def _rename_parts(self, word: str) -> str:
        """Rename %RETRY%group, namespace%topic, a name that ends a sentence, rmq_sys_REVIVE_LOG_cluster."""
        bare_word = word.rstrip(".")
        if bare_word in self._pseudonym_by_word:
            return self._pseudonym_by_word[bare_word] + word[len(bare_word) :]
        for separator in ("%", "|", "."):
            if separator in word:
                return separator.join(
                    self._pseudonym_by_word.get(part) or self._rename_inner(part)
                    for part in word.split(separator)
                )
        return self._rename_inner(word)

    def _rename_inner(self, word: str) -> str:
        """Rename the name of a broker, cluster or host within a longer word, the longest one first."""
        parts = _SEPARATOR.split(word)
        for part_count in range(len(parts), 0, -2):
            for first_part in range(0, len(parts) - part_count + 1, 2):
                inner_name = "".join(parts[first_part : first_part + part_count])
                if inner_name in self._inner_names:
                    before = "".join(parts[:first_part])
                    after = "".join(parts[first_part + part_count :])
                    return f"{before}{self._pseudonym_by_word[inner_name]}{after}"
        return word

    def _replace_ip(self, match: re.Match[str]) -> str:
        ip_text = match[0]
        if ip_text not in self._pseudonym_by_ip:
            self._pseudonym_by_ip[ip_text] = self._make_ip(ip_text)
        return self._pseudonym_by_ip[ip_text]

    def _make_ip(self, ip_text: str) -> str:
        """An address of the same kind: loopback, private, or public. 0.0.0.0 and :: stay."""
        try:
            address = ip_address(ip_text)
        except ValueError:
            return ip_text
        if address.is_unspecified or ip_text == "::1":
            return ip_text
        digest = self._hash_name(str(address))
        if address.version == 6:
            first_group = "fd00" if address.is_private else "2a00"
            return f"{first_group}:{digest[:4]}:{digest[4:8]}::{digest[8:12]}"
        first_octet = 127 if address.is_loopback else 10 if address.is_private else 1
        octets = bytes.fromhex(digest[:6])
        return f"{first_octet}.{octets[0]}.{octets[1]}.{octets[2]}"

    def _hash_name(self, name: str) -> str:
        return hmac.new(self._key, name.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()

    def _add_words(self, kind: str, words: Iterable[str]) -> None:
        for word in words:
            if len(word) > 1 and word not in _FIELD_NAMES:
                self._pseudonym_by_word.setdefault(word, f"{kind}-{self._hash_name(word)[:10]}")
                if kind in _KINDS_WITHIN_WORDS:
                    self._inner_names.add(word)

    def _add_names(self, tables: Mapping[str, AnswerTable]) -> None:
        for code, add_names in (
            (RequestCode.GET_BROKER_CLUSTER_INFO, self._add_brokers),
            (RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS, self._keep_topics),
            (RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER, self._keep_topics),
            (
                RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER,
                lambda response: self._add_topic_names(parse_topic_names(response)),
            ),
            (
                RequestCode.GET_ALL_TOPIC_CONFIG,
                lambda response: self._add_topic_names(_list_keys(response, "topicConfigTable")),
            ),
            (
                RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG,
                lambda response: self._add_group_names(_list_keys(response, "subscriptionGroupTable")),
            ),
            (RequestCode.GET_ALL_CONSUMER_OFFSET, self._add_committed),
            (
                RequestCode.GET_ALL_PRODUCER_INFO,
                lambda response: self._add_group_names(_list_keys(response, "data")),
            ),
            (RequestCode.AUTH_LIST_USER, self._add_users),
        ):
            _visit_bodies(tables, code, add_names)
        self._add_words(
            "client",
            sorted(
                instance_name
                for body_text in _list_body_texts(tables)
                for instance_name in _INSTANCE_OF_CLIENT.findall(body_text)
                if not is_system_group(instance_name)
            ),
        )

    def _add_brokers(self, response: RemotingCommand) -> None:
        broker_groups = parse_cluster_info(response).broker_groups
        self._add_words("broker", (broker_group.broker_name for broker_group in broker_groups))
        for cluster_name in sorted({broker_group.cluster_name for broker_group in broker_groups}):
            self._add_words("cluster", [cluster_name])
            reply_topic = f"{cluster_name}{_REPLY_TOPIC_SUFFIX}"
            self._pseudonym_by_word[reply_topic] = (
                f"{self._pseudonym_by_word.get(cluster_name, cluster_name)}{_REPLY_TOPIC_SUFFIX}"
            )

    def _keep_topics(self, response: RemotingCommand) -> None:
        self._kept_topics.update(parse_topic_names(response))

    def _add_committed(self, response: RemotingCommand) -> None:
        for topic_and_group in _list_keys(response, "offsetTable"):
            topic, _, group = topic_and_group.partition("@")
            self._add_topic_names([topic])
            self._add_group_names([group])

    def _add_users(self, response: RemotingCommand) -> None:
        users = operator_files.parse_json(response.body or b"[]")
        self._add_words("user", (user["username"] for user in users))

    def _add_topic_names(self, topics: Iterable[str]) -> None:
        for topic in topics:
            prefix = next((prefix for prefix in GROUP_TOPIC_PREFIXES if topic.startswith(prefix)), None)
            if prefix is not None:
                self._add_group_names([topic.removeprefix(prefix)])
            elif topic not in self._kept_topics and not topic.lower().startswith(SYSTEM_TOPIC_PREFIX):
                self._add_words("topic", [topic, *topic.split("%")])

    def _add_group_names(self, groups: Iterable[str]) -> None:
        for group in groups:
            if not is_system_group(group):
                self._add_words("group", [group, *group.split("%")])

    def _add_hosts(self, addrs: Iterable[str], tables: Mapping[str, AnswerTable]) -> None:
        """Host names of addresses and of client ids, and the name of this machine and its user."""
        hosts = {addr.rpartition(":")[0] for addr in addrs}
        for body_text in _list_body_texts(tables):
            hosts.update(_HOST_OF_ADDRESS.findall(body_text))
            hosts.update(_HOST_OF_CLIENT.findall(body_text))
        hosts.update((socket.gethostname(), socket.getfqdn()))
        self._add_words("host", sorted(host for host in hosts if _is_host_name(host)))
        with suppress(OSError, KeyError):
            self._add_words("user", [getpass.getuser()])


def _visit_bodies(
    tables: Mapping[str, AnswerTable], code: int, visit: Callable[[RemotingCommand], None]
) -> None:
    for table in tables.values():
        for key, outcome in table.items():
            if key.code == code and isinstance(outcome, RecordedAnswer) and outcome.code == 0:
                with suppress(*DECODE_ERRORS):
                    visit(outcome.to_command())


def _list_keys(response: RemotingCommand, table_name: str) -> Iterable[str]:
    return parse_json_object(response).child(table_name).members


def _list_body_texts(tables: Mapping[str, AnswerTable]) -> Iterator[str]:
    """Each distinct body of a server as text."""
    for table in tables.values():
        bodies = {outcome.body for outcome in table.values() if isinstance(outcome, RecordedAnswer)}
        yield from (body.decode("utf-8", "replace") for body in bodies)


def _is_host_name(host: str) -> bool:
    if host in _KEPT_HOSTS or not host:
        return False
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return True
    return False
