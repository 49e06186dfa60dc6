"""Runs the exporter: the threads that read clusters, and the HTTP port, until a signal."""

import asyncio
import signal
from collections.abc import Callable, Sequence
from typing import NamedTuple

from namesrv_core.errors import BadSettings
from namesrv_core.transport.address import split_listen_text
from namesrv_core.transport.http_server import HttpListener
from nsadmin.operations.exporter.cluster_reader import ClusterReader, ClusterSource, ReadPlan
from nsadmin.operations.exporter.pages import ExporterPages

_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class ExporterPlan(NamedTuple):
    """The clusters, how they are read, the address of the HTTP port, and the limit of series on a page."""

    sources: Sequence[ClusterSource]
    read_plan: ReadPlan = ReadPlan()
    listen_text: str = "9557"
    max_series: int = 100_000


def run_exporter(
    plan: ExporterPlan, report: Callable[[str], object], on_started: Callable[[str], object]
) -> str:
    """Serve metrics until SIGINT or SIGTERM; return the name of the signal.

    `report` gets a line when something changes, also from threads. `on_started` gets the bound address.

    Raises:
        BadSettings: The address of the HTTP port is invalid.
        OSError: The address cannot be bound.
    """
    return asyncio.run(_serve_until_signal(plan, report, on_started))


async def _serve_until_signal(
    plan: ExporterPlan, report: Callable[[str], object], on_started: Callable[[str], object]
) -> str:
    try:
        listen_host, listen_port = split_listen_text(plan.listen_text)
    except ValueError as error:
        raise BadSettings(str(error)) from None
    cluster_readers = [ClusterReader(source, plan.read_plan, report) for source in plan.sources]
    pages = ExporterPages(
        cluster_readers, report, max_series=plan.max_series, is_compat=plan.read_plan.is_compat
    )
    listener = await HttpListener.open(pages.answer_request, listen_host, listen_port)
    received_signal: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    for stop_signal in _STOP_SIGNALS:
        asyncio.get_running_loop().add_signal_handler(
            stop_signal, _resolve_signal, received_signal, stop_signal.name
        )
    try:
        for reader in cluster_readers:
            reader.start()
        on_started(listener.bound_addr)
        return await received_signal
    finally:
        listener.close()
        pages.close()
        for reader in cluster_readers:
            reader.stop()


def _resolve_signal(received_signal: asyncio.Future[str], signal_name: str) -> None:
    if not received_signal.done():
        received_signal.set_result(signal_name)
