"""The house: who may import whom, a test module for every module, and no room too full."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = {
    "namesrv_core": ROOT / "namesrv_core",
    "nsadmin": ROOT / "cli" / "nsadmin",
    "nsreport": ROOT / "pipeline" / "nsreport",
}
LONGEST = 400

WITHOUT_TESTS = {
    "namesrv_core/transport/exchange.py": "tested with the calls that are told of",
    "namesrv_core/transport/quotas.py": "only records, tested with the streams that keep to them",
    "namesrv_core/server/inspected_server.py": "only a protocol",
    "namesrv_core/protocol/registration_parts.py": "tested with the registrations that are made of them",
    "namesrv_core/history/field_meanings.py": "only a table, which the tests of the schema compare",
    "namesrv_core/lab/__main__.py": "only calls command.main",
    "namesrv_core/lab/expectations.py": "tested with the faults whose consequences it tells",
    "namesrv_core/lab/silence_expectations.py": "tested with the faults whose consequences it tells",
    "namesrv_core/lab/broker_id_expectations.py": "tested with the faults whose consequences it tells",
    "namesrv_core/lab/broker_listeners.py": "tested with the faults whose consequences it tells",
    "namesrv_core/lab/observation_rules.py": "only constants",
    "namesrv_core/lab/broker_faults.py": "tested with all faults, in the built-in scenarios",
    "namesrv_core/lab/identity_faults.py": "tested with all faults, in the built-in scenarios",
    "namesrv_core/lab/name_server_faults.py": "tested with all faults, in the built-in scenarios",
    "namesrv_core/lab/network_faults.py": "tested with all faults, in the built-in scenarios",
    "namesrv_core/lab/registration_faults.py": "tested with all faults, in the built-in scenarios",
    "namesrv_core/lab/write_permission_faults.py": "tested with all faults, in the built-in scenarios",
    "namesrv_core/fleet/handler_outcome.py": "only records",
    "namesrv_core/fleet/offset_handlers.py": "tested with the offsets that they read and move",
    "namesrv_core/protocol/registration_records.py": "only records",
    "nsadmin/__main__.py": "only calls app.main",
    "nsadmin/commands/reports/report_options.py": "tested with the commands that have them",
    "nsadmin/manual/data_dictionary.py": "the test of generated files compares it",
    "nsadmin/commands/columns/bundle_columns.py": "only a table, which the tests of columns compare",
    "nsreport/presentation/table_reader.py": "tested with the exports and commands that read tables",
    "nsreport/facts/agreement.py": "tested with ns_divergence and ns_convergence, which show "
    "all that it finds",
    "nsreport/__main__.py": "only calls command.main",
    "nsreport/tables/silver.py": "only a table, whose functions the test of a run calls",
    "nsreport/facts/drains.py": "tested with drain_audit, which shows all that it finds",
    "nsadmin/command_table.py": "only a table, which the tests of the registry look through",
    "nsadmin/client/connection/blocking_client.py": "every test of a noun goes through it",
    "nsadmin/client/connection/tunnels/tunnel.py": "tested with the tunnels that extend it",
    "nsadmin/client/connection/tunnels/kubectl_program.py": "tested with the tunnel that runs it",
    "nsadmin/client/consumers/consume_stats.py": "tested with the progress that is made of them",
    "nsadmin/client/consumers/group_problems.py": "tested with the clients whose problems they are",
    "nsadmin/client/consumers/group_settings.py": "tested with the groups whose settings they are",
    "nsadmin/client/consumers/offset_plans.py": "tested with the moves that are planned",
    "nsadmin/client/consumers/running_info.py": "tested with the clients that report it",
    "nsadmin/client/topics/bulk_requests.py": "tested with the changes that send them",
    "nsadmin/commands/access/acl_arguments.py": "tested with the ACL commands that parse them",
    "nsadmin/commands/access/acl_rows.py": "tested with the ACL commands that show them",
    "nsadmin/commands/brokers/controller_arguments.py": "tested with the controller commands that parse them",
    "nsadmin/commands/brokers/replica_rows.py": "tested with the controller commands that show them",
    "nsadmin/commands/topics/lite_topic_brokers.py": "tested with the lite topic commands that ask them",
    "nsadmin/commands/columns/rebalance_columns.py": "only a table, which the manual reads",
    "nsadmin/operations/rebalance/change_sender.py": "tested with the environment that sends the changes",
    "nsadmin/operations/rebalance/group_progress.py": "tested with the environment that reads the groups",
    "nsadmin/operations/rebalance/pending_deliveries.py": "tested with the environment that counts them",
    "nsadmin/operations/rebalance/plan_fields.py": "tested with the plan files that have the fields",
    "nsadmin/operations/rebalance/run_facts.py": "only records and a protocol",
    "nsadmin/operations/transfer/copy_queue.py": "tested with the run whose state it is",
    "nsadmin/operations/transfer/copy_search.py": "tested with the plans and runs that search",
    "nsadmin/operations/transfer/source_reader.py": "tested with the runs that read with it",
    "nsadmin/client/brokers/dispatch_wait.py": "tested with the replays and transfers that wait",
    "nsadmin/operations/explain/order_conf_causes.py": "tested with the causes of a route",
    "nsadmin/command_line/namespace_options.py": "only a declaration, tested with the commands that have it",
    "nsadmin/command_line/shared_options.py": "every test of a command goes through it",
    "nsadmin/commands/procedures/drain_options.py": "tested with the commands that have them",
    "namesrv_core/state/unregistration.py": "tested with the registrations that it undoes",
    "namesrv_core/state/registration_events.py": "tested with the registrations whose events they are",
    "namesrv_core/server/state_persistence.py": "tested with the server, whose changes it writes",
    "namesrv_core/transport/steady_clock.py": "tested with the server, whose clock it is",
    "namesrv_core/server/idle_streams.py": "tested with the server, whose connections it closes",
    "nsadmin/client/admin.py": "every test of a noun goes through it",
    "nsadmin/client/topic_routes.py": "tested with the topics whose routes they are",
    "nsadmin/commands/columns/drain_columns.py": "only a table, tested with that of all columns",
    "nsadmin/library/drain_procedure.py": "tested with the drains of commands and scripts",
    "nsadmin/library/service_checks.py": "tested with the checks that extend it",
    "nsadmin/operations/drain/facts.py": "only records",
    "nsadmin/operations/replicas/records.py": "only records",
    "nsadmin/command_records.py": "only records, tested with the table of commands",
    "nsadmin/client/topics/topic_usage.py": "tested with the topics whose usage it is",
    "nsadmin/command_line/declarations.py": "only records",
    "nsadmin/commands/programs/namesrv.py": "only calls main of namesrv_core",
    "nsadmin/commands/columns/backup_columns.py": "only a table, which the tests of columns look through",
    "nsadmin/commands/columns/access_columns.py": "only a table, which the tests of columns look through",
    "nsadmin/commands/columns/comparison_columns.py": "only a table, which the tests of columns look through",
    "nsadmin/commands/columns/dead_letter_columns.py": "only a table, which the tests of columns look up",
    "nsadmin/commands/columns/history_columns.py": "only a table, which the tests of columns look through",
    "nsadmin/commands/columns/lite_topic_columns.py": "only a table, which the tests of columns look through",
    "nsadmin/commands/columns/plan_columns.py": "only a table, which the tests of columns look through",
    "nsadmin/commands/columns/report_columns.py": "only a table, which the tests of columns look through",
    "nsadmin/commands/columns/transfer_columns.py": "only a table, which the tests of columns look through",
    "nsadmin/commands/columns/upkeep_columns.py": "only a table, which the tests of columns look through",
    "nsadmin/command_line/parser.py": "every test of a command goes through it",
    "nsadmin/operations/plans/shapes.py": "only records",
    "nsadmin/output/result_rows.py": "only records",
    "nsadmin/tui/context.py": "only records",
    "nsadmin/tui/polling/replica_records.py": "only records",
    "nsadmin/tui/actions/row_subject.py": "only a record",
    "nsadmin/tui/views/view_targets.py": "only records, tested with the links that open them",
    "nsadmin/commands/columns/result_rows.py": "every test of a command that changes something goes "
    "through it",
}
"""Modules without a test module of their own, and why."""


def modules() -> list[tuple[str, Path]]:
    """Every source module as (path under tests/, file)."""
    return sorted(
        (f"{package}/{path.relative_to(folder).as_posix()}", path)
        for package, folder in SOURCES.items()
        for path in folder.rglob("*.py")
        if path.name != "__init__.py"
    )


def test_module_of(name: str) -> Path:
    folder, _, file = name.rpartition("/")
    return ROOT / "tests" / folder / f"test_{'main.py' if file == '__main__.py' else file}"


test_module_of.__test__ = False  # type: ignore[attr-defined]


def test_the_import_contracts_are_kept() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    ended = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout


@pytest.mark.parametrize("name", [name for name, _ in modules() if name not in WITHOUT_TESTS])
def test_a_module_has_a_test_module(name: str) -> None:
    assert test_module_of(name).is_file()


def test_exceptions_are_modules_that_exist() -> None:
    assert WITHOUT_TESTS.keys() - {name for name, _ in modules()} == set()


def test_no_source_file_is_too_long() -> None:
    lengths = {name: len(path.read_text().splitlines()) for name, path in modules()}
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST} == {}


def loaded_by(statement: str) -> set[str]:
    """What is in sys.modules after a statement in a fresh interpreter."""
    program = f"{statement}\nimport sys\nprint(*sys.modules)"
    path = f"import sys; sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / 'cli')!r}]\n"
    ended = subprocess.run([sys.executable, "-c", path + program], capture_output=True, text=True, check=True)
    return set(ended.stdout.split())


PROTOCOL = [name for name, _ in modules() if name.startswith("namesrv_core/protocol/")]


def test_the_protocol_knows_no_socket_and_no_loop() -> None:
    imports = "; ".join(f"import {name.removesuffix('.py').replace('/', '.')}" for name in PROTOCOL)
    loaded = loaded_by(imports)
    assert "namesrv_core.protocol.codec" in loaded
    assert loaded & {"asyncio", "socket", "ssl", "selectors", "uvloop"} == set()


def test_the_pure_half_loads_no_transport_and_no_storage() -> None:
    loaded = loaded_by("import namesrv_core.handlers.dispatch")
    assert loaded & {"asyncio", "uvloop", "namesrv_core.transport", "namesrv_core.storage"} == set()
