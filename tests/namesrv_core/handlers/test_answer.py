"""What handlers require of their requests."""

import pytest

from namesrv_core.errors import RequestError
from namesrv_core.handlers.answer import required


def test_the_first_field_that_is_missing_is_named() -> None:
    with pytest.raises(RequestError, match="brokerAddr"):
        required(clusterName="c", brokerAddr=None, brokerId=None)


def test_nothing_is_missing_where_values_are_empty_or_0() -> None:
    required(clusterName="", brokerId=0)
