"""Which tests begin first, and which of them share a worker."""

from tests.support.running import ROOT
from tests.support.work_order import LONGEST_FIRST, find_place, find_work_unit


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


def test_a_worker_runs_a_file_or_the_whole_pipeline() -> None:
    assert find_work_unit("tests/interop/test_access.py::test_a[1::2]") == "tests/interop/test_access.py"
    assert find_work_unit("tests/nsreport/facts/test_spans.py::test_a") == "tests/nsreport"
