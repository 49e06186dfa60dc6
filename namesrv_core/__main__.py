"""The program `python -m namesrv_core FLAGS`: it turns flags and files into settings and runs a name server.

`nsadmin namesrv` replaces itself by it. FLAGS is a JSON object with the fields of `NameServerFlags`. It does
not import nsadmin's command line, so it takes little memory.
"""

import asyncio
import gc
import signal
import sys

import msgspec

from namesrv_core.errors import RocketMQError
from namesrv_core.printable_text import escape_unsafe
from namesrv_core.server.connection_limits import raise_file_limit
from namesrv_core.server.log import configure_log, log, set_up_log
from namesrv_core.server.name_server import NameServer
from namesrv_core.server.settings_loader import NameServerFlags, load_settings
from namesrv_core.server.systemd_notify import SystemdNotifier
from namesrv_core.state.settings import NameServerSettings
from namesrv_core.transport import event_loop
from namesrv_core.transport.address import join_addr


def reduce_garbage_collection() -> None:
    """Collect garbage rarely: cycles are rare, and a full collection visits all topics of all brokers."""
    gc.freeze()
    # Collecting the newest objects takes less than a millisecond. Older ones wait for a million new objects.
    gc.set_threshold(5_000, 200, 50)


def main(flags: NameServerFlags) -> int:
    """Run a name server until a signal stops it. Return 0 for a clean end and 1 for a failed start."""
    set_up_log()
    settings = NameServerSettings()
    try:
        try:
            settings = load_settings(flags)
        finally:
            configure_log(settings.logFormat, settings.logLevel)
        if flags.prints_settings:
            sys.stdout.buffer.write(settings.encode_body(settings.tls.shown_items()))
            return 0
        if flags.config_file:
            print(f"load config properties file OK, {flags.config_file}", flush=True)
        reduce_garbage_collection()
        raise_file_limit()
        event_loop.run_coroutine(_run_server(settings))
    except (RocketMQError, OSError) as error:
        print(f"nsadmin namesrv: {escape_unsafe(_describe_error(error))}", file=sys.stderr)
        return 1
    return 0


def _describe_error(error: Exception) -> str:
    """The error's message and the file that it is about, without the error number."""
    if not isinstance(error, OSError) or error.strerror is None:
        return str(error)
    return f"{error.filename}: {error.strerror}" if error.filename else error.strerror


async def _run_server(settings: NameServerSettings) -> None:
    name_server, manager = NameServer(settings), SystemdNotifier()
    stopping = asyncio.Event()
    reasons: list[str] = []

    def request_stop(signum: signal.Signals) -> None:
        if reasons:
            name_server.hurry_shutdown()
        reasons.append(signum.name)
        stopping.set()

    for signum in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(signum, request_stop, signum)
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, name_server.take_snapshot)
    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, name_server.reload_files)
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR2, name_server.toggle_debugging)
    try:
        await name_server.start()
    except OSError as error:
        addr = join_addr(settings.bindAddress, settings.listenPort)
        raise RocketMQError(f"cannot listen on {addr}: {_describe_error(error)}") from None
    try:
        # Write the line in one call, because log lines may go to the same file.
        message = f"The Name Server boot success. serializeType=JSON, address {name_server.namesrv_addr}\n"
        print(message, end="", flush=True)
        for warning in name_server.access_control.startup_warnings():
            log.warning(warning)
        manager.notify_ready(f"serving at {name_server.namesrv_addr}")
        await stopping.wait()
    finally:
        manager.notify_stopping(f"stopping: {', '.join(reasons[:1])}", name_server.shutdown_wait_seconds)
        await name_server.stop(*reasons[:1])
        manager.stop_watchdog()


if __name__ == "__main__":
    sys.exit(main(msgspec.json.decode(sys.argv[1], type=NameServerFlags)))
