"""`admin.users`: the users of brokers (since 5.3), read and changed by plans.

A plan contains the state before and after for each broker. `apply_plans` applies it and reads it back.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol import fastjson
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.json_object import JsonObject, to_list
from nsadmin.client.connection.requests import make_request
from nsadmin.client.connection.response_bodies import parse_json, parse_json_object
from nsadmin.client.results import NotFound, ServerResult, ignored_change, is_denied, is_not_found

SUPER_USER = "Super"
USER_TYPES = (SUPER_USER, "Normal")
DISABLED = "disable"
USER_STATUSES = ("enable", DISABLED)


class AlreadyExists(RocketMQError):
    """The object to create already exists."""


class User(NamedTuple):
    """A user of a broker. Its repr never shows the password, which brokers report in clear text.

    Attributes:
        username: The name.
        password: The password; None if not reported, or to keep it in an update.
        user_type: One of USER_TYPES; None likewise.
        user_status: One of USER_STATUSES; None likewise.
    """

    username: str
    password: str | None = None
    user_type: str | None = None
    user_status: str | None = None

    def __repr__(self) -> str:
        return f"User({self.username!r}, ..., {self.user_type!r}, {self.user_status!r})"


class UserChange(NamedTuple):
    """A user before and after a change; None if there is no such user."""

    user_before: User | None
    user_after: User | None


class UserAdmin:
    """`admin.users`: the users of brokers. Each method returns one ServerResult per address or plan."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def list_users(
        self, broker_addrs: Iterable[str], name_text: str | None = None
    ) -> list[ServerResult[tuple[User, ...]]]:
        """Return the users of brokers, in the order of names (AUTH_LIST_USER, 3005).

        Args:
            broker_addrs: The broker addresses.
            name_text: Only users whose names contain this text. Default: all users.
        """
        ext_fields = {"filter": name_text} if name_text else None
        return self._caller.read_each(broker_addrs, _parse_users, RequestCode.AUTH_LIST_USER, ext_fields)

    def get_user(self, broker_addrs: Iterable[str], username: str) -> list[ServerResult[User]]:
        """Return one user of brokers (AUTH_GET_USER, 3004); the error is NotFound for an unknown user.

        Args:
            broker_addrs: The broker addresses.
            username: The user name.
        """

        def parse_found_user(response: RemotingCommand) -> User:
            if not response.body:
                raise NotFound(f'no user "{username}"')
            return _parse_user(parse_json_object(response))

        return self._caller.read_each(
            broker_addrs, parse_found_user, RequestCode.AUTH_GET_USER, {"username": username}
        )

    def plan_create(self, broker_addrs: Iterable[str], new_user: User) -> list[ServerResult[UserChange]]:
        """Plan to create a user; the error is AlreadyExists for an existing name.

        Args:
            broker_addrs: The broker addresses.
            new_user: The user. Without a status, the user is enabled.

        Returns:
            One ServerResult per address, in order: the planned change.
        """

        def plan_change(user_before: User | None) -> UserChange:
            if user_before is not None:
                raise AlreadyExists(f'the user "{new_user.username}" exists')
            return UserChange(None, new_user._replace(user_status=new_user.user_status or "enable"))

        return [
            user_result.then(lambda found_user: plan_change(found_user[0]))
            for user_result in self._find_user(broker_addrs, new_user.username)
        ]

    def plan_update(self, broker_addrs: Iterable[str], wanted_user: User) -> list[ServerResult[UserChange]]:
        """Plan to update the password, type or status of a user.

        Args:
            broker_addrs: The broker addresses.
            wanted_user: The user name and the new values; None keeps a value.

        Returns:
            One ServerResult per address, in order: the planned change. The error is NotFound for an unknown
            user.
        """
        given_values = {name: value for name, value in wanted_user._asdict().items() if value is not None}
        return [
            result.then(lambda user_before: UserChange(user_before, user_before._replace(**given_values)))
            for result in self.get_user(broker_addrs, wanted_user.username)
        ]

    def plan_delete(self, broker_addrs: Iterable[str], username: str) -> list[ServerResult[UserChange]]:
        """Plan to delete a user; the error is NotFound for an unknown user.

        Args:
            broker_addrs: The broker addresses.
            username: The user name.

        Returns:
            One ServerResult per address, in order: the planned change.
        """
        return [
            user_result.then(lambda user_before: UserChange(user_before, None))
            for user_result in self.get_user(broker_addrs, username)
        ]

    def plan_copy(self, broker_addr: str, users: Sequence[User]) -> list[ServerResult[UserChange]]:
        """Plan to copy users with all their values to one broker.

        Args:
            broker_addr: The address of the broker that gets the users.
            users: The users. A user that exists there gets the new values; None is not sent.

        Returns:
            One ServerResult per user, in order: the planned change. If the broker's users cannot be read,
            each result has that error.
        """
        [users_result] = self.list_users([broker_addr])
        if users_result.error is not None:
            return [ServerResult(broker_addr, None, users_result.error) for _ in users]
        users_by_name = {user.username: user for user in users_result.result or ()}
        return [ServerResult(broker_addr, UserChange(users_by_name.get(u.username), u), None) for u in users]

    def apply_plans(
        self, planned_changes: Sequence[ServerResult[UserChange]]
    ) -> list[ServerResult[UserChange]]:
        """Apply plans, and read the users back.

        Sends AUTH_CREATE_USER (3001), AUTH_UPDATE_USER (3002) or AUTH_DELETE_USER (3003) for each plan that
        changes something. A client that changes its own password or deletes its own user cannot read the
        result back: then the broker's success counts.

        Args:
            planned_changes: The plans. A plan with an error is not sent and keeps its error.

        Returns:
            One ServerResult per plan, in order. The error is NotApplied if the broker has other values.
        """
        to_send = filter(_is_change, planned_changes)
        answers = iter(self._caller.send_requests((c.addr, _build_request(c.value())) for c in to_send))
        return [self._verify_change(c, next(answers)) if _is_change(c) else c for c in planned_changes]

    def _verify_change(
        self, planned_change: ServerResult[UserChange], change_answer: ServerResult[RemotingCommand]
    ) -> ServerResult[UserChange]:
        if change_answer.error is not None or planned_change.result is None:
            return ServerResult(planned_change.addr, None, change_answer.error)
        user_before, user_after = planned_change.result
        addr, name = planned_change.addr, _changed_username(planned_change.result)
        [user_result] = self._find_user([addr], name)
        if is_denied(user_result.error):
            return planned_change

        def verify_user(found: tuple[User | None]) -> UserChange:
            [user] = found
            if (user and (user.user_type, user.user_status)) != (
                user_after and (user_after.user_type, user_after.user_status)
            ):
                state = "does not exist" if user is None else f"is {user.user_type} and {user.user_status}"
                raise ignored_change(addr, f"the user {name} {state}", "getUser", name, "-b", addr)
            return UserChange(user_before, user)

        return user_result.then(verify_user)

    def _find_user(self, addrs: Iterable[str], username: str) -> list[ServerResult[tuple[User | None]]]:
        """Read a user in a tuple of one; a missing user gives the result None, not an error."""
        return [
            ServerResult(r.addr, (None,), None) if is_not_found(r.error) else r.then(lambda user: (user,))
            for r in self.get_user(addrs, username)
        ]


