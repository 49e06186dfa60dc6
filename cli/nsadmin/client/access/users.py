"""Users: whom each broker of 5.3 and later knows; looked at, and changed after a plan.

A plan says for each broker what is there and what would be; `carry_out` makes it so and reads it back.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol import fastjson, object_keys
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_request
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.read_retry import decode_answer
from nsadmin.client.results import NotApplied, NotFound, ServerResult, is_denied, is_not_found

USER_TYPES = ("Super", "Normal")
USER_STATUSES = ("enable", "disable")


class AlreadyExists(RocketMQError):
    """What was to be made is there."""


class User(NamedTuple):
    """One user of one broker; a representation never shows the password, which brokers tell in clear."""

    username: str
    password: str | None = None
    user_type: str | None = None
    user_status: str | None = None

    def __repr__(self) -> str:
        return f"User({self.username!r}, ..., {self.user_type!r}, {self.user_status!r})"


class UserChange(NamedTuple):
    """What is there and what would be, or is: None for nothing."""

    user_before: User | None
    user_after: User | None


class UserAdmin:
    """`admin.users`."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def list_users(
        self, broker_addrs: Iterable[str], name_text: str | None = None
    ) -> list[ServerResult[tuple[User, ...]]]:
        """The users of these brokers whose names have this text in them, in the order of names."""
        ext_fields = {"filter": name_text} if name_text else None
        answers = self._caller.send_to_each(broker_addrs, RequestCode.AUTH_LIST_USER, ext_fields)
        return [decode_answer(answer, _parse_users) for answer in answers]

    def get_user(self, broker_addrs: Iterable[str], username: str) -> list[ServerResult[User]]:
        """One user of these brokers; NotFound where there is none of that name."""

        def parse_found_user(response: RemotingCommand) -> User:
            if not response.body:
                raise NotFound(f"no user {username!r}")
            return _parse_user(object_keys.decode_object_keys(response.body))

        answers = self._caller.send_to_each(broker_addrs, RequestCode.AUTH_GET_USER, {"username": username})
        return [decode_answer(answer, parse_found_user) for answer in answers]

    def plan_create(self, broker_addrs: Iterable[str], new_user: User) -> list[ServerResult[UserChange]]:
        """A new user; AlreadyThere where there is one of that name."""

        def plan_change(user_before: User | None) -> UserChange:
            if user_before is not None:
                raise AlreadyExists(f"there is a user {new_user.username!r}: change it with updateUser")
            return UserChange(None, new_user._replace(user_status=new_user.user_status or "enable"))

        return [
            user_result.then(lambda found_user: plan_change(found_user[0]))
            for user_result in self._find_user(broker_addrs, new_user.username)
        ]

    def plan_update(self, broker_addrs: Iterable[str], wanted_user: User) -> list[ServerResult[UserChange]]:
        """Another password, type or status: what is None in `wanted` stays. NotFound for unknown users."""
        return [
            user_result.then(
                lambda user_before: UserChange(user_before, _merge_user(user_before, wanted_user))
            )
            for user_result in self.get_user(broker_addrs, wanted_user.username)
        ]

    def plan_delete(self, broker_addrs: Iterable[str], username: str) -> list[ServerResult[UserChange]]:
        """No such user any more; NotFound where there is none."""
        return [
            user_result.then(lambda user_before: UserChange(user_before, None))
            for user_result in self.get_user(broker_addrs, username)
        ]

    def plan_copy(self, broker_addr: str, users: Sequence[User]) -> list[ServerResult[UserChange]]:
        """These users on that broker, in their order, with all that they have."""
        [users_result] = self.list_users([broker_addr])
        if users_result.error is not None:
            return [ServerResult(broker_addr, None, users_result.error) for _ in users]
        users_by_name = {user.username: user for user in users_result.result or ()}
        return [
            ServerResult(broker_addr, UserChange(users_by_name.get(user.username), user), None)
            for user in users
        ]

    def apply_plans(
        self, planned_changes: Sequence[ServerResult[UserChange]]
    ) -> list[ServerResult[UserChange]]:
        """Tell each broker what differs, and read it back; NotApplied where it shows something else.

        Who has changed his own password or deleted himself cannot look: then the broker's word counts.
        """
        plans_to_send = [
            planned_change
            for planned_change in planned_changes
            if planned_change.result and planned_change.result.user_before != planned_change.result.user_after
        ]
        change_answers = self._caller.send_requests(
            [
                (planned_change.addr, _build_request(planned_change.result))
                for planned_change in plans_to_send
                if planned_change.result
            ]
        )
        answers_by_key = dict(zip(map(_plan_key, plans_to_send), change_answers, strict=True))
        return [
            self._verify_change(planned_change, answers_by_key[_plan_key(planned_change)])
            if _plan_key(planned_change) in answers_by_key and planned_change.result
            else planned_change
            for planned_change in planned_changes
        ]

    def _verify_change(
        self, planned_change: ServerResult[UserChange], change_answer: ServerResult[RemotingCommand]
    ) -> ServerResult[UserChange]:
        if change_answer.error is not None or planned_change.result is None:
            return ServerResult(planned_change.addr, None, change_answer.error)
        user_before, user_after = planned_change.result
        [user_result] = self._find_user([planned_change.addr], _changed_username(planned_change.result))
        if is_denied(user_result.error):
            return planned_change
        return user_result.then(
            lambda found_user: UserChange(user_before, _verify_user(found_user[0], user_after))
        )

    def _find_user(
        self, broker_addrs: Iterable[str], username: str
    ) -> list[ServerResult[tuple[User | None]]]:
        """The user, or None where there is none: then that is no error."""
        return [
            ServerResult(user_result.addr, (None,), None)
            if is_not_found(user_result.error)
            else user_result.then(lambda user: (user,))
            for user_result in self.get_user(broker_addrs, username)
        ]


