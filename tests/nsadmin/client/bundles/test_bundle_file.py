"""Bundles as files."""

from pathlib import Path

import pytest

from nsadmin.client.bundles.bundle_file import InvalidBundleError, LeftOut, SupportBundle
from nsadmin.client.verified_archive import MANIFEST, build_manifest, pack_members
from tests.support.bundles import MANIFEST_FIELDS, NAMESRV, json_answer, request_key, write_bundle

TABLE = {request_key(106): json_answer({"brokerAddrTable": {}})}


def test_a_bundle_returns_what_was_written(tmp_path: Path) -> None:
    manifest = MANIFEST_FIELDS._replace(
        anonymised=("addresses",), left_out=(LeftOut("messages", 0, "a bundle contains no messages"),)
    )
    path = write_bundle(
        tmp_path / "a.zip",
        {NAMESRV: TABLE},
        manifest,
        {"certificates h:1": {"result": []}},
        {"state/x.json": b"{}"},
    )
    with SupportBundle(path) as bundle:
        bundle.verify()
        assert bundle.manifest._replace(members_by_server={}) == manifest
        assert bundle.read_answers(NAMESRV) == TABLE
        assert bundle.read_answers("h:2") is None
        assert bundle.read_probes() == {"certificates h:1": {"result": []}}
        assert bundle.list_files("state/") == ["x.json"]
        assert dict(bundle.read_files("state/")) == {"x.json": b"{}"}


def test_another_archive_of_nsadmin_is_no_bundle(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(pack_members({MANIFEST: build_manifest(1, {"cluster": "c"}, {})}))
    with pytest.raises(
        InvalidBundleError, match="is not a bundle of nsadmin: make one with nsadmin bundle create"
    ):
        SupportBundle(path)


def test_answers_of_another_form_are_refused(tmp_path: Path) -> None:
    path = write_bundle(tmp_path / "a.zip", {NAMESRV: TABLE})
    record = MANIFEST_FIELDS._replace(members_by_server={NAMESRV: "x"}).to_record()
    path.write_bytes(pack_members({MANIFEST: build_manifest(1, record, {"x": b"[]"}), "x": b"[]"}))
    with SupportBundle(path) as bundle, pytest.raises(InvalidBundleError, match="has unexpected contents"):
        bundle.read_answers(NAMESRV)


def test_deep_answers_are_refused(tmp_path: Path) -> None:
    path, deep = tmp_path / "a.zip", b"[" * 50_000
    record = MANIFEST_FIELDS._replace(members_by_server={NAMESRV: "x"}).to_record()
    members = {"x": deep, "probes.json": deep}
    path.write_bytes(pack_members({MANIFEST: build_manifest(1, record, members), **members}))
    with SupportBundle(path) as bundle:
        for read in (lambda: bundle.read_answers(NAMESRV), bundle.read_probes):
            with pytest.raises(InvalidBundleError, match="has unexpected contents"):
                read()
