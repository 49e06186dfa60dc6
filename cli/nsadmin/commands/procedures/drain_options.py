"""Owns the arguments and options of drains, and the rules that they define."""

from typing import Annotated

from typer import Argument, Option

from nsadmin.command_line.argument_values import parse_duration_seconds
from nsadmin.command_line.declarations import Flags
from nsadmin.operations.drain.safety import SafetyRules

BrokerNameArgument = Annotated[
    str, Argument(metavar="BROKER", help="Name of a broker, from clusterList."), Flags("-b", "--brokerName")
]


AllowUnreachableOption = Annotated[
    bool, Option("--allow-unreachable", help="Continue even if a name server does not answer.")
]


ThresholdOption = Annotated[
    int,
    Option(
        "--threshold", metavar="N", help="Messages per minute that count as no traffic. Default: 0.", min=0
    ),
]


SettleTimeOption = Annotated[
    str,
    Option(
        "--settle",
        metavar="DURATION",
        help="How long clients need to refresh their routes (pollNameServerInterval). Default: 30s.",
    ),
]


IntervalOption = Annotated[
    str, Option("--interval", metavar="DURATION", help="Time between two checks. Default: 10s.")
]


IntervalsOption = Annotated[
    int,
    Option("--intervals", metavar="N", help="Number of checks in a row without writes. Default: 3.", min=1),
]


def parse_drain_rules(
    settle_text: str, quiet_intervals: int, max_messages: int, wait_for_consumers: bool = False
) -> SafetyRules:
    """Parse the options that define when stopping a broker is safe; UsageError for an invalid one."""
    return SafetyRules(
        round(parse_duration_seconds("--settle", settle_text, 0.1, 3600) * 1000),
        quiet_intervals,
        max_messages,
        wait_for_consumers,
    )


def parse_interval_seconds(interval_text: str) -> float:
    """Parse --interval into the seconds between two observations; UsageError for an invalid one."""
    return parse_duration_seconds("--interval", interval_text, 0.1, 600)
