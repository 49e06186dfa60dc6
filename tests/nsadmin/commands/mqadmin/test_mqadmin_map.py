"""mqadminMap: it says of no command that it is missing which is here, and the other way round."""

from nsadmin.command_line import registry
from nsadmin.command_line.registry import COMMANDS
from nsadmin.commands.mqadmin.known_commands import KNOWN_COMMANDS
from tests.nsadmin.conftest import Run


def test_what_is_here_is_never_missing_and_what_is_missing_never_here(run: Run) -> None:
    rows = run("mqadminMap", "--json").json
    assert len(rows) == 101
    for row in rows:
        here = registry.find_command(row["mqadmin"])
        assert (row["status"] == "same name") == (here is not None), row
        assert (row["nsadmin"] is None) == (row["status"] == "not yet"), row
        assert row["nsadmin"] is None or registry.find_command(row["nsadmin"]), row
        assert here is None or row["nsadmin"] == row["mqadmin"], row
    own = {entry.name for entry in COMMANDS} - {row["mqadmin"] for row in rows}
    assert {"kvGet", "kvList", "mqadminMap", "labUp"} <= own


def test_one_command_in_any_case(run: Run) -> None:
    result = run("mqadminMap", "UPDATETOPIC", "--output", "tsv")
    assert result.out.splitlines()[1].split("\t")[:4] == ["updateTopic", "updateTopic", "same name", "4.1"]
    # Of those that are not here under their own names, as long as there are any.
    for item in KNOWN_COMMANDS:
        if registry.find_command(item.name) is None:
            status = "not yet" if item.replacement_name is None else "other command"
            assert status in run("mqadmin-map", item.name).out


def test_what_mqadmin_does_not_have(run: Run) -> None:
    result = run("mqadminMap", "updateTopik")
    assert (result.code, result.out) == (5, "")
    assert result.err.startswith(
        'nsadmin: unknown command of mqadmin "updateTopik": did you mean "updateTopic" or '
        '"updateTopicList" or "updateTopicPerm"?'
    )
    assert (
        run("mqadminMap", "zzz").err
        == 'nsadmin: unknown command of mqadmin "zzz": nsadmin mqadminMap lists all\n'
    )
