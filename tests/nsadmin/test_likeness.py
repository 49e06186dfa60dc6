"""Names that somebody may have meant."""

from nsadmin.likeness import like, meant

NAMES = ["clusterList", "topicList", "topicRoute", "topicStatus"]


def test_the_likest_goes_first() -> None:
    assert like("topicRout", NAMES) == ["topicRoute", "topicList", "topicStatus"]
    assert like("topicLits", NAMES, most=1) == ["topicList"]


def test_names_are_told_as_they_are_written_whatever_case_was_typed() -> None:
    assert like("CLUSTERLIST", NAMES) == ["clusterList"]


def test_what_is_not_like_enough_is_not_among_them() -> None:
    assert like("wipeWritePerm", NAMES) == []
    assert like("topic", NAMES, 0.9) == []


def test_the_question_names_all() -> None:
    assert meant(["a"]) == "did you mean a?"
    assert meant(["a", "b"]) == "did you mean a or b?"
