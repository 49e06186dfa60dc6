"""ACLs of brokers since 5.3: who may do what to which resource; looked at, and changed after a plan.

A plan says for each broker which entries a subject has and would have; `carry_out` makes it so and reads it
back. A broker keeps one entry for each resource of a policy type: a new one takes the place of the old.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from namesrv_core.errors import RequestError
from namesrv_core.protocol import fastjson, object_keys
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_request
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.read_retry import decode_answer
from nsadmin.client.connection.response_bodies import list_texts
from nsadmin.client.results import NotApplied, NotFound, ServerResult, is_denied

CUSTOM_POLICY = "Custom"
POLICY_TYPES = (CUSTOM_POLICY, "Default")
ACL_ACTIONS = ("All", "Pub", "Sub", "Create", "Update", "Delete", "Get", "List")
ACL_DECISIONS = ("Allow", "Deny")
RESOURCE_TYPES = ("Topic", "Group", "Cluster", "Namespace")

_UNKNOWN_SUBJECT_REMARK = "The subject is not exist."


class AclEntry(NamedTuple):
    """What is allowed or denied, where, and from which addresses (none: from all)."""

    resource: str
    actions: tuple[str, ...]
    decision: str
    source_ips: tuple[str, ...] = ()
    policy_type: str = CUSTOM_POLICY

    @property
    def policy_key(self) -> tuple[str, str]:
        """A broker has one entry for each."""
        return self.policy_type, self.resource


AclEntries = tuple[AclEntry, ...]


class AclChange(NamedTuple):
    """The entries of a subject: those there are, and those there would be, or are."""

    subject: str
    entries_before: AclEntries
    entries_after: AclEntries


class AclAdmin:
    """`admin.acls`; a subject is "User:name"."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def list_entries(
        self, broker_addrs: Iterable[str], subject_text: str | None = None, resource_text: str | None = None
    ) -> list[ServerResult[dict[str, AclEntries]]]:
        """Entries by subject on these brokers; of subjects and resources that have these texts in them."""
        filter_texts = {"subjectFilter": subject_text, "resourceFilter": resource_text}
        ext_fields = {
            filter_name: filter_text for filter_name, filter_text in filter_texts.items() if filter_text
        }
        answers = self._caller.send_to_each(broker_addrs, RequestCode.AUTH_LIST_ACL, ext_fields)
        return [decode_answer(answer, _parse_acl_list) for answer in answers]

    def get_entries(self, broker_addrs: Iterable[str], subject: str) -> list[ServerResult[AclEntries]]:
        """The entries of one subject on these brokers; NotFound where there is no such user."""
        answers = self._caller.send_to_each(broker_addrs, RequestCode.AUTH_GET_ACL, {"subject": subject})
        return [
            decode_answer(_detect_unknown_subject(answer, subject), _parse_subject_entries)
            for answer in answers
        ]

    def plan_merge(
        self, broker_addrs: Iterable[str], subject: str, new_entries: Sequence[AclEntry]
    ) -> list[ServerResult[AclChange]]:
        """These entries among those of the subject, in the place of those for the same resources."""
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
        """Without the entries for these resources, or without all; NotFound where one is not there."""

        def plan_change(entries_before: AclEntries) -> AclChange:
            policy_entries = [entry for entry in entries_before if policy_type in (None, entry.policy_type)]
            deleted_entries = [
                entry for entry in policy_entries if not resources or entry.resource in resources
            ]
            missing_resources = set(resources) - {entry.resource for entry in deleted_entries}
            if missing_resources or not deleted_entries:
                missing_text = (
                    f"for {', '.join(sorted(missing_resources))}" if missing_resources else "at all"
                )
                raise NotFound(f"{subject} has no entry {missing_text}")
            return AclChange(
                subject,
                entries_before,
                tuple(entry for entry in entries_before if entry not in deleted_entries),
            )

        return [
            entries_result.then(plan_change) for entries_result in self.get_entries(broker_addrs, subject)
        ]

    def apply_plans(
        self, planned_changes: Sequence[ServerResult[AclChange]]
    ) -> list[ServerResult[AclChange]]:
        """Tell each broker what differs, and read it back; NotApplied where it shows something else.

        Who has taken his own right to look cannot see it: then the broker's word counts.
        """
        requests_by_index = {
            plan_index: _build_requests(planned_change.result)
            for plan_index, planned_change in enumerate(planned_changes)
        }
        answers_by_index: dict[int, ServerResult[RemotingCommand]] = {}
        # Each order is a read and a write of the whole ACL to a broker: two at once lose one.
        for next_requests in zip_longest(*requests_by_index.values()):
            round_requests = {
                plan_index: acl_request
                for plan_index, acl_request in zip(requests_by_index, next_requests, strict=True)
                if acl_request
                and (plan_index not in answers_by_index or answers_by_index[plan_index].error is None)
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
                raise NotApplied(f"ignored: {subject} has other entries than was asked for; see getAcl")
            return AclChange(subject, entries_before, current_entries)

        return entries_result.then(verify_entries)


def merge_entries(entries_before: Sequence[AclEntry], new_entries: Sequence[AclEntry]) -> AclEntries:
    """What a broker makes of new entries: each takes the place of the first for its resource, or is last."""
    merged_entries = list(entries_before)
    for new_entry in new_entries:
        same_indexes = [
            entry_index
            for entry_index, current_entry in enumerate(merged_entries)
            if current_entry.policy_key == new_entry.policy_key
        ]
        if same_indexes:
            merged_entries[same_indexes[0]] = new_entry
        else:
            merged_entries.append(new_entry)
    return tuple(merged_entries)


def _build_requests(acl_change: AclChange | None) -> list[RemotingCommand]:
    """What leads from one to the other. One request without a resource takes all entries at once."""
    if acl_change is None or acl_change.entries_before == acl_change.entries_after:
        return []
    subject, entries_before, entries_after = acl_change
    ext_fields = {"subject": subject}
    if not entries_after:
        return [build_request(RequestCode.AUTH_DELETE_ACL, ext_fields)]
    wanted_keys = {entry.policy_key for entry in entries_after}
    deleted_entries = [entry for entry in entries_before if entry.policy_key not in wanted_keys]
    new_entries = [entry for entry in entries_after if entry not in entries_before]
    delete_requests = [
        build_request(
            RequestCode.AUTH_DELETE_ACL,
            {**ext_fields, "resource": entry.resource, "policyType": entry.policy_type},
        )
        for entry in deleted_entries
    ]
    if not new_entries:
        return delete_requests
    request_code = RequestCode.AUTH_UPDATE_ACL if entries_before else RequestCode.AUTH_CREATE_ACL
    return [
        *delete_requests,
        build_request(request_code, ext_fields, fastjson.encode_json(_acl_record(subject, new_entries))),
    ]


def _acl_record(subject: str, entries: Sequence[AclEntry]) -> dict[str, object]:
    """AclInfo, as brokers read and write it."""
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
    """A broker answers an unknown user as it answers one who may not ask."""
    error = answer.error
    if isinstance(error, RequestError) and error.remark == _UNKNOWN_SUBJECT_REMARK:
        return ServerResult(answer.addr, None, NotFound(f"no such user: {subject}"))
    return answer


def _parse_subject_entries(response: RemotingCommand) -> AclEntries:
    return _parse_entries(object_keys.decode_object_keys(response.body)) if response.body else ()


def _parse_acl_list(response: RemotingCommand) -> dict[str, AclEntries]:
    acl_records = object_keys.decode_object_keys(response.body) if response.body else ()
    return {
        str(acl_record["subject"]): _parse_entries(acl_record)
        for acl_record in acl_records or ()
        if isinstance(acl_record, dict)
    }


def _parse_entries(acl_record: Mapping[str, Any]) -> AclEntries:
    return tuple(
        AclEntry(
            str(entry_record.get("resource")),
            tuple(list_texts(entry_record.get("actions"))),
            str(entry_record.get("decision")),
            tuple(list_texts(entry_record.get("sourceIps"))),
            policy_record.get("policyType") or CUSTOM_POLICY,
        )
        for policy_record in acl_record.get("policies") or ()
        for entry_record in policy_record.get("entries") or ()
    )
