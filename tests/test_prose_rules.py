"""The prose rules: each finds the sentences that break it, passes plain ones, and names file and line."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import prose_rules
from tests.support.prose_passages import Passage, is_sentence, read_markdown, read_python

# The sentence on the left breaks a rule, and the one on the right says the same in plain English.
INSTEAD_OF = [
    (
        "Unknown is an answer: one name server that does not answer neither hides the others "
        "nor goes unmentioned",
        "If a name server does not answer, nsadmin reports it and still shows the others.",
    ),
    (
        "Open, as upstream's, it says so at the start",
        "By default the server accepts unauthenticated requests, like Apache's, "
        "and logs a warning at startup.",
    ),
    ("- turns one round", "Prefix a column with - to sort in descending order."),
    (
        "Although topics would be left without a broker",
        "Drain even if some topics lose their only writable broker.",
    ),
    ("'now' is one too many", 'unexpected argument "now"'),
    (
        "which journal? Type --journal DIR, or let the context know",
        "no journal: record one with nsadmin collect DIR, or pass that of nsadmin's name server "
        "with --journal DIR",
    ),
    (
        "Not asked for by its name: that would read what nobody has.",
        "Use CODE: attribute access would trigger decoding.",
    ),
]


def names_of_findings(sentence: str) -> set[str]:
    return {finding[0] for finding in prose_rules.find_in_sentence(sentence)}


@pytest.mark.parametrize("sentence", [left for left, _ in INSTEAD_OF])
def test_a_riddle_is_found(sentence: str) -> None:
    assert names_of_findings(sentence)


@pytest.mark.parametrize("sentence", [right for _, right in INSTEAD_OF])
def test_its_plain_form_passes(sentence: str) -> None:
    assert names_of_findings(sentence) == set()


@pytest.mark.parametrize(
    ("sentence", "rule_name"),
    [
        ("Clients are told to reconnect.", "passive-tell"),
        ("It answers as upstream's does.", "possessive"),
        ("JSON, as kubectl has it.", "as-has-it"),
        ("Repaired, it says that all is well.", "inverted"),
        ("Although a name server does not answer.", "fragment"),
        ("to do: wait for the broker", "to-do"),
        ('timeout "x" cannot be: give seconds', "cannot-be"),
        ("One fact; a second fact; a third fact.", "semicolons"),
        ("It looks anew.", "archaic"),
        (" ".join(["word"] * 31), "long"),
    ],
)
def test_each_rule_finds_its_construction(sentence: str, rule_name: str) -> None:
    assert rule_name in names_of_findings(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "The plan shows what would change, and what to type.",
        "The row has what differs, and nobody has to read it.",
        "There is no broker that answers, perhaps because all that is left is a slave.",
        "The audit log says who changed the topic and what each server answered.",
        "What happens if a name server stops?",
        "There is no route to this broker.",
        "The server no longer answers.",
        "You do not have to restart the broker.",
        "The name server tells clients to reconnect.",
        "An attacker who reaches the port can read every route.",
        " ".join(["word"] * 30),
    ],
)
def test_common_english_passes(sentence: str) -> None:
    assert names_of_findings(sentence) == set()


def test_the_passages_of_a_page_are_its_prose_with_line_numbers() -> None:
    text = (
        "---\ntitle: nobody\n---\n# A heading\n\nFirst line, and\nthe `second nobody` line.\n\n"
        "```\nnobody reads code\n```\n- an [item](nobody.md)\n\n| a cell | other cell |\n|---|---|\n"
        "<!-- figures -->\nnobody writes this\n<!-- end of figures -->\n"
    )
    passages = [(passage.first_line, passage.lines, passage.kind) for passage in read_markdown("a.md", text)]
    assert passages == [
        (4, ("A heading",), "heading"),
        (6, ("First line, and", "the CODE line."), "paragraph"),
        (12, ("an item",), "paragraph"),
        (14, ("a cell",), "cell"),
        (14, ("other cell",), "cell"),
    ]


def read_example() -> Iterator[Passage]:
    text = (
        '"""The module of an example text."""\n'
        "KEY = 'a key of words'\n"
        "def f(host):\n"
        '    """Return one row for each server.\n\n'
        "    Args:\n"
        "        host: The host name of the server.\n"
        '    """\n'
        "    # A comment that says why.\n"
        '    raise ValueError(f"the server {host} does not answer")\n'
    )
    return read_python("a.py", text, with_docstrings=True)


def test_the_passages_of_a_module_are_its_sentences_and_published_docstrings() -> None:
    assert [(passage.first_line, " ".join(passage.lines)) for passage in read_example()] == [
        (4, "Return one row for each server."),
        (6, "Args:"),
        (7, "host: The host name of the server."),
        (2, "a key of words"),
        (10, "the server CODE does not answer"),
    ]


def test_comments_and_internal_docstrings_are_read_on_demand() -> None:
    text = '"""The module of an example."""\n# A comment\n# of two lines.\n\n# Another comment.\n'
    assert list(read_python("a.py", text, with_docstrings=False)) == []
    passages = read_python("a.py", text, with_docstrings=False, with_comments=True)
    assert [(passage.first_line, len(passage.lines)) for passage in passages] == [(1, 1), (2, 2), (5, 1)]


@pytest.mark.parametrize("text", ["SELECT a FROM b WHERE c IS d", "a b", "x = y; a => b and so on"])
def test_code_is_not_a_sentence(text: str) -> None:
    assert not is_sentence(text)


def test_a_finding_names_file_line_rule_and_advice() -> None:
    passage = Passage("docs/page.md", 7, ("A plain line. Clients", "are told to reconnect."), "paragraph")
    (finding,) = prose_rules.find_in_passage(passage)
    assert str(finding).startswith("docs/page.md:8: passive-tell: 'are told")
    assert 'write "receives"' in str(finding)


def test_the_summary_counts_findings_by_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(prose_rules, "ROOT", tmp_path)
    (tmp_path / "bad.md").write_text("Clients are told. It looks anew.\n")
    (tmp_path / "good.md").write_text("The server reads it.\n")
    assert prose_rules.main(["--summary", str(tmp_path)]) == 1
    assert capsys.readouterr().out.splitlines() == ["     2 bad.md", "     2 in all"]
    assert prose_rules.main([f"{tmp_path}/good.md"]) == 0
