"""bundle create in a lab, and the examples of all reading commands on the bundle that it made."""

import os
import re
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest

from namesrv_core.protocol.codes import RequestCode
from nsadmin import AdminClient
from nsadmin.app import main
from nsadmin.client.bundles.bundle_file import SupportBundle
from tests.nsadmin.conftest import Run
from tests.support.examples import IN_THE_LAB, ExampleCase, split_example
from tests.support.fake_servers import FakeNameServer
from tests.support.lab import Lab, start_lab
from tests.support.name_servers import DEADLINE, ROOT

WITHOUT_ANSWERS = {
    "collect": "it records until it is stopped",
    "backupDiff": "it compares a backup of the lab of its own test",
    "bundleCreate": "it reads a cluster",
    "checkClocks": "a bundle does not tell when its brokers answered",
    "exportMetadataInRocksDB": "it reads files",
    "inventoryPin": "the inventory is that of this machine",
}
"""Reading commands whose examples a bundle cannot answer."""
UNANSWERED = {
    "nsadmin producer --topic payments": "a bundle contains no messages",
    "nsadmin consumerStatus warehouse -i 10.0.226.10@warehouse-1 -s": "a bundle has no dumps of threads",
    "nsadmin topicStatus payments --times": "a bundle has no times of queues",
    "nsadmin topicStatus '*' --from yesterday --until today --sum --sort -messageCount": (
        "a bundle has no times of queues"
    ),
    "nsadmin topicStatus payments --from yesterday --until today": "a bundle has no times of queues",
    "nsadmin topicStatus payments --times -g warehouse": "a bundle has no times of queues",
}
"""Examples that a bundle cannot answer."""
CHANGED_BEFORE = {"divergence", "kvDiff", "configDiff", "checkRocksdbCqWriteProgress", "kvExport", "orphans"}
"""Commands whose examples need a change of the lab before them."""
READING = [
    case
    for case in IN_THE_LAB
    if case.entry.kind in ("read", "check")
    and case.entry.name not in WITHOUT_ANSWERS
    and case.entry.name not in CHANGED_BEFORE
    and not case.before
]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with start_lab(tmp_path_factory.mktemp("lab"), producer_period=0.2) as running:
        yield running


@pytest.fixture(scope="module")
def bundle_path(cluster: Lab, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundle")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NSADMIN_STATE", str(folder / "state"))
        patch.setenv("NSADMIN_AUDIT", "off")
        patch.setenv("NSADMIN_CONFIG", str(folder / "config.yaml"))
        path = folder / "lab.nsbundle.zip"
        assert (
            main(["bundle", "create", str(path), "-n", cluster.namesrv_addr, "--quiet", "-s", "DEPLOYMENT"])
            == 0
        )
    return path


