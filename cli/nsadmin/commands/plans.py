"""export, plan, apply: manage topics, groups, order configurations and KV config of a cluster as a file."""

from pathlib import Path
from typing import Annotated

from nsadmin import diagnostics
from nsadmin.client.results import NotApplied
from nsadmin.commands.declared import Option, Word, shows
from nsadmin.commands.planned import (
    COLUMNS,
    failed,
    planned,
    preview,
    rows,
    summary,
    warnings,
)
from nsadmin.diagnostics import UsageError
from nsadmin.operations.plans import saving, schema
from nsadmin.operations.plans.carrying import carry_out
from nsadmin.operations.plans.describing import described
from nsadmin.operations.plans.difference import Difference, difference
from nsadmin.operations.plans.observing import observe
from nsadmin.operations.plans.reading import BadFile, read
from nsadmin.operations.plans.records import Desired, Live
from nsadmin.operations.plans.saving import SavedPlan
from nsadmin.operations.plans.stranding import stranded
from nsadmin.operations.plans.writing import SCHEMA_FILE, text_of
from nsadmin.output import Rows, Text
from nsadmin.session import Session

MAX_DELETES = 10
_PROBLEMS = 10

FileWord = Annotated[str, Word(("--file",), "FILE", "What the cluster is to have, in YAML.")]
PruneOption = Annotated[
    bool, Option("--prune", help="Delete what the file does not have, of the sections that it has.")
]


def export(
    session: Session,
    cluster: Annotated[str | None, Word(("-c", "--clusterName"), "CLUSTER", "The cluster.", required=False)],
    namespaces: Annotated[
        list[str] | None,
        Option(
            "--namespace",
            metavar="NAMESPACE",
            help="With this KV namespace too. Repeatable.",
            values="namespaces",
        ),
    ] = None,
    with_schema: Annotated[bool, Option("--schema", help="The schema of such files instead.")] = False,
) -> Text:
    """Write what a cluster has as YAML: topics, consumer groups, order configurations, KV config.

    What goes without saying is left out: defaults (those of updateTopic and updateSubGroup), system topics
    and groups, retry and dead-letter topics. What is otherwise on single brokers stands there under
    perBroker, onlyOn or notOn. The same state gives the same text. Name servers do not list their KV
    namespaces: name those that are to be in it.

    Editors check such a file, and complete in it, by its schema: write that beside it as cluster.schema.json.

    Examples:
        # All topics and groups of a cluster
        nsadmin export cluster-a
        # With a namespace of the operator's own
        nsadmin export cluster-a --namespace DEPLOYMENT
        # The schema for editors
        nsadmin export --schema
    """
    if with_schema:
        return Text(schema.text())
    if cluster is None:
        raise UsageError("export: CLUSTER is missing; type: nsadmin export CLUSTER")
    names = tuple(namespaces or ())
    live = observe(session.admin, cluster, names)
    desired, remarks = described(live, names)
    errors = [broker.error for broker in live.brokers] + [server.error for server in live.name_servers]
    for line in remarks:
        (diagnostics.say if any(errors) else session.remark)(line)
    head = [
        "nsadmin plan FILE shows what differs from this, nsadmin apply FILE makes it so;",
        f"nsadmin export --schema writes {SCHEMA_FILE}, which editors check it by.",
    ]
    return Text(text_of(desired, [*head, *remarks]), errors)


@shows(COLUMNS)
def plan(
    session: Session,
    file: FileWord,
    prune: PruneOption = False,
    save_to: Annotated[
        str | None, Option("--save-to", metavar="FILE", help="Keep the plan, for apply to carry it out.")
    ] = None,
) -> Rows:
    """Show what apply would do to make a cluster what a file says: creates, updates, perhaps deletes.

    The file is as export writes it. What it leaves out of a topic or group has its default; a section that it
    has not is not looked at. A row for each item has what changes there, field by field, and the servers.
    Queues that go take their messages with them: how many are in them is said.

    A plan that was kept is carried out by apply just as it was shown, or refused when the cluster is not what
    it was.

    Examples:
        # What would change
        nsadmin plan cluster.yaml
        # With deletes, kept for apply
        nsadmin plan cluster.yaml --prune --save-to tonight.plan
    """
    desired = _desired("plan", file, _text("plan", file))
    live, found = _difference(session, desired, prune)
    if save_to is not None:
        try:
            saving.save(Path(save_to), saving.plan_of(desired, prune, live, found))
        except OSError as error:
            raise UsageError(f"plan: --save-to {save_to}: {error.strerror}") from None
    lost = stranded(session.admin, live, found.steps)
    notes = [*warnings(lost), summary(found)]
    return rows(planned(found, "planned"), found.troubles, lost, notes)


