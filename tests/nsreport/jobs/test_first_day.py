"""The day from which on tables are made anew."""

from datetime import date

from nsreport.jobs.first_day import ObserverDay, begin_ms, find_first_day


def day(number: int) -> date:
    return date(2025, 1, number)


def seen(observer: str, *orders: tuple[int, int, int]) -> list[ObserverDay]:
    """The days of an observer: number of the day, first and last record."""
    return [ObserverDay(day(number), observer, first, last) for number, first, last in orders]


DAYS = [*seen("ns-1", (1, 1, 9), (2, 10, 19), (3, 20, 29), (4, 30, 39)), *seen("ns-2", (1, 1, 5), (4, 6, 9))]
ALL_DAYS = [day(number) for number in (1, 2, 3, 4)]


def test_it_is_the_day_of_the_last_record_before_the_new_ones() -> None:
    assert find_first_day(DAYS[:4], ALL_DAYS, [day(4)]) == day(3)
    assert find_first_day(DAYS[:4], ALL_DAYS, [day(3), day(4)]) == day(2)
    # ns-2 was silent for two days.
    assert find_first_day(DAYS, ALL_DAYS, [day(4)]) == day(1)
    assert find_first_day(DAYS, ALL_DAYS, [day(3)]) == day(2)
    # Its first records come late.
    assert find_first_day([*DAYS[:4], *seen("ns-3", (3, 1, 2))], ALL_DAYS, [day(3)]) == day(2)


def test_without_an_earlier_day_all_days_are_new() -> None:
    assert find_first_day(DAYS, ALL_DAYS, [day(1)]) is None
    assert find_first_day([], [day(4)], [day(4)]) is None


def test_no_observer_went_back_in_time_over_its_begin() -> None:
    back = [*DAYS[:2], *seen("ns-2", (1, 1, 5), (2, 6, 12), (3, 10, 19))]
    assert find_first_day(back, ALL_DAYS, [day(4)]) == day(2)
    assert find_first_day([*back, *seen("ns-3", (1, 5, 9), (2, 1, 4))], ALL_DAYS, [day(4)]) == day(1)
    assert begin_ms(day(2)) - begin_ms(day(1)) == 86_400_000
