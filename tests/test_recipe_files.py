"""Recipes for reports: each names commands, reports and files that there are."""

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from nsadmin import app
from nsreport import command as report_program
from nsreport.dictionary.table_definitions import DATA_QUALITY_TABLE
from nsreport.reports.catalogue import REPORTS_BY_NAME
from tests.support import recipes
from tests.support.name_servers import ROOT

INSTALLED = "/opt/nsadmin/share/nsadmin/recipes"


def script_names() -> list[str]:
    """The reports that the script exports."""
    [names] = re.findall(r"REPORT_NAMES:-([^}]*)\}", recipes.SCRIPT.read_text())
    return list(names.split())


def script_commands() -> list[str]:
    """The commands of nsadmin in the script, with values for its variables."""
    text = recipes.SCRIPT.read_text().replace("$sources", "*=/in/*").replace("$home", "/out")
    lines = [line.strip() for line in text.splitlines() if line.strip().startswith("nsadmin ")]
    return [line.replace("$name", name) for line in lines for name in script_names()]


def dag_commands() -> list[str]:
    _, tasks = recipes.read_tasks()
    params = {"sources": "*=/in/*", "home": "/out"}
    return [recipes.render_command(task, params) for task in tasks]


@pytest.mark.parametrize("commands", [script_commands(), dag_commands()], ids=["script", "dag"])
def test_the_commands_of_nsadmin_are_command_lines_that_there_are(
    commands: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app.CommandRun, "perform", lambda run: 0)
    monkeypatch.setattr(report_program, "run_pipeline", lambda arguments: 0)
    parts = [part for command in commands for part in re.split(r" (?:&&|\|\|) ", command)]
    lines = {part for part in parts if part.startswith("nsadmin ")}
    for line in lines:
        words = shlex.split(line)[1:]
        if words[:2] == ["report", "run"]:
            assert report_program.main(words[1:]) == 0
        else:
            assert app.main(words) == 0, line
    assert {tuple(line.split()[1:3]) for line in lines} == {
        ("report", "run"), ("report", "export"), ("report", "html"), ("check", "reports"),
    }  # fmt: skip


def test_the_reports_are_those_that_the_dashboard_reads() -> None:
    known = {*REPORTS_BY_NAME, DATA_QUALITY_TABLE.name.split("/")[1]}
    queries = "".join(recipes.read_queries().values())
    assert set(script_names()) <= known
    assert set(re.findall(r"/(\w+)\.parquet", queries)) == set(script_names())
    _, tasks = recipes.read_tasks()
    exported = {task.task_id.removeprefix("export_") for task in tasks if task.task_id.startswith("export_")}
    assert exported == set(script_names())


def test_the_dag_checks_what_all_its_tasks_made() -> None:
    settings, tasks = recipes.read_tasks()
    by_id = {task.task_id: task for task in tasks}
    assert by_id["run"].upstream == []
    assert all(by_id[name].upstream == [by_id["run"]] for name in by_id if name not in ("run", "check"))
    assert {task.task_id for task in by_id["check"].upstream} == by_id.keys() - {"run", "check"}
    assert (settings["max_active_runs"], settings["catchup"]) == (1, False)


def test_cron_starts_the_script_of_the_wheel_at_night() -> None:
    lines = (recipes.FOLDER / "nsadmin-report.cron").read_text().splitlines()
    *settings, line = [line for line in lines if not line.startswith("#")]
    assert {setting.partition("=")[0] for setting in settings} == {"PATH", "REPORT_SOURCES", "REPORT_HOME"}
    minute, hour, *days, _, command = line.split(None, 6)
    assert (int(minute) < 60, int(hour) < 24, days) == (True, True, ["*"] * 3)
    # cron ends the command at a percent sign.
    assert "%" not in command
    assert command.startswith(f"/bin/sh {INSTALLED}/{recipes.SCRIPT.name} ")
    subprocess.run(["sh", "-n", recipes.SCRIPT], check=True)
    assert (
        f'"docs/recipes" = "{INSTALLED.removeprefix("/opt/nsadmin/")}"'
        in (ROOT / "pyproject.toml").read_text()
    )


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
def test_systemd_finds_no_fault_with_the_units_and_little_that_they_could_harm(tmp_path: Path) -> None:
    script = f"{INSTALLED}/{recipes.SCRIPT.name}"
    for name in ("nsadmin-report.service", "nsadmin-report.timer"):
        text = (recipes.FOLDER / name).read_text()
        assert (f"ExecStart=/bin/sh {script}\n" in text) == name.endswith("service")
        (tmp_path / name).write_text(text.replace(INSTALLED, str(recipes.FOLDER)))
    units = [tmp_path / "nsadmin-report.service", tmp_path / "nsadmin-report.timer"]
    result = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *units], capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stdout + result.stderr) == (0, "")
    judged = subprocess.run(
        ["systemd-analyze", "security", "--offline=yes", "--threshold=40", units[0]],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert judged.returncode == 0, judged.stdout + judged.stderr


def test_the_dashboard_reads_the_data_source_that_grafana_gets() -> None:
    [source] = yaml.safe_load((recipes.DASHBOARD.parent / "datasource.yaml").read_text())["datasources"]
    dashboard = json.loads(recipes.DASHBOARD.read_text())
    used = [panel["datasource"] for panel in dashboard["panels"]]
    used += [panel["targets"][0]["datasource"] for panel in dashboard["panels"]]
    used += [item["datasource"] for item in dashboard["templating"]["list"] if item["type"] == "query"]
    assert {(item["type"], item["uid"]) for item in used} == {(source["type"], source["uid"])}
    [provider] = yaml.safe_load((recipes.DASHBOARD.parent / "dashboards.yaml").read_text())["providers"]
    page = (ROOT / "docs" / "how-to" / "schedule-and-use-reports.md").read_text()
    assert f"cp {recipes.DASHBOARD.name} {provider['options']['path']}/" in page
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])
