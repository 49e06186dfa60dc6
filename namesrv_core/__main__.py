"""The program `python -m namesrv_core`: it turns flags and files into settings and runs a name server.

It does not import nsadmin's command line, so it starts quickly and takes little memory.
"""

import argparse
import asyncio
import gc
import signal
import sys

from namesrv_core.errors import RocketMQError
from namesrv_core.flags import Flags
from namesrv_core.server.bounds import raise_file_limit
from namesrv_core.server.configuring import configured
from namesrv_core.server.log import arrange, log, set_up
from namesrv_core.server.name_server import NameServer
from namesrv_core.server.service import Service
from namesrv_core.state.settings import Settings
from namesrv_core.transport import loop
from namesrv_core.transport.address import join_addr


def parser(prog: str = "python -m namesrv_core", journals: bool = False) -> argparse.ArgumentParser:
    """Build the parser for the flags of `mqnamesrv` and for ours.

    With `keeps_journal` the server keeps a journal unless `--no-journal` is given.
    """
    flags = Flags(prog, "A name server for Apache RocketMQ 4.9 and 5.x.")
    flags.add_argument("-c", "--configFile", metavar="FILE", help="Java properties; also where updates go")
    flags.add_argument(
        "-D", dest="define", action="append", default=[], metavar="KEY=VALUE",
        help="set any item of -p, of ours (docs/limits.md) or of TLS, as -Dtls.server.mode=enforcing; the"
        " environment does so, too: NAMESRV_TLS_SERVER_MODE=enforcing",
    )  # fmt: skip
    flags.add_argument(
        "-p",
        "--printConfigItem",
        action="store_true",
        help="print the items of RocketMQ's name server, and those of ours that are set, and exit",
    )
    flags.add_argument(
        "-n", "--namesrvAddr", metavar="ADDRS", help="accepted, without effect on a name server"
    )
    flags.add_argument("--port", type=int, metavar="N", help="port to listen on (9876); 0 takes a free one")
    flags.add_argument("--bind", metavar="ADDR", help="address to listen on (0.0.0.0)")
    flags.add_argument(
        "--home", metavar="DIR", help="folder of kvConfig.json and namesrv.properties (~/namesrv)"
    )
    flags.add_argument(
        "--journal-dir",
        metavar="DIR",
        help="keep a journal of all that happens there"
        + (" (journal/ in the home)" if journals else "; there is none if left out"),
    )
    flags.add_argument(
        "--http", metavar="[ADDR:]PORT",
        help="serve /metrics, /healthz, /readyz and /rocketmq/nsaddr there; of this machine alone"
        " without ADDR, and not at all if left out",
    )  # fmt: skip
    flags.add_argument(
        "--credentials", metavar="FILE", help="who may ask what: see docs/security.md; everybody, if left out"
    )
    flags.add_argument("--read-only", action="store_true", help="refuse whatever an operator could change")
    flags.add_argument("--no-remote-config", action="store_true", help="refuse UPDATE_NAMESRV_CONFIG")
    flags.add_argument(
        "--log-format", choices=("text", "json"), help="how the log on stderr is written (text)"
    )
    flags.add_argument(
        "--log-level", choices=("DEBUG", "INFO", "WARN", "ERROR"), metavar="LEVEL",
        help="DEBUG, INFO, WARN or ERROR (INFO); SIGUSR2 switches to DEBUG and back",
    )  # fmt: skip
    if journals:
        flags.add_argument("--no-journal", action="store_true", help="keep no journal")
    return flags


def collect_seldom() -> None:
    """Collect garbage rarely: cycles are rare, and a full collection visits all topics of all brokers."""
    gc.freeze()
    # Collecting the newest objects takes less than a millisecond. Older ones wait for a million new objects.
    gc.set_threshold(5_000, 200, 50)


def main(argv: list[str] | None = None, prog: str = "python -m namesrv_core", journals: bool = False) -> int:
    """Run a name server until a signal stops it. Return 0 for a clean end and 1 for a failed start."""
    flags = parser(prog, journals).parse_args(argv)
    set_up()
    settings = Settings()
    try:
        try:
            settings = configured(flags, journals)
        finally:
            arrange(settings.logFormat, settings.logLevel)
        if flags.printConfigItem:
            sys.stdout.buffer.write(settings.body(settings.tls.shown()))
            return 0
        if flags.configFile:
            print(f"load config properties file OK, {flags.configFile}", flush=True)
        collect_seldom()
        raise_file_limit()
        loop.run(_serve(settings))
    except (RocketMQError, OSError) as error:
        print(f"{prog}: {_in_words(error)}", file=sys.stderr)
        return 1
    return 0


def _in_words(error: Exception) -> str:
    """The error's message and the file that it is about, without the error number."""
    if not isinstance(error, OSError) or error.strerror is None:
        return str(error)
    return f"{error.filename}: {error.strerror}" if error.filename else error.strerror


async def _serve(settings: Settings) -> None:
    server, service = NameServer(settings), Service()
    stop = asyncio.Event()
    reasons: list[str] = []

    def end(number: signal.Signals) -> None:
        if reasons:
            server.hurry()
        reasons.append(number.name)
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, end, number)
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, server.take_snapshot)
    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, server.reload)
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR2, server.toggle_debugging)
    try:
        await server.start()
    except OSError as error:
        where = join_addr(settings.bindAddress, settings.listenPort)
        raise RocketMQError(f"cannot listen on {where}: {_in_words(error)}") from None
    try:
        # Write the line in one call, because log lines may go to the same file.
        said = f"The Name Server boot success. serializeType=JSON, address {server.address}\n"
        print(said, end="", flush=True)
        for warning in server.guarding.warnings():
            log.warning(warning)
        service.ready(f"serving at {server.address}")
        await stop.wait()
    finally:
        service.stopping(f"stopping: {', '.join(reasons[:1])}", server.leaves_within)
        await server.stop(*reasons[:1])
        service.stop()


if __name__ == "__main__":
    sys.exit(main())
