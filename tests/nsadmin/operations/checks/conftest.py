"""No drains, and an address where nothing listens."""

from pathlib import Path

import pytest

from tests.support.fake_servers import closed_port


@pytest.fixture(autouse=True)
def _no_drains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the account that runs the tests are its own business."""
    monkeypatch.setenv("NSADMIN_STATE", str(tmp_path / "state of drains"))


@pytest.fixture
def dead_addr() -> str:
    """An address where nothing listens."""
    return f"127.0.0.1:{closed_port()}"
