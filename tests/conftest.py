"""Fixtures that every test may ask for."""

import os

import pytest
from hypothesis import settings

from namesrv_core.protocol.codes import HeaderType

# No test leaves a line in the audit of who runs it; those about it say where theirs is.
os.environ["NSADMIN_AUDIT"] = "off"

settings.register_profile("house", deadline=None, max_examples=60, derandomize=True, database=None)
settings.load_profile("house")


@pytest.fixture(params=list(HeaderType), ids=lambda form: form.name)
def form(request: pytest.FixtureRequest) -> HeaderType:
    """The header encoding that a test body is run with: once with each."""
    return HeaderType(request.param)