@shows(COLUMNS)
def apply(
    session: Session,
    file: Annotated[str, Word(("--file",), "FILE", "What the cluster is to have, or a plan that was kept.")],
    prune: PruneOption = False,
    max_deletes: Annotated[
        int,
        Option("--max-deletes", metavar="N", help="Refuse to delete more items; 10 if left out.", minimum=0),
    ] = MAX_DELETES,
) -> Rows:
    """Make a cluster what a file says: topics, consumer groups, order configurations, KV config.

    It is the plan, the question whether to go on, and then the steps: creates and updates, order
    configurations, what shrinks, deletes. Brokers since 5.3 take topics and groups in lists. Afterwards every
    server is read again, and a row for each item says what came of it, on which servers. Nothing is deleted
    without --prune, and not more than --max-deletes items; groups go with their offsets. What was interrupted
    goes on when it is started again.

    A plan that plan --save-to has kept is carried out as it was shown, deletes included; it is refused when
    the cluster is not what it was, but for those of its own steps that are done.

    Examples:
        # Make it so
        nsadmin apply cluster.yaml --yes
        # What would be deleted as well
        nsadmin apply cluster.yaml --prune --max-deletes 100 --dry-run
    """
    text = _text("apply", file)
    saved = _saved("apply", file, text)
    if saved is not None and prune:
        raise UsageError(f"apply: {file} is a plan, which says itself whether it prunes: leave --prune out")
    desired = saved.desired if saved else _desired("apply", file, text)
    live, found = _difference(session, desired, saved.prune if saved else prune)
    if saved is not None:
        _require_unmoved(file, saved, live, found)
    _require_few(found, max_deletes)
    lost = stranded(session.admin, live, found.steps)
    if session.dry_run or not found.steps:
        notes = [*warnings(lost), summary(found)]
        return rows(planned(found, "dry-run"), found.troubles, lost, notes)
    _ask(session, found, live, warnings(lost))
    with session.counting("applying", len(found.steps)) as advance:
        outcomes = carry_out(session.admin, live, found.steps, advance)
    failures = failed(outcome.error for outcome in outcomes)
    notes = (
        [f"failed in {failures} of {len(outcomes)} steps; start it again to try those"] if failures else []
    )
    return rows(outcomes, found.troubles, lost, notes)


def _text(command: str, file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{command}: {file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{command}: {file} is no text in UTF-8") from None


def _desired(command: str, file: str, text: str) -> Desired:
    if _saved(command, file, text) is not None:
        raise UsageError(f"{command}: {file} is a plan already: nsadmin apply {file} carries it out")
    try:
        return read(text, file)
    except BadFile as error:
        raise _told(command, error) from None


def _saved(command: str, file: str, text: str) -> SavedPlan | None:
    try:
        return saving.from_text(text, file)
    except BadFile as error:
        raise _told(command, error) from None


def _told(command: str, error: BadFile) -> UsageError:
    """The error with a line for each problem, limited to `_MAX_PROBLEMS` lines."""
    first, *others = error.problems
    told = UsageError(f"{command}: {first}")
    for line in others[: _PROBLEMS - 1]:
        told.add_note(line)
    if len(others) >= _PROBLEMS:
        told.add_note(f"... and {len(others) - _PROBLEMS + 1} more")
    return told


def _difference(session: Session, desired: Desired, prune: bool) -> tuple[Live, Difference]:
    partly = desired.spread_partly if prune else ()
    live = observe(session.admin, desired.cluster, desired.kv or (), partly)
    return live, difference(desired, live, prune=prune)


def _require_unmoved(file: str, saved: SavedPlan, live: Live, found: Difference) -> None:
    reasons = saving.moved(saved, live, found)
    if reasons:
        error = NotApplied(f"the cluster is not what it was when {file} was made: make the plan again")
        for line in reasons[:_PROBLEMS]:
            error.add_note(line)
        if len(reasons) > _PROBLEMS:
            error.add_note(f"... and {len(reasons) - _PROBLEMS} more")
        raise error


def _require_few(found: Difference, max_deletes: int) -> None:
    number = len(found.deleted)
    if number > max_deletes:
        raise NotApplied(
            f"this would delete {number} items, more than --max-deletes {max_deletes}: look at the plan, and"
            f" if it is right, type --max-deletes {number}"
        )


def _ask(session: Session, found: Difference, live: Live, lost: list[str]) -> None:
    """Ask for confirmation; deletes cannot be undone, so off a terminal they need --yes."""
    if found.deleted:
        session.require_yes("apply with deletes")
    if diagnostics.is_interactive() and not session.options.yes:
        for line in preview(found, live):
            session.remark(line)
    for line in lost:
        diagnostics.say(line)
    places = f"{len(live.brokers)} broker(s) and {len(live.name_servers)} name server(s)"
    session.confirm(f"{live.cluster}, {places}: {summary(found)}; go on?")
