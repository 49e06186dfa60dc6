"""`admin.acls`: the ACL entries of brokers (since 5.3), read and changed by plans.

A plan contains the entries of a subject before and after for each broker. `apply_plans` applies it and reads
it back. A broker keeps one entry per resource and policy type: a new entry replaces the old one.
"""

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import NamedTuple

from namesrv_core.errors import RequestError
from namesrv_core.protocol import fastjson
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.json_object import JsonObject, to_list
from nsadmin.client.connection.requests import make_request
from nsadmin.client.connection.response_bodies import decode_answer, parse_json, parse_json_object
from nsadmin.client.results import NotFound, ServerResult, ignored_change, is_denied

CUSTOM_POLICY = "Custom"
POLICY_TYPES = (CUSTOM_POLICY, "Default")
ACL_ACTIONS = ("All", "Pub", "Sub", "Create", "Update", "Delete", "Get", "List")
ACL_DECISIONS = ("Allow", "Deny")
RESOURCE_TYPES = ("Topic", "Group", "Cluster", "Namespace")

_UNKNOWN_SUBJECT_REMARK = "The subject is not exist."


class AclEntry(NamedTuple):
    """One permission of a subject.

    Attributes:
        resource: The resource, such as "Topic:orders".
        actions: The actions, from ACL_ACTIONS.
        decision: "Allow" or "Deny".
        source_ips: The source addresses; () for all.
        policy_type: "Custom" or "Default".
    """

    resource: str
    actions: tuple[str, ...]
    decision: str
    source_ips: tuple[str, ...] = ()
    policy_type: str = CUSTOM_POLICY

    def applies_to(self, resource: str) -> bool:
        """Whether the entry names the resource, as "Topic:orders", "Topic:ord*", "Topic:*" or "*"."""
        prefix = self.resource.removesuffix("*")
        return resource == self.resource or (prefix != self.resource and resource.startswith(prefix))

    @property
    def policy_key(self) -> tuple[str, str]:
        """The pair (policy type, resource), for which a broker keeps one entry."""
        return self.policy_type, self.resource


AclEntries = tuple[AclEntry, ...]


class AclChange(NamedTuple):
    """The entries of a subject before and after a change."""

    subject: str
    entries_before: AclEntries
    entries_after: AclEntries


