"""One Spark session for all tests of the pipeline, and what scenarios of the lab leave behind."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="Spark is the extra nsadmin[spark]")

from pyspark.sql import DataFrame, SparkSession

from namesrv_core.lab import scenario_reader, virtual_time
from namesrv_core.lab.scenario_player import play_scenario
from nsreport.runtime import session
from nsreport.runtime.local_rows import keep_in_memory
from nsreport.sources import input_files, journals
from nsreport.sources.input_files import InputSource
from nsreport.tables import unique_lines
from tests.nsreport.submitting import QUICK
from tests.support import observer
from tests.support.observer import Play


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    home = tmp_path_factory.mktemp("spark")
    settings = {
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(home / "warehouse"),
        "spark.driver.memory": "1g",
        # For small tables, making programs of queries takes longer than they do.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.adaptive.enabled": "false",
        "spark.driver.extraJavaOptions": QUICK,
    }
    started = session.start_session(home, "local[2]", settings)
    started.sparkContext.setLogLevel("ERROR")
    # Programs end their session; that of the tests is for all of them.
    with pytest.MonkeyPatch.context() as patched:
        for kind in ("pyspark.sql.SparkSession.stop", "pyspark.SparkContext.stop"):
            patched.setattr(kind, lambda self: None)
        yield started
    started.stop()


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Plays a built-in scenario, once: the folder with its journals and truth.jsonl."""

    @cache
    def play_once(name: str) -> Path:
        folder = tmp_path_factory.mktemp("lab") / name
        virtual_time.run_virtual(play_scenario(scenario_reader.load_scenario(name), folder))
        return folder

    return play_once


@pytest.fixture(scope="session")
def plays(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Play]:
    """All built-in scenarios, some of them smaller, with their truth."""
    return {
        name: observer.played(name, tmp_path_factory.mktemp("truth") / name)
        for name in scenario_reader.list_scenario_names()
    }


@pytest.fixture(scope="session")
def ns_event(spark: SparkSession, played: Callable[[str], Path]) -> Callable[[str], DataFrame]:
    """The events in the journals of a scenario, as silver has them."""

    @cache
    def events_of(name: str) -> DataFrame:
        found, _ = input_files.list_files(spark, InputSource(str(played(name))))
        lines = unique_lines.key_journal_lines(input_files.read_lines(spark, found))
        return keep_in_memory(journals.parse_events(unique_lines.keep_first_copies(lines, datetime.now(UTC))))

    return events_of
