"""Our name server as a child process: started like a user starts it, killed and restarted on its port."""

import re
from collections.abc import Mapping
from pathlib import Path

from tests.interop.java_parts import Running, write_properties
from tests.interop.processes import Child
from tests.support.name_server_flags import server_command

ROOT = Path(__file__).parents[2]
BOOT = re.compile(r"The Name Server boot success\. serializeType=JSON, address 127\.0\.0\.1:(\d+)")


class OurNameServer(Running):
    """`python -m namesrv_core`; the first start picks a free port, later ones take the same again."""

    def __init__(self, home: Path, config: Mapping[str, object] | None = None, port: int = 0) -> None:
        self.home, self.port = home, port
        self.config_file = home / "namesrv.properties"
        self._config = config
        self._starts = 0

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def command(self) -> list[str]:
        given = ["-c", str(self.config_file)] if self._config else []
        place = ["--home", str(self.home), "--port", str(self.port), "--bind", "127.0.0.1"]
        journal = [] if "journalDir" in (self._config or {}) else ["--no-journal"]
        return server_command(*given, *place, *journal)

    def start(self) -> None:
        if self._config and not self.config_file.exists():
            write_properties(self.config_file, self._config)
        self._starts += 1
        log = self.home / f"stdout-{self._starts}.log"
        self.child = Child(self.command(), log, env={"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"})
        try:
            line = self.child.wait_for_line("The Name Server boot success", 20)
        except BaseException:
            self.child.kill()
            raise
        boot_match = BOOT.search(line)
        assert boot_match, f"odd boot line: {line}"
        self.port = int(boot_match[1])
