"""What is read off signatures, docstrings and parsers."""

from nsadmin.command_line.parser import OptionDescription

from nsadmin.manual.command_descriptions import describe_all_commands
from nsadmin.registry import COMMANDS

FOUND = {command.entry.name: command for command in describe_all_commands()}


def test_every_command_is_described_in_the_registry_s_order() -> None:
    assert list(FOUND) == [entry.name for entry in COMMANDS]
    assert all(command.text_paragraphs[0].endswith(".") for command in FOUND.values())
    assert all(option.help for command in FOUND.values() for option in command.options)


def test_words_and_options_are_those_of_the_command() -> None:
    assert FOUND["wipeWritePerm"].argument_words == "BROKER"
    flags = [option.flags for option in FOUND["wipeWritePerm"].options]
    assert flags[0] == ("-b", "--brokerName")
    assert ("--dry-run",) in flags
    assert ("--columns",) not in flags
    assert ("--system", "--no-system") in [option.flags for option in FOUND["topicList"].options]


def test_programs_are_described_by_their_own_parsers() -> None:
    assert FOUND["lab"].argument_words == "up|run|list"
    assert "--clusters" in [option.flags[0] for option in FOUND["lab"].options]
    help_text = "configuration file (Java properties); UPDATE_NAMESRV_CONFIG writes to it"
    about = OptionDescription(("-c", "--configFile"), "FILE", help_text)
    assert about in FOUND["namesrv"].options


def test_the_commands_of_a_program_have_words_and_options_of_their_own() -> None:
    up, run, listing = FOUND["lab"].program_parts
    assert [part.part_name for part in FOUND["lab"].program_parts] == ["lab up", "lab run", "lab list"]
    assert (up.argument_words, run.argument_words, listing.argument_words) == ("[SCENARIO]", "SCENARIO", "")
    assert "--until" in [option.flags[0] for option in run.options if option.flags]
    assert "--until" not in [option.flags[0] for option in up.options if option.flags]
    assert run.options[0].help.startswith("scenario to play: a built-in name")
    assert FOUND["namesrv"].program_parts == []


def test_a_scenario_is_completed_wherever_one_may_stand() -> None:
    second = FOUND["lab"].positional_options[1]
    [option] = [option for option in FOUND["lab"].options if option.flags == ("--scenario",)]
    assert second.value_source == option.value_source
    assert set(str(second.value_source).split("|")) > {"quiet-day", "split-brain", "rolling-restart"}


def test_columns_and_examples_come_with_them() -> None:
    assert FOUND["topicClusterList"].column_meanings == {"clusterName": "name of the cluster"}
    assert FOUND["kvList"].column_meanings["value"] == "text of the value"
    assert FOUND["topicRoute"].examples[0].command_line == "nsadmin topicRoute orders"
    assert not any("Examples" in text for command in FOUND.values() for text in command.text_paragraphs)
