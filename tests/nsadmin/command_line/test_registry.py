"""The table of commands, against the modules it names and against mqadmin's flags."""

from inspect import signature

import pytest

from nsadmin.command_line import registry
from nsadmin.command_line.declarations import declaration_of
from nsadmin.command_line.registry import (
    COMMAND_GROUPS,
    COMMANDS,
    find_command,
    find_group,
    list_group_members,
    list_top_level_names,
    suggest_commands,
    suggest_members,
    take_command,
)


def test_every_entry_names_a_documented_function() -> None:
    for entry in COMMANDS:
        function = entry.load_function()
        assert function.__doc__, entry.name
        assert ("session" in signature(function).parameters) == (entry.kind != "program"), entry.name
        assert declaration_of(function)


@pytest.mark.parametrize(
    "word", ["topicRoute", "topicroute", "TOPICROUTE", "topic-route", "topic_route", "Topic-Route"]
)
def test_names_are_found_however_they_are_written(word: str) -> None:
    entry = find_command(word)
    assert entry is not None
    assert entry.name == "topicRoute"


@pytest.mark.parametrize(
    ("line", "suggested"),
    [
        ("topicrout", "topicRoute"),
        ("wipeWriteParm b", "wipeWritePerm"),
        ("qqqqqqq", ""),
        ("vresion", ""),
        ("lag", "consumerProgress, check lag"),
        ("list", "clusterList, topicList"),
        ("ls", "clusterList, topicList"),
        ("status", "clusterList, brokerStatus"),
        ("statuss", "clusterList, brokerStatus"),
        ("describe topic orders", "topicList, topicRoute"),
        ("get", "topicRoute, brokerStatus"),
        ("ctx", "context list, context use"),
        ("brokers", "clusterList, brokerStatus"),
        ("consumers", "consumerProgress, consumerConnection"),
        ("groups", "consumerProgress, consumerConnection"),
        ("offsets", "topicStatus, consumerProgress"),
        ("reset", "resetOffsetByTime"),
        ("health", "check all, check namesrv"),
    ],
)
def test_an_unknown_word_leads_to_the_commands_that_it_means(line: str, suggested: str) -> None:
    assert ", ".join(suggest_commands(line.split())) == suggested


@pytest.mark.parametrize("word", ["delete", "remove", "create", "drop", "set", "put", "update", "clean"])
def test_a_word_that_is_only_distantly_similar_never_leads_to_a_change(word: str) -> None:
    suggestions = [take_command(name.split())[0] for name in suggest_commands([word])]
    assert [entry for entry in suggestions if entry is None or entry.may_change] == []


def test_an_unknown_command_of_a_group_leads_to_a_similar_one_or_to_what_it_means() -> None:
    assert suggest_members("kv", "gte") == ["kv get"]
    assert suggest_members("kv", "put") == ["updateKvConfig"]
    assert suggest_members("context", "frobnicate") == []


def test_a_line_begins_with_a_name_in_one_word_or_in_two() -> None:
    assert take_command(["topicRoute", "T"]) == (find_command("topicRoute"), ["T"])
    assert take_command(["topic", "route", "T"]) == (find_command("topicRoute"), ["T"])
    assert take_command(["Topic-", "route"])[0] == find_command("topicRoute")
    assert take_command(["topic"]) == (None, [])
    assert take_command(["topic", "--help"]) == (None, ["--help"])
    assert take_command(["lab", "up"]) == (find_command("labUp"), [])


def test_every_group_has_help_and_two_word_commands_with_a_camel_case_alias() -> None:
    nouns = {alias.split()[0] for alias in registry.NOUN_AND_VERB}
    assert {entry.group for entry in COMMANDS} | nouns == {"", *COMMAND_GROUPS}
    for group in COMMAND_GROUPS:
        assert find_command(group) is None
        for entry in list_group_members(group):
            assert entry.typed_name == f"{group} {entry.member_name}"
            for words in (entry.typed_name.split(), [entry.name], [f"{group}-{entry.member_name}"]):
                assert take_command([*words, "-n", "h:1"]) == (entry, ["-n", "h:1"])


def test_a_group_is_found_in_any_case() -> None:
    assert (find_group("KV"), find_group("kvs")) == ("kv", None)


def test_only_the_groups_check_and_kube_consist_of_checks() -> None:
    assert [entry.member_name for entry in list_group_members("check")][:2] == ["all", "namesrv"]
    for entry in COMMANDS:
        assert entry.group == "" or (entry.kind == "check") == (entry.group in ("check", "kube"))


def test_groups_and_single_commands_follow_the_program_s_name() -> None:
    names = list_top_level_names()
    assert names["kv"] == "The KV config of the name servers"
    assert "topicRoute" in names
    assert not {"kvGet", "kv get", "get"} & names.keys()


@pytest.mark.parametrize("alias", registry.NOUN_AND_VERB)
def test_a_noun_and_a_verb_name_the_command_with_mqadmins_name(alias: str) -> None:
    name = registry.NOUN_AND_VERB[alias]
    entry = find_command(name)
    assert entry is not None
    for words in (alias.split(), [alias.replace(" ", "-").upper()]):
        assert take_command([*words, "x"]) == (entry, ["x"])
    assert alias in registry.list_aliases(entry)
    group, verb = alias.split()
    assert registry.list_group_words(group)[verb] == entry.help


def test_no_alias_hides_a_command() -> None:
    names = {registry.plain_name(entry.name): entry.name for entry in registry.COMMANDS}
    for alias, name in registry.NOUN_AND_VERB.items():
        assert names.get(alias.replace(" ", ""), name) == name
