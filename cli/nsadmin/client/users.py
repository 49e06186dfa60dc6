"""Users: whom each broker of 5.3 and later knows; looked at, and changed after a plan.

A plan says for each broker what is there and what would be; `carry_out` makes it so and reads it back.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol import fastjson, object_keys
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command, request
from nsadmin.client.caller import Caller
from nsadmin.client.results import NotApplied, NotFound, ServerResult, is_denied, is_not_found
from nsadmin.client.retry import decoded

USER_TYPES = ("Super", "Normal")
USER_STATUSES = ("enable", "disable")


class AlreadyThere(RocketMQError):
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

    before: User | None
    after: User | None


class Users:
    """`admin.users`."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def each(self, addrs: Iterable[str], text: str | None = None) -> list[ServerResult[tuple[User, ...]]]:
        """The users of these brokers whose names have this text in them, in the order of names."""
        ext = {"filter": text} if text else None
        answers = self._caller.ask_each(addrs, RequestCode.AUTH_LIST_USER, ext)
        return [decoded(answer, _users) for answer in answers]

    def get(self, addrs: Iterable[str], username: str) -> list[ServerResult[User]]:
        """One user of these brokers; NotFound where there is none of that name."""

        def found(command: Command) -> User:
            if not command.body:
                raise NotFound(f"no user {username!r}")
            return _user(object_keys.loads(command.body))

        answers = self._caller.ask_each(addrs, RequestCode.AUTH_GET_USER, {"username": username})
        return [decoded(answer, found) for answer in answers]

    def plan_create(self, addrs: Iterable[str], user: User) -> list[ServerResult[UserChange]]:
        """A new user; AlreadyThere where there is one of that name."""

        def plan(before: User | None) -> UserChange:
            if before is not None:
                raise AlreadyThere(f"there is a user {user.username!r}: change it with updateUser")
            return UserChange(None, user._replace(user_status=user.user_status or "enable"))

        return [found.then(lambda had: plan(had[0])) for found in self._present(addrs, user.username)]

    def plan_update(self, addrs: Iterable[str], wanted: User) -> list[ServerResult[UserChange]]:
        """Another password, type or status: what is None in `wanted` stays. NotFound for unknown users."""
        return [
            found.then(lambda before: UserChange(before, _merged(before, wanted)))
            for found in self.get(addrs, wanted.username)
        ]

    def plan_delete(self, addrs: Iterable[str], username: str) -> list[ServerResult[UserChange]]:
        """No such user any more; NotFound where there is none."""
        return [found.then(lambda before: UserChange(before, None)) for found in self.get(addrs, username)]

    def plan_copy(self, addr: str, users: Sequence[User]) -> list[ServerResult[UserChange]]:
        """These users on that broker, in their order, with all that they have."""
        [there] = self.each([addr])
        if there.error is not None:
            return [ServerResult(addr, None, there.error) for _ in users]
        present = {user.username: user for user in there.result or ()}
        return [ServerResult(addr, UserChange(present.get(user.username), user), None) for user in users]

    def carry_out(self, plans: Sequence[ServerResult[UserChange]]) -> list[ServerResult[UserChange]]:
        """Tell each broker what differs, and read it back; NotApplied where it shows something else.

        Who has changed his own password or deleted himself cannot look: then the broker's word counts.
        """
        due = [plan for plan in plans if plan.result and plan.result.before != plan.result.after]
        told = self._caller.ask([(plan.addr, _order(plan.result)) for plan in due if plan.result])
        done = dict(zip(map(_place, due), told, strict=True))
        return [
            self._checked(plan, done[_place(plan)]) if _place(plan) in done and plan.result else plan
            for plan in plans
        ]

    def _checked(
        self, plan: ServerResult[UserChange], told: ServerResult[Command]
    ) -> ServerResult[UserChange]:
        if told.error is not None or plan.result is None:
            return ServerResult(plan.addr, None, told.error)
        before, after = plan.result
        [there] = self._present([plan.addr], _name(plan.result))
        if is_denied(there.error):
            return plan
        return there.then(lambda had: UserChange(before, _applied(had[0], after)))

    def _present(self, addrs: Iterable[str], username: str) -> list[ServerResult[tuple[User | None]]]:
        """The user, or None where there is none: then that is no error."""
        return [
            ServerResult(found.addr, (None,), None)
            if is_not_found(found.error)
            else found.then(lambda user: (user,))
            for found in self.get(addrs, username)
        ]


def _name(change: UserChange) -> str:
    user = change.after or change.before
    return user.username if user else ""


def _place(plan: ServerResult[UserChange]) -> tuple[str, str]:
    return plan.addr, _name(plan.result) if plan.result else ""


def _applied(now: User | None, wanted: User | None) -> User | None:
    """What is there now; whether the password is the wanted one is for nobody to see."""
    if now is None or wanted is None:
        if now is not wanted:
            raise NotApplied("ignored: the user is still there" if now else "ignored: there is no such user")
        return now
    if (now.user_type, now.user_status) != (wanted.user_type, wanted.user_status):
        raise NotApplied(f"ignored: it is {now.user_type} and {now.user_status}")
    return now


def _merged(before: User, wanted: User) -> User:
    return before._replace(**{name: new for name, new in wanted._asdict().items() if new is not None})


def _order(change: UserChange) -> Command:
    before, after = change
    ext = {"username": _name(change)}
    if after is None:
        return request(RequestCode.AUTH_DELETE_USER, ext)
    body = {"username": after.username, **_differing(before, after)}
    code = RequestCode.AUTH_CREATE_USER if before is None else RequestCode.AUTH_UPDATE_USER
    return request(code, ext, fastjson.dumps(body))


def _differing(before: User | None, after: User) -> dict[str, str]:
    values = {
        "password": (before and before.password, after.password),
        "userType": (before and before.user_type, after.user_type),
        "userStatus": (before and before.user_status, after.user_status),
    }
    return {name: new for name, (old, new) in values.items() if new is not None and new != old}


def _users(command: Command) -> tuple[User, ...]:
    listed = object_keys.loads(command.body) if command.body else ()
    return tuple(sorted(map(_user, listed or ())))


def _user(item: Any) -> User:
    if not isinstance(item, dict) or not isinstance(item.get("username"), str):
        raise ValueError("a user without a name")
    return User(item["username"], *(item.get(key) for key in ("password", "userType", "userStatus")))
