"""Owns namesrv, which replaces this process by a name server. No other command imports it."""

import json
import os
from typing import Annotated

from typer import Option

from nsadmin.command_line.argument_values import parse_choice
from nsadmin.command_line.declarations import command
from nsadmin.console import python_process


@command()
def namesrv(
    config_file: Annotated[
        str | None,
        Option(
            "-c",
            "--configFile",
            metavar="FILE",
            help="Configuration file (Java properties). UPDATE_NAMESRV_CONFIG writes to it.",
        ),
    ] = None,
    definitions: Annotated[
        list[str] | None,
        Option(
            "-D",
            metavar="KEY=VALUE",
            help="Set any setting of nsadmin guide configuration, such as -Dtls.server.mode=enforcing."
            " The environment has the same settings, such as NAMESRV_TLS_SERVER_MODE=enforcing. Repeatable.",
        ),
    ] = None,
    prints_settings: Annotated[
        bool,
        Option(
            "-p",
            "--printConfigItem",
            help="Print the settings and exit. nsadmin's own settings are printed only if they are changed.",
        ),
    ] = False,
    namesrv_addrs: Annotated[
        str | None,
        Option(
            "-n",
            "--namesrvAddr",
            metavar="ADDRS",
            help="Accepted for compatibility with mqnamesrv, has no effect.",
        ),
    ] = None,
    port: Annotated[
        int | None,
        Option("--port", metavar="N", help="Port to listen on. Default: 9876. 0 selects a free port."),
    ] = None,
    bind: Annotated[
        str | None, Option("--bind", metavar="ADDR", help="Address to listen on. Default: 0.0.0.0.")
    ] = None,
    home: Annotated[
        str | None,
        Option(
            "--home",
            metavar="DIR",
            help="Folder of kvConfig.json and namesrv.properties. Default: ~/namesrv.",
        ),
    ] = None,
    journal_dir: Annotated[
        str | None,
        Option(
            "--journal-dir",
            metavar="DIR",
            help="Write a journal to this folder. Default: journal/ in --home.",
        ),
    ] = None,
    no_journal: Annotated[bool, Option("--no-journal", help="Write no journal.")] = False,
    http: Annotated[
        str | None,
        Option(
            "--http",
            metavar="[ADDR:]PORT",
            help="Serve /metrics, /healthz, /readyz and /rocketmq/nsaddr on this port, without ADDR only on"
            " 127.0.0.1. Default: no HTTP port.",
        ),
    ] = None,
    credentials: Annotated[
        str | None,
        Option(
            "--credentials",
            metavar="FILE",
            help="Access rules, see nsadmin guide secure-the-name-server. Default: everything is allowed.",
        ),
    ] = None,
    read_only: Annotated[
        bool,
        Option("--read-only", "--readOnly", help="Refuse all changes by operators. Brokers still register."),
    ] = False,
    no_remote_config: Annotated[
        bool, Option("--no-remote-config", help="Refuse UPDATE_NAMESRV_CONFIG from every peer.")
    ] = False,
    log_format: Annotated[
        str | None,
        Option("--log-format", metavar="text|json", help="Format of the log on stderr. Default: text."),
    ] = None,
    log_level: Annotated[
        str | None,
        Option(
            "--log-level",
            metavar="DEBUG|INFO|WARN|ERROR",
            help="Lowest level to log. Default: INFO. SIGUSR2 toggles DEBUG.",
        ),
    ] = None,
) -> int:
    """Run a name server until it is stopped. It accepts the flags of mqnamesrv.

    Examples:
        # Only on this machine, with files in a separate folder
        nsadmin namesrv --bind 127.0.0.1 --port 9876 --home /tmp/namesrv
        # Print the settings
        nsadmin namesrv -p
    """
    log_format = parse_choice("--log-format", log_format, ("text", "json"))
    log_level = parse_choice("--log-level", log_level, ("DEBUG", "INFO", "WARN", "ERROR"))
    # The parameters have the names of the fields of namesrv_core.server.settings_loader.NameServerFlags.
    flags = {name: value for name, value in locals().items() if value is not None and value is not False}
    server_command = python_process.build_command("namesrv_core", json.dumps(flags))
    # The server shall not keep the memory of the command line.
    os.execve(server_command[0], server_command, python_process.build_environment())
