"""Owns lab up, lab run and lab list: name servers with simulated brokers. No other command imports them."""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

import namesrv_core
from namesrv_core.errors import RocketMQError
from namesrv_core.transport.address import split_addr
from nsadmin.command_line.argument_values import parse_choice
from nsadmin.command_line.declarations import Flags, Values, command
from nsadmin.console import output, stderr
from nsadmin.console.exit_codes import ExitCode, UsageError

LAB_CONTEXT_NAME = "lab"
_SCENARIO_FOLDER = Path(namesrv_core.__file__).parent / "lab" / "scenarios"
_SCENARIOS = "|".join(sorted(path.stem for path in _SCENARIO_FOLDER.glob("*.yaml")))
_MAX_SIZE, _MAX_NAME_SERVERS = 10_000, 9

DirOption = Annotated[
    str | None,
    Option("--dir", metavar="DIR", help="Folder for journals and truth.jsonl. Default: a temporary folder."),
]
SeedOption = Annotated[
    int | None,
    Option(
        "--seed",
        metavar="N",
        help="Seed of the random numbers that choose the topics and clients. Default: 1, or the scenario's.",
    ),
]


@command()
def lab_up(
    scenario: Annotated[
        str | None,
        Argument(
            metavar="SCENARIO",
            help="Scenario to play: a built-in name or a YAML file. The cluster keeps running after its end.",
        ),
        Flags("--scenario"),
        Values(_SCENARIOS),
    ],
    clusters: Annotated[int | None, Option("--clusters", metavar="N", help="Clusters. Default: 2.")] = None,
    groups: Annotated[
        int | None, Option("--groups", metavar="N", help="Broker groups in each cluster. Default: 3.")
    ] = None,
    replicas: Annotated[
        int | None,
        Option("--replicas", metavar="N", help="Brokers in each group, master included. Default: 2."),
    ] = None,
    topics: Annotated[
        int | None,
        Option("--topics", metavar="N", help="Topics in each cluster, without system topics. Default: 40."),
    ] = None,
    namesrvs: Annotated[
        int | None, Option("--namesrvs", metavar="N", help="Number of name servers. Default: 1.")
    ] = None,
    namesrv_port: Annotated[
        int,
        Option(
            "--namesrv-port",
            metavar="PORT",
            help="Port of the first name server, the others get the next ports. 0 selects free ports.",
        ),
    ] = 0,
    broker_port: Annotated[
        int,
        Option(
            "--broker-port",
            metavar="PORT",
            help="Port of the first broker, the others get every tenth port. 0 selects free ports.",
        ),
    ] = 0,
    speed: Annotated[
        str | None,
        Option("--speed", metavar="N", help="Virtual seconds per real second, or max. Default: 1."),
    ] = None,
    run_dir: DirOption = None,
    seed: SeedOption = None,
    no_context: Annotated[bool, Option("--no-context", help='Do not write the context "lab".')] = False,
    namesrv_addrs: Annotated[
        str | None,
        Option(
            "-n",
            "--namesrvAddr",
            metavar="ADDRS",
            help="Register the brokers with these name servers (separated by ; or ,) and start none.",
        ),
    ] = None,
) -> int:
    """Run a simulated cluster until Ctrl-C, with or without a scenario of failures.

    While it runs, your contexts have a context `lab`, unless you saved one of that name. The current context
    does not change. `nsadmin lab list` shows the built-in scenarios. A scenario sets its own numbers, so it
    excludes --clusters, --groups, --replicas, --topics and --namesrvs.

    Examples:
        # A test cluster, to try nsadmin without a real one; it has the ports of all examples
        nsadmin lab up --namesrv-port 9876 --broker-port 10911
        # Three name servers that lose some brokers; an hour takes a minute
        nsadmin lab up --scenario split-brain --speed 60
    """
    from namesrv_core.lab.command import LabPlan, start_lab

    given_sizes = {"clusters": clusters, "groups": groups, "replicas": replicas, "topics": topics}
    sizes = {name: size for name, size in given_sizes.items() if size is not None}
    for name, size in sizes.items():
        _require_range(f"--{name}", size, _MAX_SIZE)
    if namesrvs is not None:
        _require_range("--namesrvs", namesrvs, _MAX_NAME_SERVERS)
    if scenario is not None:
        for name in (*sizes, *(["namesrvs"] if namesrvs is not None else [])):
            raise UsageError(f"leave out --{name}: the scenario {scenario} sets it")
    if namesrv_addrs is not None:
        own_servers = {"--namesrvs": namesrvs, "SCENARIO": scenario, "--speed": speed, "--dir": run_dir}
        for flag, value in own_servers.items():
            if value is not None:
                raise UsageError(f"omit {flag}: with -n, the lab starts no name servers")
    plan = LabPlan(
        sizes, namesrvs or 1, scenario, seed, 1 if speed is None else _parse_speed(speed),
        Path(run_dir) if run_dir else None, namesrv_port, broker_port,
        None if namesrv_addrs is None else _parse_addresses(namesrv_addrs),
    )  # fmt: skip
    return _run(lambda: start_lab(plan, None if no_context else announce_lab_context))


