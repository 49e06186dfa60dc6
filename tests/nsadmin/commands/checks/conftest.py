"""Runs a check, and reads its report."""

import json
from typing import Any

from tests.nsadmin.conftest import Run


def found(run: Run, *words: str) -> dict[str, Any]:
    """The report of `nsadmin check WORDS`; its exit code is that of the command."""
    result = run("check", *words, "--json")
    value: dict[str, Any] = json.loads(result.out)
    assert value["exitCode"] == result.code
    return value
