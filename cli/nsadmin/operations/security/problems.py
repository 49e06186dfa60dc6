"""SecurityProblem, one problem that the security audit found, and remedies that rules share."""

from typing import NamedTuple

from nsadmin.operations.checks.findings import CheckState

FENCE_REMEDY = "allow only brokers, clients and operators to reach the port (firewall, network policy)"


class SecurityProblem(NamedTuple):
    """One problem of one server. The state OK marks a fact worth knowing, which may be intended."""

    check_name: str
    check_state: CheckState
    problem_text: str
    remedy_text: str
    evidence: str = ""
