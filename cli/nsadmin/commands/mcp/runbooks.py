"""Owns the prompts of the server: runbooks of the documentation, with the subject that the operator names."""

from collections.abc import Mapping
from typing import NamedTuple


class Runbook(NamedTuple):
    """A prompt: the how-to page with the steps, and the arguments with their description."""

    name: str
    page_stem: str
    task: str
    arguments: Mapping[str, str]

    @property
    def page_name(self) -> str:
        """The page, as the documentation names it: how-to/dead-letters.md."""
        return f"how-to/{self.page_stem}.md"


_BROKER = {"broker": "Name of a broker, from clusterList."}
_TOPIC = {"topic": "Name of a topic."}
_GROUP = {"group": "Name of a consumer group."}

RUNBOOKS = (
    Runbook("health_check", "daily-health-check", "Check the health of the cluster.", {}),
    Runbook("no_route_info", "fix-no-route-info", 'Find the cause of "No route info of this topic".', _TOPIC),
    Runbook("lag_triage", "triage-consumer-lag", "Find out why a consumer group is behind.", _GROUP),
    Runbook("dead_letters", "dead-letters", "Find out why messages became dead letters.", _GROUP),
    Runbook("divergence", "fix-name-server-disagreement", "Find out why name servers disagree.", {}),
    Runbook("missing_brokers", "find-missing-brokers", "Find brokers that are missing.", {}),
    Runbook("plan_a_stop", "plan-a-stop", "Predict the losses if a broker stops.", _BROKER),
    Runbook("drain", "drain-and-stop-a-broker", "Take a broker out of service.", _BROKER),
    Runbook("check_replicas", "check-replicas", "Check whether slaves can replace their masters.", {}),
    Runbook("unbalanced_topics", "spread-topics", "Find topics that are unbalanced across brokers.", {}),
    Runbook("large_registrations", "keep-registrations-small", "Find brokers with large registrations.", {}),
)


def find_runbook(runbook_name: str) -> Runbook | None:
    return next((runbook for runbook in RUNBOOKS if runbook.name == runbook_name), None)


def build_task_text(runbook: Runbook, argument_values: Mapping[str, str], allows_changes: bool) -> str:
    """Return the message of a prompt, before the page."""
    subjects = "".join(
        f" The {name} is {argument_values[name]!r}."
        for name in runbook.arguments
        if argument_values.get(name)
    )
    change_rule = (
        "Plan changes with the plan tools, show each plan, and execute it only after I agree."
        if allows_changes
        else "You cannot change anything: name the commands that I should run."
    )
    return (
        f"{runbook.task}{subjects} Follow the runbook below with the tools of nsadmin. A tool has the name "
        "of its command in one word: nsadmin route explain is routeExplain. "
        f"{change_rule} Report what you found, with the figures that show it, and what to do next."
    )
