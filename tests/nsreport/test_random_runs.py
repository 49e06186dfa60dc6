"""Journals that arrive in parts give the tables of one run over all; `make truth` tries many seeds."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.truth.random_runs import compare_runs


@pytest.mark.parametrize("seed", [2])
def test_parts_give_the_tables_of_one_run(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    assert compare_runs(spark, seed, tmp_path, ("topic_growth", "config_changes"), run_count=2) == []
