"""The exporter as a whole: it serves until a signal, and says what is wrong with its address."""

import os
import signal
import threading

import pytest

from namesrv_core.errors import BadSettings
from nsadmin import AdminClient
from nsadmin.operations.exporter.cluster_reader import ClusterSource
from nsadmin.operations.exporter.exporter_server import ExporterPlan, run_exporter


def plan(dead_addr: str, listen: str) -> ExporterPlan:
    return ExporterPlan(
        [ClusterSource("", lambda: AdminClient(dead_addr, read_only=True))], listen_text=listen
    )


def test_it_serves_until_a_signal(dead_addr: str) -> None:
    bound: list[str] = []

    def announce(addr: str) -> None:
        bound.append(addr)
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGTERM)).start()

    assert run_exporter(plan(dead_addr, "0"), print, announce) == "SIGTERM"
    assert bound[0].startswith("127.0.0.1:")


def test_an_address_that_cannot_be(dead_addr: str) -> None:
    with pytest.raises(BadSettings, match='invalid address "x:y": write PORT or HOST:PORT'):
        run_exporter(plan(dead_addr, "x:y"), print, print)
