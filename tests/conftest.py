"""Fixtures that every test may ask for."""

import pytest
from hypothesis import settings

from namesrv_core.protocol.codes import HeaderType

settings.register_profile("house", deadline=None, max_examples=60, derandomize=True, database=None)
settings.load_profile("house")


@pytest.fixture(params=list(HeaderType), ids=lambda form: form.name)
def form(request: pytest.FixtureRequest) -> HeaderType:
    """The header encoding that a test body is run with: once with each."""
    return HeaderType(request.param)