def _is_change(plan: ServerResult[UserChange]) -> bool:
    return plan.result is not None and plan.result.user_before != plan.result.user_after


def _changed_username(user_change: UserChange) -> str:
    changed_user = user_change.user_after or user_change.user_before
    return changed_user.username if changed_user else ""


def _build_request(user_change: UserChange) -> RemotingCommand:
    user_before, user_after = user_change
    ext_fields = {"username": _changed_username(user_change)}
    if user_after is None:
        return make_request(RequestCode.AUTH_DELETE_USER, ext_fields)
    request_body = {"username": user_after.username, **_changed_members(user_before, user_after)}
    request_code = RequestCode.AUTH_CREATE_USER if user_before is None else RequestCode.AUTH_UPDATE_USER
    return make_request(request_code, ext_fields, fastjson.encode_json(request_body))


def _changed_members(user_before: User | None, user_after: User) -> dict[str, str]:
    old_and_new = {
        "password": (user_before and user_before.password, user_after.password),
        "userType": (user_before and user_before.user_type, user_after.user_type),
        "userStatus": (user_before and user_before.user_status, user_after.user_status),
    }
    return {
        member_name: new_value
        for member_name, (old_value, new_value) in old_and_new.items()
        if new_value is not None and new_value != old_value
    }


def _parse_users(response: RemotingCommand) -> tuple[User, ...]:
    users = (_parse_user(JsonObject(user, "a user")) for user in to_list(parse_json(response), "the body"))
    return tuple(sorted(users, key=lambda user: user.username))


def _parse_user(user: JsonObject) -> User:
    return User(user.text("username"), *(user.text(n, None) for n in ("password", "userType", "userStatus")))
