"""Seeded request sequences against Java's 5.5.0 name server and ours: same answers, or a listed reason.

`NSADMIN_DIFF_OPS` sets how many operations (5,000), `NSADMIN_DIFF_SEED` the seed; a seed like `7:12` replays
one sequence.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interop.differential.generator import UNKNOWN_CODES
from tests.interop.differential.runner import Run
from tests.interop.differential.subject import SERIAL, Subject
from tests.interop.differential.tolerated import JAVA_ITSELF, OURS_ITSELF, TABLE
from tests.interop.java_parts import JavaNameServer
from tests.interop.our_server import OurNameServer

OPERATIONS = int(os.environ.get("NSADMIN_DIFF_OPS", "5000"))
SEED = os.environ.get("NSADMIN_DIFF_SEED", "1")
KNOWN_CODES = (
    *range(100, 107),
    *(205, 206, 216, 217, 219, 224, 304, 311, 312, 313, 318, 319, 322, 327, 901, 904),
)


@pytest.fixture(scope="module")
def java(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[JavaNameServer]:
    with JavaNameServer(tmp_path_factory.mktemp("java"), SERIAL) as server:
        yield server


def covers_everything(run: Run) -> None:
    """Every request code was asked, and every response code that a name server uses came back."""
    asked = run.report.asked
    assert [code for code in KNOWN_CODES if not asked[str(code)]] == []
    assert any(asked[str(code)] for code in UNKNOWN_CODES)
    assert all(asked[kind] for kind in ("burst", "raw", "close", "reset"))
    assert {0, 1, 3, 16, 17, 22} <= set(run.report.answered)


def test_ours_answers_as_java_does_but_for_the_table(
    java: JavaNameServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (
        OurNameServer(tmp_path, SERIAL) as server,
        Subject("Java", java.port) as java_subject,
        Subject("ours", server.port) as other,
    ):
        run = Run(java_subject, other, TABLE)
        run.sequences(SEED, OPERATIONS)
    with capsys.disabled():
        print(f"\n{run.report}")
    if ":" not in SEED and OPERATIONS >= 5000:
        covers_everything(run)


def test_ours_answers_the_same_without_its_fast_path(tmp_path: Path) -> None:
    """The sequences that it is compared with Java over, so without it ours agrees with Java, too."""
    homes = [tmp_path / "fast", tmp_path / "usual"]
    for home in homes:
        home.mkdir()
    with (
        OurNameServer(homes[0], SERIAL) as fast,
        OurNameServer(homes[1], {**SERIAL, "fastPath": "false"}) as usual,
        Subject("without", usual.port) as slow_subject,
        Subject("with", fast.port) as other,
    ):
        run = Run(slow_subject, other, OURS_ITSELF)
        run.sequences(SEED, OPERATIONS)
    if ":" not in SEED:
        assert run.report.operations >= OPERATIONS


def test_java_answers_as_itself_with_an_almost_empty_table(java: JavaNameServer, tmp_path: Path) -> None:
    with (
        JavaNameServer(tmp_path, SERIAL) as server,
        Subject("Java", java.port) as java_subject,
        Subject("Java again", server.port) as other,
    ):
        run = Run(java_subject, other, JAVA_ITSELF)
        run.sequences("java", 2000)
    assert run.report.operations >= 2000
