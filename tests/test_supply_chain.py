"""The locked dependencies, the workflow and the container recipe: complete, hashed, and pinned."""

import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LOCK = tomllib.loads((ROOT / "uv.lock").read_text())
PACKAGES: dict[str, dict[str, Any]] = {package["name"]: package for package in LOCK["package"]}


def normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def required(lines: list[str]) -> set[tuple[str, frozenset[str]]]:
    """Each requirement: its name and its bounds, in any order."""
    required_packages = set()
    for line in lines:
        match = re.match(r"([A-Za-z0-9._-]+)([^;]*)", line)
        assert match is not None
        required_packages.add((normalized(match[1]), frozenset(filter(None, match[2].strip().split(",")))))
    return required_packages


def locked(entries: list[dict[str, str]]) -> set[tuple[str, frozenset[str]]]:
    return {
        (entry["name"], frozenset(filter(None, entry.get("specifier", "").split(",")))) for entry in entries
    }


def test_the_lock_is_of_the_dependencies_that_the_project_has() -> None:
    """`make lock` after a change of dependencies."""
    metadata = PACKAGES["nsadmin"]["metadata"]
    extras = PROJECT["project"]["optional-dependencies"]
    expected = required(
        [*PROJECT["project"]["dependencies"], *(line for lines in extras.values() for line in lines)]
    )
    assert locked(metadata["requires-dist"]) == expected
    for group, lines in PROJECT["dependency-groups"].items():
        assert locked(metadata["requires-dev"][group]) == required(lines), group


def test_every_file_in_the_lock_has_a_hash_and_comes_from_the_package_index_itself() -> None:
    for name, package in PACKAGES.items():
        if name == "nsadmin":
            continue
        assert package["source"] == {"registry": "https://pypi.org/simple"}, name
        files = [*package.get("wheels", []), *([package["sdist"]] if "sdist" in package else [])]
        assert files, name
        for file in files:
            assert re.fullmatch(r"sha256:[0-9a-f]{64}", file["hash"]), name
            assert file["url"].startswith("https://files.pythonhosted.org/packages/"), name


def test_the_file_with_hashes_for_containers_has_the_versions_of_the_lock_and_no_host() -> None:
    text = (ROOT / "packaging" / "requirements.txt").read_text()
    assert "://" not in text
    pins = dict(re.findall(r"^([a-z0-9-]+)==([^ ]+)", text, re.MULTILINE))
    wanted = PROJECT["project"]["dependencies"]
    assert {name for name, _ in required(wanted)} <= pins.keys()
    assert pins == {name: PACKAGES[name]["version"] for name in pins}
    for block in re.split(r"^(?=[a-z0-9-]+==)", text, flags=re.MULTILINE)[1:]:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", block), block[:40]


def test_the_container_checks_hashes_and_its_base_image_can_be_pinned() -> None:
    lines = (ROOT / "packaging" / "Containerfile").read_text().splitlines()
    assert {line.split()[1] for line in lines if line.startswith("FROM")} == {"${BASE_IMAGE}"}
    assert any(line.startswith("ARG BASE_IMAGE=docker.io/library/python:") for line in lines)
    for line in lines:
        if re.search(r"pip install|pip wheel", line):
            assert "--require-hashes" in line or "--no-deps" in line, line


def steps_of(workflow: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [(job, step) for job, body in workflow["jobs"].items() for step in body["steps"]]


def test_the_workflow_runs_ci_on_all_supported_pythons_and_may_only_read() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
    assert workflow["permissions"] == {"contents": "read"}
    runs = [(job, step["run"]) for job, step in steps_of(workflow) if "run" in step]
    assert ("linux", ".ci/run") in runs
    versions = workflow["jobs"]["linux"]["strategy"]["matrix"]["python"]
    classified = [
        line.rpartition(" ")[2] for line in PROJECT["project"]["classifiers"] if "Python :: 3." in line
    ]
    assert versions == classified
    for path in re.findall(r"tests/\S+", " ".join(command for _, command in runs)):
        assert (ROOT / path).is_dir(), path


def test_workflows_pin_actions_by_commit_and_keep_no_credentials() -> None:
    for path in (ROOT / ".github" / "workflows").iterdir():
        for job, step in steps_of(yaml.safe_load(path.read_text())):
            if "uses" in step:
                assert re.fullmatch(r"[a-z/-]+@[0-9a-f]{40}", step["uses"]), (path, job, step)
            if step.get("uses", "").startswith("actions/checkout"):
                assert step["with"]["persist-credentials"] is False, (path, job)


def test_updates_of_dependencies_are_proposed() -> None:
    updates = yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text())["updates"]
    assert {update["package-ecosystem"] for update in updates} == {"uv", "github-actions"}
