"""What is read off signatures and docstrings."""

from namesrv_core.lab.scenario_reader import list_scenario_names
from nsadmin.command_line.registry import COMMANDS
from nsadmin.manual.command_descriptions import describe_all_commands

FOUND = {command.entry.name: command for command in describe_all_commands()}


def test_every_command_is_described_in_the_registry_s_order() -> None:
    assert list(FOUND) == [entry.name for entry in COMMANDS]
    assert all(command.text_paragraphs[0].endswith(".") for command in FOUND.values())
    assert all(option.help for command in FOUND.values() for option in command.parameters)


def test_words_and_options_are_those_of_the_command() -> None:
    assert FOUND["wipeWritePerm"].argument_words == "BROKER"
    assert FOUND["wipeWritePerm"].parameters[0].flags == ("-b", "--broker", "--brokerName")
    assert ("--system", "--no-system") in [option.flag_names for option in FOUND["topicList"].parameters]
    config_file = FOUND["namesrv"].parameters[0]
    assert (config_file.flags, config_file.metavar) == (("-c", "--configFile"), "FILE")
    words = [FOUND[name].argument_words for name in ("labUp", "labRun", "labList")]
    assert words == ["[SCENARIO]", "SCENARIO", ""]


def test_a_scenario_is_one_of_those_that_come_with_nsadmin() -> None:
    scenarios = {*str(FOUND["labRun"].parameters[0].value_source).split("|")}
    assert scenarios == {*list_scenario_names()}


def test_columns_and_examples_come_with_them() -> None:
    assert FOUND["topicClusterList"].column_meanings == {
        "topic": "name of the topic",
        "clusterName": "name of the cluster",
    }
    assert FOUND["kvList"].column_meanings["value"] == "text of the value"
    assert FOUND["topicRoute"].examples[0].command_line == "nsadmin topicRoute orders"
    assert not any("Examples" in text for command in FOUND.values() for text in command.text_paragraphs)
