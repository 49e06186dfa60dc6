"""Numbers as brokers of several locales write them."""

import pytest

from nsadmin.client.brokers.broker_numbers import parse_broker_number


@pytest.mark.parametrize("text", ["1.84", "1,84", "1\u066b84"])
def test_the_decimal_separator_is_that_of_a_locale(text: str) -> None:
    assert parse_broker_number(text) == 1.84


@pytest.mark.parametrize("text", ["", "many", "1,2,3", "NaN", "Infinity", "9" * 400])
def test_what_is_no_finite_number_is_unknown(text: str) -> None:
    assert parse_broker_number(text) is None
