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
from namesrv_core.protocol.command import Command, request
from nsadmin.client.bodies import texts
from nsadmin.client.caller import Caller
from nsadmin.client.results import NotApplied, NotFound, ServerResult, is_denied
from nsadmin.client.retry import decoded

CUSTOM = "Custom"
POLICY_TYPES = (CUSTOM, "Default")
ACTIONS = ("All", "Pub", "Sub", "Create", "Update", "Delete", "Get", "List")
DECISIONS = ("Allow", "Deny")
RESOURCE_TYPES = ("Topic", "Group", "Cluster", "Namespace")

_UNKNOWN = "The subject is not exist."


class AclEntry(NamedTuple):
    """What is allowed or denied, where, and from which addresses (none: from all)."""

    resource: str
    actions: tuple[str, ...]
    decision: str
    source_ips: tuple[str, ...] = ()
    policy_type: str = CUSTOM

    @property
    def place(self) -> tuple[str, str]:
        """A broker has one entry for each."""
        return self.policy_type, self.resource


Entries = tuple[AclEntry, ...]


class AclChange(NamedTuple):
    """The entries of a subject: those there are, and those there would be, or are."""

    subject: str
    before: Entries
    after: Entries


class Acls:
    """`admin.acls`; a subject is "User:name"."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def each(
        self, addrs: Iterable[str], subject: str | None = None, resource: str | None = None
    ) -> list[ServerResult[dict[str, Entries]]]:
        """Entries by subject on these brokers; of subjects and resources that have these texts in them."""
        filters = {"subjectFilter": subject, "resourceFilter": resource}
        ext = {name: text for name, text in filters.items() if text}
        answers = self._caller.ask_each(addrs, RequestCode.AUTH_LIST_ACL, ext)
        return [decoded(answer, _table) for answer in answers]

    def get(self, addrs: Iterable[str], subject: str) -> list[ServerResult[Entries]]:
        """The entries of one subject on these brokers; NotFound where there is no such user."""
        answers = self._caller.ask_each(addrs, RequestCode.AUTH_GET_ACL, {"subject": subject})
        return [decoded(_known(answer, subject), _entries_of_one) for answer in answers]

    def plan_merge(
        self, addrs: Iterable[str], subject: str, entries: Sequence[AclEntry]
    ) -> list[ServerResult[AclChange]]:
        """These entries among those of the subject, in the place of those for the same resources."""
        return [
            found.then(lambda before: AclChange(subject, before, merged(before, entries)))
            for found in self.get(addrs, subject)
        ]

    def plan_delete(
        self,
        addrs: Iterable[str],
        subject: str,
        resources: Sequence[str] = (),
        policy_type: str | None = None,
    ) -> list[ServerResult[AclChange]]:
        """Without the entries for these resources, or without all; NotFound where one is not there."""

        def plan(before: Entries) -> AclChange:
            chosen = [entry for entry in before if policy_type in (None, entry.policy_type)]
            gone = [entry for entry in chosen if not resources or entry.resource in resources]
            missing = set(resources) - {entry.resource for entry in gone}
            if missing or not gone:
                what = f"for {', '.join(sorted(missing))}" if missing else "at all"
                raise NotFound(f"{subject} has no entry {what}")
            return AclChange(subject, before, tuple(entry for entry in before if entry not in gone))

        return [found.then(plan) for found in self.get(addrs, subject)]

    def carry_out(self, plans: Sequence[ServerResult[AclChange]]) -> list[ServerResult[AclChange]]:
        """Tell each broker what differs, and read it back; NotApplied where it shows something else.

        Who has taken his own right to look cannot see it: then the broker's word counts.
        """
        due = {at: _orders(plan.result) for at, plan in enumerate(plans)}
        done: dict[int, ServerResult[Command]] = {}
        # Each order is a read and a write of the whole ACL to a broker: two at once lose one.
        for turn in zip_longest(*due.values()):
            asked = {
                at: order
                for at, order in zip(due, turn, strict=True)
                if order and (at not in done or done[at].error is None)
            }
            answers = self._caller.ask([(plans[at].addr, order) for at, order in asked.items()])
            done.update(zip(asked, answers, strict=True))
        return [self._checked(plan, done[at]) if at in done else plan for at, plan in enumerate(plans)]

    def _checked(self, plan: ServerResult[AclChange], told: ServerResult[Command]) -> ServerResult[AclChange]:
        if told.error is not None or plan.result is None:
            return ServerResult(plan.addr, None, told.error)
        subject, before, after = plan.result
        [there] = self.get([plan.addr], subject)
        if is_denied(there.error):
            return plan

        def check(now: Entries) -> AclChange:
            if set(now) != set(after):
                raise NotApplied(f"ignored: {subject} has other entries than was asked for; see getAcl")
            return AclChange(subject, before, now)

        return there.then(check)


def merged(before: Sequence[AclEntry], entries: Sequence[AclEntry]) -> Entries:
    """What a broker makes of new entries: each takes the place of the first for its resource, or is last."""
    found = list(before)
    for entry in entries:
        same = [at for at, old in enumerate(found) if old.place == entry.place]
        if same:
            found[same[0]] = entry
        else:
            found.append(entry)
    return tuple(found)


def _orders(change: AclChange | None) -> list[Command]:
    """What leads from one to the other. One request without a resource takes all entries at once."""
    if change is None or change.before == change.after:
        return []
    subject, before, after = change
    ext = {"subject": subject}
    if not after:
        return [request(RequestCode.AUTH_DELETE_ACL, ext)]
    places = {entry.place for entry in after}
    gone = [entry for entry in before if entry.place not in places]
    fresh = [entry for entry in after if entry not in before]
    deletions = [
        request(
            RequestCode.AUTH_DELETE_ACL,
            {**ext, "resource": entry.resource, "policyType": entry.policy_type},
        )
        for entry in gone
    ]
    if not fresh:
        return deletions
    code = RequestCode.AUTH_UPDATE_ACL if before else RequestCode.AUTH_CREATE_ACL
    return [*deletions, request(code, ext, fastjson.dumps(_body(subject, fresh)))]


def _body(subject: str, entries: Sequence[AclEntry]) -> dict[str, object]:
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


def _known(answer: ServerResult[Command], subject: str) -> ServerResult[Command]:
    """A broker answers an unknown user as it answers one who may not ask."""
    error = answer.error
    if isinstance(error, RequestError) and error.remark == _UNKNOWN:
        return ServerResult(answer.addr, None, NotFound(f"no such user: {subject}"))
    return answer


def _entries_of_one(command: Command) -> Entries:
    return _entries(object_keys.loads(command.body)) if command.body else ()


def _table(command: Command) -> dict[str, Entries]:
    listed = object_keys.loads(command.body) if command.body else ()
    return {str(item["subject"]): _entries(item) for item in listed or () if isinstance(item, dict)}


def _entries(item: Mapping[str, Any]) -> Entries:
    return tuple(
        AclEntry(
            str(entry.get("resource")),
            tuple(texts(entry.get("actions"))),
            str(entry.get("decision")),
            tuple(texts(entry.get("sourceIps"))),
            policy.get("policyType") or CUSTOM,
        )
        for policy in item.get("policies") or ()
        for entry in policy.get("entries") or ()
    )
