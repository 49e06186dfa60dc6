"""UserTable, the users and ACLs of a simulated broker, as in 5.5.0. Pure. The remarks are those of 5.5.0."""

from collections.abc import Mapping
from typing import Any

from namesrv_core.errors import NoPermission, RequestError, ResponseCode
from namesrv_core.protocol import fastjson, json_bodies
from namesrv_core.protocol.command import ExtFields

AccountJson = dict[str, Any]

_USER_TYPES = ("Super", "Normal")


class UserTable:
    """Users by name, and ACLs by subject. A simulated broker does not check credentials."""

    def __init__(self) -> None:
        self._users: dict[str, AccountJson] = {"operator-1": _user_json("operator-1", "s3cret", "Super")}
        self._policies: dict[str, list[AccountJson]] = {
            "User:operator-1": [
                {
                    "policyType": "Custom",
                    "entries": [{"resource": "Topic:orders", "actions": ["All"], "decision": "Allow"}],
                }
            ]
        }

    def create_user(self, ext_fields: ExtFields, request_body: bytes) -> None:
        username = _require_username(ext_fields)
        wanted = json_bodies.require_object(fastjson.decode_json(request_body))
        if username in self._users:
            raise NoPermission("The user is existed")
        if not wanted.get("password"):
            raise NoPermission("password can not be blank")
        user_type = wanted.get("userType")
        # A broker treats an unknown type as a missing one.
        user_type = user_type if user_type in _USER_TYPES else "Normal"
        self._users[username] = _user_json(
            username, wanted["password"], user_type, wanted.get("userStatus") or "enable"
        )

    def update_user(self, ext_fields: ExtFields, request_body: bytes) -> None:
        username = _require_username(ext_fields)
        wanted = json_bodies.require_object(fastjson.decode_json(request_body))
        if username not in self._users:
            raise NoPermission("The user is not exist")
        changed = {name: wanted[name] for name in ("password", "userType", "userStatus") if wanted.get(name)}
        self._users[username] = {**self._users[username], **changed}

    def delete_user(self, ext_fields: ExtFields) -> None:
        self._users.pop(_require_username(ext_fields), None)
        self._policies.pop(f"User:{_require_username(ext_fields)}", None)

    def get_user(self, ext_fields: ExtFields) -> bytes:
        user = self._users.get(_require_username(ext_fields))
        return fastjson.encode_json(user) if user else b""

    def list_users(self, ext_fields: ExtFields) -> bytes:
        name_part = ext_fields.get("filter") or ""
        matching = [user for username, user in self._users.items() if name_part in username]
        return fastjson.encode_json(matching) if matching else b""

    def put_acl(self, request_body: bytes) -> None:
        """Create or update an ACL. New entries replace those for the same resource."""
        wanted = json_bodies.require_object(fastjson.decode_json(request_body))
        subject = str(wanted.get("subject"))
        if subject.removeprefix("User:") not in self._users:
            raise NoPermission(f"The subject of {subject} is not exist.")
        present = self._policies.setdefault(subject, [])
        for wanted_policy in wanted.get("policies") or ():
            policy_type = wanted_policy.get("policyType") or "Custom"
            present_policy = next((item for item in present if item["policyType"] == policy_type), None)
            if present_policy is None:
                present_policy = {"policyType": policy_type, "entries": []}
                present.append(present_policy)
            entries = {entry["resource"]: entry for entry in present_policy["entries"]}
            entries.update((entry["resource"], entry) for entry in wanted_policy.get("entries") or ())
            present_policy["entries"] = [*entries.values()]

    def delete_acl(self, ext_fields: ExtFields) -> None:
        """Delete an ACL, or its entries for a resource; without a policy type those of type Custom."""
        subject, resource = self._require_subject(ext_fields), ext_fields.get("resource")
        if subject not in self._policies:
            raise NoPermission("The acl is not exist.")
        if not resource:
            del self._policies[subject]
            return
        policy_type = ext_fields.get("policyType") or "Custom"
        for policy in self._policies[subject]:
            if policy["policyType"] == policy_type:
                policy["entries"] = [entry for entry in policy["entries"] if entry["resource"] != resource]
        self._policies[subject] = [policy for policy in self._policies[subject] if policy["entries"]]
        if not self._policies[subject]:
            del self._policies[subject]

    def get_acl(self, ext_fields: ExtFields) -> bytes:
        subject = self._require_subject(ext_fields)
        return fastjson.encode_json(self._acl_json(subject)) if subject in self._policies else b""

    def list_acls(self, ext_fields: ExtFields) -> bytes:
        part, resource_part = ext_fields.get("subjectFilter") or "", ext_fields.get("resourceFilter") or ""
        matching = [
            _restrict_to_resource(self._acl_json(s), resource_part) for s in self._policies if part in s
        ]
        matching = [acl for acl in matching if acl["policies"]]
        return fastjson.encode_json(matching) if matching else b""

    def _acl_json(self, subject: str) -> AccountJson:
        return {"policies": self._policies[subject], "subject": subject}

    def _require_subject(self, ext_fields: ExtFields) -> str:
        subject = ext_fields.get("subject") or ""
        if not subject.startswith("User:"):
            raise NoPermission("The subject is null.")
        if subject.removeprefix("User:") not in self._users:
            raise NoPermission("The subject is not exist.")
        return subject


def _require_username(ext_fields: ExtFields) -> str:
    username = ext_fields.get("username")
    if not username:
        raise RequestError("The username is blank", ResponseCode.INVALID_PARAMETER)
    return username


def _user_json(username: str, password: str, user_type: str, user_status: str = "enable") -> AccountJson:
    return {"password": password, "userStatus": user_status, "userType": user_type, "username": username}


def _restrict_to_resource(acl: AccountJson, part: str) -> AccountJson:
    policies: list[Mapping[str, Any]] = acl["policies"]
    restricted_policies = [
        {**p, "entries": [entry for entry in p["entries"] if part in entry["resource"]]} for p in policies
    ]
    return {**acl, "policies": [policy for policy in restricted_policies if policy["entries"]]}
