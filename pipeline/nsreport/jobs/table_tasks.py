"""Table tasks: makes tables side by side, each as soon as the tables that it reads are made."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import NamedTuple

THREAD_COUNT = 3
"""Spark plans a query on one processor: while it does, the tasks of other queries use the rest."""


class TableTask(NamedTuple):
    """The name of a table, the names of the tables that it reads, and the function that makes it.

    The function returns the number of new rows.
    """

    table_name: str
    input_names: Sequence[str]
    make_table: Callable[[], int]


def run_tasks(table_tasks: Iterable[TableTask]) -> dict[str, int]:
    """Run tasks in threads; return the number of new rows of each table.

    A task waits for those that make its inputs, in whatever order they are given.

    After an error no further task starts. The error is raised when the running tasks have ended.
    """
    waiting_tasks = {table_task.table_name: table_task for table_task in table_tasks}
    running_names: dict[Future[int], str] = {}
    row_counts: dict[str, int] = {}
    with ThreadPoolExecutor(THREAD_COUNT, "table") as thread_pool:
        while waiting_tasks or running_names:
            unmade_names = {*waiting_tasks, *running_names.values()}
            ready_tasks = [
                table_task
                for table_task in waiting_tasks.values()
                if unmade_names.isdisjoint(table_task.input_names)
            ]
            assert ready_tasks or running_names, f"these tables read each other: {', '.join(waiting_tasks)}"
            for table_task in ready_tasks:
                del waiting_tasks[table_task.table_name]
                running_names[thread_pool.submit(table_task.make_table)] = table_task.table_name
            done_futures, _ = wait(running_names, return_when=FIRST_COMPLETED)
            for done_future in done_futures:
                if done_future.exception() is not None:
                    thread_pool.shutdown(cancel_futures=True)
                row_counts[running_names.pop(done_future)] = done_future.result()
    return row_counts
