"""AuditedCaller, which writes a line of the audit for the changes that a script sends."""

import warnings
from collections.abc import Container, Iterable, Sequence
from time import time

from namesrv_core.errors import RequestError, ResponseCode, RocketMQError
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.connection.caller import Caller
from nsadmin.client.results import ReadOnlyAccess, ServerResult


class AuditedCaller(Caller):
    """A Caller that notes each change in the audit log, in the format of the command line.

    Changes that are sent at once are one line. `context_name` is the context of the client, if it has one.
    """

    context_name: str | None = None

    def send_requests(
        self,
        calls: Iterable[tuple[str, RemotingCommand]],
        timeout_seconds: float | None = None,
        *,
        accepted_codes: Container[int] = (0,),
    ) -> list[ServerResult[RemotingCommand]]:
        """As `Caller.send_requests`, with a line of the audit if a request changes something."""
        calls = list(calls)
        if not any(RequestCode.is_change(command.code) for _, command in calls):
            return super().send_requests(calls, timeout_seconds, accepted_codes=accepted_codes)
        started_ms = int(time() * 1000)
        try:
            results = super().send_requests(calls, timeout_seconds, accepted_codes=accepted_codes)
        except (ReadOnlyAccess, TypeError):
            raise
        except BaseException as error:
            self._append_record(calls, [f"unknown: {type(error).__name__}"] * len(calls), started_ms, [error])
            raise
        self._append_record(
            calls, [_describe_result(r) for r in results], started_ms, [result.error for result in results]
        )
        return results

    def _append_record(
        self,
        calls: Sequence[tuple[str, RemotingCommand]],
        outcome_texts: Sequence[str],
        started_ms: int,
        errors: Sequence[BaseException | None],
    ) -> None:
        # Imported late: a script that only reads needs no audit.
        from nsadmin.console import audit

        sent_requests = [
            audit.SentRequest(server_addr, command.code, command.ext or {}, outcome_text)
            for (server_addr, command), outcome_text in zip(calls, outcome_texts, strict=True)
            if RequestCode.is_change(command.code)
        ]
        audit.append_audit_record(
            audit.build_script_record(
                sent_requests,
                self.context_name,
                () if self._found_name_servers is None else self._found_name_servers.addrs,
                started_ms,
                _exit_code_of(errors),
            ),
            lambda warning_text: warnings.warn(warning_text, RuntimeWarning, stacklevel=2),
        )


def _describe_result(result: ServerResult[RemotingCommand]) -> str:
    from nsadmin.console.request_observer import describe_outcome

    match result.error:
        case None:
            return describe_outcome(ResponseCode.SUCCESS if result.result is None else result.result.code)
        case RequestError(code=response_code):
            return describe_outcome(response_code)
        case CallError() as call_error:
            return call_error.reason
    return str(result.error)


def _exit_code_of(errors: Sequence[BaseException | None]) -> int:
    from nsadmin.console.exit_codes import exit_code_of_error, exit_code_of_outcomes

    for error in errors:
        if error is not None and not isinstance(error, RocketMQError):
            return exit_code_of_error(error)
    return exit_code_of_outcomes(error if isinstance(error, RocketMQError) else None for error in errors)