@pytest.mark.parametrize("case", READING, ids=lambda case: case.entry.name)
def test_a_reading_command_runs_on_a_bundle_as_on_the_cluster(
    case: ExampleCase,
    run: Run,
    cluster: Lab,
    bundle_path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in case.files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
        Path(name).chmod(0o600)
    monkeypatch.setattr(sys, "stdin", StringIO(case.standard_input))
    monkeypatch.setenv("NSADMIN_BUNDLE", str(bundle_path))
    for example in case.examples:
        if "-n" in (example_words := split_example(example)) or "--context" in example_words:
            continue
        if example.command_line in UNANSWERED:
            continue
        result = run(*map(cluster.with_addresses, example_words))
        assert "bundle" not in result.err, result.err
        assert result.code == example.exit_code, (example.command_line, result.err)


def test_a_change_is_refused_in_one_line(run: Run, bundle_path: Path) -> None:
    result = run("--bundle", str(bundle_path), "deleteTopic", "orders", "-c", "cluster-a", "--yes")
    assert (result.code, result.err) == (
        6,
        "nsadmin: deleteTopic changes the cluster, and a bundle only has its answers: leave out --bundle, "
        "or pass --dry-run\n",
    )


def test_a_command_for_messages_says_that_there_are_none(run: Run, bundle_path: Path) -> None:
    result = run("--bundle", str(bundle_path), "queryMsgByKey", "orders", "k")
    assert result.code == 4
    assert "a bundle contains no messages" in result.err


def test_the_library_computes_the_ages_of_the_command(
    run: Run, bundle_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "time", lambda: 4_000_000_000.0)
    with AdminClient.from_context(bundle=bundle_path) as admin:
        finding = admin.checks.check_lag("analytics")
    bundle_report = run("--bundle", str(bundle_path), "check", "lag", "analytics", "--json").json
    [shown_delay] = [sample["value"] for sample in bundle_report["values"] if sample["name"] == "delay"]
    [delay] = [sample.value for sample in finding.samples if sample.measure.name == "delay"]
    # The last consumed message of this group was stored 20 minutes before the bundle was made.
    assert delay == shown_delay < 3600


def test_a_bundle_is_not_made_of_a_bundle(run: Run, bundle_path: Path) -> None:
    result = run("--bundle", str(bundle_path), "bundle", "create", "x.zip")
    assert (result.code, result.err) == (2, "nsadmin: bundle create reads a cluster: leave out --bundle\n")


def test_an_existing_file_is_not_overwritten(run: Run, cluster: Lab, tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    path.write_text("a backup")
    result = run("bundle", "create", str(path), "-n", cluster.namesrv_addr)
    text = f"nsadmin: {path} exists: use another name\n"
    assert (result.code, result.err, path.read_text()) == (2, text, "a backup")


def test_the_file_is_named_by_the_time_and_names_can_be_replaced(
    run: Run, cluster: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(
        "bundle", "create", "-n", cluster.namesrv_addr, "--anonymise-names", "--max-details", "0", "--json"
    )
    assert result.code == 0
    assert "left out: details of topics (92): --max-details was reached: pass a higher number" in result.err
    [path] = tmp_path.glob("nsadmin-*Z.nsbundle.zip")
    with SupportBundle(path) as bundle:
        assert bundle.manifest.anonymised == ("addresses", "names")
        answers = repr([bundle.read_answers(addr) for addr in bundle.manifest.members_by_server])
    names = ("127.0.0.1", "cluster-a", "orders", "warehouse", "10.0.226.10")
    # A pseudonym may begin like a name: cluster-a1b2. One assertion for each would compare texts for minutes.
    assert [name for name in names if re.search(rf"\b{re.escape(name)}\b", answers)] == []


def test_a_folder_that_does_not_exist_is_a_mistake_in_the_command_line(
    run: Run, cluster: Lab, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    result = run(
        "bundle", "create", str(tmp_path / "file" / "x.zip"), "-n", cluster.namesrv_addr, "--max-details", "0"
    )
    assert result.code == 2
    assert result.err.startswith(f'nsadmin: cannot write the bundle "{tmp_path}/file/x.zip": ')


def create_in_process(namesrv_addr: str, folder: Path, max_file_bytes: int = -1) -> subprocess.Popen[bytes]:
    """Start bundle create as a program that can write no larger file than this."""
    environment = {
        **os.environ,
        "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'cli'}",
        "NSADMIN_AUDIT": "off",
        "NSADMIN_STATE": str(folder.parent / "state"),
    }
    words = ["bundle", "create", str(folder / "x.zip"), "-n", namesrv_addr, "--timeout", "30"]
    return subprocess.Popen(
        [sys.executable, "-m", "nsadmin", *words],
        stderr=subprocess.PIPE,
        env=environment,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (max_file_bytes, max_file_bytes)),
    )


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_is_one_line_and_leaves_no_file(
    first_server: FakeNameServer, tmp_path: Path, signal_number: int
) -> None:
    folder, asked = tmp_path / "out", threading.Event()
    folder.mkdir()
    first_server.handlers[RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER] = lambda _: asked.set()
    process = create_in_process(first_server.addr, folder)
    assert asked.wait(DEADLINE)
    process.send_signal(signal_number)
    _, stderr = process.communicate(timeout=DEADLINE)
    assert (process.returncode, stderr) == (130, b"nsadmin: interrupted\n")
    assert list(folder.iterdir()) == []


def test_a_full_disk_is_one_line_and_leaves_no_file(first_server: FakeNameServer, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    process = create_in_process(first_server.addr, folder, max_file_bytes=100)
    _, stderr = process.communicate(timeout=DEADLINE)
    advice = "File too large: make room, or write it elsewhere"
    assert (process.returncode, stderr.decode()) == (
        1,
        f'nsadmin: cannot write the bundle "{folder}/x.zip": {advice}\n',
    )
    assert list(folder.iterdir()) == []
