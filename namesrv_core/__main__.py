"""The program `python -m namesrv_core`: it turns flags and files into settings and runs a name server.

It does not import nsadmin's command line, so it starts quickly and takes little memory.
"""

import argparse
import asyncio
import gc
import signal
import sys

from namesrv_core.errors import RocketMQError
from namesrv_core.flag_parser import FlagParser
from namesrv_core.printable_text import escape_unsafe
from namesrv_core.server.connection_limits import raise_file_limit
from namesrv_core.server.log import configure_log, log, set_up_log
from namesrv_core.server.name_server import NameServer
from namesrv_core.server.settings_loader import load_settings
from namesrv_core.server.systemd_notify import SystemdNotifier
from namesrv_core.state.settings import NameServerSettings
from namesrv_core.transport import event_loop
from namesrv_core.transport.address import join_addr


def build_flag_parser(
    program_name: str = "python -m namesrv_core", keeps_journal: bool = False
) -> argparse.ArgumentParser:
    """Build the parser for the flags of `mqnamesrv` and for ours.

    With `keeps_journal` the server keeps a journal unless `--no-journal` is given.
    """
    flag_parser = FlagParser(program_name, "A name server for Apache RocketMQ 4.9 and 5.x.")
    flag_parser.add_argument(
        "-c",
        "--configFile",
        metavar="FILE",
        help="configuration file (Java properties); UPDATE_NAMESRV_CONFIG writes to it",
    )
    flag_parser.add_argument(
        "-D", dest="define", action="append", default=[], metavar="KEY=VALUE",
        help="set any setting of docs/reference/configuration.md, such as -Dtls.server.mode=enforcing;"
        " the environment has the same settings, such as NAMESRV_TLS_SERVER_MODE=enforcing",
    )  # fmt: skip
    flag_parser.add_argument(
        "-p",
        "--printConfigItem",
        action="store_true",
        help="print the settings and exit; nsadmin's own settings only if they are changed",
    )
    flag_parser.add_argument(
        "-n",
        "--namesrvAddr",
        metavar="ADDRS",
        help="accepted for compatibility with mqnamesrv, has no effect",
    )
    flag_parser.add_argument(
        "--port", type=int, metavar="N", help="port to listen on (default: 9876); 0 selects a free port"
    )
    flag_parser.add_argument("--bind", metavar="ADDR", help="address to listen on (default: 0.0.0.0)")
    flag_parser.add_argument(
        "--home", metavar="DIR", help="folder of kvConfig.json and namesrv.properties (default: ~/namesrv)"
    )
    flag_parser.add_argument(
        "--journal-dir",
        metavar="DIR",
        help="write a journal to this folder"
        + (" (default: journal/ in --home)" if keeps_journal else " (default: no journal)"),
    )
    flag_parser.add_argument(
        "--http", metavar="[ADDR:]PORT",
        help="serve /metrics, /healthz, /readyz and /rocketmq/nsaddr on this port, without ADDR only on"
        " 127.0.0.1 (default: no HTTP port)",
    )  # fmt: skip
    flag_parser.add_argument(
        "--credentials",
        metavar="FILE",
        help="access rules, see docs/how-to/secure-the-name-server.md (default: everything is allowed)",
    )
    flag_parser.add_argument(
        "--read-only", action="store_true", help="refuse all changes by operators; brokers still register"
    )
    flag_parser.add_argument(
        "--no-remote-config", action="store_true", help="refuse UPDATE_NAMESRV_CONFIG from every peer"
    )
    flag_parser.add_argument(
        "--log-format", choices=("text", "json"), help="format of the log on stderr (default: text)"
    )
    flag_parser.add_argument(
        "--log-level", choices=("DEBUG", "INFO", "WARN", "ERROR"), metavar="LEVEL",
        help="lowest level to log: DEBUG, INFO, WARN or ERROR (default: INFO); SIGUSR2 toggles DEBUG",
    )  # fmt: skip
    if keeps_journal:
        flag_parser.add_argument("--no-journal", action="store_true", help="write no journal")
    return flag_parser


def reduce_garbage_collection() -> None:
    """Collect garbage rarely: cycles are rare, and a full collection visits all topics of all brokers."""
    gc.freeze()
    # Collecting the newest objects takes less than a millisecond. Older ones wait for a million new objects.
    gc.set_threshold(5_000, 200, 50)


def main(
    argv: list[str] | None = None, program_name: str = "python -m namesrv_core", keeps_journal: bool = False
) -> int:
    """Run a name server until a signal stops it. Return 0 for a clean end and 1 for a failed start."""
    parsed_flags = build_flag_parser(program_name, keeps_journal).parse_args(argv)
    set_up_log()
    settings = NameServerSettings()
    try:
        try:
            settings = load_settings(parsed_flags, keeps_journal)
        finally:
            configure_log(settings.logFormat, settings.logLevel)
        if parsed_flags.printConfigItem:
            sys.stdout.buffer.write(settings.encode_body(settings.tls.shown_items()))
            return 0
        if parsed_flags.configFile:
            print(f"load config properties file OK, {parsed_flags.configFile}", flush=True)
        reduce_garbage_collection()
        raise_file_limit()
        event_loop.run_coroutine(_run_server(settings))
    except (RocketMQError, OSError) as error:
        print(f"{program_name}: {escape_unsafe(_describe_error(error))}", file=sys.stderr)
        return 1
    return 0


def _describe_error(error: Exception) -> str:
    """The error's message and the file that it is about, without the error number."""
    if not isinstance(error, OSError) or error.strerror is None:
        return str(error)
    return f"{error.filename}: {error.strerror}" if error.filename else error.strerror


async def _run_server(settings: NameServerSettings) -> None:
    name_server, service_manager = NameServer(settings), SystemdNotifier()
    stop_event = asyncio.Event()
    stop_reasons: list[str] = []

    def request_stop(stop_signal: signal.Signals) -> None:
        if stop_reasons:
            name_server.hurry_shutdown()
        stop_reasons.append(stop_signal.name)
        stop_event.set()

    for stop_signal in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(stop_signal, request_stop, stop_signal)
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, name_server.take_snapshot)
    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, name_server.reload_files)
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR2, name_server.toggle_debugging)
    try:
        await name_server.start()
    except OSError as error:
        listen_addr = join_addr(settings.bindAddress, settings.listenPort)
        raise RocketMQError(f"cannot listen on {listen_addr}: {_describe_error(error)}") from None
    try:
        # Write the line in one call, because log lines may go to the same file.
        boot_message = (
            f"The Name Server boot success. serializeType=JSON, address {name_server.namesrv_addr}\n"
        )
        print(boot_message, end="", flush=True)
        for guard_warning in name_server.access_control.startup_warnings():
            log.warning(guard_warning)
        service_manager.notify_ready(f"serving at {name_server.namesrv_addr}")
        await stop_event.wait()
    finally:
        service_manager.notify_stopping(
            f"stopping: {', '.join(stop_reasons[:1])}", name_server.shutdown_wait_seconds
        )
        await name_server.stop(*stop_reasons[:1])
        service_manager.stop_watchdog()


if __name__ == "__main__":
    sys.exit(main())