@command()
def lab_run(
    scenario: Annotated[
        str,
        Argument(metavar="SCENARIO", help="Scenario to play: a built-in name or a YAML file."),
        Flags("--scenario"),
        Values(_SCENARIOS),
    ],
    until: Annotated[
        str | None,
        Option(
            "--until", metavar="DURATION", help="Duration of the run: 90s, 10m, 2h. Default: the scenario's."
        ),
    ] = None,
    java_logs: Annotated[
        str | None,
        Option(
            "--java-logs",
            metavar="4.x|5.x",
            help="Also write the logs that Java name servers of this release would write.",
        ),
    ] = None,
    speed: Annotated[
        str | None,
        Option("--speed", metavar="N", help="Virtual seconds per real second, or max. Default: max."),
    ] = None,
    run_dir: DirOption = None,
    seed: SeedOption = None,
) -> int:
    """Play a scenario of failures to its end, and check the journals for the expected events.

    A run writes `truth.jsonl` with every action and the expected events, and compares it with the journal of
    each name server. With `--java-logs`, it also writes the log of a Java name server next to each journal.

    Examples:
        # Practise an outage: play a quarter of an hour immediately, and check the journals
        nsadmin lab run flapping-broker
    """
    from namesrv_core.lab.command import LOG_DIALECTS, InvalidValue, parse_duration, run_scenario

    try:
        duration_seconds = None if until is None else parse_duration(until)
    except InvalidValue as error:
        raise UsageError(f'invalid time "{until}" for --until: {error}') from None
    run_speed = None if speed is None else _parse_speed(speed)
    dialect = parse_choice("--java-logs", java_logs, LOG_DIALECTS)
    return _run(
        lambda: run_scenario(
            scenario,
            duration_seconds=duration_seconds,
            seed=seed,
            speed=run_speed,
            run_folder=Path(run_dir) if run_dir else None,
            java_logs_dialect=dialect,
        )
    )


@command()
def lab_list() -> int:
    """List the built-in scenarios of failures.

    Examples:
        # All scenarios
        nsadmin lab list
    """
    from namesrv_core.lab.command import list_scenarios

    output.write_text(list_scenarios())
    return ExitCode.DONE


def _run(start: Callable[[], int | None]) -> int:
    """Start a lab; each mistake in a scenario is a line on stderr."""
    try:
        return start() or ExitCode.DONE
    except RocketMQError as error:
        for error_line in str(error).splitlines():
            stderr.write_stderr_line(error_line)
        return ExitCode.FAILED


def _require_range(flag: str, number: int, maximum: int) -> None:
    if not 1 <= number <= maximum:
        raise UsageError(f'invalid value "{number}" for {flag}: expected 1 to {maximum}')