class AclAdmin:
    """`admin.acls`: the ACL entries of brokers. A subject is "User:name".

    Each method returns one ServerResult per address or plan, in order.
    """

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def list_entries(
        self, broker_addrs: Iterable[str], subject_text: str | None = None, resource_text: str | None = None
    ) -> list[ServerResult[dict[str, AclEntries]]]:
        """Return the entries of brokers: subject to entries (AUTH_LIST_ACL, 3010).

        Args:
            broker_addrs: The broker addresses.
            subject_text: Only subjects that contain this text. Default: all.
            resource_text: Only resources that contain this text. Default: all.

        Returns:
            One ServerResult per address, in order: subject to its entries.
        """
        filter_texts = {"subjectFilter": subject_text, "resourceFilter": resource_text}
        ext_fields = {filter_name: text for filter_name, text in filter_texts.items() if text}
        return self._caller.read_each(broker_addrs, _parse_acl_list, RequestCode.AUTH_LIST_ACL, ext_fields)

    def get_entries(self, broker_addrs: Iterable[str], subject: str) -> list[ServerResult[AclEntries]]:
        """Return the entries of one subject (AUTH_GET_ACL, 3009).

        Args:
            broker_addrs: The broker addresses.
            subject: The subject, such as "User:alice".

        Returns:
            One ServerResult per address, in order: the entries; () without entries. The error is NotFound for
            an unknown user.
        """
        answers = self._caller.send_to_each(broker_addrs, RequestCode.AUTH_GET_ACL, {"subject": subject})
        return [
            decode_answer(_detect_unknown_subject(a, subject), lambda r: _parse_entries(parse_json_object(r)))
            for a in answers
        ]

    def plan_merge(
        self, broker_addrs: Iterable[str], subject: str, new_entries: Sequence[AclEntry]
    ) -> list[ServerResult[AclChange]]:
        """Plan to add entries to a subject. An entry replaces the one for the same resource.

        Args:
            broker_addrs: The broker addresses.
            subject: The subject, such as "User:alice".
            new_entries: The entries to add; () plans no change.

        Returns:
            One ServerResult per address, in order: the planned change. The error is NotFound for an unknown
            user.
        """
        return [
            entries_result.then(
                lambda entries_before: AclChange(
                    subject, entries_before, merge_entries(entries_before, new_entries)
                )
            )
            for entries_result in self.get_entries(broker_addrs, subject)
        ]

    def plan_delete(
        self,
        broker_addrs: Iterable[str],
        subject: str,
        resources: Sequence[str] = (),
        policy_type: str | None = None,
    ) -> list[ServerResult[AclChange]]:
        """Plan to delete entries of a subject; the error is NotFound if one of them does not exist.

        Args:
            broker_addrs: The broker addresses.
            subject: The subject, such as "User:alice".
            resources: The resources of the entries. Default: () for all entries.
            policy_type: Only entries of this type, from POLICY_TYPES. Default: None for all types.

        Returns:
            One ServerResult per address, in order: the planned change.
        """

        def plan_change(entries_before: AclEntries) -> AclChange:
            policy_entries = [entry for entry in entries_before if policy_type in (None, entry.policy_type)]
            entries = [e for e in policy_entries if not resources or e.resource in resources]
            missing_resources = set(resources) - {entry.resource for entry in entries}
            if missing_resources or not entries:
                missing_text = f" for {', '.join(sorted(missing_resources))}" if missing_resources else ""
                raise NotFound(f"{subject} has no ACL entry{missing_text}")
            return AclChange(
                subject, entries_before, tuple(entry for entry in entries_before if entry not in entries)
            )

        return [result.then(plan_change) for result in self.get_entries(broker_addrs, subject)]

    def apply_plans(
        self, planned_changes: Sequence[ServerResult[AclChange]]
    ) -> list[ServerResult[AclChange]]:
        """Apply plans, and read the entries back.

        Sends AUTH_CREATE_ACL (3006), AUTH_UPDATE_ACL (3007) or AUTH_DELETE_ACL (3008) for each difference. A
        client that removes its own permission to read ACLs cannot read the result back: then the broker's
        success counts.

        Args:
            planned_changes: The plans, at most one per broker and subject. A plan with an error is not sent
                and keeps its error.

        Returns:
            One ServerResult per plan, in order. The error is NotApplied if the broker has other entries.
        """
        requests_by_index = {index: _build_requests(c.result) for index, c in enumerate(planned_changes)}
        answers_by_index: dict[int, ServerResult[RemotingCommand]] = {}
        # A broker reads and rewrites the whole ACL of a subject for each request: two at once lose one.
        for next_requests in zip_longest(*requests_by_index.values()):
            round_requests = {
                plan_index: r
                for plan_index, r in zip(requests_by_index, next_requests, strict=True)
                if r and (plan_index not in answers_by_index or answers_by_index[plan_index].error is None)
            }
            answers = self._caller.send_requests(
                [
                    (planned_changes[plan_index].addr, acl_request)
                    for plan_index, acl_request in round_requests.items()
                ]
            )
            answers_by_index.update(zip(round_requests, answers, strict=True))
        return [
            self._verify_change(planned_change, answers_by_index[plan_index])
            if plan_index in answers_by_index
            else planned_change
            for plan_index, planned_change in enumerate(planned_changes)
        ]

    def _verify_change(
        self, planned_change: ServerResult[AclChange], change_answer: ServerResult[RemotingCommand]
    ) -> ServerResult[AclChange]:
        if change_answer.error is not None or planned_change.result is None:
            return ServerResult(planned_change.addr, None, change_answer.error)
        subject, entries_before, entries_after = planned_change.result
        [entries_result] = self.get_entries([planned_change.addr], subject)
        if is_denied(entries_result.error):
            return planned_change

        def verify_entries(current_entries: AclEntries) -> AclChange:
            if set(current_entries) != set(entries_after):
                addr, finding = planned_change.addr, f"the entries of {subject} are not as requested"
                raise ignored_change(addr, finding, "getAcl", subject, "-b", addr)
            return AclChange(subject, entries_before, current_entries)

        return entries_result.then(verify_entries)


