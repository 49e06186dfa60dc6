"""What starting up imports, told by a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.fake_servers import FakeNameServer

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'cli'}",
    # Nor is a file of contexts read that this account may have.
    "NSADMIN_CONFIG": str(ROOT / "no such folder" / "config.yaml"),
}


def modules(code: str) -> set[str]:
    """The top-level modules that are loaded after this code, and nsadmin's and the core's own."""
    script = f"{code}\nimport sys\nprint(*sys.modules, file=sys.stderr)"
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=ENVIRONMENT, check=True
    )
    return set(result.stderr.splitlines()[-1].split())


def test_the_library_knows_no_terminal_no_server_and_no_event_loop() -> None:
    loaded = modules("import nsadmin.client")
    assert loaded.isdisjoint(
        {"typer", "rich", "textual", "yaml", "pyspark", "asyncio", "dataclasses", "msgspec", "httpx"}
    )
    assert not [
        name
        for name in loaded
        if name.startswith(("namesrv_core.state", "namesrv_core.handlers", "namesrv_core.server"))
    ]


def test_what_reads_messages_is_loaded_when_it_is_needed() -> None:
    lazy = {
        "nsadmin.client.messages.message_queries",
        "nsadmin.client.messages.message_sender",
        "namesrv_core.protocol.stored_messages",
        "zstandard",
    }
    assert modules("from nsadmin import AdminClient\nAdminClient('h:1')").isdisjoint(lazy)
    assert "nsadmin.client.messages.message_queries" in modules(
        "from nsadmin import AdminClient\nAdminClient('h:1').traces"
    )


def test_the_package_exports_the_client_only_when_it_is_asked_for() -> None:
    assert "nsadmin.client" not in modules("import nsadmin")
    assert "nsadmin.client" in modules("from nsadmin import AdminClient")


def test_signing_and_tls_are_loaded_when_they_are_wanted() -> None:
    lazy = {"ssl", "hmac", "namesrv_core.protocol.acl_signature", "namesrv_core.transport.tls_client"}
    make = "from nsadmin import Access, AdminClient, Credentials, Tls\nAdminClient('h:1', access=Access("
    assert modules(f"{make}credentials=Credentials('key', 'secret')))").isdisjoint(lazy)
    assert "ssl" in modules(f"{make}tls=Tls()))")


@pytest.fixture
def cluster_list() -> set[str]:
    with FakeNameServer() as server:
        return modules(
            f"from nsadmin.app import main\nassert main(['clusterList', '-n', {server.addr!r}]) == 0"
        )


def test_a_command_loads_neither_screens_nor_spark_nor_other_commands(cluster_list: set[str]) -> None:
    assert cluster_list.isdisjoint(
        {
            "asyncio",
            "click",
            "dataclasses",
            "decimal",
            "encodings.idna",
            "hmac",
            "httpx",
            "msgspec",
            "tempfile",
            "pydantic",
            "pyspark",
            "rich",
            "ssl",
            "textual",
            "yaml",
        }
    )
    of_commands = ("nsadmin.commands.", "nsadmin.command_line.", "nsadmin.console.output.quantities")
    assert {name for name in cluster_list if name.startswith(of_commands)} == {
        "nsadmin.commands.brokers",
        "nsadmin.commands.brokers.cluster_counts",
        "nsadmin.commands.brokers.clusters",
        "nsadmin.commands.columns",
        "nsadmin.commands.columns.broker_identities",
        "nsadmin.commands.columns.brokers",
        "nsadmin.commands.columns.servers",
        "nsadmin.command_line.argument_values",
        "nsadmin.command_line.declarations",
        "nsadmin.command_line.application",
        "nsadmin.command_line.typer_commands",
        "nsadmin.command_line.usage",
        "nsadmin.command_line.value_completion",
        "nsadmin.command_line.completion",
        "nsadmin.command_line.completion.lookup",
        "nsadmin.command_line.completion.tab_candidates",
        "nsadmin.command_line.completion.value_cache",
        "nsadmin.command_line.completion.value_question",
        "nsadmin.command_line.completion.value_sources",
        "nsadmin.command_line.registry",
        "nsadmin.command_line.shared_options",
        "nsadmin.command_line.broker_expectation",
        "nsadmin.command_line.broker_targets",
        "nsadmin.command_line.exclusive_options",
        "nsadmin.console.output.quantities",
    }


def test_help_loads_no_command() -> None:
    loaded = modules("from nsadmin.app import main\nassert main(['--help']) == 0")
    assert {name for name in loaded if name.startswith("nsadmin.commands.")} == set()


def test_a_health_probe_loads_no_more_than_it_needs() -> None:
    with FakeNameServer() as server:
        loaded = modules(
            f"from nsadmin.app import main\nassert main(['check', 'namesrv', '-n', {server.addr!r}]) == 0"
        )
    assert loaded.isdisjoint({"asyncio", "httpx", "msgspec", "rich", "ssl", "yaml"})
    assert "nsadmin.operations.checks.namesrv" in loaded
    assert "nsadmin.operations.checks.brokers" not in loaded


def test_a_name_server_starts_without_what_only_some_of_them_need() -> None:
    loaded = modules(
        "from namesrv_core.__main__ import NameServerFlags, main\n"
        "assert main(NameServerFlags(prints_settings=True)) == 0"
    )
    assert loaded.isdisjoint(
        {"hashlib", "hmac", "http", "javaproperties", "random", "shutil", "xml", "yaml", "zstandard"}
    )
