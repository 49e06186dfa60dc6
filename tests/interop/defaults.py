"""What released servers have for settings that nobody set, asked of themselves.

`python -m tests.interop.defaults` writes cli/nsadmin/operations/config_defaults.json.
"""

import json
import re
import socket
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from tests.interop import jars, wire
from tests.interop.java_parts import STOCK, JavaBroker, JavaNameServer
from tests.interop.our_server import ROOT
from tests.interop.processes import wait_for

FILE = ROOT / "cli" / "nsadmin" / "operations" / "config_defaults.json"
RELEASES = (jars.NEWEST, jars.OLD)
GIVEN = frozenset(
    {
        "bindAddress", "brokerIP1", "brokerIP2", "configStorePath", "haListenPort", "kvConfigPath",
        "listenPort", "namesrvAddr", "rocketmqHome", "storePathCommitLog", "storePathRootDir",
    }
)  # fmt: skip
"""What has to be set for a server to run beside others."""

Settings = dict[str, str]


def of_release(home: Path, version: str, processors: int) -> dict[str, Settings]:
    """All settings of a name server and of a broker that were told only where they are, by kind."""
    flags = (*STOCK, f"-XX:ActiveProcessorCount={processors}")
    with ExitStack() as ends:
        server = JavaNameServer(home / "namesrv", version=version, jvm_flags=flags)
        ends.enter_context(server)
        broker = JavaBroker(home / "broker", [server.address], version=version, jvm_flags=flags)
        broker._config = {key: value for key, value in broker._config.items() if key in GIVEN}
        ends.enter_context(broker)
        wait_for("the broker's settings", lambda: wire.ask(broker.port, 26).code == 0)
        return {"broker": _settings(broker.port, 26), "namesrv": _settings(server.port, 319)}


def _settings(port: int, code: int) -> Settings:
    lines = wire.ask(port, code).body.decode().splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)


def known(
    found: Mapping[str, Settings], again: Mapping[str, Settings], home: Path
) -> dict[str, dict[str, str | None]]:
    """Defaults by kind; null for what depends on the machine."""
    return {
        kind: {
            key: value if again[kind].get(key) == value and not _is_of_machine(value, home) else None
            for key, value in sorted(settings.items())
            if key not in GIVEN
        }
        for kind, settings in found.items()
    }


def _is_of_machine(value: str, home: Path) -> bool:
    return str(home) in value or socket.gethostname() in value or bool(re.fullmatch(r"1[67]\d{11}", value))


def main() -> None:
    defaults_by_kind: dict[str, dict[str, dict[str, str | None]]] = {"broker": {}, "namesrv": {}}
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        for version in RELEASES:
            one, two = (of_release(home / f"{version}-{count}", version, count) for count in (2, 7))
            for kind, settings in known(one, two, home).items():
                defaults_by_kind[kind][version] = settings
        one, two = (of_release(home / f"newer-{count}", jars.BROKER_ONLY, count) for count in (2, 7))
        base = defaults_by_kind["broker"][jars.NEWEST]
        newer = known(one, two, home)["broker"]
        defaults_by_kind["broker"][jars.BROKER_ONLY] = {
            "basedOn": jars.NEWEST, **{key: value for key, value in newer.items() if key not in base},
        }  # fmt: skip
    FILE.write_text(json.dumps(defaults_by_kind, indent=1) + "\n")


if __name__ == "__main__":
    main()
