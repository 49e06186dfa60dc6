"""What handlers require of their requests."""

import pytest

from namesrv_core.errors import BadRequest
from namesrv_core.handlers.handler_types import require_field


def test_a_field_that_is_missing_is_named() -> None:
    with pytest.raises(BadRequest, match="brokerAddr"):
        require_field(None, "brokerAddr")


def test_nothing_is_missing_where_values_are_empty_or_0() -> None:
    assert require_field("", "clusterName") == ""
    assert require_field(0, "brokerId") == 0
