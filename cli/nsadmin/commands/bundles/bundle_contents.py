"""Owns bundle show and bundle diff, which read bundles."""

from pathlib import Path
from typing import Annotated

from typer import Argument

from namesrv_core.errors import RocketMQError
from nsadmin.client.bundles.bundle_file import JOURNAL_FOLDER, SupportBundle
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.columns.changes import DIFFERENCE_COLUMNS, make_difference_rows
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.output.quantities import count_noun
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.session import Session
from nsadmin.operations.bundles.comparison import compare_bundles

BUNDLE_ITEM_COLUMNS = ("kind", "item", "count", "reason")

BundleFileArgument = Annotated[
    str, Argument(metavar="FILE", help="A file of `nsadmin bundle create`."), Flags("--file")
]


class BundleDiffersError(RocketMQError):
    """The bundles differ."""


@command(columns=BUNDLE_ITEM_COLUMNS)
def bundle_show(session: Session, file_name: BundleFileArgument) -> ResultRows:
    """Verify a bundle, and list its contents and its gaps.

    nsadmin verifies the checksum of every part. A line on stderr has the time and the version of nsadmin that
    made the bundle. `count` is the number of answers of a server, or of requests that were left out.

    Examples:
        # The contents
        nsadmin bundle show incident.nsbundle.zip
        # The gaps, with the reasons
        nsadmin bundle show incident.nsbundle.zip --filter kind=leftOut
    """
    bundle = open_bundle(file_name)
    try:
        bundle.verify()
        server_rows: list[ResultRow] = [
            {"kind": "server", "item": server_addr, "count": len(bundle.read_answers(server_addr) or ())}
            for server_addr in bundle.manifest.members_by_server
        ]
        journal_names = sorted({name.split("/")[0] for name in bundle.list_files(JOURNAL_FOLDER)})
    finally:
        bundle.close()
    manifest = bundle.manifest
    journal_rows: list[ResultRow] = [{"kind": "journal", "item": name} for name in journal_names]
    left_out_rows: list[ResultRow] = [
        {
            "kind": "leftOut",
            "item": left_out.item,
            "count": left_out.quantity or None,
            "reason": left_out.reason,
        }
        for left_out in manifest.left_out
    ]
    anonymised_text = f", pseudonyms for {' and '.join(manifest.anonymised)}" if manifest.anonymised else ""
    note = (
        f"{format_utc(manifest.created_ms)}, by nsadmin {manifest.tool_version}, "
        f"{count_noun(manifest.request_count, 'answer')} in {manifest.seconds:g} s{anonymised_text}"
    )
    return ResultRows(BUNDLE_ITEM_COLUMNS, [*server_rows, *journal_rows, *left_out_rows], [], [note])


@command(columns=DIFFERENCE_COLUMNS)
def bundle_diff(
    session: Session,
    file_name: BundleFileArgument,
    other_file: Annotated[str, Argument(metavar="OTHER", help="A later bundle."), Flags("--with")],
) -> ResultRows:
    """Compare two bundles: brokers, topics, groups, users, settings, KV config, and backlogs.

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
    return ResultRows(
        DIFFERENCE_COLUMNS, make_difference_rows(differences), errors, [summary], DIFFERENCE_COLUMNS[:4]
    )


def open_bundle(file_name: str) -> SupportBundle:
    """Open a bundle. Raises UsageError if the file cannot be read."""
    try:
        return SupportBundle(Path(file_name).expanduser())
    except OSError as error:
        raise UsageError(f'cannot read the bundle "{file_name}": {error.strerror}') from None
