"""Which tests begin first, and which of them share a worker."""

import pytest

from tests.support.name_servers import ROOT
from tests.support.work_order import LONGEST_FIRST, choose_work_unit, find_place, find_work_unit


def test_what_begins_first_exists() -> None:
    assert [path for path in LONGEST_FIRST if not (ROOT / path).exists()] == []


def test_a_long_file_begins_before_its_folder_and_a_folder_before_all_others() -> None:
    later = [
        "tests/interop/test_drain.py::test_a",
        "tests/interop/test_access.py::test_a",
        "tests/test_house.py::test_a",
    ]
    assert sorted(reversed(later), key=find_place) == later
    assert find_place("tests/interop_more/test_a.py::test_a") == len(LONGEST_FIRST)


@pytest.mark.parametrize(
    ("test_id", "work_unit"),
    [
        ("tests/interop/test_access.py::test_a[1::2]", "tests/interop/test_access.py"),
        ("tests/interop/shared/test_batch.py::test_a", "tests/interop/shared/"),
        ("tests/nsreport/facts/test_spans.py::test_a", "tests/nsreport/"),
        ("tests/nsreport/test_truth.py::test_a", "tests/nsreport/test_"),
        ("tests/interop/test_drain.py::test_newest_under_load", "tests/interop/test_drain.py::test_newest_"),
        ("tests/interop/test_drain.py::test_old_under_load", "tests/interop/test_drain.py::test_old_"),
        (
            "tests/test_documentation.py::test_each_command_of_a_page_prints_it[a.md]",
            "tests/test_documentation.py::test_each_command_of_a_page_prints_it[a.md]",
        ),
        ("tests/test_documentation.py::test_readme_is_short", "tests/test_documentation.py"),
    ],
)
def test_a_worker_runs_the_tests_that_share_servers(test_id: str, work_unit: str) -> None:
    assert find_work_unit(test_id) == work_unit


def test_one_worker_computes_while_the_others_wait_for_servers() -> None:
    units = ["tests/interop/test_a.py", "tests/interop/test_b.py", "tests/test_a.py", "tests/test_b.py"]
    assert choose_work_unit(units, is_first_worker=False) == "tests/interop/test_a.py"
    assert choose_work_unit(units, is_first_worker=True) == "tests/test_a.py"
    assert choose_work_unit(units[2:], is_first_worker=False) == "tests/test_a.py"
    assert choose_work_unit(units[:2], is_first_worker=True) == "tests/interop/test_a.py"
