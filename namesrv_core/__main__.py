"""`python -m namesrv_core`: flags and files to settings, and run, without the weight of the command line."""

import argparse
import asyncio
import os
import signal
import sys
from pathlib import Path

from namesrv_core.errors import RocketMQError
from namesrv_core.flags import Flags
from namesrv_core.server.log import log, set_up
from namesrv_core.server.name_server import NameServer
from namesrv_core.state.settings import Settings
from namesrv_core.storage import settings_file
from namesrv_core.transport import loop
from namesrv_core.transport.address import join_addr


def parser(prog: str = "python -m namesrv_core", journals: bool = False) -> argparse.ArgumentParser:
    """The flags of `mqnamesrv`, and ours. With `journals` there is a journal unless it is declined."""
    flags = Flags(prog, "A name server for Apache RocketMQ 4.9 and 5.x.")
    flags.add_argument("-c", "--configFile", metavar="FILE", help="Java properties; also where updates go")
    flags.add_argument("-p", "--printConfigItem", action="store_true", help="print all items and exit")
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
    if journals:
        flags.add_argument("--no-journal", action="store_true", help="keep no journal")
    return flags


def main(argv: list[str] | None = None, prog: str = "python -m namesrv_core", journals: bool = False) -> int:
    """Run a name server until it is told to stop. The exit code: 0 for a clean end, 1 for a failed start."""
    flags = parser(prog, journals).parse_args(argv)
    set_up()
    try:
        settings = _settings(flags, journals)
        if flags.printConfigItem:
            sys.stdout.buffer.write(settings.body())
            return 0
        if flags.configFile:
            print(f"load config properties file OK, {flags.configFile}", flush=True)
        loop.run(_serve(settings))
    except (RocketMQError, OSError) as error:
        print(f"{prog}: {_in_words(error)}", file=sys.stderr)
        return 1
    return 0


def _in_words(error: Exception) -> str:
    """What went wrong, and with which file, without a number."""
    if not isinstance(error, OSError) or error.strerror is None:
        return str(error)
    return f"{error.filename}: {error.strerror}" if error.filename else error.strerror


def _settings(flags: argparse.Namespace, journals: bool) -> Settings:
    home = Path(flags.home).expanduser() if flags.home else Path.home() / "namesrv"
    settings = Settings(
        rocketmqHome=os.environ.get("ROCKETMQ_HOME"),
        kvConfigPath=str(home / "kvConfig.json"),
        configStorePath=str(home / "namesrv.properties"),
    )
    if flags.configFile:
        _read(settings, Path(flags.configFile))
    if flags.port is not None:
        settings.listenPort = flags.port
    if flags.bind is not None:
        settings.bindAddress = flags.bind
    if flags.journal_dir is not None:
        settings.journalDir = str(Path(flags.journal_dir).expanduser())
    elif journals and flags.no_journal:
        settings.journalDir = None
    elif journals and settings.journalDir is None:
        settings.journalDir = str(home / "journal")
    if settings.clusterTest:
        raise RocketMQError("clusterTest=true is not supported: no broker could register")
    if settings.enableControllerInNamesrv:
        raise RocketMQError("enableControllerInNamesrv=true is not supported: run a controller beside it")
    settings.protect()
    return settings


def _read(settings: Settings, path: Path) -> None:
    for item in settings_file.load(path):
        problem = settings.set(item.key, item.value)
        if problem is not None:
            log.warning("%s:%d: %s: %s", path, item.line, item.key, problem)
    settings.configStorePath = str(path)


async def _serve(settings: Settings) -> None:
    server = NameServer(settings)
    stop = asyncio.Event()
    reasons: list[str] = []

    def end(number: signal.Signals) -> None:
        reasons.append(number.name)
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, end, number)
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, server.take_snapshot)
    try:
        await server.start()
    except OSError as error:
        where = join_addr(settings.bindAddress, settings.listenPort)
        raise RocketMQError(f"cannot listen on {where}: {_in_words(error)}") from None
    try:
        print(f"The Name Server boot success. serializeType=JSON, address {server.address}", flush=True)
        await stop.wait()
    finally:
        await server.stop(*reasons[:1])


if __name__ == "__main__":
    sys.exit(main())
