"""Turns the records of a backup into JSON values and back. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nsadmin.client.access.acls import AclEntry
from nsadmin.client.access.plain_acls import PlainAccount
from nsadmin.client.access.users import User
from nsadmin.client.consumers.consume_modes import AssignedMode, ConsumeMode
from nsadmin.client.topics.queue_mappings import BrokerQueueShare, parse_share, share_to_record
from nsadmin.operations.backups.records import BrokerBackup, ClusterBackup, SavedOffset


def cluster_record(backup: ClusterBackup) -> dict[str, Any]:
    """Return everything but the brokers."""
    return {
        "cluster": backup.cluster_name,
        "createdMs": backup.created_ms,
        "nsadmin": backup.tool_version,
        "kv": backup.kv,
        "remarks": list(backup.remarks),
    }


def broker_record(broker: BrokerBackup) -> dict[str, Any]:
    """Return one broker, without passwords and secret keys."""
    return {
        "brokerName": broker.broker_name,
        "release": broker.release,
        "topics": {topic: dict(settings) for topic, settings in broker.topics.items()},
        "groups": {group: dict(settings) for group, settings in broker.groups.items()},
        "staticTopics": {
            topic: None if share is None else share_to_record(topic, broker.broker_name, share)
            for topic, share in broker.static_topics.items()
        },
        "offsets": [
            {
                "topic": topic,
                "group": group,
                "queues": {str(queue_id): [*offset] for queue_id, offset in saved.items()},
            }
            for (topic, group), saved in sorted(broker.offsets.items())
        ],
        "consumeModes": [
            {"topic": mode.topic, "group": mode.group, **mode.mode._asdict()} for mode in broker.consume_modes
        ],
        "users": [user._replace(password=None)._asdict() for user in broker.users],
        "acls": {subject: [entry._asdict() for entry in entries] for subject, entries in broker.acls.items()},
        "settings": dict(broker.settings),
        "accounts": [account._replace(secret_key=None)._asdict() for account in broker.accounts],
        "whiteAddrs": list(broker.white_addrs),
    }


def parse_backup(cluster: Mapping[str, Any], brokers: Iterable[Mapping[str, Any]]) -> ClusterBackup:
    """Parse the values of `cluster_record` and `broker_record`. Raises the errors of wrong types."""
    parsed_brokers = [_parse_broker(broker) for broker in brokers]
    return ClusterBackup(
        str(cluster["cluster"]),
        int(cluster["createdMs"]),
        str(cluster["nsadmin"]),
        {broker.broker_name: broker for broker in parsed_brokers},
        {namespace: dict(values) for namespace, values in cluster["kv"].items()},
        [str(remark) for remark in cluster["remarks"]],
    )


def _parse_broker(broker: Mapping[str, Any]) -> BrokerBackup:
    return BrokerBackup(
        str(broker["brokerName"]),
        broker["release"],
        {topic: dict(settings) for topic, settings in broker["topics"].items()},
        {group: dict(settings) for group, settings in broker["groups"].items()},
        _parse_static_topics(broker["staticTopics"]),
        {
            (str(entry["topic"]), str(entry["group"])): {
                int(queue_id): SavedOffset(int(offset), store_ms)
                for queue_id, (offset, store_ms) in entry["queues"].items()
            }
            for entry in broker["offsets"]
        },
        [
            AssignedMode(
                entry["topic"], entry["group"], ConsumeMode(entry["mode"], int(entry["pop_share_queue_num"]))
            )
            for entry in broker["consumeModes"]
        ],
        [User(**entry) for entry in broker["users"]],
        {
            subject: tuple(
                AclEntry(
                    entry["resource"],
                    tuple(entry["actions"]),
                    entry["decision"],
                    tuple(entry["source_ips"]),
                    entry["policy_type"],
                )
                for entry in entries
            )
            for subject, entries in broker["acls"].items()
        },
        {str(key): str(value) for key, value in broker["settings"].items()},
        # Files of the first versions have no accounts.
        [_parse_account(entry) for entry in broker.get("accounts", ())],
        [str(addr) for addr in broker.get("whiteAddrs", ())],
    )


def _parse_static_topics(
    static_topics: Mapping[str, Any] | Sequence[str],
) -> dict[str, BrokerQueueShare | None]:
    """Return the shares by topic. Files of the first versions have only the names of the topics."""
    records = static_topics if isinstance(static_topics, Mapping) else dict.fromkeys(static_topics)
    return {topic: None if record is None else parse_share(record) for topic, record in records.items()}


def _parse_account(entry: Mapping[str, Any]) -> PlainAccount:
    account = PlainAccount(**entry)
    return account._replace(
        topic_perms=None if account.topic_perms is None else tuple(account.topic_perms),
        group_perms=None if account.group_perms is None else tuple(account.group_perms),
    )
