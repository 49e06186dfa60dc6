"""Arguments and options of drains, and the rules that they stand for."""

from typing import Annotated

from nsadmin.command_line.argument_values import parse_duration_seconds
from nsadmin.command_line.declarations import Argument, Option
from nsadmin.operations.drain.safety import SafetyRules

BrokerNameArgument = Annotated[
    str, Argument(("-b", "--brokerName"), "BROKER", "Name of a broker, as in clusterList.")
]


AllowUnreachableOption = Annotated[
    bool, Option("--allow-unreachable", help="Although a name server does not answer.")
]


ThresholdOption = Annotated[
    int,
    Option(
        "--threshold", metavar="N", help="Messages a minute that count as none; 0 if left out.", minimum=0
    ),
]


SettleTimeOption = Annotated[
    str,
    Option(
        "--settle",
        metavar="TIME",
        help="How long clients take to look at routes again (pollNameServerInterval); 30s if left out.",
    ),
]


IntervalOption = Annotated[
    str, Option("--interval", metavar="TIME", help="From one look to the next; 10s if left out.")
]


IntervalsOption = Annotated[
    int,
    Option("--intervals", metavar="N", help="So many in a row without writes; 3 if left out.", minimum=1),
]


def parse_drain_rules(
    command_name: str,
    settle_text: str,
    quiet_intervals: int,
    max_messages: int,
    wait_for_consumers: bool = False,
) -> SafetyRules:
    """Parse the options that say when stopping a broker is safe; UsageError for an invalid one."""
    return SafetyRules(
        round(parse_duration_seconds(command_name, "--settle", settle_text, 0.1, 3600) * 1000),
        quiet_intervals,
        max_messages,
        wait_for_consumers,
    )


def parse_interval_seconds(command_name: str, interval_text: str) -> float:
    """Parse --interval into the seconds between two observations; UsageError for an invalid one."""
    return parse_duration_seconds(command_name, "--interval", interval_text, 0.1, 600)
