"""Columns of commands that explain: `route explain` and others of its kind."""

from nsadmin.commands.columns.brokers import BROKER_ADDR, BROKER_NAME
from nsadmin.console.output import Column, Columns, of_part
from nsadmin.operations.explain.findings import CauseExplanation

STEP: Column[CauseExplanation] = Column(
    "step", "the examined step; the same names in every release", lambda e: e.cause_id
)
RESULT: Column[CauseExplanation] = Column(
    "result", "ok, warning (not the cause), cause, unknown or skipped", lambda e: e.finding.result
)
SEEN: Column[CauseExplanation] = Column("seen", "the finding", lambda e: e.finding.evidence)
NEXT: Column[CauseExplanation] = Column(
    "next",
    "the next step, with the command; null for none",
    lambda e: None if e.finding.advice is None else str(e.finding.advice),
)
FINDING_COLUMNS: Columns[CauseExplanation] = (
    *of_part(
        lambda e: e.finding,
        (
            BROKER_NAME.means("the broker of the finding; null if it is not about one broker"),
            BROKER_ADDR.means("its address, HOST:PORT"),
        ),
    ),
    SEEN,
    NEXT,
    Column(
        "command",
        "only the command, with words in capitals to replace; null for none",
        lambda e: e.finding.advice and e.finding.advice.shell_command,
    ),
)