def merge_entries(entries_before: Sequence[AclEntry], new_entries: Sequence[AclEntry]) -> AclEntries:
    """Merge entries like a broker: each replaces the first entry for its resource, or is appended."""
    merged_entries = list(entries_before)
    for new_entry in new_entries:
        same_indexes = [
            index for index, entry in enumerate(merged_entries) if entry.policy_key == new_entry.policy_key
        ]
        if same_indexes:
            merged_entries[same_indexes[0]] = new_entry
        else:
            merged_entries.append(new_entry)
    return tuple(merged_entries)


def _build_requests(acl_change: AclChange | None) -> list[RemotingCommand]:
    """Build the requests for a change. A deletion without a resource deletes all entries."""
    if acl_change is None or acl_change.entries_before == acl_change.entries_after:
        return []
    subject, entries_before, entries_after = acl_change
    ext_fields = {"subject": subject}
    if not entries_after:
        return [make_request(RequestCode.AUTH_DELETE_ACL, ext_fields)]
    wanted_keys = {entry.policy_key for entry in entries_after}
    deleted_entries = [entry for entry in entries_before if entry.policy_key not in wanted_keys]
    new_entries = [entry for entry in entries_after if entry not in entries_before]
    delete_requests = [
        make_request(
            RequestCode.AUTH_DELETE_ACL, {**ext_fields, "resource": e.resource, "policyType": e.policy_type}
        )
        for e in deleted_entries
    ]
    if not new_entries:
        return delete_requests
    request_code = RequestCode.AUTH_UPDATE_ACL if entries_before else RequestCode.AUTH_CREATE_ACL
    return [
        *delete_requests,
        make_request(request_code, ext_fields, fastjson.encode_json(_acl_record(subject, new_entries))),
    ]


def _acl_record(subject: str, entries: Sequence[AclEntry]) -> dict[str, object]:
    """Return an AclInfo record, the form that brokers read and write."""
    policies = [
        {
            "policyType": policy_type,
            "entries": [
                {
                    "resource": entry.resource,
                    "actions": list(entry.actions),
                    **({"sourceIps": list(entry.source_ips)} if entry.source_ips else {}),
                    "decision": entry.decision,
                }
                for entry in entries
                if entry.policy_type == policy_type
            ],
        }
        for policy_type in dict.fromkeys(entry.policy_type for entry in entries)
    ]
    return {"subject": subject, "policies": policies}


def _detect_unknown_subject(
    answer: ServerResult[RemotingCommand], subject: str
) -> ServerResult[RemotingCommand]:
    """Turn the refusal for an unknown user into NotFound: it has the same code as a missing permission."""
    error = answer.error
    if isinstance(error, RequestError) and error.remark == _UNKNOWN_SUBJECT_REMARK:
        return ServerResult(answer.addr, None, NotFound(f'no user "{subject.removeprefix("User:")}"'))
    return answer


def _parse_acl_list(response: RemotingCommand) -> dict[str, AclEntries]:
    acls = [JsonObject(acl, "an ACL") for acl in to_list(parse_json(response), "the body") if acl is not None]
    return {acl.text("subject"): _parse_entries(acl) for acl in acls}


def _parse_entries(acl: JsonObject) -> AclEntries:
    return tuple(
        AclEntry(
            entry.text("resource"),
            tuple(entry.texts("actions")),
            entry.text("decision"),
            tuple(entry.texts("sourceIps")),
            policy.text("policyType", "") or CUSTOM_POLICY,
        )
        for policy in acl.children("policies")
        for entry in policy.children("entries")
    )
