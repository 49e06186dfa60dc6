"""Unit, container and Kubernetes example: each names flags, settings, pages and ports that there are."""

import json
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
PAGES = ("/healthz", "/readyz")


def items(name: str) -> list[str]:
    """All values that a key of the unit has."""
    lines = UNIT.read_text().splitlines()
    return [line.partition("=")[2] for line in lines if line.startswith(f"{name}=")]


def objects() -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((FILES / "kubernetes.yaml").read_text()))


def of_kind(kind: str) -> list[dict[str, Any]]:
    return [item for item in objects() if item["kind"] == kind]


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


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
def test_systemd_finds_no_fault_with_the_unit_and_little_that_it_could_harm(tmp_path: Path) -> None:
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text().replace("/opt/nsadmin/bin/nsadmin", sys.executable))
    verified = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True, check=False
    )
    assert (verified.returncode, verified.stdout + verified.stderr) == (0, "")
    judged = subprocess.run(
        ["systemd-analyze", "security", "--offline=yes", "--threshold=20", unit],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert judged.returncode == 0, judged.stdout + judged.stderr


def test_the_container_starts_a_server_as_nobody_special() -> None:
    lines = (ROOT / "packaging" / "Containerfile").read_text().splitlines()
    instructions = dict(line.split(" ", 1) for line in lines if line and not line.startswith("#"))
    assert json.loads(instructions["ENTRYPOINT"]) == ["nsadmin", "namesrv"]
    settings = settings_of(json.loads(instructions["CMD"]), {})
    ports = {str(settings.listenPort), settings.httpAddress.rpartition(":")[2]}
    assert set(instructions["EXPOSE"].split()) == ports
    assert settings.kvConfigPath.startswith(instructions["VOLUME"])
    assert int(instructions["USER"]) > 1000
    assert f"127.0.0.1:{settings.httpAddress.rpartition(':')[2]}{PAGES[0]}" in instructions["HEALTHCHECK"]


def test_kubernetes_runs_the_server_with_settings_that_there_are() -> None:
    (config,) = of_kind("ConfigMap")
    (workload,) = of_kind("StatefulSet")
    pod = workload["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    settings = settings_of(container["args"], config["data"])
    assert settings.needWaitForService
    assert settings.enableShutdownGracefully
    assert pod["terminationGracePeriodSeconds"] > settings.shutdownWaitTimeSeconds
    names = [f"{workload['metadata']['name']}-{number}" for number in range(workload["spec"]["replicas"])]
    service = workload["spec"]["serviceName"]
    assert settings.nsaddr == ";".join(f"{name}.{service}:{settings.listenPort}" for name in names)
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert ports == {"rocketmq": settings.listenPort, "http": int(settings.httpAddress.rpartition(":")[2])}
    (volume,) = container["volumeMounts"]
    assert settings.kvConfigPath.startswith(volume["mountPath"])
    assert settings.journalDir.startswith(volume["mountPath"])
    assert container["envFrom"] == [{"configMapRef": {"name": config["metadata"]["name"]}}]
    (claim,) = workload["spec"]["volumeClaimTemplates"]
    assert claim["metadata"]["name"] == volume["name"]
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        asked = container[probe]["httpGet"]
        assert asked["path"] == PAGES[probe == "readinessProbe"]
        assert asked["port"] in ports


def test_kubernetes_would_take_it() -> None:
    """By its own schema, which knows no misspelt key: `pip install kubernetes-validate`."""
    validate = pytest.importorskip("kubernetes_validate")
    for item in objects():
        validate.validate(item, "1.31", strict=True)


def test_kubernetes_services_and_budget_are_about_these_pods() -> None:
    (workload,) = of_kind("StatefulSet")
    labels = workload["spec"]["template"]["metadata"]["labels"]
    (container,) = workload["spec"]["template"]["spec"]["containers"]
    ports = {port["name"] for port in container["ports"]}
    (budget,) = of_kind("PodDisruptionBudget")
    assert workload["spec"]["selector"]["matchLabels"] == labels
    assert budget["spec"]["selector"]["matchLabels"] == labels
    services = {item["metadata"]["name"]: item["spec"] for item in of_kind("Service")}
    for service in services.values():
        assert service["selector"] == labels
        assert all(port["targetPort"] in ports for port in service["ports"])
    headless = services[workload["spec"]["serviceName"]]
    assert headless["clusterIP"] == "None"
    assert headless["publishNotReadyAddresses"] is True


def job_specs() -> dict[str, dict[str, Any]]:
    """The pods of the jobs, by the name of the job."""
    items = yaml.safe_load_all((FILES / "kubernetes-jobs.yaml").read_text())
    return {
        item["metadata"]["name"]: item["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        for item in items
        if item["kind"] == "CronJob"
    }


def test_jobs_run_command_lines_that_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app.CommandRun, "perform", lambda run: 0)
    assert job_specs().keys() == {"nsadmin-plan", "nsadmin-apply", "nsadmin-backup"}
    for pod in job_specs().values():
        (container,) = pod["containers"]
        program, *words = container["command"]
        assert program == "nsadmin"
        assert app.main(words) == 0


def test_jobs_name_objects_of_the_file_and_write_only_to_volumes() -> None:
    text = (FILES / "kubernetes-jobs.yaml").read_text()
    objects = {(item["kind"], item["metadata"]["name"]): item for item in yaml.safe_load_all(text)}
    environment = objects["ConfigMap", "nsadmin"]["data"]
    for pod in job_specs().values():
        (container,) = pod["containers"]
        assert container["envFrom"] == [{"configMapRef": {"name": "nsadmin"}}]
        assert container["securityContext"]["readOnlyRootFilesystem"]
        mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
        assert environment["NSADMIN_STATE"] == mounts["state"]
        folders = [word for word in container["command"] if word.startswith("/")]
        assert all(word.startswith(tuple(mounts.values())) for word in folders)
        for volume in pod["volumes"]:
            assert volume["name"] in mounts
            if "configMap" in volume:
                config = objects["ConfigMap", volume["configMap"]["name"]]["data"]
                assert [word for word in folders if word.removeprefix("/cluster/") in config] == folders
            if "persistentVolumeClaim" in volume:
                assert ("PersistentVolumeClaim", volume["persistentVolumeClaim"]["claimName"]) in objects


def test_the_state_of_the_jobs_is_one_that_plan_reads() -> None:
    text = (FILES / "kubernetes-jobs.yaml").read_text()
    data = [
        item["data"] for item in yaml.safe_load_all(text) if item["metadata"]["name"] == "nsadmin-cluster"
    ]
    wanted = read_desired_cluster(data[0]["cluster.yaml"], "cluster.yaml")
    assert wanted.cluster_name == "DefaultCluster"


def test_kubernetes_would_take_the_jobs() -> None:
    validate = pytest.importorskip("kubernetes_validate")
    for item in yaml.safe_load_all((FILES / "kubernetes-jobs.yaml").read_text()):
        validate.validate(item, "1.31", strict=True)


def test_the_role_of_the_documentation_is_for_what_nsadmin_asks() -> None:
    page = (FILES.parent / "how-to" / "reach-a-cluster.md").read_text()
    role = yaml.safe_load(page.split("```yaml\n")[1].split("```")[0])
    rights = {(kind, verb) for rule in role["rules"] for kind in rule["resources"] for verb in rule["verbs"]}
    assert rights >= {("pods", "list"), ("services", "list"), ("pods", "get"), ("pods/portforward", "create")}
