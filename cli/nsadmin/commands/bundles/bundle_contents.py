"""Owns bundle show and bundle diff, which read bundles."""

from pathlib import Path
from typing import Annotated, NamedTuple

from typer import Argument

from namesrv_core import operator_files
from namesrv_core.errors import RocketMQError
from nsadmin.client.bundles.bundle_file import JOURNAL_FOLDER, LOG_FOLDER, SupportBundle
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.columns.changes import difference_columns
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Column, Columns, ResultRows
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.phrases import count_noun
from nsadmin.console.session import Session
from nsadmin.operations.bundles.comparison import compare_bundles


class BundleItem(NamedTuple):
    """A server, a journal, a log or a gap of a bundle."""

    kind: str
    item: str
    quantity: int | None = None
    reason: str | None = None


ITEM_COLUMNS: Columns[BundleItem] = (
    Column("kind", "server, journal, log or leftOut", lambda i: i.kind),
    Column(
        "item", "address of the server, name of the journal or log, or the missing item", lambda i: i.item
    ),
    Column(
        "count", "number of answers of the server, or of requests that were left out", lambda i: i.quantity
    ),
    Column("reason", "why it was left out", lambda i: i.reason),
)
DIFFERENCE_COLUMNS = difference_columns(
    "brokers, topics, groups, orderConf, kv, consumeModes, users, acls, settings or lags",
    "name of the broker; null for the KV config and for lags",
    "name of the item: broker id, topic, group, key; TOPIC GROUP for a lag",
    "the item in the first bundle; null for none",
    "the item in the later bundle; null for none",
)

BundleFileArgument = Annotated[
    str, Argument(metavar="FILE", help="A file of `nsadmin bundle create`."), Flags("--file")
]


class BundleDiffersError(RocketMQError):
    """The bundles differ."""


@command(columns=ITEM_COLUMNS)
def bundle_show(session: Session, file_name: BundleFileArgument) -> ResultRows:
    """Verify a bundle, and list its contents and its gaps.

    nsadmin verifies the checksum of every part. A line on stderr has the time and the version of nsadmin that
    made the bundle. `count` is the number of answers of a server, or of requests that were left out.

    Examples:
        # Analyse a cluster without access to it: the contents of its bundle
        nsadmin bundle show incident.nsbundle.zip
        # The gaps, with the reasons
        nsadmin bundle show incident.nsbundle.zip --filter kind=leftOut
    """
    bundle = open_bundle(file_name)
    try:
        bundle.verify()
        manifest = bundle.manifest
        items = [
            BundleItem("server", addr, len(bundle.read_answers(addr) or ()))
            for addr in manifest.members_by_server
        ]
        journal_names = sorted({name.split("/")[0] for name in bundle.list_files(JOURNAL_FOLDER)})
        log_names = sorted(bundle.list_files(LOG_FOLDER))
    finally:
        bundle.close()
    items += [BundleItem("journal", name) for name in journal_names]
    items += [BundleItem("log", name) for name in log_names]
    items += [BundleItem("leftOut", o.item, o.quantity or None, o.reason) for o in manifest.left_out]
    anonymised_text = f", pseudonyms for {' and '.join(manifest.anonymised)}" if manifest.anonymised else ""
    note = (
        f"{format_utc(manifest.created_ms)}, by nsadmin {manifest.tool_version}, "
        f"{count_noun(manifest.request_count, 'answer')} in {manifest.seconds:g} s{anonymised_text}"
    )
    return ResultRows.from_records(ITEM_COLUMNS, items, [], [note])


@command(columns=DIFFERENCE_COLUMNS)
def bundle_diff(
    session: Session,
    file_name: BundleFileArgument,
    other_file: Annotated[str, Argument(metavar="OTHER", help="A later bundle."), Flags("--with")],
) -> ResultRows:
    """Compare two bundles: brokers, topics, groups, users, settings, KV config, and lags.

    nsadmin skips settings that name a server or its folders. Bundles with pseudonyms cannot be compared,
    because each has other pseudonyms. The exit code is 1 if an item differs.

    Examples:
        # The changes between two bundles (exit code 1)
        nsadmin bundle diff monday.nsbundle.zip tuesday.nsbundle.zip
    """
    before, after = open_bundle(file_name), open_bundle(other_file)
    try:
        if before.manifest.anonymised or after.manifest.anonymised:
            raise UsageError("bundles with pseudonyms cannot be compared: use bundles without --anonymise")
        differences = compare_bundles(before, after)
    finally:
        before.close()
        after.close()
    errors: list[RocketMQError | None] = [BundleDiffersError("the bundles differ")] if differences else [None]
    summary = count_noun(len(differences), "difference") if differences else "no differences"
    return ResultRows.from_records(DIFFERENCE_COLUMNS, differences, errors, [summary])


def open_bundle(file_name: str) -> SupportBundle:
    """Open a bundle. Raises UsageError if the file cannot be read."""
    try:
        return SupportBundle(Path(file_name).expanduser())
    except OSError as error:
        raise UsageError(operator_files.explain_unreadable(file_name, error)) from None
