"""The released Java parts that these tests need: without them a test is skipped, and failed in CI."""

from pathlib import Path

import pytest

from tests.interop import jars

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.interop)


@pytest.fixture(scope="session")
def released() -> None:
    """The jars of both releases are here."""
    jars.require_java()
    jars.jars(jars.NEWEST)
    jars.jars(jars.OLD)
