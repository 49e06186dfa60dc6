"""A third column of the tables: the name server of the crate rocketmq-namesrv, if it is available.

It gets fewer requests: it needs no warm-up, and takes a second and a half for a large registration. It
refuses compressed registrations.
"""

from collections.abc import Callable
from pathlib import Path

from tests.bench.server_cost import Server, Work, least, together
from tests.interop.rust_part import CRATE, VERSION, RustNameServer, built

NAME = f"Rust {VERSION}"
BRIEFLY = 4
REFUSED = "refused"


class Rust:
    """A column of a table, which is empty if the program is not available."""

    def __init__(self) -> None:
        binary = built()
        self._program = binary if isinstance(binary, Path) else None
        self.note = (
            f"{NAME} is the crate {CRATE} as cargo builds it, asked a quarter as often. "
            "It refuses registrations that are compressed."
        )
        if not isinstance(binary, Path):
            self.note = f"{CRATE} {VERSION} is not in these tables: {binary}."

    def cell(self, said: str) -> str:
        """The end of a line, if there is such a column."""
        return f" {said} |" if self._program else ""

    def cost(self, work: Work, home: Path) -> str:
        """CPU microseconds of a request, as the end of a line."""
        return self.measured(home, lambda server: least({NAME: server}, _brief(work), 1)[NAME])

    def measured(self, home: Path, measure: Callable[[Server], float]) -> str:
        """What is measured of it, as the end of a line; "refused" where it did not answer as it should."""
        program = self._program
        if program is None:
            return ""
        with together({NAME: lambda folder: RustNameServer(program, folder)}, home) as servers:
            try:
                return self.cell(f"{measure(servers[NAME]):.1f}")
            except AssertionError:
                return self.cell(REFUSED)


def _brief(work: Work) -> Work:
    requests = max(work.requests // BRIEFLY, 3)
    return work._replace(warm_up=max(requests // 10, 1), requests=requests)
