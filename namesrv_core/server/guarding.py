"""Guarding: the policy in force, made of settings and credentials file, and what of refusals goes to the log.

A file that cannot be used never replaces one that could; nobody fills the log by asking often.
"""

from pathlib import Path

from namesrv_core.errors import BadSettings
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.server.log import log
from namesrv_core.state.name_server import NameServerState
from namesrv_core.state.policy import Policy, Role
from namesrv_core.state.refusals import Notice, Noticed
from namesrv_core.storage import credentials_file

TICK = 1.0
_WINDOW = 60_000
_LINES = 20


class Guarding:
    """Puts a policy into `state` if the settings want one. BadSettings for a file that cannot be used.

    `reloads` and `failed_reloads` only grow.
    """

    def __init__(self, state: NameServerState) -> None:
        self._state = state
        self._path = Path(state.settings.credentialsFile) if state.settings.credentialsFile else None
        self._mark = self._seen = credentials_file.mark(self._path) if self._path else None
        self._content: object = None
        self._problem = ""
        self._log = RefusalLog()
        self.reloads = self.failed_reloads = 0
        if self._path is not None or state.settings.readOnly or state.settings.noRemoteConfig:
            state.policy = self._policy()

    @property
    def is_on(self) -> bool:
        return self._state.policy is not None

    def warnings(self) -> list[str]:
        """What an operator should know at the start: in one line, what stands open."""
        settings = self._state.settings
        is_plain = settings.tls.mode != "enforcing"
        role = self._of_everybody()
        if role >= Role.BROKER:
            may = "change everything" if role == Role.ADMIN and not settings.readOnly else "register brokers"
            heard = ", and who is in the way reads along" if is_plain else ""
            keys = "--credentials, tls.server.mode" if is_plain else "--credentials"
            return [f"whoever reaches this port may {may} here{heard}: see {keys} and docs/security.md"]
        found = []
        if self._path is not None and credentials_file.is_exposed(self._path):
            found.append(f"{self._path} has secrets, and everybody here may read it: chmod 600 {self._path}")
        policy = self._state.policy
        if settings.tls.clients == "none" and policy and any(grant.subject for grant in policy.grants):
            found.append(f"{self._path} has rules about certificates, but clients are not asked for any")
        if is_plain and not found:
            found.append("who is in the way reads along: see tls.server.mode in docs/security.md")
        return found

    def _of_everybody(self) -> Role:
        policy = self._state.policy
        if policy is None:
            return Role.ADMIN
        return max((grant.role for grant in policy.grants if grant.is_for_all), default=Role.NONE)

    def tick(self, now: int) -> None:
        """To be called about every second: look at the file, and tell what was refused."""
        if not self.is_on:
            return
        if self._path is not None:
            mark = credentials_file.mark(self._path)
            # What is not the same at two looks may be half written.
            if mark != self._mark and mark == self._seen:
                self._mark = mark
                self.reload()
            self._seen = mark
        self._tell(now)

    def reload(self) -> None:
        """Read the file again; one that cannot be used changes nothing."""
        if self._path is None:
            return
        content = self._content
        try:
            policy = self._policy()
        except BadSettings as error:
            self.failed_reloads += 1
            if str(error) != self._problem:
                log.error("%s; what was read before stays in force", error)
            self._problem = str(error)
            return
        self._problem = ""
        self._state.policy = policy
        if self._content != content:
            self.reloads += 1
            log.warning("%s was read again: %s", self._path, in_words(policy))

    def stop(self, now: int) -> None:
        """Tell what was not told yet."""
        self._tell(now)

    def _policy(self) -> Policy:
        settings = self._state.settings
        if self._path is None:
            return Policy(read_only=settings.readOnly, no_remote_config=settings.noRemoteConfig)
        # Imported late: most name servers have no such file.
        from namesrv_core.state.credentials import policy_of

        content = credentials_file.load(self._path)
        try:
            policy = policy_of(content, read_only=settings.readOnly, no_remote_config=settings.noRemoteConfig)
        except BadSettings as error:
            raise BadSettings(f"{self._path}: {error}") from None
        self._content = content
        return policy

    def _tell(self, now: int) -> None:
        for line in self._log.lines(*self._state.refusals.take(), now):
            log.warning(line)


class RefusalLog:
    """Refusals as lines: what is new at once, what repeats itself in one line a minute."""

    def __init__(self) -> None:
        self._until = 0
        self._said: set[Notice] = set()
        self._repeated = 0

    def lines(self, noticed: dict[Notice, Noticed], beyond: int, now: int) -> list[str]:
        """The lines for what was refused since the last time; `now` is in ms."""
        lines = []
        if now >= self._until:
            if self._repeated:
                lines.append(f"refused {self._repeated} more like these in the minute before")
            self._said.clear()
            self._repeated, self._until = 0, now + _WINDOW
        self._repeated += beyond
        for notice, how in noticed.items():
            if notice in self._said or len(self._said) >= _LINES:
                self._repeated += how.times
                continue
            self._said.add(notice)
            lines.append(_line(notice, how))
        return lines


def _line(notice: Notice, how: Noticed) -> str:
    try:
        name = RequestCode(notice.code).name
    except ValueError:
        name = f"request {notice.code}"
    key = f", accessKey {how.access_key!a}" if how.access_key else ""
    times = f", {how.times} times" if how.times > 1 else ""
    return f"refused {name} from {notice.host} ({notice.reason}{key}{times})"


def in_words(policy: Policy) -> str:
    """What there is in it, without names."""
    roles = sum(1 for grant in policy.grants if grant.networks is not None or grant.subject is not None)
    return f"accounts: {len(policy.accounts)}, rules about networks and certificates: {roles}"
