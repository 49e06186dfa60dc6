"""Users and ACLs of a simulated broker, as 5.5.0 keeps and answers them. Pure; the remarks are its own."""

from collections.abc import Mapping
from typing import Any

from namesrv_core.errors import NoPermission, RequestError, ResponseCode
from namesrv_core.protocol import bodies, fastjson
from namesrv_core.protocol.command import ExtFields

Item = dict[str, Any]

_USER_TYPES = ("Super", "Normal")


class UserTable:
    """Users by name, and the ACL of each by its subject. A broker checks no credentials in here."""

    def __init__(self) -> None:
        self._users: dict[str, Item] = {"operator-1": _user("operator-1", "s3cret", "Super")}
        self._acls: dict[str, list[Item]] = {
            "User:operator-1": [
                {
                    "policyType": "Custom",
                    "entries": [{"resource": "Topic:orders", "actions": ["All"], "decision": "Allow"}],
                }
            ]
        }

    def create(self, ext: ExtFields, body: bytes) -> None:
        name, wanted = _name(ext), bodies.as_object(fastjson.loads(body))
        if name in self._users:
            raise NoPermission("The user is existed")
        if not wanted.get("password"):
            raise NoPermission("password can not be blank")
        kind = wanted.get("userType")
        # An unknown type is none at all to it.
        kind = kind if kind in _USER_TYPES else "Normal"
        self._users[name] = _user(name, wanted["password"], kind, wanted.get("userStatus") or "enable")

    def update(self, ext: ExtFields, body: bytes) -> None:
        name, wanted = _name(ext), bodies.as_object(fastjson.loads(body))
        if name not in self._users:
            raise NoPermission("The user is not exist")
        known = {key: wanted[key] for key in ("password", "userType", "userStatus") if wanted.get(key)}
        self._users[name] = {**self._users[name], **known}

    def delete(self, ext: ExtFields) -> None:
        self._users.pop(_name(ext), None)
        self._acls.pop(f"User:{_name(ext)}", None)

    def get(self, ext: ExtFields) -> bytes:
        found = self._users.get(_name(ext))
        return fastjson.dumps(found) if found else b""

    def list(self, ext: ExtFields) -> bytes:
        text = ext.get("filter") or ""
        found = [user for name, user in self._users.items() if text in name]
        return fastjson.dumps(found) if found else b""

    def put_acl(self, body: bytes) -> None:
        """Creating and updating are the same: entries for the same resource give way."""
        wanted = bodies.as_object(fastjson.loads(body))
        subject = str(wanted.get("subject"))
        if subject.removeprefix("User:") not in self._users:
            raise NoPermission(f"The subject of {subject} is not exist.")
        policies = self._acls.setdefault(subject, [])
        for policy in wanted.get("policies") or ():
            kind = policy.get("policyType") or "Custom"
            present = next((item for item in policies if item["policyType"] == kind), None)
            if present is None:
                present = {"policyType": kind, "entries": []}
                policies.append(present)
            by_resource = {entry["resource"]: entry for entry in present["entries"]}
            by_resource.update((entry["resource"], entry) for entry in policy.get("entries") or ())
            present["entries"] = [*by_resource.values()]

    def delete_acl(self, ext: ExtFields) -> None:
        """Without a resource all of it; with one and no type of policy, what is Custom."""
        subject, resource = self._subject(ext), ext.get("resource")
        if subject not in self._acls:
            raise NoPermission("The acl is not exist.")
        if not resource:
            del self._acls[subject]
            return
        kind = ext.get("policyType") or "Custom"
        for policy in self._acls[subject]:
            if policy["policyType"] == kind:
                policy["entries"] = [item for item in policy["entries"] if item["resource"] != resource]
        self._acls[subject] = [policy for policy in self._acls[subject] if policy["entries"]]
        if not self._acls[subject]:
            del self._acls[subject]

    def get_acl(self, ext: ExtFields) -> bytes:
        subject = self._subject(ext)
        return fastjson.dumps(self._acl(subject)) if subject in self._acls else b""

    def list_acls(self, ext: ExtFields) -> bytes:
        text, resource = ext.get("subjectFilter") or "", ext.get("resourceFilter") or ""
        found = [_only(self._acl(subject), resource) for subject in self._acls if text in subject]
        found = [acl for acl in found if acl["policies"]]
        return fastjson.dumps(found) if found else b""

    def _acl(self, subject: str) -> Item:
        return {"policies": self._acls[subject], "subject": subject}

    def _subject(self, ext: ExtFields) -> str:
        subject = ext.get("subject") or ""
        if not subject.startswith("User:"):
            raise NoPermission("The subject is null.")
        if subject.removeprefix("User:") not in self._users:
            raise NoPermission("The subject is not exist.")
        return subject


def _name(ext: ExtFields) -> str:
    name = ext.get("username")
    if not name:
        raise RequestError("The username is blank", ResponseCode.INVALID_PARAMETER)
    return name


def _user(name: str, password: str, kind: str, status: str = "enable") -> Item:
    return {"password": password, "userStatus": status, "userType": kind, "username": name}


def _only(acl: Item, resource: str) -> Item:
    policies: list[Mapping[str, Any]] = acl["policies"]
    kept = [
        {**policy, "entries": [item for item in policy["entries"] if resource in item["resource"]]}
        for policy in policies
    ]
    return {**acl, "policies": [policy for policy in kept if policy["entries"]]}
