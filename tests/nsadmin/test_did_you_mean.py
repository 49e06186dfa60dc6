"""Names that somebody may have meant."""

from nsadmin.did_you_mean import did_you_mean, find_similar_names

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
