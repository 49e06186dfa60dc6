"""The table of checks: what `nsadmin check NAME` and `check all` run, in this order. It imports no check."""

import re
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from nsadmin.operations.checks.check import Check


def to_snake_case(name: str) -> str:
    return re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name)


class CheckEntry(NamedTuple):
    """A check, and what its command does in a few words. Its module has its name, in snake case.

    `subject` is what it needs the name of; without a group's name it examines all groups. `all_hint` is the
    command to run instead if `check all` cannot. `command_module` has the function of its command, if that
    has options of its own.
    """

    name: str
    summary: str
    command_module: str = "plain_checks"
    subject: Literal["topic", "group", "cluster"] | None = None
    all_hint: Sequence[str] | None = None

    @property
    def is_in_all(self) -> bool:
        """Whether `check all` runs it without being told a topic or a group."""
        return self.subject in (None, "group") and self.all_hint is None

    @property
    def module_name(self) -> str:
        return to_snake_case(self.name)

    def load(self) -> "Check[Any]":
        check: Check[Any] = import_module(f"nsadmin.operations.checks.{self.module_name}").CHECK
        return check


CHECK_TABLE = (
    CheckEntry("namesrv", "Check that name servers answer"),
    CheckEntry("brokers", "Check that all brokers answer and have a master", "cluster_checks"),
    CheckEntry("divergence", "Check that name servers agree", "cluster_checks"),
    CheckEntry("topic", "Check that a topic is writable", "cluster_checks", subject="topic"),
    CheckEntry("writable", "Check that all topics are writable", "cluster_checks"),
    CheckEntry("lag", "Check the lag of one group or of all", "cluster_checks", subject="group"),
    CheckEntry(
        "clients",
        "Check the releases of connected clients",
        "cluster_checks",
        all_hint=("check", "clients"),
    ),
    CheckEntry("heartbeat", "Check the age of broker heartbeats"),
    CheckEntry("replicas", "Check that slaves can replace masters", "cluster_checks"),
    CheckEntry("registrationSize", "Check registrations against their limit", "cluster_checks"),
    CheckEntry("disk", "Check how full the disks of brokers are"),
    CheckEntry("dlq", "Check for new dead letters"),
    CheckEntry("sends", "Check how near brokers are to refusing messages"),
    CheckEntry("proxies", "Check that proxies answer and know the brokers"),
    CheckEntry("timer", "Check that brokers deliver delayed messages in time"),
    CheckEntry("clocks", "Check brokers for clock skew: whether their time differs"),
    CheckEntry("transactions", "Check for transactions without a decision"),
    CheckEntry("certificates", "Check when certificates expire"),
    CheckEntry("journal", "Check that journals grow and are complete", "file_checks"),
    CheckEntry("drain", "Check that drained brokers stay drained"),
    CheckEntry("reports", "Check that reports are fresh and complete", "file_checks"),
    CheckEntry(
        "backup",
        "Check that a backup is fresh and complete",
        "file_checks",
        subject="cluster",
        all_hint=("check", "backup", "PATH"),
    ),
)
CHECKS_BY_NAME = {entry.name: entry for entry in CHECK_TABLE}


def find_check(check_name: str) -> "Check[Any]":
    return CHECKS_BY_NAME[check_name].load()
