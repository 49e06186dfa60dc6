"""The command of `drain --then`, which a shell runs once the broker can be stopped."""

from collections.abc import Callable

from nsadmin.console.exit_codes import UsageError
from nsadmin.operations import shell_command
from nsadmin.operations.drain.events import CommandEnded
from nsadmin.operations.procedure_clock import ProcedureClock


def build_then_runner(
    broker_name: str, then_command: str | None, procedure_clock: ProcedureClock
) -> Callable[[str], CommandEnded] | None:
    """Return a function that runs the command, given the address of the master; None without a command."""
    if then_command is None:
        return None
    unknown_fields = shell_command.find_unknown_fields(then_command, {"brokerName": "", "brokerAddr": ""})
    if unknown_fields:
        raise UsageError(
            f"unknown placeholder {{{unknown_fields[0]}}} in --then: use {{brokerName}} and {{brokerAddr}}"
        )

    def run_then_command(broker_addr: str) -> CommandEnded:
        command_fields = then_fields(broker_name, broker_addr)
        command_line = shell_command.fill_fields(then_command, command_fields)
        exit_code = shell_command.run_in_shell(command_line, command_fields)
        return CommandEnded(procedure_clock.now_ms(), command_line, exit_code)

    return run_then_command


def then_fields(broker_name: str, broker_addr: str | None) -> dict[str, str]:
    """Return the placeholder values of the command; no address while it is unknown."""
    return {"brokerName": broker_name, **({"brokerAddr": broker_addr} if broker_addr else {})}
