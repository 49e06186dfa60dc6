"""The word at the end of the prompt, and the candidates that TAB offers for it."""

import pytest

from nsadmin.tui.actions.prompt_completion import (
    CandidateChoice,
    UnfinishedLine,
    split_line,
)
from tests.support.screens import join_cells


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("", UnfinishedLine([], "", 0)),
        ("topicR", UnfinishedLine([], "topicR", 0)),
        ("nsadmin topicRoute ", UnfinishedLine(["topicRoute"], "", 19)),
        ("kv get 'a b' k", UnfinishedLine(["kv", "get", "a b"], "k", 13)),
        ("kv get 'a b", None),
        ("kv get 'a'", None),
    ],
)
def test_a_line_is_split_at_its_last_word(line: str, found: UnfinishedLine | None) -> None:
    assert split_line(line) == found


def test_the_only_candidate_completes_the_word_and_needs_no_list() -> None:
    choice = CandidateChoice("topicRoute or", 11, [("orders", "")])
    assert choice.line_text == "topicRoute orders "
    assert choice.render_lines(80) == []
    assert CandidateChoice("apply pl", 6, [("plans/", "")]).line_text == "apply plans/"
    assert CandidateChoice("topicRoute o", 11, [("o ;x", "")]).line_text == "topicRoute 'o ;x' "
    assert CandidateChoice("topicRoute o", 11, []).line_text == "topicRoute o"


def test_several_candidates_complete_what_they_share_and_further_tabs_choose() -> None:
    choice = CandidateChoice("topicRoute o", 11, [("orders", "one"), ("orders-new", "two"), ("ordery", "")])
    assert choice.line_text == "topicRoute order"
    assert [choice.step_choice(1) for _ in range(4)] == [
        "topicRoute orders", "topicRoute orders-new", "topicRoute ordery", "topicRoute orders",
    ]  # fmt: skip
    assert choice.step_choice(-1) == "topicRoute ordery"
    lines = choice.render_lines(80)
    assert [join_cells(line).rstrip() for line in lines] == [
        " orders      one", " orders-new  two", " ordery",
    ]  # fmt: skip
    assert [line[0].tone for line in lines] == ["key", "key", "tabChosen"]


def test_a_long_list_shows_the_candidates_round_the_chosen_one() -> None:
    choice = CandidateChoice("t", 0, [(f"t{number:02}", "") for number in range(20)])
    assert [choice.step_choice(1) for _ in range(15)][-1] == "t14"
    texts = [line[0].text.strip() for line in choice.render_lines(80)]
    assert texts == ["t11", "t12", "t13", "t14", "t15", "t16", "t17", "t18", "… 12 more"]
