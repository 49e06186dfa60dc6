"""What the palette has: everything that the model knows, and every command that needs no terminal."""

from nsadmin.tui.palette.palette_entries import (
    PaletteEntry,
    list_alias_entries,
    list_cluster_entries,
    list_command_entries,
    list_context_entries,
    list_screen_entries,
    list_theme_entries,
)
from nsadmin.tui.views.brokers.broker_detail import BrokerSummaryView
from nsadmin.tui.views.topics.topic_detail import TopicRouteView
from tests.support.screens import make_model, make_server_poll


def test_brokers_and_topics_of_the_cluster_open_their_views() -> None:
    model = make_model(make_server_poll(groups={"broker-a": {0: "h:1", 2: "h:2"}}))
    assert list(list_cluster_entries(model)) == [
        PaletteEntry("broker-a", "broker h:1", view=BrokerSummaryView("broker-a", 0, "h:1", "cluster-a")),
        PaletteEntry("broker-a 2", "broker h:2", view=BrokerSummaryView("broker-a", 2, "h:2", "cluster-a")),
        PaletteEntry("orders", "topic", view=TopicRouteView("orders")),
        PaletteEntry("payments", "topic", view=TopicRouteView("payments")),
    ]


def test_commands_wait_for_their_arguments_and_those_with_a_terminal_are_missing() -> None:
    entries = {entry.name: entry for entry in list_command_entries()}
    assert entries["kv get"].prompt_line == "kv get "
    assert entries["kv get"].awaits_arguments
    assert {"tui", "lab", "batch"}.isdisjoint(entries)


def test_the_others_are_lines_for_the_prompt() -> None:
    assert list(list_screen_entries({"kv": "KV"})) == [PaletteEntry("KV", "screen", "kv")]
    assert [entry.prompt_line for entry in list_context_entries(["prod"])] == ["context prod"]
    assert [entry.prompt_line for entry in list_theme_entries(["nord"])] == ["theme nord"]
    assert [entry.prompt_line for entry in list_alias_entries({"q": "quit"})] == ["q"]
