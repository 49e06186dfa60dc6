"""Users, ACL entries, accounts, consume modes and static topics of a broker as items with fields. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

from nsadmin.client.access.acls import CUSTOM_POLICY, AclEntries, AclEntry
from nsadmin.client.access.plain_acls import PlainAccount
from nsadmin.client.access.users import User
from nsadmin.client.consumers.consume_modes import AssignedMode
from nsadmin.client.topics.queue_mappings import BrokerQueueShare

ItemFields = dict[str, Any]


def user_fields(user: User) -> ItemFields:
    """Return the fields of a user, without the password."""
    return {"userType": user.user_type, "userStatus": user.user_status}


def account_fields(account: PlainAccount) -> ItemFields:
    """Return the fields of an account of a 4.x broker, without the secret key."""
    return {
        "admin": bool(account.is_admin),
        "whiteRemoteAddress": account.white_remote_address or "",
        "defaultTopicPerm": account.default_topic_perm or "",
        "defaultGroupPerm": account.default_group_perm or "",
        "topicPerms": ",".join(sorted(account.topic_perms or ())),
        "groupPerms": ",".join(sorted(account.group_perms or ())),
    }


def list_acl_items(entries_by_subject: Mapping[str, AclEntries]) -> dict[str, ItemFields]:
    """Return the fields of each ACL entry by "SUBJECT RESOURCE"; another policy than Custom is added."""
    return {
        _name_acl_entry(subject, entry): {
            "actions": ",".join(entry.actions),
            "decision": entry.decision,
            "sourceIps": ",".join(entry.source_ips),
        }
        for subject, entries in entries_by_subject.items()
        for entry in entries
    }


def _name_acl_entry(subject: str, entry: AclEntry) -> str:
    policy_suffix = "" if entry.policy_type == CUSTOM_POLICY else f" {entry.policy_type}"
    return f"{subject} {entry.resource}{policy_suffix}"


def list_mode_items(assigned_modes: Iterable[AssignedMode]) -> dict[str, ItemFields]:
    """Return the fields of each consume mode by "TOPIC GROUP"."""
    return {f"{mode.topic} {mode.group}": mode.mode._asdict() for mode in assigned_modes}


def share_fields(share: BrokerQueueShare) -> ItemFields:
    """Return the fields of a broker's share in a static topic: settings, epoch, and the parts of each queue.

    A part is "BROKER/QUEUE from OFFSET": the broker's own queue, and its first offset in the logical queue.
    """
    settings = {name: value for name, value in share.topic_config.items() if name != "topicName"}
    queues = {
        f"queue {queue}": ", ".join(
            f"{part.bname}/{part.queue_id} from {part.logic_offset}" for part in parts
        )
        for queue, parts in sorted(share.hosted_queues.items())
    }
    return {**settings, "epoch": share.epoch, "totalQueues": share.total_queues, **queues}
