"""Rows as commands return them, and a stdout that is caught."""

import io
import sys

import pytest

from namesrv_core.protocol.codes import Perm
from nsadmin.console.output import ByteSize, DurationMillis, OutputStyle, ResultRows, write_rows

ROWS = ResultRows(
    (
        "topic",
        "perm",
        "brokerAddrs",
        "consumerGroups",
        "queues",
        "inTps",
        "size",
        "cost",
        "reachable",
        "error",
    ),
    [
        {
            "topic": "OrderT",
            "perm": Perm(6),
            "brokerAddrs": {0: "127.0.0.1:10911", 1: "127.0.0.1:10921"},
            "consumerGroups": ("G1", "G2"),
            "queues": 8,
            "inTps": 12.5,
            "size": ByteSize(1536),
            "cost": DurationMillis(90_000),
            "reachable": True,
            "error": None,
        },
        {
            "topic": "тема\x1b[31m",
            "perm": Perm(5),
            "brokerAddrs": {},
            "consumerGroups": (),
            "queues": 16,
            "inTps": None,
            "size": ByteSize(12),
            "cost": None,
            "reachable": False,
            "error": "no answer within 3 s",
        },
    ],
)


class TerminalStdout(io.TextIOWrapper):
    """A stdout that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def capture_rows(
    rows: ResultRows,
    style: OutputStyle,
    monkeypatch: pytest.MonkeyPatch,
    kind: type[io.TextIOWrapper],
    width: int = 120,
) -> bytes:
    sink = io.BytesIO()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", kind(sink, encoding="utf-8"))
        patch.setenv("COLUMNS", str(width))
        patch.setenv("TERM", "xterm-256color")
        patch.delenv("NO_COLOR", raising=False)
        patch.delenv("FORCE_COLOR", raising=False)
        write_rows(rows, style)
        sys.stdout.flush()
        return sink.getvalue()
