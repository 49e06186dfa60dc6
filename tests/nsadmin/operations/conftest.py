"""What tests of procedures have in common."""

import pytest

from tests.support.fake_servers import closed_port


@pytest.fixture
def dead_addr() -> str:
    """An address where nothing listens."""
    return f"127.0.0.1:{closed_port()}"
