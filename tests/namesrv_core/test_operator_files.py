"""Files within limits are read as before, all others are refused before anything is made of them."""

from pathlib import Path

import pytest
import yaml

from namesrv_core import operator_files
from namesrv_core.operator_files import InvalidYaml, YamlDocument, parse_json, read_bytes, read_text
from tests.support.bounded_process import run_bounded
from tests.support.hostile_yaml import HOSTILE_YAML

ODD_SCALARS = {"long number", "no number", "no truth", "no date"}
"""They are texts like others where scalars are read as they are written."""
_REFUSE_YAML = """
from namesrv_core.operator_files import InvalidYaml, YamlDocument
from tests.support.hostile_yaml import HOSTILE_YAML
for options in ({}, {"is_as_written": True}, {"is_as_written": True, "is_small": False}):
    try:
        YamlDocument(HOSTILE_YAML[sys.argv[1]], **options)
        print("read")
    except InvalidYaml:
        print("refused")
"""


@pytest.mark.parametrize("name", HOSTILE_YAML)
def test_hostile_yaml_is_refused(name: str) -> None:
    as_written = "read" if name in ODD_SCALARS else "refused"
    assert run_bounded(_REFUSE_YAML, name).split() == ["refused", as_written, as_written]


@pytest.mark.parametrize(
    ("text", "problem", "line"),
    [
        ("a:\n  " + "[" * 60, "nested more than 50 levels deep", 1),
        ("a: &a\n- b: *a", "a value that contains itself", 1),
        (HOSTILE_YAML["aliases"], "more than 2000000 values, with those that are repeated", 20),
    ],
)
def test_the_place_is_told(text: str, problem: str, line: int) -> None:
    with pytest.raises(InvalidYaml) as refused:
        YamlDocument(text)
    assert refused.value.problem == problem
    assert refused.value.line is not None
    assert abs(refused.value.line - 1 - line) <= 3


@pytest.mark.parametrize(
    ("text", "problem", "line"),
    [
        ("a: [\n", "the [ here is not closed: add a ]", 1),
        (
            "a: 1\n  b: 2\n",
            'the ":" does not fit: the line above lacks a ":", this line is not indented like the keys '
            "beside it, or its value needs quotes",
            2,
        ),
        ("a:\n\tb: 1\n", "indent with spaces, not tabs, and quote a value that begins with @, ` or %", 2),
        ("a:\n  b: 1\n c: 2\n", "the line is not indented like the keys beside it", 3),
        ("a: 1\nb\nc: 2\n", 'a ":" is missing, here or in the line above', 3),
        ("a: b\nc: {d: [e\n\n", "the [ here is not closed: add a ]", 2),
        ("a: b\nc: {d,\n# e\n", "the { here is not closed: add a }", 2),
        ("ä: b\nc: 'd\n\n", "the ' here is not closed: add a '", 2),
    ],
)
@pytest.mark.parametrize("is_small", [True, False])
def test_a_text_that_ends_too_early_is_told_where_it_begins(
    text: str, problem: str, line: int, is_small: bool
) -> None:
    with pytest.raises(InvalidYaml) as refused:
        YamlDocument(text, is_small=is_small)
    assert (refused.value.problem, refused.value.line) == (problem, line)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "a: 1\nb: [2, {c: 3}]",
        "base: &b {x: 1}\nuse: {<<: *b, y: 2}",
        "a: &a [1]\nb: [*a, *a]",
        "a: &a x\nb: *a",
        "[" * 50 + "]" * 50,
        "\n".join(["base: &b {x: 1, y: 2}", *(f"t{number}: {{<<: *b}}" for number in range(20_000))]),
    ],
)
def test_other_yaml_is_read_as_before(text: str) -> None:
    # The same loader in Python takes seconds for many maps.
    assert YamlDocument(text).value == yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))


@pytest.mark.parametrize("text", ["", "a", "a: 1\nb: [yes, {1: ~}]", "base: &b {x: 1}\nuse: {<<: *b, y: 2}"])
def test_scalars_can_be_read_as_they_are_written(text: str) -> None:
    merged = yaml.load(text.replace("<<: *b", "x: 1"), yaml.BaseLoader)
    assert YamlDocument(text, is_as_written=True).value == merged


def test_an_alias_without_an_anchor_is_refused() -> None:
    with pytest.raises(InvalidYaml, match="undefined alias"):
        YamlDocument("a: *b")


def test_values_and_keys_have_lines() -> None:
    document = YamlDocument("a:\n  b:\n    - 1\n    - c: 2\n      ? [d]\n      : 3\n", is_as_written=True)
    assert document.line_of(("a", "b")) == 3
    assert document.line_of(("a", "b"), is_about_key=True) == 2
    assert document.line_of(("a", "b", 1, "c", "none")) == 4
    assert document.line_of(("a", "b", 1, ())) == 6
    assert document.line_of(("none",)) == 1


def test_bad_keys_are_found_before_maps_are_merged() -> None:
    document = YamlDocument("a: {x: 1, x: 2}\nb:\n  <<: 5\n  y: 1\nb: &b {}\n", is_as_written=True)
    assert [(bad_key.path, bad_key.line, bad_key.is_duplicate) for bad_key in document.bad_keys] == [
        (("a", "x"), 1, True),
        (("b",), 3, False),
        (("b",), 5, True),
    ]
    assert document.value == {"a": {"x": "2"}, "b": {}}


def test_values_that_are_written_count_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operator_files, "MAX_YAML_VALUES", 5)
    assert YamlDocument("[a, b, c, d]").value == ["a", "b", "c", "d"]
    with pytest.raises(InvalidYaml, match="more than 5 values"):
        YamlDocument("[a, b, c, d, e]")


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, b"[" * 100_000, "{"])
def test_deep_json_is_a_value_error(text: str | bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the texts are the JSON parser's
        parse_json(text)


def test_json_is_read() -> None:
    assert parse_json('{"a": [1]}') == parse_json(b'{"a": [1]}') == {"a": [1]}


def test_a_large_file_is_an_os_error_that_names_it(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("äbc")
    assert (read_text(file, max_characters=3), read_bytes(file, max_bytes=4)) == ("äbc", "äbc".encode())
    for read in (lambda: read_text(file, max_characters=2), lambda: read_bytes(file, max_bytes=3)):
        with pytest.raises(OSError, match="too large") as refused:
            read()
        assert refused.value.filename == str(file)


def test_a_file_without_an_end_is_refused() -> None:
    program = "from namesrv_core import operator_files\nprint(operator_files.{}('/dev/zero'))"
    for function in ("read_text", "read_bytes"):
        with pytest.raises(AssertionError, match="File too large"):
            run_bounded(program.format(function), megabytes=1000)
