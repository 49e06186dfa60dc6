"""What handlers require of their requests."""

import pytest

from namesrv_core.errors import BadRequest
from namesrv_core.handlers.answer import required


def test_a_field_that_is_missing_is_named() -> None:
    with pytest.raises(BadRequest, match="brokerAddr"):
        required(None, "brokerAddr")


def test_nothing_is_missing_where_values_are_empty_or_0() -> None:
    assert required("", "clusterName") == ""
    assert required(0, "brokerId") == 0
