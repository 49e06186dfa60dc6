"""Units, container and Helm chart: each names flags, settings, pages and ports that there are.

`make dist-proof` renders the chart with all its parts, and sets NSADMIN_CHART to the file.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from namesrv_core.server.settings_loader import load_settings
from nsadmin import app
from nsadmin.operations.plans.yaml_reader import read_desired_cluster
from tests.support.name_server_flags import parse_flags

ROOT = Path(__file__).parents[1]
FILES = ROOT / "docs" / "service"
UNIT = FILES / "nsadmin-namesrv.service"
COMPONENT = "app.kubernetes.io/component"
PAGES = ("/healthz", "/readyz")


def items(name: str) -> list[str]:
    """All values that a key of the unit has."""
    lines = UNIT.read_text().splitlines()
    return [line.partition("=")[2] for line in lines if line.startswith(f"{name}=")]


needs_chart = pytest.mark.skipif("NSADMIN_CHART" not in os.environ, reason="needs Helm: make dist-proof")


def objects() -> list[dict[str, Any]]:
    return list(filter(None, yaml.safe_load_all(Path(os.environ["NSADMIN_CHART"]).read_text())))


def of_kind(kind: str, name_end: str = "") -> list[dict[str, Any]]:
    return [o for o in objects() if o["kind"] == kind and o["metadata"]["name"].endswith(name_end)]


def settings_of(flags: list[str], environ: dict[str, str]) -> Any:
    return load_settings(parse_flags(*flags), environ)


def test_the_unit_starts_a_server_that_tells_its_manager() -> None:
    (start,) = items("ExecStart")
    command = start.replace("${STATE_DIRECTORY}", "/state").split()
    assert command[:2] == ["/opt/nsadmin/bin/nsadmin", "namesrv"]
    settings = settings_of(command[2:], {})
    assert settings.kvConfigPath == "/state/kvConfig.json"
    assert settings.httpAddress == "9877"
    assert items("Type") == ["notify"]
    assert items("ExecReload") == ["/bin/kill -HUP $MAINPID"]


@pytest.mark.parametrize("name", ["exporter", "collect"])
def test_the_other_units_run_command_lines_that_there_are(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app.CommandRun, "perform", lambda run: 0)
    lines = (FILES / f"nsadmin-{name}.service").read_text().splitlines()
    (start,) = [line for line in lines if line.startswith("ExecStart=")]
    program, *words = start.partition("=")[2].replace("${STATE_DIRECTORY}", "/state").split()
    assert (program, words[0], app.main(words)) == ("/opt/nsadmin/bin/nsadmin", name, 0)


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
@pytest.mark.parametrize("source", sorted(FILES.glob("*.service")), ids=lambda path: path.stem)
def test_systemd_finds_no_fault_with_a_unit_and_little_that_it_could_harm(
    source: Path, tmp_path: Path
) -> None:
    unit = tmp_path / source.name
    unit.write_text(source.read_text().replace("/opt/nsadmin/bin/nsadmin", sys.executable))
    verified = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True, check=False
    )
    assert (verified.returncode, verified.stdout + verified.stderr) == (0, "")
    judged = subprocess.run(
        ["systemd-analyze", "security", "--offline=yes", "--threshold=20", unit],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert judged.returncode == 0, judged.stdout + judged.stderr


def test_the_container_runs_nsadmin_as_nobody_special(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app.CommandRun, "perform", lambda run: 0)
    lines = (ROOT / "packaging" / "Containerfile").read_text().splitlines()
    instructions = dict(line.split(" ", 1) for line in lines if line and not line.startswith("#"))
    assert json.loads(instructions["ENTRYPOINT"]) == ["nsadmin"]
    assert int(instructions["USER"]) > 1000
    assert f"HOME={instructions['VOLUME']} " in instructions["ENV"]
    program, *words = json.loads(instructions["HEALTHCHECK"].removeprefix("CMD "))
    assert (program, app.main(words)) == ("nsadmin", 0)


@needs_chart
def test_kubernetes_runs_the_server_with_settings_that_there_are(tmp_path: Path) -> None:
    (config,) = of_kind("ConfigMap", "namesrv")
    (workload,) = of_kind("StatefulSet", "namesrv")
    pod = workload["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    program, *flags = container["args"]
    assert program == "namesrv"
    volumes = {volume["name"] for volume in pod["volumes"]} | {"home"}
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    assert mounts.keys() == volumes == {"home", "tls", "credentials"}
    settings = settings_of(flags, config["data"])
    assert settings.needWaitForService
    assert settings.enableShutdownGracefully
    assert pod["terminationGracePeriodSeconds"] > settings.shutdownWaitTimeSeconds
    names = [f"{workload['metadata']['name']}-{number}" for number in range(workload["spec"]["replicas"])]
    service = workload["spec"]["serviceName"]
    assert settings.nsaddr == ";".join(f"{name}.{service}:{settings.listenPort}" for name in names)
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert ports == {"rocketmq": settings.listenPort, "http": int(settings.httpAddress.rpartition(":")[2])}
    assert settings.kvConfigPath.startswith(mounts["home"])
    assert settings.journalDir.startswith(mounts["home"])
    assert settings.credentialsFile.startswith(mounts["credentials"])
    assert container["envFrom"] == [{"configMapRef": {"name": config["metadata"]["name"]}}]
    (claim,) = workload["spec"]["volumeClaimTemplates"]
    assert claim["metadata"]["name"] == "home"
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        asked = container[probe]["httpGet"]
        assert asked["path"] == PAGES[probe == "readinessProbe"]
        assert asked["port"] in ports


@needs_chart
def test_kubernetes_would_take_it() -> None:
    """By its own schema, which knows no misspelt key: `pip install kubernetes-validate`."""
    validate = pytest.importorskip("kubernetes_validate")
    for item in objects():
        if item["kind"] != "ServiceMonitor":
            validate.validate(item, "1.31", strict=True)


@needs_chart
def test_services_monitors_and_the_budget_select_pods_with_their_ports() -> None:
    templates = [item["spec"]["template"] for kind in ("StatefulSet", "Deployment") for item in of_kind(kind)]
    pods = {
        template["metadata"]["labels"][COMPONENT]: (
            template["metadata"]["labels"],
            {port["name"] for port in template["spec"]["containers"][0].get("ports", ())},
        )
        for template in templates
    }
    assert pods.keys() == {"namesrv", "exporter", "collect"}
    for service in of_kind("Service"):
        labels, ports = pods[service["metadata"]["labels"][COMPONENT]]
        assert service["spec"]["selector"] == service["metadata"]["labels"] == labels
        assert all(port["targetPort"] in ports for port in service["spec"]["ports"])
    for monitor in of_kind("ServiceMonitor"):
        selected = [
            s
            for s in of_kind("Service")
            if s["metadata"]["labels"] == monitor["spec"]["selector"]["matchLabels"]
        ]
        named = [s for s in selected if "http" in {port["name"] for port in s["spec"]["ports"]}]
        assert len(named) == 1
    (budget,) = of_kind("PodDisruptionBudget")
    assert budget["spec"]["selector"]["matchLabels"] == pods["namesrv"][0]
    (workload,) = of_kind("StatefulSet")
    (headless,) = [s for s in of_kind("Service") if s["metadata"]["name"] == workload["spec"]["serviceName"]]
    assert headless["spec"]["clusterIP"] == "None"
    assert headless["spec"]["publishNotReadyAddresses"] is True


def list_pods() -> list[dict[str, Any]]:
    """The pods that ask name servers: those of jobs, exporter and collector."""
    jobs = [item["spec"]["jobTemplate"]["spec"]["template"]["spec"] for item in of_kind("CronJob")]
    return [*jobs, *(item["spec"]["template"]["spec"] for item in of_kind("Deployment"))]


@needs_chart
def test_pods_run_command_lines_that_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app.CommandRun, "perform", lambda run: 0)
    commands = [pod["containers"][0]["args"] for pod in list_pods() if "args" in pod["containers"][0]]
    assert {words[0] for words in commands} == {"plan", "apply", "backup", "exporter", "collect"}
    for words in commands:
        assert app.main(words) == 0, words


@needs_chart
def test_pods_name_objects_of_the_chart_and_write_only_to_volumes() -> None:
    names = {(item["kind"], item["metadata"]["name"]) for item in objects()}
    for pod in list_pods():
        (container,) = pod["containers"]
        assert container["securityContext"]["readOnlyRootFilesystem"]
        mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
        assert mounts.keys() == {volume["name"] for volume in pod["volumes"]}
        folders = [word for word in container.get("args", ()) if word.startswith("/")]
        assert all(word.startswith(tuple(mounts.values())) for word in folders)
        for volume in pod["volumes"]:
            if "configMap" in volume:
                assert ("ConfigMap", volume["configMap"]["name"]) in names
            if "persistentVolumeClaim" in volume:
                assert ("PersistentVolumeClaim", volume["persistentVolumeClaim"]["claimName"]) in names


@needs_chart
def test_the_state_of_the_jobs_is_one_that_plan_reads() -> None:
    (config,) = of_kind("ConfigMap", "cluster")
    assert (
        read_desired_cluster(config["data"]["cluster.yaml"], "cluster.yaml").cluster_name == "DefaultCluster"
    )


def test_the_role_of_the_documentation_is_for_what_nsadmin_asks() -> None:
    page = (FILES.parent / "how-to" / "reach-a-cluster.md").read_text()
    role = yaml.safe_load(page.split("```yaml\n")[1].split("```")[0])
    rights = {(kind, verb) for rule in role["rules"] for kind in rule["resources"] for verb in rule["verbs"]}
    assert rights >= {("pods", "list"), ("services", "list"), ("pods", "get"), ("pods/portforward", "create")}
