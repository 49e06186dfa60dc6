"""Makes a support bundle: collects, redacts, replaces names by pseudonyms, and writes the file."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from errno import EACCES, EISDIR
from pathlib import Path
from time import monotonic, sleep
from typing import NamedTuple

from namesrv_core import __version__, private_files
from namesrv_core.storage import atomic_write
from nsadmin.client import AdminClient
from nsadmin.client.bundles.answer_table import AnswerTable, encode_table
from nsadmin.client.bundles.bundle_answers import describe_code
from nsadmin.client.bundles.bundle_file import FORMAT_VERSION, PROBES, BundleManifest, LeftOut, SupportBundle
from nsadmin.client.connection.access_options import Access
from nsadmin.client.verified_archive import encode_json, pack_in_turn
from nsadmin.operations.bundles.answer_recorder import DEFAULT_RATES, AnswerRecorder, RequestRates
from nsadmin.operations.bundles.collector import CollectionPlan, CollectionSummary, collect_answers
from nsadmin.operations.bundles.local_files import LocalFiles, LogFolder
from nsadmin.operations.bundles.pseudonyms import Pseudonyms
from nsadmin.operations.bundles.redaction import Redactor
from nsadmin.operations.drain.state import SavedDrain, load_drains
from nsadmin.operations.installation import Installation

DEFAULT_SINCE_SECONDS = 6 * 3600.0
_COMPRESSION_LEVEL = 1
"""Level 6, the default, makes the file an eighth smaller in more than twice the time."""
_DETAIL_LIMIT = "--max-details was reached: pass a higher number"
_DETAIL_TIME = "reading the details took too long"
_ALWAYS_LEFT_OUT = (
    LeftOut("messages", 0, "a bundle contains no messages"),
    LeftOut("secrets", 0, "passwords, keys, tokens and signatures are replaced by ***"),
)


class BundleOrder(NamedTuple):
    """What a bundle shall contain, beside what `plan` reads from the servers.

    Journals and the audit log begin at `since_ms`; `journal_folders` may be folders of the collector.
    `log_folders` have the logs of servers.

    `state_home` has the saved state of procedures. `anonymised` are "addresses" and "names", for pseudonyms.
    """

    bundle_path: Path
    plan: CollectionPlan
    rates: RequestRates
    since_ms: int
    journal_folders: tuple[str, ...]
    audit_file: Path | None
    state_home: Path
    anonymised: tuple[str, ...] = ()
    log_folders: tuple[LogFolder, ...] = ()


def create_bundle(
    open_client: Callable[[Access], AdminClient],
    access: Access,
    namesrv_addrs: Sequence[str],
    order: BundleOrder,
    on_step: Callable[[str], object] = lambda step_name: None,
    pause_seconds: Callable[[float], object] = sleep,
) -> SupportBundle:
    """Collect and write a bundle; return it, open. Calls `on_step` with the name of each step.

    `pause_seconds` waits between requests, and may raise ClientClosed.

    Raises:
        NoneReachable: No name server answers.
        ClientClosed: The client was closed.
        OSError: The file cannot be written.
    """
    check_target(order.bundle_path)
    recorder, began_at = AnswerRecorder(order.rates, namesrv_addrs, pause_seconds=pause_seconds), monotonic()
    summary = collect_answers(open_client, access, recorder, order.plan, on_step)
    on_step("redaction")
    redactor = Redactor(_list_own_secrets(access))
    tables = redactor.redact_tables(recorder.tables)
    with open_client(access) as admin:
        installation = Installation(admin, order.state_home)
        local_files = _collect_local_files(redactor, order, namesrv_addrs, installation)
    manifest = BundleManifest(
        __version__,
        recorder.clock_ms,
        tuple(namesrv_addrs),
        access.identity,
        {},
        sum(map(len, tables.values())),
        round(monotonic() - began_at, 1),
        order.anonymised,
        (*_list_left_out(recorder, summary), *local_files.left_out),
        access.proxies,
    )
    members = {PROBES: encode_json(redactor.redact_json(recorder.probes)), **local_files.members}
    on_step("archive")
    _write_bundle(order, manifest, tables, members)
    return SupportBundle(order.bundle_path)


def choose_rates(requests_per_second: int | None) -> RequestRates:
    """Return one limit for all servers, or the default limits."""
    if requests_per_second is None:
        return DEFAULT_RATES
    return RequestRates(requests_per_second, requests_per_second)


def check_target(bundle_path: Path) -> None:
    """Raise OSError if the file cannot be written, before anything is collected for a minute."""
    private_files.check_links(bundle_path)
    folder = bundle_path.resolve().parent
    folder.mkdir(parents=True, exist_ok=True)
    if bundle_path.is_dir():
        raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
    if not os.access(folder, os.W_OK):
        raise PermissionError(EACCES, os.strerror(EACCES))


def _collect_local_files(
    redactor: Redactor, order: BundleOrder, namesrv_addrs: Sequence[str], installation: Installation
) -> LocalFiles:
    local_files = LocalFiles(redactor, order.since_ms)
    if order.anonymised:
        reason = "they may contain names without a pseudonym"
        local_files.leave_out("journals, the audit log, logs and saved drains", reason)
        return local_files
    local_files.add_journals(order.journal_folders)
    local_files.add_logs(order.log_folders)
    local_files.add_audit(order.audit_file, namesrv_addrs)
    own_drains = installation.keep_own(load_drains(order.state_home))
    open_folders = [saved.folder.path for saved in own_drains if isinstance(saved, SavedDrain)]
    # The folder of the installation has also the drains that were undone.
    local_files.add_state(order.state_home, [installation.home / "drains", *open_folders])
    return local_files


def _list_own_secrets(access: Access) -> list[str]:
    credentials, tls = access.credentials, access.tls
    candidates = (
        credentials and credentials.secret_key,
        credentials and credentials.security_token,
        tls and tls.key_password,
    )
    return [secret for secret in candidates if secret]


def _list_left_out(recorder: AnswerRecorder, summary: CollectionSummary) -> list[LeftOut]:
    silent_servers = [
        LeftOut(f"answers of {server_addr}", 1, f"it did not answer: {failure.reason}")
        for server_addr, failure in sorted(recorder.silent_servers.items())
    ]
    skipped_details = [
        LeftOut(f"details of {items}", count, _DETAIL_LIMIT if recorder.is_exhausted else _DETAIL_TIME)
        for items, count in (
            ("groups", summary.groups_without_details),
            ("topics", summary.topics_without_details),
        )
        if count
    ]
    skipped_requests = [
        LeftOut(f"requests {describe_code(code)}", count, _DETAIL_LIMIT, code)
        for code, count in sorted(recorder.skipped_counts.items())
    ]
    return [*_ALWAYS_LEFT_OUT, *silent_servers, *skipped_details, *skipped_requests]


def _write_bundle(
    order: BundleOrder, manifest: BundleManifest, tables: dict[str, AnswerTable], members: dict[str, bytes]
) -> None:
    members_by_server = {a: f"servers/{n:04}.json" for n, a in enumerate(sorted(tables), 1) if tables[a]}
    record = manifest._replace(members_by_server=members_by_server).to_record()
    all_members = _encode_members(tables, members_by_server, members)
    if order.anonymised:
        pseudonyms = Pseudonyms(tables, manifest.namesrv_addrs, order.anonymised)
        record = pseudonyms.rename_json(record)
        all_members = (pseudonyms.rename_member(*member) for member in all_members)
    archive_bytes = pack_in_turn(FORMAT_VERSION, record, all_members, _COMPRESSION_LEVEL)
    atomic_write.replace_file(order.bundle_path, archive_bytes, keeps_backup=False)


def _encode_members(
    tables: Mapping[str, AnswerTable], members_by_server: Mapping[str, str], members: Mapping[str, bytes]
) -> Iterator[tuple[str, bytes]]:
    """The members of the archive one by one. The encoded answers of all servers would take much memory."""
    for server_addr, member_name in members_by_server.items():
        yield member_name, encode_table(server_addr, tables[server_addr])
    yield from members.items()
