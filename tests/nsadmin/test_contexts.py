"""The file of contexts: read, changed, refused."""

from pathlib import Path

import pytest

from nsadmin.contexts import BadConfig, Context, Contexts, load, path, save

PROD = Context("a:9876;b:9876", 5.0, "json", True)
LAB = Context("127.0.0.1:9876")


def test_what_is_saved_is_loaded_and_readable_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "config.yaml"
    kept = Contexts({"prod": PROD, "lab": LAB}, "prod", "lab")
    save(file, kept)
    assert load(file) == kept
    assert file.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in file.parent.iterdir()] == ["config.yaml"]


def test_no_file_is_no_contexts(tmp_path: Path) -> None:
    assert load(tmp_path / "none") == Contexts({})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("contexts: [", "is no YAML"),
        ("- a", "contexts has to be a map"),
        ("contexts: [a]", "contexts has to be a map"),
        ("contexts: {p: 1}", "context p has to be a map"),
        ("contexts: {p: {nope: 1}}", "nope is unknown; there are: namesrvAddr, timeout"),
        ("contexts: {p: {timeout: soon}}", "timeout has to be a number"),
        ("contexts: {p: {readOnly: perhaps}}", "readOnly has to be true or false"),
    ],
)
def test_a_file_that_cannot_be_is_one_line_with_its_name(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(text)
    with pytest.raises(BadConfig) as failed:
        load(file)
    assert said in str(failed.value)
    assert str(file) in str(failed.value)
    assert "\n" not in str(failed.value)


def test_a_context_in_use_that_is_gone_from_the_file_is_none_in_use(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("current: gone\ncontexts: {lab: {namesrvAddr: a}}\n")
    assert load(file).current is None


def test_the_one_of_before_is_found_again() -> None:
    both = Contexts({"prod": PROD, "lab": LAB}).using("prod").using("lab")
    assert (both.current, both.previous) == ("lab", "prod")
    assert both.using("lab") == both
    back = both.using("-")
    assert (back.current, back.previous) == ("prod", "lab")


def test_unknown_names_are_refused_with_those_there_are() -> None:
    with pytest.raises(BadConfig, match="no context 'x'; there are: lab, prod"):
        Contexts({"prod": PROD, "lab": LAB}).using("x")
    with pytest.raises(BadConfig, match="contextSet NAME"):
        Contexts({}).named("x")
    with pytest.raises(BadConfig, match="of before"):
        Contexts({"lab": LAB}, "lab").using("-")


def test_a_context_that_is_deleted_is_no_longer_in_use() -> None:
    left = Contexts({"prod": PROD, "lab": LAB}, "prod", "lab").without("prod")
    assert left == Contexts({"lab": LAB}, None, "lab")


def test_where_the_file_is() -> None:
    assert path({"NSADMIN_CONFIG": "/x/y.yaml", "XDG_CONFIG_HOME": "/z"}) == Path("/x/y.yaml")
    assert path({"XDG_CONFIG_HOME": "/z"}) == Path("/z/nsadmin/config.yaml")
    assert path({}) == Path.home() / ".config" / "nsadmin" / "config.yaml"


def test_a_file_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadConfig, match="cannot be"):
        save(tmp_path / "file" / "config.yaml", Contexts({}))


def test_a_context_that_looks_alike_is_suggested() -> None:
    with pytest.raises(BadConfig, match=r"no context 'prd': did you mean prod\?; there are: lab, prod"):
        Contexts({"prod": Context("h:1"), "lab": Context("h:1")}).named("prd")
