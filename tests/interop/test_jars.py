"""What these tests do on a machine without Java, and when two runs fill the cache at once."""

from pathlib import Path

import pytest

from tests.interop import jars


def test_a_missing_program_skips_the_test_and_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match=r"java and mvn not found on PATH"):
        jars.require("java", "mvn")


def test_a_missing_program_fails_the_test_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match=r"CI may not skip"):
        jars.require("java")
    with pytest.raises(pytest.skip.Exception):
        jars.require("go", strict=False)


def test_the_slower_of_two_downloads_leaves_the_faster_ones_folder(tmp_path: Path) -> None:
    target = tmp_path / "jars"
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.jar").touch()
        jars.publish(tmp_path / name, target)
    assert [file.name for file in target.iterdir()] == ["first.jar"]
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"NSADMIN_JAVA_CACHE": "/chosen", "XDG_CACHE_HOME": "/xdg"}, "/chosen"),
        ({"XDG_CACHE_HOME": "/xdg"}, "/xdg/nsadmin"),
        ({"HOME": "/home/someone"}, "/home/someone/.cache/nsadmin"),
    ],
)
def test_the_cache_is_outside_the_repository(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], expected: str
) -> None:
    for name in ("NSADMIN_JAVA_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert jars.cache_root() == Path(expected)
