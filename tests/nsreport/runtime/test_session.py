"""The session that all tests share, and what goes to other machines."""

import zipfile
from pathlib import Path

import pytest
from pyspark import SparkConf
from pyspark.sql import SparkSession

from nsreport.runtime import session


def test_times_are_utc_and_nothing_listens_for_browsers(spark: SparkSession) -> None:
    assert spark.sql("select cast(timestamp_millis(0) as string)").first() == ("1970-01-01 00:00:00",)
    assert spark.sparkContext.uiWebUrl is None


def test_of_whole_files_one_is_with_python_at_a_time(spark: SparkSession) -> None:
    assert spark.conf.get("spark.sql.execution.python.udf.maxRecordsPerBatch") == "1"


def test_workers_get_the_packages_that_functions_are_of(tmp_path: Path) -> None:
    with zipfile.ZipFile(session.pack_packages(tmp_path / "cache")) as archive:
        assert {"nsreport/__init__.py", "nsreport/sources/input_files.py", "namesrv_core/events.py"} <= set(
            archive.namelist()
        )


def test_what_spark_submit_is_given_goes_before_ours(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not session.is_submitted()
    assert set(session._choose_defaults(is_local=True, submit_settings={})) == {
        *session.DEFAULT_SETTINGS,
        "spark.driver.memory",
    }
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    assert session.is_submitted()
    said = SparkConf(False)
    said.setAll([("spark.sql.shuffle.partitions", "400"), ("spark.sql.session.timeZone", "Asia/Shanghai")])
    monkeypatch.setattr(session, "SparkConf", lambda: said)
    left = session._choose_defaults(is_local=True, submit_settings=session._read_submit_settings())
    # Nor is memory given to a Java that has been started.
    assert left.keys() == session.DEFAULT_SETTINGS.keys()
    assert left["spark.sql.session.timeZone"] == "UTC"


def test_a_cluster_has_as_many_partitions_as_spark_thinks(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "spark.sql.optimizer.metadataOnly"
    monkeypatch.setattr(session, "_SETTINGS_BY_SIZE", {})
    monkeypatch.setattr(session, "_LOCAL_SETTINGS_BY_SIZE", {key: ("false", "true")})
    with monkeypatch.context() as patched:
        patched.setattr(spark.sparkContext, "master", "yarn")
        before = spark.conf.get(key)
        session.adapt_session(spark, session.FEW_ROWS + 1)
        session.adapt_session(spark, 0)
        assert spark.conf.get(key) == before
    session.adapt_session(spark, 0)
    assert spark.conf.get(key) == "false"
    spark.conf.unset(key)


def test_java_has_a_quarter_of_the_memory_within_bounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(session, "_CONTAINER_LIMIT_FILE", limit)
    monkeypatch.setattr("os.sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 3 << 20}.__getitem__)
    for said, expected in (("max", 3 << 30), ("8589934592\n", 2 << 30), ("1000000", 1 << 30)):
        limit.write_text(said)
        assert session.default_memory_bytes() == expected
    limit.unlink()
    assert session.default_memory_bytes() == 3 << 30
    monkeypatch.setattr("os.sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 300 << 20}.__getitem__)
    assert session.default_memory_bytes() == 4 << 30


def test_a_collector_that_the_operator_has_chosen_stays() -> None:
    assert "-XX:+UseSerialGC" in session.choose_java_options("-Dx=1", is_short_run=True)
    assert "GC" not in session.choose_java_options("-XX:+UseParallelGC", is_short_run=True)
    long_options = session.choose_java_options("", is_short_run=False)
    assert "-XX:+UseParallelGC" in long_options
    assert "TieredStopAtLevel" not in long_options
    assert "GC" not in session.choose_java_options("-XX:+UseG1GC", is_short_run=False)


def test_memory_that_the_operator_has_said_stays(tmp_path: Path) -> None:
    nothing = {"SPARK_CONF_DIR": str(tmp_path)}
    assert not session._has_memory_setting({})
    assert not session._has_memory_setting(nothing)
    assert session._has_memory_setting({"SPARK_DRIVER_MEMORY": "2g"})
    assert session._has_memory_setting({"PYSPARK_SUBMIT_ARGS": "--driver-memory 2g pyspark-shell"})
    defaults = tmp_path / "spark-defaults.conf"
    defaults.write_text("# spark.driver.memory 1g\nspark.driver.memoryOverhead 1g\n")
    assert not session._has_memory_setting(nothing)
    defaults.write_text("spark.driver.memory    2g\n")
    assert session._has_memory_setting(nothing)


def test_few_rows_are_worked_on_without_making_programs(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "spark.sql.optimizer.metadataOnly"
    monkeypatch.setattr(
        session, "_SETTINGS_BY_SIZE", {key: ("false", "true"), "spark.sql.codegen.wholeStage": ("x", "y")}
    )
    for rows, expected in ((session.FEW_ROWS, "false"), (session.FEW_ROWS + 1, "true")):
        session.adapt_session(spark, rows)
        assert spark.conf.get(key) == expected
    # That of the tests was set when they began.
    assert spark.conf.get("spark.sql.codegen.wholeStage") == "false"
    spark.conf.unset(key)


def test_long_plans_and_those_of_few_rows_are_made_once_on_one_machine(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "spark.sql.optimizer.metadataOnly"
    monkeypatch.setattr(session, "_SETTINGS_BY_SIZE", {key: ("false", "true")})
    monkeypatch.setattr(session, "_ADAPTIVE_KEY", key)
    many = session.DAY_ROWS + 1
    for rows, asks_much, expected in (
        (many, True, "false"),
        (many, False, "true"),
        (many - 1, False, "false"),
        (1, False, "false"),
    ):
        session.adapt_session(spark, rows, has_long_plans=asks_much)
        assert spark.conf.get(key) == expected
    monkeypatch.setattr(spark.sparkContext, "master", "yarn")
    for rows in (1, many):
        session.adapt_session(spark, rows, has_long_plans=True)
        assert spark.conf.get(key) == "true"
    spark.conf.unset(key)


def test_rows_are_copied_to_other_tasks_only_if_there_are_any(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Other tests may have set the real one.
    key = "spark.sql.testedPartitions"
    monkeypatch.setattr(session, "_PARTITIONS_KEY", key)
    few = spark.range(1)
    spark.conf.set(key, "8")
    assert "Hint" in session.broadcast_rows(few)._jdf.queryExecution().logical().nodeName()
    spark.conf.set(key, "1")
    assert session.broadcast_rows(few) is few
    spark.conf.unset(key)
