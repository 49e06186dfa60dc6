"""The reference pages name every setting, exit code and command that exists, and no others."""

import re

import pytest

from namesrv_core.server.settings_loader import environment_variable
from namesrv_core.state.settings import DEFAULT_LIMITS, SETTING_KEYS, NameServerSettings
from namesrv_core.state.tls_settings import TLS_KEYS
from nsadmin.command_line.registry import find_command, find_group, take_command
from nsadmin.console.exit_codes import EXIT_CODE_MEANINGS, PLUGIN_CODE_MEANINGS
from tests.support.name_servers import ROOT

REFERENCE = ROOT / "docs" / "reference"
CONFIGURATION = (REFERENCE / "configuration.md").read_text()
EXIT_CODES = (REFERENCE / "exit-codes.md").read_text()
# Settings of Java's threads, buffers and queues, which have no effect.
WITHOUT_EFFECT = re.compile(
    r".*(?:ThreadPool|Threads|Semaphore|SocketSnd|SocketRcv|WaterMark|WorkerGroup|ByteBuf|Epoll|QueueCapacity).*"
)


def section_named(page: str, title: str) -> str:
    return page.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def test_every_setting_with_an_effect_is_on_a_page() -> None:
    for key in sorted(key for key in SETTING_KEYS if not WITHOUT_EFFECT.fullmatch(key)):
        page = (
            "limits.md" if key in DEFAULT_LIMITS else "journal.md" if "journal" in key else "configuration.md"
        )
        assert f"`{key}`" in (REFERENCE / page).read_text()


def test_the_defaults_of_settings_are_those_of_the_program() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([^|`]+) \|", CONFIGURATION, re.M)
    defaults = {key: text for key, text in rows if key in SETTING_KEYS and not text.startswith("the ")}
    assert len(defaults) > 15
    for key, text in defaults.items():
        value = getattr(NameServerSettings(), key)
        assert (str(value).lower() if isinstance(value, bool) else str(value)) == text, key


@pytest.mark.parametrize("key", TLS_KEYS)
def test_every_tls_key_is_on_the_page(key: str) -> None:
    assert f"`{key}`" in section_named(CONFIGURATION, "TLS keys")


def test_the_example_of_a_variable_is_that_of_the_program() -> None:
    assert f"`{environment_variable('listenPort')}=9876`" in CONFIGURATION


def test_the_exit_codes_are_those_of_the_program() -> None:
    codes = [int(code) for code in re.findall(r"^\| (\d+) \|", section_named(EXIT_CODES, "Commands"), re.M)]
    assert codes == [*(int(code) for code, _ in EXIT_CODE_MEANINGS), 130, 141]
    check_codes = re.findall(r"^\| (\d+) \| ([A-Z]+)", section_named(EXIT_CODES, "Checks"), re.M)
    assert [int(code) for code, _ in check_codes] == [code for code, _ in PLUGIN_CODE_MEANINGS]


def test_every_command_with_its_own_exit_codes_exists() -> None:
    section = section_named(EXIT_CODES, "Commands that answer a question")
    names = re.findall(
        r"`([a-zA-Z ]+)(?: --dry-run)?`", "\n".join(re.findall(r"^\| (`[^|]+)", section, re.M))
    )
    assert len(names) > 10
    assert [name for name in names if find_command(name.replace(" ", "")) is None] == []


def read_named_commands() -> list[tuple[str, str]]:
    """The commands in inline code, by page: `nsadmin drain broker-a` is "drain broker-a"."""
    return [
        (page.relative_to(ROOT).as_posix(), command)
        for page in sorted([*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")])
        for command in re.findall(r"`nsadmin ((?!NAME|COMMAND|GROUP)[^`-][^`]*)`", page.read_text())
    ]


def is_group_or_help(words: list[str]) -> bool:
    return words[0] in ("help", "version") or (
        find_group(words[0]) is not None and words[1:] in ([], ["…"], ["NAME"])
    )


def test_every_command_that_a_page_names_exists() -> None:
    named_commands = read_named_commands()
    assert len(named_commands) > 100
    unknown = [
        (page, command)
        for page, command in named_commands
        if take_command(command.split())[0] is None and not is_group_or_help(command.split())
    ]
    assert unknown == []
