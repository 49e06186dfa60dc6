"""What these tests do on a machine without Java, and when two runs fill the cache at once."""

import subprocess
from pathlib import Path

import pytest

from tests.interop import archive_training, class_archives, jars


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


def test_a_missing_class_archive_gives_no_options(tmp_path: Path) -> None:
    archive = class_archives.archive_file(tmp_path, "1.0", class_archives.BROKER, tmp_path)
    assert class_archives.reading_options(archive) == []
    archive.touch()
    assert class_archives.reading_options(archive)[0] == f"-XX:SharedArchiveFile={archive}"


def test_other_jars_get_another_class_archive(tmp_path: Path) -> None:
    archives = set()
    for name in ("first.jar", "second.jar"):
        (tmp_path / name).touch()
        archives.add(class_archives.archive_file(tmp_path, "1.0", class_archives.BROKER, tmp_path))
    assert len(archives) == 2


def test_java_starts_with_a_damaged_class_archive_and_prints_nothing_of_it(tmp_path: Path) -> None:
    jars.require("java")
    archive = tmp_path / "damaged.jsa"
    archive.write_bytes(b"no archive")
    options = class_archives.reading_options(archive)
    result = subprocess.run(
        ["java", "-Xshare:auto", *options, "-version"], capture_output=True, text=True, check=True
    )
    assert "openjdk" in result.stderr.lower() or "java version" in result.stderr
    assert "archive" not in (result.stdout + result.stderr).lower()


def test_the_archives_are_written_by_one_process_at_a_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NSADMIN_JAVA_CACHE", str(tmp_path))
    (tmp_path / "rocketmq-1.0").mkdir()
    runs: list[Path] = []

    def run_programs(version: str, folder: Path) -> None:
        runs.append(folder)
        archive_training.write_archives(version)
        (folder / f"{class_archives.BROKER}.jsa").touch()
        raise OSError("no Java")

    monkeypatch.setattr(archive_training, "_run_programs", run_programs)
    archive_training.write_archives("1.0")
    assert len(runs) == 1
    assert list(tmp_path.glob("*.jsa")) == []
