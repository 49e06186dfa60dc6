"""The figures of a broker agree with each other, at any time."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from namesrv_core.fleet.traffic import BrokerTraffic

BOOT = 1_700_000_000_000
DAY = 86_400_000
KEYS = Path(__file__).with_name("runtime-info-keys-5.5.0.txt").read_text().split()

seeds = st.integers(0, 2**32)
ages = st.integers(0, 60 * DAY)


def first(info: dict[str, str], key: str) -> float:
    return float(info[key].split()[0])


@given(seeds, ages)
def test_it_is_a_function_of_seed_boot_and_now(seed: int, age: int) -> None:
    now = BOOT + age
    assert BrokerTraffic(seed, BOOT).runtime_info(now) == BrokerTraffic(seed, BOOT).runtime_info(now)


@given(seeds, ages)
def test_every_key_of_a_real_broker_is_there_as_text(seed: int, age: int) -> None:
    info = BrokerTraffic(seed, BOOT).runtime_info(BOOT + age)
    assert all(isinstance(value, str) for value in info.values())
    assert {key for key in info if not key.startswith("scheduleMessageOffset_")} == set(KEYS)


@given(seeds, ages, st.integers(0, DAY))
def test_counters_never_go_back(seed: int, age: int, later: int) -> None:
    traffic, now = BrokerTraffic(seed, BOOT), BOOT + age
    before, after = traffic.runtime_info(now), traffic.runtime_info(now + later)
    for key in ("putMessageTimesTotal", "msgPutTotalTodayNow", "msgGetTotalTodayNow", "commitLogMaxOffset"):
        assert int(before[key]) <= int(after[key])
    assert int(before["commitLogMinOffset"]) <= int(before["commitLogMaxOffset"])


@given(seeds, ages)
def test_the_tps_is_what_the_counter_gained(seed: int, age: int) -> None:
    traffic, now = BrokerTraffic(seed, BOOT), BOOT + DAY + age
    before, after = traffic.runtime_info(now - 10_000), traffic.runtime_info(now)
    gained = int(after["msgPutTotalTodayNow"]) - int(before["msgPutTotalTodayNow"])
    assert first(after, "putTps") == pytest.approx(gained / 10)
    assert 5 < first(after, "putTps") < 1000


def test_today_and_yesterday_are_whole_days() -> None:
    midnight = (BOOT // DAY + 3) * DAY
    traffic = BrokerTraffic(7, BOOT)
    info = traffic.runtime_info(midnight + 1000)
    assert int(info["msgPutTotalTodayMorning"]) == traffic.put_total(midnight)
    assert int(info["msgPutTotalYesterdayMorning"]) == traffic.put_total(midnight - DAY)


def test_right_after_the_start_there_is_nothing_yet() -> None:
    info = BrokerTraffic(7, BOOT).runtime_info(BOOT)
    assert (info["putTps"], info["earliestMessageTimeStamp"], info["putMessageDistributeTime"]) == (
        "  ", "-1", "null",
    )  # fmt: skip
    assert info["runtime"] == "[ 0 days, 0 hours, 0 minutes, 0 seconds ]"


def test_a_slave_stores_what_its_master_stores_and_nobody_sends_to_it() -> None:
    now = BOOT + 5 * DAY
    master = BrokerTraffic(7, BOOT).runtime_info(now)
    slave = BrokerTraffic(7, BOOT, is_master=False).runtime_info(now)
    assert slave["commitLogMaxOffset"] == master["commitLogMaxOffset"] != "0"
    assert (slave["putTps"], slave["msgPutTotalTodayNow"], slave["brokerActive"]) == (
        "0.0 0.0 0.0",
        "0",
        "false",
    )


def test_a_restart_keeps_the_messages_and_begins_the_counters_again() -> None:
    traffic, now = BrokerTraffic(7, BOOT), BOOT + 5 * DAY
    before = traffic.runtime_info(now)
    traffic.restart(now)
    after = traffic.runtime_info(now)
    for key in ("commitLogMinOffset", "commitLogMaxOffset", "earliestMessageTimeStamp"):
        assert after[key] == before[key]
    assert (after["bootTimestamp"], after["runtime"], after["putTps"], after["msgPutTotalTodayNow"]) == (
        str(now), "[ 0 days, 0 hours, 0 minutes, 0 seconds ]", "  ", "0",
    )  # fmt: skip
    later = traffic.runtime_info(now + 20_000)
    assert int(later["msgPutTotalTodayNow"]) == traffic.stored_count(now + 20_000) - traffic.stored_count(now)
    assert first(later, "putTps") > 5
