"""The contents of a backup."""

from collections.abc import Mapping, Sequence, Set
from enum import StrEnum
from typing import Any, NamedTuple

from nsadmin.client.access.acls import AclEntries
from nsadmin.client.access.plain_acls import PlainAccount
from nsadmin.client.access.users import User
from nsadmin.client.consumers.consume_modes import AssignedMode
from nsadmin.client.name_servers.order_confs import ORDER_CONF_NAMESPACE
from nsadmin.client.topics.queue_mappings import BrokerQueueShare
from nsadmin.operations.broker_items import (
    account_fields,
    list_acl_items,
    list_mode_items,
    share_fields,
    user_fields,
)

BackupSettings = Mapping[str, Any]


class Section(StrEnum):
    """The sections of a backup, in the order in which they are restored."""

    TOPICS = "topics"
    STATIC_TOPICS = "staticTopics"
    GROUPS = "groups"
    ORDER_CONF = "orderConf"
    KV = "kv"
    CONSUME_MODES = "consumeModes"
    OFFSETS = "offsets"
    USERS = "users"
    ACLS = "acls"
    ACCOUNTS = "accounts"
    SETTINGS = "settings"


class SavedOffset(NamedTuple):
    """A consumer offset, and the store time (ms since 1970) of the message before it; None if unknown.

    The store time tells at a restore whether the queue still has the same messages.
    """

    offset: int
    store_ms: int | None


class BrokerBackup(NamedTuple):
    """One broker.

    Attributes:
        release: The release, such as "5.5.0"; None if unknown.
        topics: Topic to settings, without topics that brokers create for themselves.
        groups: Group to settings, without system groups.
        static_topics: Static topic to the broker's share in it; None in backups that have only the names.
        offsets: (topic, group) to queue id to offset.
        consume_modes: The consume modes.
        users: The users; without passwords unless the backup has secrets.
        acls: Subject to entries.
        settings: The settings, without those that hold secrets.
        accounts: The accounts of a 4.x broker; without secret keys unless the backup has secrets.
        white_addrs: The addresses that a 4.x broker trusts without an account.
    """

    broker_name: str
    release: str | None
    topics: Mapping[str, BackupSettings]
    groups: Mapping[str, BackupSettings]
    static_topics: Mapping[str, BrokerQueueShare | None]
    offsets: Mapping[tuple[str, str], Mapping[int, SavedOffset]]
    consume_modes: Sequence[AssignedMode]
    users: Sequence[User]
    acls: Mapping[str, AclEntries]
    settings: Mapping[str, str]
    accounts: Sequence[PlainAccount] = ()
    white_addrs: Sequence[str] = ()


class ClusterBackup(NamedTuple):
    """A cluster at one time.

    Attributes:
        created_ms: When the backup began, in ms since 1970.
        tool_version: The version of nsadmin.
        brokers: Broker name to its contents.
        kv: Namespace to key to value, with the order configurations.
        remarks: One line for everything that is missing in the backup.
    """

    cluster_name: str
    created_ms: int
    tool_version: str
    brokers: Mapping[str, BrokerBackup]
    kv: Mapping[str, Mapping[str, str]]
    remarks: Sequence[str] = ()


class BackupItem(NamedTuple):
    """The name of an item in a backup. `parent_name` is a broker name, or "" for the KV config."""

    section: Section
    parent_name: str
    name: str


def list_items(backup: ClusterBackup) -> dict[BackupItem, BackupSettings]:
    """Return all items with their fields, for comparisons and counts."""
    items: dict[BackupItem, BackupSettings] = {}
    for namespace, values in backup.kv.items():
        is_order_conf = namespace == ORDER_CONF_NAMESPACE
        for key, value in values.items():
            section = Section.ORDER_CONF if is_order_conf else Section.KV
            items[BackupItem(section, "", key if is_order_conf else f"{namespace} {key}")] = {"": value}
    ordered_topics = backup.kv.get(ORDER_CONF_NAMESPACE, {}).keys()
    for broker_name, broker in backup.brokers.items():
        for section, fields_by_name in _list_broker_items(broker, ordered_topics):
            for item_name, fields in fields_by_name.items():
                items[BackupItem(section, broker_name, item_name)] = fields
    return items


WHITE_ADDRS_ITEM = "globalWhiteAddrs"
"""The item of the section of accounts that has the trusted addresses."""


def _list_account_items(broker: BrokerBackup) -> dict[str, BackupSettings]:
    items: dict[str, BackupSettings] = {
        account.access_key: account_fields(account) for account in broker.accounts
    }
    if broker.white_addrs:
        items[WHITE_ADDRS_ITEM] = {"": ",".join(sorted(broker.white_addrs))}
    return items


def _list_broker_items(
    broker: BrokerBackup, ordered_topics: Set[str]
) -> list[tuple[Section, Mapping[str, BackupSettings]]]:
    return [
        (
            Section.TOPICS,
            {
                # A broker sets `order` itself while its topic has an order configuration.
                topic: {key: value for key, value in settings.items() if key != "order"}
                if topic in ordered_topics
                else settings
                for topic, settings in broker.topics.items()
            },
        ),
        (
            Section.STATIC_TOPICS,
            {
                topic: {} if share is None else share_fields(share)
                for topic, share in broker.static_topics.items()
            },
        ),
        (Section.GROUPS, broker.groups),
        (Section.CONSUME_MODES, list_mode_items(broker.consume_modes)),
        (
            Section.OFFSETS,
            {
                f"{topic} {group}": {str(queue_id): offset.offset for queue_id, offset in by_queue.items()}
                for (topic, group), by_queue in broker.offsets.items()
            },
        ),
        (Section.USERS, {user.username: user_fields(user) for user in broker.users}),
        (Section.ACLS, list_acl_items(broker.acls)),
        (Section.ACCOUNTS, _list_account_items(broker)),
        (Section.SETTINGS, {setting: {"": text} for setting, text in broker.settings.items()}),
    ]
