"""Findings of a cause check on one server, and the advice that goes with them."""

from collections.abc import Callable, Iterable
from typing import Generic, Literal, NamedTuple, TypeVar

from nsadmin.client.advised_command import quote_command
from nsadmin.console.phrases import abbreviate_names

Facts = TypeVar("Facts")

FindingResult = Literal["ok", "warning", "cause", "unknown", "skipped"]
"""A "warning" is a problem, but not the cause that the operator asks for; "unknown" could not be checked."""


SERVERS_PLACEHOLDER = "{servers}"
"""Placeholder in a command for all name servers that the finding is about."""


class Advice(NamedTuple):
    """What to do next: an instruction, a command, or both.

    Attributes:
        instruction: The instruction, which says why to type the command; "" for none.
        command_words: The words after `nsadmin`; () for none.
    """

    instruction: str
    command_words: tuple[str, ...] = ()

    @property
    def shell_command(self) -> str | None:
        """The whole command, quoted for a shell; None without a command."""
        return quote_command(*self.command_words) if self.command_words else None

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.instruction, self.shell_command)))


class CauseFinding(NamedTuple):
    """The result of a cause check.

    Attributes:
        result: "ok", "warning" (a problem, but not the cause), "cause", "unknown" or "skipped".
        evidence: What was seen.
        advice: What to do next; None for nothing.
        namesrv_addr: The name server that the finding is about, if any; so with the next two.
        broker_name: The broker.
        broker_addr: Its address.
    """

    result: FindingResult
    evidence: str
    advice: Advice | None = None
    namesrv_addr: str | None = None
    broker_name: str | None = None
    broker_addr: str | None = None


class CauseCheck(NamedTuple, Generic[Facts]):
    """The check for one cause: `id` names the cause for programs, `find_problems` yields the findings.

    If `find_problems` yields nothing, the finding is `all_clear`: a text, or a function of the facts. There
    is no finding if `applies` returns False.
    """

    id: str
    all_clear: str | Callable[[Facts], CauseFinding]
    find_problems: Callable[[Facts], Iterable[CauseFinding]]
    needs_servers: bool = True
    applies: Callable[[Facts], bool] = lambda facts: True


def advise_on_missing(broker_name: str) -> Advice:
    """Advice about an expected broker that no name server lists."""
    instruction = f"start {broker_name} again, or, if you removed it on purpose, forget it"
    return Advice(instruction, ("inventory", "forget", broker_name))


def ok_finding(evidence: str) -> CauseFinding:
    return CauseFinding("ok", evidence)


def skipped_finding(evidence: str) -> CauseFinding:
    return CauseFinding("skipped", evidence)


def join_names(names: Iterable[str]) -> str:
    """Names joined for a sentence: all of them, or the first four of many."""
    all_names = list(names)
    # With five names, "and 1 more" would be longer than the fifth name.
    return abbreviate_names(all_names, 4 if len(all_names) > 5 else 5)
