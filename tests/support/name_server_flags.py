"""Flags of `nsadmin namesrv`, as a process or a function of the core takes them."""

import sys

import msgspec

from namesrv_core.server.settings_loader import NameServerFlags
from nsadmin.command_line import registry
from nsadmin.command_line.typer_commands import parse_command_line


def parse_flags(*words: str) -> NameServerFlags:
    """What `nsadmin namesrv` makes of these words."""
    entry = registry.find_command("namesrv")
    assert entry is not None
    return NameServerFlags(**parse_command_line(entry, words).arguments)


def parse_quiet_flags(*words: str) -> NameServerFlags:
    """The same, without the journal that nobody asked for."""
    flags = parse_flags(*words)
    flags.no_journal |= not (flags.journal_dir or flags.config_file or flags.definitions)
    return flags


def server_command(*words: str) -> list[str]:
    """The process that `nsadmin namesrv` becomes with these words."""
    flags = parse_quiet_flags(*words)
    return [sys.executable, "-m", "namesrv_core", msgspec.json.encode(flags).decode()]
