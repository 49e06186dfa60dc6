"""Owns the exit codes of commands, and the errors that end a command early."""

from collections.abc import Iterable, Sequence
from enum import IntEnum

from namesrv_core.errors import BadSettings, RocketMQError
from nsadmin.client.connection.addresses import BadAddress
from nsadmin.client.results import Ambiguous, is_not_found, is_unreachable


class ExitCode(IntEnum):
    """The exit codes of commands."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    PARTLY = 3
    UNREACHABLE = 4
    NOT_FOUND = 5
    READ_ONLY = 6
    INTERRUPTED = 130


EXIT_CODE_MEANINGS = (
    (ExitCode.DONE, "done"),
    (ExitCode.FAILED, "a server refused the request, or the command failed"),
    (ExitCode.USAGE, "the command line is wrong, or a setting is invalid"),
    (ExitCode.PARTLY, "partly done: some servers failed"),
    (ExitCode.UNREACHABLE, "no server could be reached"),
    (ExitCode.NOT_FOUND, "the named topic, group, broker, key or message does not exist"),
    (ExitCode.READ_ONLY, "the context is read-only, and the command changes something"),
)


DIFFERENCES_FOUND = 2
"""The exit code of `plan --exit-code` if the plan has changes, like terraform's `-detailed-exitcode`."""

PLUGIN_CODE_MEANINGS = (
    (0, "OK"),
    (1, "warning"),
    (2, "critical"),
    (3, "unknown, or the command line is wrong"),
)
"""The exit codes of checks, from the Monitoring Plugins Development Guidelines."""
PLUGIN_UNKNOWN = 3

_SAME_OR_DIFFERENT = ((0, "equal"), (1, "different"))
SPECIAL_CODE_MEANINGS: dict[str, tuple[tuple[int, str], ...]] = {
    "backupCreate": ((0, "done"), (3, "the backup lacks a server that did not answer")),
    "backupDiff": (*_SAME_OR_DIFFERENT, (3, "a server did not answer")),
    "bundleDiff": _SAME_OR_DIFFERENT,
    "configDiff": (*_SAME_OR_DIFFERENT, (3, "a server did not answer")),
    "divergence": (
        (0, "the name servers agree, or still converge"),
        (1, "they diverge, or a broker is missing"),
        (3, "unknown: a name server did not answer"),
    ),
    "drain": ((0, "safe to stop"), (1, "refused, or a step failed"), (3, "a name server did not answer")),
    "journalVerify": ((0, "every journal is complete"), (1, "a journal is damaged")),
    "kvDiff": (*_SAME_OR_DIFFERENT, (3, "a name server did not answer")),
    "orderConfCheck": ((0, "no error"), (1, "an error"), (3, "a name server did not answer")),
    "plan": (
        (0, "apply would change nothing"),
        (1, "the file is invalid"),
        (2, "apply would change something"),
    ),
    "rebalanceRun": (
        (0, "all topics moved, or are back"),
        (1, "refused, or the plan no longer fits the cluster"),
        (3, "paused: a limit was exceeded, or another change is in the way"),
    ),
    "reportRun": ((0, "done"), (1, "failed"), (3, "more unreadable lines than --max-quarantine")),
    "reportStream": ((0, "done"), (1, "failed"), (3, "more unreadable lines than --max-quarantine")),
    "replicaDiff": (
        (0, "the slaves are equal, or may still copy the rest"),
        (1, "a slave lacks something for longer than two sync intervals"),
        (3, "a server did not answer"),
    ),
    "rollingRestart": (
        (0, "all brokers were restarted"),
        (1, "refused, or a step failed"),
        (3, "a name server did not answer"),
    ),
    "routeAt": (
        (0, "every journal has a route"),
        (1, "unknown"),
        (3, "the journals disagree"),
        (5, "no journal has a route"),
    ),
    "routeDiff": (*_SAME_OR_DIFFERENT, (3, "partly read")),
    "routeExplain": (
        (0, "no cause found"),
        (1, "a cause found"),
        (3, "no cause found, and some servers did not answer"),
    ),
    "transferOffsets": (
        (0, "the group is moved"),
        (1, "refused, or a queue was not moved"),
        (3, "unconsumed messages have no copy"),
    ),
    "transferVerify": (
        (0, "the target has every message, some maybe repeatedly"),
        (1, "messages are missing, changed or misplaced"),
        (3, "later messages are not copied yet"),
    ),
    "undrain": ((0, "the routes are as before"), (3, "some routes are not as before")),
    "whatIf": (
        (0, "nothing stops"),
        (1, "a topic, group or client stops"),
        (3, "some servers did not answer"),
    ),
}
"""Codes of commands that answer a question, by machine name; those of `plan` apply with --exit-code."""


def special_codes_of_command(command_name: str, command_kind: str) -> Sequence[tuple[int, str]]:
    """Return the codes that differ from EXIT_CODE_MEANINGS; none for most commands."""
    return PLUGIN_CODE_MEANINGS if command_kind == "check" else SPECIAL_CODE_MEANINGS.get(command_name, ())


def meaning_of_code(exit_code: int | None, command_name: str = "", command_kind: str = "") -> str:
    """Return what an exit code of this command means, or "" if it is unknown."""
    special_codes = special_codes_of_command(command_name, command_kind)
    meanings: dict[int | None, str] = {}
    for known_code, meaning in (*EXIT_CODE_MEANINGS, *special_codes):
        meanings[known_code] = meaning
    return meanings.get(exit_code, "")


class UsageError(Exception):
    """The command line is wrong. The text is one line that says what to type."""


class CheckUsageError(UsageError):
    """The command line of a check is wrong; plugins have another exit code for that."""


class ReadOnlyContextError(Exception):
    """A command would change something, but the context is read-only."""


class CommandInterrupted(Exception):
    """The operator pressed Ctrl-C. The text names the changes until then."""


class ChangeDeclined(Exception):
    """The operator answered no."""


def exit_code_of_outcomes(errors: Iterable[RocketMQError | None]) -> ExitCode:
    """Return the code for the outcomes of all servers; None stands for a success.

    If every server failed: FAILED if one refused, else NOT_FOUND if one has nothing of that name, else
    UNREACHABLE.
    """
    outcomes = list(errors)
    failures = [error for error in outcomes if error is not None]
    if not failures:
        return ExitCode.DONE
    if len(failures) < len(outcomes):
        return ExitCode.PARTLY
    server_refusals = [error for error in failures if not is_unreachable(error)]
    if not server_refusals:
        return ExitCode.UNREACHABLE
    return ExitCode.NOT_FOUND if all(map(is_not_found, server_refusals)) else ExitCode.FAILED


def exit_code_of_error(error: BaseException) -> int:
    """Return the exit code of a command that ended with this error."""
    for error_types, exit_code in _CODES_BY_ERROR:
        if isinstance(error, error_types):
            return exit_code
    return exit_code_of_outcomes([error]) if isinstance(error, RocketMQError) else ExitCode.FAILED


_CODES_BY_ERROR: tuple[tuple[tuple[type[BaseException], ...], int], ...] = (
    ((KeyboardInterrupt, CommandInterrupted), ExitCode.INTERRUPTED),
    # The exit code of a program that SIGPIPE kills: 128 + 13.
    ((BrokenPipeError,), 141),
    ((CheckUsageError,), PLUGIN_UNKNOWN),
    ((UsageError, BadAddress, BadSettings, Ambiguous), ExitCode.USAGE),
    ((ReadOnlyContextError,), ExitCode.READ_ONLY),
)
