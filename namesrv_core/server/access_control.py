"""AccessControl, which builds the access policy from settings and credentials file, and RefusalLog.

An invalid credentials file never replaces a valid one. RefusalLog limits the log lines that peers can cause.
"""

from pathlib import Path

from namesrv_core.errors import BadSettings
from namesrv_core.private_files import advise_mode
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.server.log import log
from namesrv_core.state.access_policy import AccessPolicy, AccessRole
from namesrv_core.state.name_server_state import NameServerState
from namesrv_core.state.refusals import RefusalKind, RefusalTally
from namesrv_core.storage import credentials_file

TICK_SECONDS = 1.0
_WINDOW_MS = 60_000
_MAX_WINDOW_LINES = 20


class AccessControl:
    """Sets the access policy of the server's state if the settings require one.

    The constructor raises BadSettings for an invalid file. Reload counts never decrease.
    """

    def __init__(self, state: NameServerState) -> None:
        self._server_state = state
        self._path = Path(state.settings.credentialsFile) if state.settings.credentialsFile else None
        self._loaded_mark = self._seen_mark = (
            credentials_file.read_file_mark(self._path) if self._path else None
        )
        self._file_content: object = None
        self._logged_problem = ""
        self._refusal_log = RefusalLog()
        self.reload_count = self.failed_reload_count = 0
        if self._path is not None or state.settings.readOnly or state.settings.noRemoteConfig:
            state.policy = self._build_policy()

    @property
    def is_on(self) -> bool:
        return self._server_state.policy is not None

    def startup_warnings(self) -> list[str]:
        """Warnings for the operator at the start about insecure settings, one line each."""
        settings = self._server_state.settings
        accepts_plain_text = settings.tls.mode != "enforcing"
        everybody = self._role_of_everybody()
        if everybody >= AccessRole.BROKER:
            action = (
                "change everything"
                if everybody == AccessRole.ADMIN and not settings.readOnly
                else "register brokers"
            )
            transport_hint = ", also unencrypted" if accepts_plain_text else ""
            setting_hint = "--credentials and tls.server.mode" if accepts_plain_text else "--credentials"
            return [
                "accepts unauthenticated requests, like Apache's name server: every client can "
                f"{action}{transport_hint}; set {setting_hint}, see "
                "nsadmin guide secure-the-name-server"
            ]
        warnings = []
        if self._path is not None and credentials_file.is_world_readable(self._path):
            warnings.append(
                f'every user of this machine can read the secrets in "{self._path}": '
                f"{advise_mode(self._path)}"
            )
        policy = self._server_state.policy
        if settings.tls.client_auth == "none" and policy and any(g.subject for g in policy.keyless_grants):
            warnings.append(
                f'the certificate rules in "{self._path}" have no effect: '
                "set tls.server.need.client.auth=require"
            )
        if accepts_plain_text and not warnings:
            warnings.append(
                "accepts unencrypted connections: set tls.server.mode=enforcing, "
                "see nsadmin guide secure-the-name-server"
            )
        return warnings

    def _role_of_everybody(self) -> AccessRole:
        policy = self._server_state.policy
        if policy is None:
            return AccessRole.ADMIN
        return max((g.role for g in policy.keyless_grants if g.is_for_everybody), default=AccessRole.NONE)

    def handle_tick(self, now_ms: int) -> None:
        """Reload a changed file and log refusals; called about every second."""
        if not self.is_on:
            return
        if self._path is not None:
            mark = credentials_file.read_file_mark(self._path)
            # A file that differs between two ticks may still be incomplete.
            if mark != self._loaded_mark and mark == self._seen_mark:
                self._loaded_mark = mark
                self.reload_credentials()
            self._seen_mark = mark
        self.log_refusals(now_ms)

    def reload_credentials(self) -> None:
        """Read the file again. An invalid file changes nothing."""
        if self._path is None:
            return
        previous = self._file_content
        try:
            policy = self._build_policy()
        except BadSettings as error:
            self.failed_reload_count += 1
            if str(error) != self._logged_problem:
                log.error("%s; the credentials read before stay in force", error)
            self._logged_problem = str(error)
            return
        self._logged_problem = ""
        self._server_state.policy = policy
        if self._file_content != previous:
            self.reload_count += 1
            log.warning("reloaded %s: %s", self._path, describe_policy(policy))

    def _build_policy(self) -> AccessPolicy:
        settings = self._server_state.settings
        if self._path is None:
            return AccessPolicy(read_only=settings.readOnly, no_remote_config=settings.noRemoteConfig)
        # Imported late, because most name servers have no credentials file.
        from namesrv_core.state.credentials_schema import build_policy

        content = credentials_file.load_credentials(self._path)
        try:
            policy = build_policy(
                content, read_only=settings.readOnly, no_remote_config=settings.noRemoteConfig
            )
        except BadSettings as error:
            raise BadSettings(f"{self._path}: {error}") from None
        self._file_content = content
        return policy

    def log_refusals(self, now_ms: int) -> None:
        for line in self._refusal_log.build_lines(*self._server_state.refusals.take_unlogged(), now_ms):
            log.warning(line)


class RefusalLog:
    """Formats refusals as log lines: new kinds at once, repeated ones as one line per minute."""

    def __init__(self) -> None:
        self._window_ends_at = 0
        self._logged_kinds: set[RefusalKind] = set()
        self._repeated_count = 0

    def build_lines(
        self, unlogged: dict[RefusalKind, RefusalTally], overflow_count: int, now_ms: int
    ) -> list[str]:
        lines = []
        if now_ms >= self._window_ends_at:
            if self._repeated_count:
                lines.append(f"refused {self._repeated_count} more such requests in the past minute")
            self._logged_kinds.clear()
            self._repeated_count, self._window_ends_at = 0, now_ms + _WINDOW_MS
        self._repeated_count += overflow_count
        for kind, tally in unlogged.items():
            if kind in self._logged_kinds or len(self._logged_kinds) >= _MAX_WINDOW_LINES:
                self._repeated_count += tally.refusal_count
                continue
            self._logged_kinds.add(kind)
            lines.append(_format_refusal(kind, tally))
        return lines


def _format_refusal(kind: RefusalKind, tally: RefusalTally) -> str:
    key = f", accessKey {tally.access_key!a}" if tally.access_key else ""
    times = f", {tally.refusal_count} times" if tally.refusal_count > 1 else ""
    name = RequestCode.name_of(kind.request_code)
    return f"refused {name} from {kind.peer_host} ({kind.reason}{key}{times})"


def describe_policy(policy: AccessPolicy) -> str:
    """Summarize a policy without naming accounts."""
    rules = sum(1 for g in policy.keyless_grants if g.peer_networks is not None or g.subject is not None)
    return f"accounts: {len(policy.accounts_by_key)}, rules about networks and certificates: {rules}"
