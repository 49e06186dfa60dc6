"""Owns planned changes, and the tokens that execute them once.

A token is a random number that only this process knows, so it cannot be forged, and it ends with the process.
"""

import re
from collections.abc import Callable, Mapping
from hashlib import sha256
from json import dumps
from secrets import token_urlsafe
from time import monotonic
from typing import Any, NamedTuple

from nsadmin.commands.mcp.command_process import CommandOutcome

TOKEN_SECONDS = 600
MAX_PENDING_PLANS = 100


class PlanRefusedError(Exception):
    """A plan cannot be executed. The text is one line with the reason and what to do."""


class ChangePlan(NamedTuple):
    """A planned change: the tool, its arguments and its cluster, and the state at the time of the plan.

    `command_text` is the command line that the operator saw. `result_hash` is the hash of the dry run, and
    `members_hash` that of the servers of the cluster.
    """

    tool_name: str
    arguments: Mapping[str, Any]
    context_key: str
    command_text: str
    result_hash: str
    members_hash: str


class PlanStore:
    """The plans that wait for their execution, by token."""

    def __init__(self, read_clock: Callable[[], float] = monotonic) -> None:
        self._read_clock = read_clock
        self._pending: dict[str, tuple[ChangePlan, float]] = {}

    def add_plan(self, plan: ChangePlan) -> str:
        """Keep a plan, and return its token. The oldest plan goes if there are too many."""
        self._drop_expired()
        while len(self._pending) >= MAX_PENDING_PLANS:
            del self._pending[next(iter(self._pending))]
        token = token_urlsafe(32)
        self._pending[_hash_text(token)] = plan, self._read_clock() + TOKEN_SECONDS
        return token

    def take_plan(self, token: str, command_text: str) -> ChangePlan:
        """Return the plan of a token, which is then used. PlanRefusedError if it is not that command's."""
        self._drop_expired()
        plan, _ = self._pending.pop(_hash_text(token), (None, 0.0))
        if plan is None:
            raise PlanRefusedError("the token is unknown, expired or used: plan the change again")
        if plan.command_text != command_text:
            raise PlanRefusedError(
                f'the token belongs to another command, "{plan.command_text}": plan the change again'
            )
        return plan

    def _drop_expired(self) -> None:
        now = self._read_clock()
        self._pending = {
            key: (plan, expires_at) for key, (plan, expires_at) in self._pending.items() if expires_at > now
        }


def _hash_text(text: str) -> str:
    # The dictionary compares hashes, so its timing tells nothing about tokens.
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def hash_dry_run(dry_run: CommandOutcome) -> str:
    """Return the hash of the output and the exit code of a dry run."""
    # More messages arrive all the time.
    stderr_text = re.sub(r"\b\d+(?= messages?\b)", "N", dry_run.stderr_text)
    return _hash_text(dumps(dry_run._replace(stderr_text=stderr_text)))


def require_same_state(plan: ChangePlan, result_hash: str, members_hash: str) -> None:
    """Compare the plan with a new dry run; PlanRefusedError if the cluster has changed since the plan."""
    if plan.members_hash != members_hash:
        raise PlanRefusedError(
            "the cluster has changed: its name servers or brokers are not those of the plan. Plan the change "
            "again"
        )
    if plan.result_hash != result_hash:
        raise PlanRefusedError(
            "the cluster has changed: a new dry run has another result. Plan the change again, with absolute "
            "times instead of times such as 2h"
        )
