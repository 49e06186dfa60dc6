"""The files of docs/recipes: what a DAG runs, what a dashboard asks, and what a notebook computes."""

import json
import re
import runpy
import sys
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

from tests.support.name_servers import ROOT

FOLDER = ROOT / "docs" / "recipes"
SCRIPT = FOLDER / "nightly-reports.sh"
DAG_FILE = FOLDER / "nsadmin_reports_dag.py"
DASHBOARD = FOLDER / "grafana" / "report-dashboard.json"
NOTEBOOK = FOLDER / "reports.ipynb"


@dataclass
class Task:
    """A stand-in for an operator, which notes what it would run and what runs before it."""

    task_id: str
    bash_command: str
    options: dict[str, Any]
    upstream: list["Task"] = field(default_factory=list)

    def __rshift__(self, following: Any) -> Any:
        for task in following if isinstance(following, list) else [following]:
            task.upstream.append(self)
        return following

    def __rrshift__(self, preceding: list["Task"]) -> "Task":
        self.upstream += preceding
        return self


def read_tasks() -> tuple[dict[str, Any], list[Task]]:
    """The settings and tasks of the DAG, read without Airflow: `make recipes` uses the real one."""
    settings: dict[str, Any] = {}
    tasks: list[Task] = []

    class Dag:
        def __init__(self, dag_id: str, **given: Any) -> None:
            settings.update(given, dag_id=dag_id)

        def __enter__(self) -> "Dag":
            return self

        def __exit__(self, *raised: object) -> None: ...

    def make_task(task_id: str, bash_command: str, **options: Any) -> Task:
        tasks.append(Task(task_id, bash_command, options))
        return tasks[-1]

    modules = {
        "airflow.sdk": ModuleType("sdk"),
        "airflow.providers.standard.operators.bash": ModuleType("bash"),
    }
    vars(modules["airflow.sdk"]).update(DAG=Dag, Param=lambda default, **schema: default)
    vars(modules["airflow.providers.standard.operators.bash"]).update(BashOperator=make_task)
    with mock.patch.dict(sys.modules, modules):
        runpy.run_path(str(DAG_FILE))
    return settings, tasks


def render_command(task: Task, params: dict[str, str]) -> str:
    """A command with the values of its parameters, as Airflow runs it."""
    return re.sub(r"\{\{ params\.(\w+) \}\}", lambda match: params[match[1]], task.bash_command)


def read_queries() -> dict[str, str]:
    """The SQL of the dashboard, by the title of the panel or the name of the variable."""
    dashboard = json.loads(DASHBOARD.read_text())
    queries = {panel["title"]: panel["targets"][0]["rawSql"] for panel in dashboard["panels"]}
    variables = dashboard["templating"]["list"]
    return queries | {item["name"]: item["query"] for item in variables if item["type"] == "query"}


def fill_query(sql: str, folder: Path, clusters: list[str], since: datetime, until: datetime) -> str:
    """A query with values for its variables and macros, as Grafana and the plugin fill them."""
    sql = sql.replace("${folder:raw}", str(folder))
    sql = sql.replace("${cluster:sqlstring}", ",".join(f"'{cluster}'" for cluster in clusters))
    begin, end = (f"'{moment:%Y-%m-%dT%H:%M:%SZ}'" for moment in (since, until))
    sql = re.sub(r"\$__timeFilter\(([^)]*)\)", rf"\1 >= {begin} AND \1 <= {end}", sql)
    assert "$" not in sql
    return sql


def read_cells() -> list[str]:
    """The code of the notebook, cell by cell."""
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