def _changed_username(user_change: UserChange) -> str:
    changed_user = user_change.user_after or user_change.user_before
    return changed_user.username if changed_user else ""


def _plan_key(planned_change: ServerResult[UserChange]) -> tuple[str, str]:
    return planned_change.addr, _changed_username(planned_change.result) if planned_change.result else ""


def _verify_user(current_user: User | None, wanted_user: User | None) -> User | None:
    """What is there now; whether the password is the wanted one is for nobody to see."""
    if current_user is None or wanted_user is None:
        if current_user is not wanted_user:
            raise NotApplied(
                "ignored: the user is still there" if current_user else "ignored: there is no such user"
            )
        return current_user
    if (current_user.user_type, current_user.user_status) != (wanted_user.user_type, wanted_user.user_status):
        raise NotApplied(f"ignored: it is {current_user.user_type} and {current_user.user_status}")
    return current_user


def _merge_user(user_before: User, wanted_user: User) -> User:
    return user_before._replace(
        **{
            field_name: new_value
            for field_name, new_value in wanted_user._asdict().items()
            if new_value is not None
        }
    )


def _build_request(user_change: UserChange) -> RemotingCommand:
    user_before, user_after = user_change
    ext_fields = {"username": _changed_username(user_change)}
    if user_after is None:
        return build_request(RequestCode.AUTH_DELETE_USER, ext_fields)
    request_body = {"username": user_after.username, **_changed_members(user_before, user_after)}
    request_code = RequestCode.AUTH_CREATE_USER if user_before is None else RequestCode.AUTH_UPDATE_USER
    return build_request(request_code, ext_fields, fastjson.encode_json(request_body))


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
    user_records = object_keys.decode_object_keys(response.body) if response.body else ()
    return tuple(sorted(map(_parse_user, user_records or ())))


def _parse_user(user_record: Any) -> User:
    if not isinstance(user_record, dict) or not isinstance(user_record.get("username"), str):
        raise ValueError("a user without a name")
    return User(
        user_record["username"],
        *(user_record.get(member_name) for member_name in ("password", "userType", "userStatus")),
    )
