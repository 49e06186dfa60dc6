"""Problems that the security audit finds."""

from nsadmin.operations.checks.findings import CheckState
from nsadmin.operations.security.problems import SecurityProblem


def test_evidence_is_optional() -> None:
    assert SecurityProblem("noTls", CheckState.WARNING, "not encrypted", "set up TLS").evidence == ""
