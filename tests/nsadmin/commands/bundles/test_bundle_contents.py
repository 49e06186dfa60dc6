"""bundle show and bundle diff."""

from pathlib import Path

from namesrv_core.protocol.codes import RequestCode
from nsadmin.client.bundles.answer_table import AnswerTable
from nsadmin.client.bundles.bundle_file import LeftOut
from tests.nsadmin.conftest import Run
from tests.support.bundles import MANIFEST_FIELDS, NAMESRV, json_answer, request_key, write_bundle

MANIFEST = MANIFEST_FIELDS._replace(
    request_count=1,
    left_out=(LeftOut("messages", 0, "a bundle contains no messages"), LeftOut("x", 3, "limit")),
)


def cluster(broker_addr: str) -> AnswerTable:
    return {
        request_key(RequestCode.GET_BROKER_CLUSTER_INFO): json_answer(
            {
                "brokerAddrTable": {
                    "broker-a": {"brokerName": "broker-a", "cluster": "C", "brokerAddrs": {"0": broker_addr}}
                },
                "clusterAddrTable": {"C": ["broker-a"]},
            }
        )
    }


def test_show_lists_servers_journals_and_what_was_left_out(run: Run, tmp_path: Path) -> None:
    path = write_bundle(
        tmp_path / "a.zip", {NAMESRV: cluster("h:1")}, MANIFEST, files={"journals/ns-1/0.jsonl": b"{}\n"}
    )
    result = run("bundle", "show", str(path), "--json")
    assert result.code == 0
    assert [tuple(row.values()) for row in result.json] == [
        ("server", NAMESRV, 1, None),
        ("journal", "ns-1", None, None),
        ("leftOut", "messages", None, "a bundle contains no messages"),
        ("leftOut", "x", 3, "limit"),
    ]
    assert result.err == "nsadmin: 2023-11-14T22:13:20.000Z, by nsadmin 1.0, 1 answer in 1.5 s\n"


def test_a_changed_bundle_is_refused(run: Run, tmp_path: Path) -> None:
    path = write_bundle(tmp_path / "a.zip", {NAMESRV: cluster("h:1")})
    path.write_bytes(path.read_bytes()[:100])
    result = run("bundle", "show", str(path))
    assert result.code == 2
    assert "is damaged, or is not a bundle of nsadmin" in result.err
    missing = run("bundle", "show", str(tmp_path / "none.zip"))
    assert missing.err == f"nsadmin: cannot read {tmp_path}/none.zip: No such file or directory\n"


def test_diff_exits_with_1_if_something_changed(run: Run, tmp_path: Path) -> None:
    paths = [
        str(write_bundle(tmp_path / f"{name}.zip", {NAMESRV: cluster(addr)}))
        for name, addr in (("a", "h:1"), ("b", "h:2"))
    ]
    same = run("bundle", "diff", paths[0], paths[0])
    assert (same.code, same.err) == (0, "nsadmin: no differences\n")
    changed = run("bundle", "diff", *paths, "--json")
    assert (changed.code, changed.err) == (1, "nsadmin: 1 difference\n")
    [row] = changed.json
    assert (row["section"], row["name"], row["after"]) == ("brokers", "0", {"address": "h:2"})


def test_bundles_with_pseudonyms_are_not_compared(run: Run, tmp_path: Path) -> None:
    manifest = MANIFEST._replace(anonymised=("addresses",))
    path = str(write_bundle(tmp_path / "a.zip", {NAMESRV: cluster("h:1")}, manifest))
    result = run("bundle", "diff", path, path)
    assert result.code == 2
    assert "bundles with pseudonyms cannot be compared" in result.err
