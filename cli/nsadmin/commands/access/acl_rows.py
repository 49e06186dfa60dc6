"""Rows and cells about ACL entries."""

from nsadmin.client.access.acls import (
    POLICY_TYPES,
    AclEntries,
    AclEntry,
)
from nsadmin.client.brokers.targets import BrokerTarget
from nsadmin.command_line.broker_targets import (
    identity_cells,
)
from nsadmin.commands.columns.changes import (
    describe_change,
)
from nsadmin.console.output import ResultRow


def describe_acl_change(entries_before: AclEntries, entries_after: AclEntries) -> str | None:
    """The changes by resource: "new: Topic:a Allow Pub", "Topic:a Allow Pub -> Deny All", "gone: …"."""
    entries_before_by_key, entries_after_by_key = (
        {acl_entry.policy_key: acl_entry for acl_entry in acl_entries}
        for acl_entries in (entries_before, entries_after)
    )
    changed_keys = [
        policy_key
        for policy_key in {**entries_before_by_key, **entries_after_by_key}
        if entries_before_by_key.get(policy_key) != entries_after_by_key.get(policy_key)
    ]
    change_texts = []
    for policy_key in changed_keys:
        old_entry, new_entry = entries_before_by_key.get(policy_key), entries_after_by_key.get(policy_key)
        resource_prefix = f"{policy_key[1]} " if old_entry and new_entry else ""
        change_texts.append(
            resource_prefix
            + (
                describe_change(
                    _describe_entry(old_entry, bool(resource_prefix)),
                    _describe_entry(new_entry, bool(resource_prefix)),
                )
                or ""
            )
        )
    return "; ".join(change_texts) or None


def _describe_entry(entry: AclEntry | None, brief: bool) -> str | None:
    if entry is None:
        return None
    source = f" from {','.join(entry.source_ips)}" if entry.source_ips else ""
    policy = "" if entry.policy_type == POLICY_TYPES[0] else f" ({entry.policy_type})"
    return (
        f"{'' if brief else entry.resource + ' '}{entry.decision} {','.join(entry.actions)}{source}{policy}"
    )


def entry_text(acl_entry: AclEntry) -> str:
    return _describe_entry(acl_entry, False) or ""


def entry_cells(acl_entry: AclEntry) -> dict[str, object]:
    return {
        "policyType": acl_entry.policy_type,
        "resource": acl_entry.resource,
        "actions": list(acl_entry.actions),
        "sourceIps": list(acl_entry.source_ips),
        "decision": acl_entry.decision,
    }


def acl_row(broker_target: BrokerTarget, subject_name: str, acl_entry: AclEntry) -> ResultRow:
    return {**identity_cells(broker_target), "subject": subject_name, **entry_cells(acl_entry)}
