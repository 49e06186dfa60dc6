"""Stream: the batch job as an endless Structured Streaming query over orders.

An order is a small file with the names of input files that are new or have grown. Spark's checkpoint records
the finished orders. Repeating an order changes nothing, because bronze takes each line once. There is no
watermark: a late line makes its day due again.
"""

import json
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from nsreport.jobs.batch import PipelineRun
from nsreport.sources.input_files import InputFile
from nsreport.tables.hadoop_folder import HadoopFolder

MAX_FILES_PER_ORDER = 256
"""Each micro-batch processes one order."""

_ORDERS_FOLDER, _CHECKPOINT_FOLDER = "_orders", "_checkpoint"
_ORDER_SCHEMA = "path string, length bigint, modified bigint, kind string, server string"


class OrderStream:
    """Writes orders for the new files of a run, and processes them; only one query at a time."""

    def __init__(self, spark: SparkSession, pipeline_run: PipelineRun, output_folder: str) -> None:
        self._spark = spark
        self._pipeline_run = pipeline_run
        self._output_folder = HadoopFolder(spark, output_folder)
        self._ordered_files: set[InputFile] = set()

    def order_new_files(self) -> int:
        """Write orders for files that are new or have grown since the last call; return their number."""
        changed_files, _ = self._pipeline_run.line_ingest.find_changed_files()
        new_files = [input_file for input_file in changed_files if input_file not in self._ordered_files]
        self._ordered_files.update(new_files)
        for first in range(0, len(new_files), MAX_FILES_PER_ORDER):
            order_files = new_files[first : first + MAX_FILES_PER_ORDER]
            order_text = "".join(json.dumps(input_file._asdict()) + "\n" for input_file in order_files)
            self._output_folder.write(f"{_ORDERS_FOLDER}/{uuid4().hex}.json", order_text)
        return len(new_files)

    def start_query(self, interval_seconds: float | None) -> StreamingQuery:
        """Start processing orders: the existing ones (None), or new ones at an interval in seconds."""
        if not self._output_folder.has_path(_ORDERS_FOLDER):
            self._output_folder.make_folder(_ORDERS_FOLDER)
        order_rows = (
            self._spark.readStream.schema(_ORDER_SCHEMA)
            .option("maxFilesPerTrigger", 1)
            .option("cleanSource", "delete")
            .json(self._output_folder.qualify_path(_ORDERS_FOLDER))
        )
        stream_writer = order_rows.writeStream.option(
            "checkpointLocation", self._output_folder.qualify_path(_CHECKPOINT_FOLDER)
        ).foreachBatch(self._carry_out_orders)
        if interval_seconds is None:
            return stream_writer.trigger(availableNow=True).start()
        return stream_writer.trigger(processingTime=f"{interval_seconds} seconds").start()

    def _carry_out_orders(self, order_rows: DataFrame, batch_number: int) -> None:
        """Ingest the files of an order and refresh the tables.

        A journal segment that was closed meanwhile has a new name: the next `order_new_files` finds it.
        """
        ordered_files = [InputFile(*order_row) for order_row in order_rows.collect()]
        existing_files = [
            input_file
            for input_file in ordered_files
            if self._output_folder.has_qualified_path(input_file.path)
        ]
        if existing_files:
            self._pipeline_run.line_ingest.ingest_files(existing_files)
        self._pipeline_run.refresh_tables()
