"""Bundles for tests: made from answers, without a server."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from namesrv_core.protocol import fastjson
from namesrv_core.protocol.codes import V5_5_0
from nsadmin.client.bundles.answer_table import AnswerTable, RecordedAnswer, RequestKey, encode_table
from nsadmin.client.bundles.bundle_file import FORMAT_VERSION, PROBES, BundleManifest
from nsadmin.client.verified_archive import MANIFEST, build_manifest, encode_json, pack_members

IDENTITY = "unsigned plain"
NAMESRV = "10.0.0.1:9876"
MANIFEST_FIELDS = BundleManifest("1.0", 1_700_000_000_000, (NAMESRV,), IDENTITY, {}, 0, 1.5)


def request_key(code: int, body: bytes = b"", **ext: str) -> RequestKey:
    return RequestKey(IDENTITY, code, tuple(sorted(ext.items())), body)


def json_answer(value: object, version: int = V5_5_0) -> RecordedAnswer:
    return RecordedAnswer(0, None, fastjson.encode_json(value), None, version)


def write_bundle(
    path: Path,
    tables: Mapping[str, AnswerTable],
    manifest: BundleManifest = MANIFEST_FIELDS,
    probes: Mapping[str, Any] | None = None,
    files: Mapping[str, bytes] | None = None,
) -> Path:
    """Write a bundle with these answers and files; return its path."""
    members_by_server = {addr: f"servers/{number}.json" for number, addr in enumerate(tables)}
    members = {
        PROBES: encode_json(probes or {}),
        **{members_by_server[addr]: encode_table(addr, table) for addr, table in tables.items()},
        **(files or {}),
    }
    record = manifest._replace(members_by_server=members_by_server).to_record()
    path.write_bytes(pack_members({MANIFEST: build_manifest(FORMAT_VERSION, record, members), **members}))
    return path
