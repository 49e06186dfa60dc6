"""Names that somebody may have meant."""

import difflib
from typing import Any

import pytest

from nsadmin.client.did_you_mean import did_you_mean, find_similar_names

NAMES = ["clusterList", "topicList", "topicRoute", "topicStatus"]


def test_the_likest_goes_first() -> None:
    assert find_similar_names("topicRout", NAMES) == ["topicRoute", "topicList", "topicStatus"]
    assert find_similar_names("topicLits", NAMES, max_names=1) == ["topicList"]


def test_names_are_told_as_they_are_written_whatever_case_was_typed() -> None:
    assert find_similar_names("CLUSTERLIST", NAMES) == ["clusterList"]


def test_what_is_not_like_enough_is_not_among_them() -> None:
    assert find_similar_names("wipeWritePerm", NAMES) == []
    assert find_similar_names("topic", NAMES, 0.9) == []


def test_the_question_names_all() -> None:
    assert did_you_mean(["a"]) == 'did you mean "a"?'
    assert did_you_mean(["a", "kv get"]) == 'did you mean "a" or "kv get"?'


def test_equally_similar_names_are_sorted_and_counted() -> None:
    names = [f"broker-{letter}-{number}" for letter in "ba" for number in (2, 1, 0)]
    assert find_similar_names("broker-x", names) == ["broker-a-0", "broker-a-1", "broker-a-2"]
    all_names = find_similar_names("broker-x", [*names, "broker-cc-17"], with_ties=True)
    assert all_names == sorted(names)
    assert did_you_mean(all_names).endswith('"broker-a-1" or "broker-a-2" or 3 more?')


def test_only_the_likely_ones_of_many_names_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """difflib compares 60,000 names like these in five seconds."""
    compared: list[str] = []
    set_seq1 = difflib.SequenceMatcher.set_seq1

    def count(matcher: Any, name: str) -> None:
        compared.append(name)
        set_seq1(matcher, name)

    monkeypatch.setattr("difflib.SequenceMatcher.set_seq1", count)
    names = [*(f"orders-{number:05}" for number in range(60_000)), "payments-audit"]
    assert find_similar_names("paymetns-audit", names) == ["payments-audit"]
    assert find_similar_names("order-01234", names)[0] == "orders-01234"
    # The constructor sets its first sequence, too.
    assert len(compared) <= 2 * 1001
