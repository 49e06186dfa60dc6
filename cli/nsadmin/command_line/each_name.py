"""Runs a command that takes one topic, group or broker for each of several, and joins what it returns."""

from collections.abc import Callable, Iterable
from typing import Any

from namesrv_core.errors import RocketMQError
from nsadmin.client import NotFound
from nsadmin.client.results import error_text
from nsadmin.command_line.argument_values import parse_name_list
from nsadmin.command_line.declarations import EachNoun, Parameter
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import ResultRows
from nsadmin.console.session import Session
from nsadmin.operations.name_patterns import expand_patterns

EACH_COLUMN: dict[EachNoun, str] = {"topic": "topic", "consumer group": "group", "broker": "brokerName"}


def run_for_each(session: Session, parameter: Parameter, text: str, run: Callable[..., Any]) -> ResultRows:
    """Run the command once for each name; a column has the name.

    Names that a pattern matches may have no result, such as topics without the message that is searched.
    Raises NotFound if no name matches or none has a result, and UsageError if the command prints no rows.
    """
    typed_names = parse_name_list(str(parameter.metavar), text)
    assert parameter.each is not None
    noun = parameter.each.noun
    names = expand_names(session, noun, typed_names)
    results: list[ResultRows] = []
    errors: list[RocketMQError] = []
    failures: list[RocketMQError] = []
    notes: list[str] = []
    table_notes: list[str] = []
    for name in names:
        try:
            result = run(**{parameter.name: name})
        except RocketMQError as error:
            errors.append(error)
            if name in typed_names or not isinstance(error, NotFound):
                failures.append(error)
                notes.append(f"{name}: {error_text(error)}")
            continue
        if not isinstance(result, ResultRows) or session.output_form is not None:
            raise UsageError(f"this form takes one {noun}, and {text} means {len(names)}: name one of them")
        notes += _name_notes(name, result.notes)
        table_notes += _name_notes(name, result.table_notes)
        results.append(_add_name(result, EACH_COLUMN[noun], name))
    if not results:
        if len(errors) > 1 and all(isinstance(error, NotFound) for error in errors):
            raise NotFound(f"nothing was found for {len(errors)} {noun}s; for {names[0]}: {errors[0]}")
        raise errors[0]
    rows = [row for result in results for row in result.rows]
    if results[0].describe_all is not None:
        notes.append(results[0].describe_all(rows))
    return results[0]._replace(
        rows=rows,
        errors=[*(error for result in results for error in result.errors), *failures],
        notes=notes,
        table_notes=table_notes,
        totals={},
        done_code=max(result.done_code for result in results),
    )


def expand_names(
    session: Session, noun: EachNoun, words: Iterable[str], cluster_name: str | None = None
) -> list[str]:
    """The names that names and patterns mean. Raises NotFound for a pattern that matches none."""
    return expand_patterns(noun, words, lambda: _list_names(session, noun, cluster_name))


def _list_names(session: Session, noun: EachNoun, cluster_name: str | None) -> Iterable[str]:
    if noun == "topic":
        return session.admin.topics.list_user_names(cluster_name)
    if noun == "broker":
        return (group.broker_name for group in session.admin.clusters.get_info().broker_groups)
    return {name for r in session.admin.groups.list_names(cluster_name) for name in r.result or ()}


def _name_notes(name: str, notes: Iterable[str]) -> list[str]:
    return [note if note.startswith(f"{name} ") else f"{name}: {note}" for note in notes]


def _add_name(result: ResultRows, key: str, name: str) -> ResultRows:
    table_columns = result.columns if result.table_columns is None else result.table_columns
    return result._replace(
        columns=result.columns if key in result.columns else [key, *result.columns],
        rows=[{**row, key: name if row.get(key) is None else row[key]} for row in result.rows],
        table_columns=table_columns if key in table_columns else [key, *table_columns],
    )
