"""The lag of a group: what is unknown is not 0."""

import pytest

from nsadmin.client.consumers.lag import BEYOND_END, BROADCASTS, NEVER_COMMITTED, Lag, measure_lag, sum_lags


@pytest.mark.parametrize(
    ("broker_offset", "consumer_offset", "is_broadcasting", "lag"),
    [
        (10, 4, False, Lag(6)),
        (10, 10, False, Lag(0)),
        (10, 0, False, Lag(10)),
        (10, None, False, Lag(None, NEVER_COMMITTED)),
        (0, None, False, Lag(0)),
        (10, 647_260_493, False, Lag(None, BEYOND_END)),
        (0, 1, False, Lag(None, BEYOND_END)),
        (10, 4, True, Lag(None, BROADCASTS)),
    ],
)
def test_the_lag_of_a_queue(
    broker_offset: int, consumer_offset: int | None, is_broadcasting: bool, lag: Lag
) -> None:
    assert measure_lag(broker_offset, consumer_offset, is_broadcasting) == lag


@pytest.mark.parametrize(
    ("lags", "total"),
    [
        ([], Lag(None, NEVER_COMMITTED)),
        ([Lag(3), Lag(0)], Lag(3)),
        ([Lag(0), Lag(0)], Lag(0)),
        ([Lag(None, NEVER_COMMITTED)] * 2, Lag(None, NEVER_COMMITTED)),
        ([Lag(None, BROADCASTS), Lag(3)], Lag(None, BROADCASTS)),
        ([Lag(3), Lag(None, NEVER_COMMITTED)], Lag(3, "no consumer offset on 1 of 2 queues")),
        # "0" would look as if all was consumed.
        ([Lag(0), Lag(None, BEYOND_END)], Lag(None, f"{BEYOND_END} on 1 of 2 queues")),
    ],
)
def test_the_lag_of_several_queues(lags: list[Lag], total: Lag) -> None:
    assert sum_lags(lags) == total
