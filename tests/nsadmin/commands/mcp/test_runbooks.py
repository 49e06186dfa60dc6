"""Prompts of the runbooks."""

from nsadmin.commands.mcp.runbooks import RUNBOOKS, build_task_text, find_runbook
from nsadmin.console.guides import find_guides


def test_each_runbook_is_a_page_of_the_documentation() -> None:
    pages = {guide.path_name for guide in find_guides().values()}
    assert {runbook.page_name for runbook in RUNBOOKS} <= pages
    assert len({runbook.name for runbook in RUNBOOKS}) == len(RUNBOOKS)


def test_a_task_names_its_subject() -> None:
    runbook = find_runbook("lag_triage")
    assert runbook is not None
    task_text = build_task_text(runbook, {"group": "billing", "other": "x"}, False)
    assert task_text.startswith("Find out why a consumer group is behind. The group is 'billing'. Follow")
    assert "You cannot change anything: name the commands that I should run." in task_text
    assert "other" not in task_text
    assert "The group" not in build_task_text(runbook, {}, False)


def test_a_task_with_changes_asks_for_agreement() -> None:
    runbook = find_runbook("drain")
    assert runbook is not None
    assert "execute it only after I agree" in build_task_text(runbook, {}, True)


def test_an_unknown_runbook_is_none() -> None:
    assert find_runbook("nothing") is None
