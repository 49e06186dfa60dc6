"""bundle create in a lab, and the examples of all reading commands on the bundle that it made."""

import re
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest

from nsadmin.app import main
from nsadmin.client.bundles.bundle_file import SupportBundle
from tests.nsadmin.conftest import Run
from tests.support.examples import IN_THE_LAB, Case, words
from tests.support.lab import Lab, lab

WITHOUT_ANSWERS = {
    "collect": "it records until it is stopped",
    "backupDiff": "it compares a backup of the lab of its own test",
    "bundleCreate": "it reads a cluster",
    "exportMetadataInRocksDB": "it reads files",
    "inventoryPin": "the inventory is that of this machine",
}
"""Reading commands whose examples a bundle cannot answer."""
UNANSWERED = {
    "nsadmin consumerStatus warehouse -i 10.0.226.10@warehouse-1 -s": "a bundle has no dumps of threads"
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
    with lab(tmp_path_factory.mktemp("lab"), producer_period=0.2) as running:
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
    case: Case, run: Run, cluster: Lab, bundle_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in case.files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
        Path(name).chmod(0o600)
    monkeypatch.setattr(sys, "stdin", StringIO(case.standard_input))
    monkeypatch.setenv("NSADMIN_BUNDLE", str(bundle_path))
    for example in case.examples:
        if "-n" in (example_words := words(example)) or "--context" in example_words:
            continue
        if example.command_line in UNANSWERED:
            continue
        done = run(*map(cluster.with_addresses, example_words))
        assert "bundle" not in done.err, done.err
        assert done.code == example.exit_code, (example.command_line, done.err)


def test_a_change_is_refused_in_one_line(run: Run, bundle_path: Path) -> None:
    done = run("--bundle", str(bundle_path), "deleteTopic", "orders", "-c", "cluster-a", "--yes")
    assert (done.code, done.err) == (
        6,
        "nsadmin: deleteTopic changes the cluster, and a bundle only has its answers: leave out --bundle, "
        "or pass --dry-run\n",
    )


def test_a_command_for_messages_says_that_there_are_none(run: Run, bundle_path: Path) -> None:
    done = run("--bundle", str(bundle_path), "queryMsgByKey", "orders", "k")
    assert done.code == 4
    assert "a bundle contains no messages" in done.err


def test_a_bundle_is_not_made_of_a_bundle(run: Run, bundle_path: Path) -> None:
    done = run("--bundle", str(bundle_path), "bundle", "create", "x.zip")
    assert (done.code, done.err) == (2, "nsadmin: bundle create reads a cluster: leave out --bundle\n")


def test_the_file_is_named_by_the_time_and_names_can_be_replaced(
    run: Run, cluster: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(
        "bundle", "create", "-n", cluster.namesrv_addr, "--anonymise-names", "--max-details", "0", "--json"
    )
    assert done.code == 0
    assert "left out: details of topics: the limit of details was reached: raise --max-details" in done.err
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
    done = run(
        "bundle", "create", str(tmp_path / "file" / "x.zip"), "-n", cluster.namesrv_addr, "--max-details", "0"
    )
    assert done.code == 2
    assert done.err.startswith(f'nsadmin: cannot write the bundle "{tmp_path}/file/x.zip": ')
