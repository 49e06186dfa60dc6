"""`make audit`: known vulnerabilities of all dependencies in uv.lock.

pip-audit asks the advisory service of the Python Package Index. Where that service does not answer, the
audit is skipped with a line that says so, unless AUDIT_REQUIRED is set. It never passes unchecked.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
PROBE_PACKAGE = "h11"
_EXPORT_FLAGS = ("--frozen", "--no-config", "--all-groups", "--all-extras", "--no-emit-project", "--quiet")


class AuditOutcome(NamedTuple):
    """The exit code of the audit, and the lines that it prints."""

    exit_code: int
    lines: list[str]


def judge_audit(dependencies: Sequence[dict[str, Any]]) -> AuditOutcome:
    """Judge pip-audit's list: vulnerable dependencies fail, and so does one that was not checked."""
    lines = [
        f"{dependency['name']} {dependency['version']}: {vulnerability['id']}, fixed in "
        f"{', '.join(vulnerability['fix_versions']) or 'no release'}"
        for dependency in dependencies
        for vulnerability in dependency.get("vulns", ())
    ]
    lines += [
        f"{dependency['name']} was not checked: {dependency['skip_reason']}"
        for dependency in dependencies
        if "skip_reason" in dependency
    ]
    if not dependencies:
        lines.append("nothing was checked: uv.lock has no dependencies")
    return (
        AuditOutcome(1, lines)
        if lines
        else AuditOutcome(0, [f"{len(dependencies)} dependencies have no known vulnerability"])
    )


def skip_audit(reason: str, is_required: bool) -> AuditOutcome:
    """The outcome where the service does not answer."""
    line = f"the audit of dependencies did not run: {reason}"
    return AuditOutcome(1, [line]) if is_required else AuditOutcome(0, [f"SKIPPED: {line}"])


def read_probe(dependencies: Sequence[dict[str, Any]] | None) -> str | None:
    """Why the service cannot be used, from what it says about one well-known package; None if it can be."""
    if dependencies is None:
        return "the advisory service cannot be reached"
    if any("skip_reason" in dependency for dependency in dependencies):
        return f"the advisory service does not know {PROBE_PACKAGE}, so this is an index without advisories"
    return None


def run_pip_audit(requirements_path: Path) -> list[dict[str, Any]] | None:
    """The dependencies with what pip-audit says about them; None if it fails."""
    result = subprocess.run(
        [sys.executable, "-m", "pip_audit", "--disable-pip", "--no-deps", "--format=json",
         "--progress-spinner=off", "--requirement", requirements_path],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    try:
        dependencies: list[dict[str, Any]] = json.loads(result.stdout)["dependencies"]
    except ValueError:
        sys.stderr.write(result.stderr)
        return None
    return dependencies


def export_requirements(requirements_path: Path) -> None:
    """Write the locked version of every dependency, of all extras and groups, with its hashes."""
    uv_path = Path(sys.executable).with_name("uv")
    subprocess.run(
        [uv_path, "export", *_EXPORT_FLAGS, "--output-file", requirements_path], cwd=ROOT, check=True
    )


def audit_dependencies(is_required: bool) -> AuditOutcome:
    """Ask about one package first, so that a machine without the service asks only once."""
    with tempfile.TemporaryDirectory() as folder:
        requirements_path, probe_path = Path(folder, "requirements.txt"), Path(folder, "probe.txt")
        export_requirements(requirements_path)
        lines = requirements_path.read_text().splitlines()
        (probe_line,) = (line for line in lines if line.startswith(f"{PROBE_PACKAGE}=="))
        probe_path.write_text(probe_line.removesuffix("\\") + "\n")
        skip_reason = read_probe(run_pip_audit(probe_path))
        if skip_reason is not None:
            return skip_audit(skip_reason, is_required)
        dependencies = run_pip_audit(requirements_path)
    return skip_audit("pip-audit failed", is_required) if dependencies is None else judge_audit(dependencies)


def main() -> int:
    outcome = audit_dependencies(bool(os.environ.get("AUDIT_REQUIRED")))
    print("\n".join(outcome.lines))
    return outcome.exit_code


if __name__ == "__main__":
    sys.exit(main())