def _parse_speed(speed_text: str) -> float | None:
    """Parse virtual seconds per real second; None for max."""
    if speed_text == "max":
        return None
    with suppress(ValueError):
        if 0.01 <= float(speed_text) <= 1e6:
            return float(speed_text)
    raise UsageError(f'invalid value "{speed_text}" for --speed: expected 0.01 to 1000000, or max')


def _parse_addresses(address_list: str) -> list[str]:
    addresses = [address for address in re.split(r"[;,\s]+", address_list) if address]
    try:
        for address in addresses:
            split_addr(address)
    except ValueError as error:
        raise UsageError(str(error)) from None
    if not addresses:
        raise UsageError("empty list of name servers: write HOST:PORT;HOST:PORT")
    return addresses


def announce_lab_context(
    namesrv_addrs: Sequence[str], journal_folders: Sequence[str] = ()
) -> tuple[str, Callable[[], None]]:
    """Add the context `lab` for these name servers and journals, unless the operator has one of that name.

    Returns:
        A line about the context to print, and a function that removes the context.
    """
    import os
    import shutil
    from functools import partial

    from nsadmin.client.connection.addresses import NameServerList
    from nsadmin.console import contexts
    from nsadmin.operations.inventory.keeper import InventoryKeeper, build_inventory_key

    contexts_file = contexts.contexts_path()
    is_new = not os.path.exists(contexts_file)
    lab = contexts.Context(namesrv_addr=";".join(namesrv_addrs), journals=tuple(journal_folders))

    def with_lab(known: contexts.Contexts) -> contexts.Contexts:
        found = known.contexts_by_name.get(LAB_CONTEXT_NAME)
        return known.with_context(LAB_CONTEXT_NAME, lab) if _is_left_over(found) else known

    def without_lab(known: contexts.Contexts) -> contexts.Contexts:
        is_ours = known.contexts_by_name.get(LAB_CONTEXT_NAME) == lab
        return known.without_context(LAB_CONTEXT_NAME) if is_ours else known

    def remove_context() -> None:
        forget_brokers()
        try:
            if not contexts.change_contexts(contexts_file, without_lab).contexts_by_name and is_new:
                os.remove(contexts_file)
        except (contexts.InvalidContextsError, OSError):
            # The operator has changed the file in the meantime, so it stays unchanged.
            pass

    def forget_brokers() -> None:
        """A later lab has other brokers, which miss none of this one."""
        for source in ("context", "given"):
            servers = NameServerList(tuple(namesrv_addrs), source)
            inventory = InventoryKeeper(partial(build_inventory_key, servers, LAB_CONTEXT_NAME))
            if not inventory.is_off:
                shutil.rmtree(inventory.store.inventory_folder, ignore_errors=True)

    try:
        saved = contexts.change_contexts(contexts_file, with_lab)
    except contexts.InvalidContextsError as error:
        return f"No context was written: {error}", lambda: None
    if saved.contexts_by_name[LAB_CONTEXT_NAME] != lab:
        line = f'The context "{LAB_CONTEXT_NAME}" in {contexts_file} is yours and stays unchanged'
        return line, lambda: None
    forget_brokers()
    line = (
        f"Context {LAB_CONTEXT_NAME} in {contexts_file}, as long as the lab runs: "
        f"nsadmin --context {LAB_CONTEXT_NAME} clusterList"
    )
    return line, remove_context


def _is_left_over(found: object) -> bool:
    """Whether there is no context, or only one with local addresses that a killed lab left."""
    from nsadmin.console.contexts import Context

    if found is None:
        return True
    if not isinstance(found, Context) or found != Context(
        namesrv_addr=found.namesrv_addr, journals=found.journals
    ):
        return False
    return all(addr.startswith("127.0.0.1:") for addr in (found.namesrv_addr or "?").split(";"))
