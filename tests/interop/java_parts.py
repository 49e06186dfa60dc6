"""The released Java programs as context managers: name server, broker and mqadmin, all on loopback."""

import json
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.interop import class_archives, jars
from tests.interop.processes import Child, free_port, start_child, wait_for
from tests.support.certificates import CertificatePair as Pair

# For a quick start only: a run that measures anything passes its own flags.
STOCK = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto")
COMPILED_LOOPS = (
    "-XX:TieredStopAtLevel=4",
    "-XX:Tier4InvocationThreshold=1000000",
    "-XX:Tier4MinInvocationThreshold=1000000",
    "-XX:Tier4CompileThreshold=10000000",
    "-XX:Tier4BackEdgeThreshold=1000000",
)
"""For a broker with a timer wheel: only a loop of a million rounds is optimized, that through the wheel.

It runs for each GET_BROKER_RUNTIME_INFO, which takes 15 ms instead of 70. All other code is a little slower.
"""
# By default servers of 5.x make a certificate for themselves, which takes as long as the rest of their start.
QUICK_START = (*STOCK, "-Dtls.server.mode=disabled")
OPENED = ("--add-opens=java.base/java.nio=ALL-UNNAMED", "--add-opens=java.base/jdk.internal.ref=ALL-UNNAMED")
IDLE_SERVER_CONFIG: dict[str, object] = {
    # A 5.x broker keeps a processor busy for as long before it writes these figures for the first time, and
    # then takes a millisecond of it for each time.
    "transactionMetricFlushInterval": 250,
    # Each flush takes a processor for a fifth of a second. The first one is at the start.
    "timerFlushIntervalMs": 300_000,
}
"""Settings of a broker that takes little processor time when it has nothing to do."""
WITHOUT_TIMER: dict[str, object] = {"timerWheelEnable": "false"}
"""A start takes a third less. Such a broker of 5.5.0 can neither delete topics nor keep timed messages.

Nor can it give a message again that a consumer refused or popped.
"""
QUIET_LOGBACK = "<configuration><root level='OFF'/></configuration>\n"


def write_properties(path: Path, items: Mapping[str, object]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{key}={value}\n" for key, value in items.items()))
    return path


def java(version: str, main: str, home: Path, flags: Iterable[str], args: Iterable[str]) -> list[str]:
    """The command line of one released program whose logs and settings stay below `home`."""
    flags = [*flags]
    part = main.split(".")[3]
    archive = class_archives.BROKER if part == "controller" else part
    # A run that measures anything has flags of its own.
    if archive in class_archives.PROGRAMS and "-Xshare:auto" in flags:
        flags += jars.archive_options(version, archive)
    return [*jvm(version, main, home, flags), "-cp", jars.class_path(version), main, *args]


def jvm(version: str, main: str, home: Path, flags: Iterable[str]) -> list[str]:
    """The beginning of such a command line; `main` says which part's log settings it needs."""
    logback = home / "logback.xml"
    if not logback.exists():
        write_logback(home, version, main)
    settings = [
        f"-Drocketmq.home.dir={home}",
        f"-Duser.home={home}",
        f"-Drmq.logback.configurationFile={logback}",
        *temporary_files(home),
        *OPENED,
    ]
    if main.split(".")[3] == class_archives.BROKER and (library := jars.rocksdb_library(version)):
        settings.append(f"-Djava.library.path={library}")
    return ["java", *flags, *settings]


def temporary_files(home: Path) -> list[str]:
    """The JVM option that keeps temporary files below `home`. A killed program does not remove them."""
    folder = home / "tmp"
    folder.mkdir(parents=True, exist_ok=True)
    return [f"-Djava.io.tmpdir={folder}"]


def write_logback(home: Path, version: str, main: str) -> None:
    """5.x takes its logback file from its own jar; 4.9 insists on three files in conf/."""
    home.mkdir(parents=True, exist_ok=True)
    part = main.split(".")[3]
    jar = jars.jars(version) / f"rocketmq-{part}-{version}.jar"
    if version.startswith("4."):
        for name in ("namesrv", "broker", "tools"):
            conf = home / "conf" / f"logback_{name}.xml"
            conf.parent.mkdir(exist_ok=True)
            conf.write_text(QUIET_LOGBACK)
        (home / "logback.xml").write_text(QUIET_LOGBACK)
    elif part in ("namesrv", "broker", "tools"):
        (home / "logback.xml").write_bytes(jars.member(jar, f"rmq.{part}.logback.xml"))
    else:
        (home / "logback.xml").write_text(QUIET_LOGBACK)


def client_jvm(home: Path, *flags: str) -> list[str]:
    """The beginning of the command line of a program with clients, which logs nothing."""
    home.mkdir(parents=True)
    logback = home / "logback.xml"
    logback.write_text(QUIET_LOGBACK)
    settings = [
        f"-Duser.home={home}",
        *temporary_files(home),
        f"-Drmq.logback.configurationFile={logback}",
        f"-Drocketmq.client.logRoot={home}",
        # By default, clients look every 20 seconds for queues that are new to them.
        *(f"-Drocketmq.client.rebalance.{name}Interval=1000" for name in ("wait", "min", "lock")),
    ]
    return ["java", *QUICK_START, "-Xmx256m", *settings, *flags]


def start_clients(home: Path, program: Sequence[str], args: Sequence[str], *flags: str) -> Child:
    """A program with clients that reads orders, after it has said "ready"."""
    command = [*client_jvm(home, *flags), *program, *args]
    return start_child(command, home / "stdout.log", "ready", 90, talks=True)


class Running:
    """A program that is started on entry and ended on exit."""

    child: Child

    def start(self) -> None:
        raise NotImplementedError

    def stop(self) -> None:
        self.child.stop()

    def kill(self) -> None:
        self.child.kill()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()


def tls_flags(ca: Path, server: Pair, client: Pair) -> list[str]:
    """For a JVM that speaks nothing but TLS, knows this CA only, and has to be shown a certificate of it."""
    settings = {
        "tls.server.mode": "enforcing",
        "tls.test.mode.enable": "false",
        "tls.config.file": "/nonexistent",
        "tls.server.certPath": server.cert,
        "tls.server.keyPath": server.key,
        "tls.server.need.client.auth": "require",
        "tls.server.authClient": "true",
        "tls.server.trustCertPath": ca,
        "tls.enable": "true",
        "tls.client.authServer": "true",
        "tls.client.trustCertPath": ca,
        "tls.client.certPath": client.cert,
        "tls.client.keyPath": client.key,
    }
    return [f"-D{key}={value}" for key, value in settings.items()]


def acl_config(user: str, password: str) -> dict[str, str]:
    """Properties of a 5.5.0 broker that asks everybody who he is and what he may; one super user."""
    kinds = ("authentication", "authorization")
    providers = {
        f"{kind}MetadataProvider": (
            f"org.apache.rocketmq.auth.{kind}.provider.Local{kind.capitalize()}MetadataProvider"
        )
        for kind in kinds
    }
    return {
        **dict.fromkeys((f"{kind}Enabled" for kind in kinds), "true"),
        **providers,
        "initAuthenticationUser": json.dumps({"username": user, "password": password}),
        "innerClientAuthenticationCredentials": json.dumps({"accessKey": user, "secretKey": password}),
    }


def write_plain_acl(home: Path, accounts: Iterable[Mapping[str, object]]) -> None:
    """The accounts of a 4.9.7 broker with aclEnable; a name of six letters or less keeps it from starting."""
    file = home / "conf" / "plain_acl.yml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"accounts": list(accounts)}))


class JavaNameServer(Running):
    """A released name server; `config` adds to or replaces its properties."""

    def __init__(
        self,
        home: Path,
        config: Mapping[str, object] | None = None,
        version: str = jars.NEWEST,
        jvm_flags: Sequence[str] = QUICK_START,
        port: int | None = None,
    ) -> None:
        self.home = home
        self.version = version
        self.port = port or free_port()
        self._flags = [*jvm_flags, "-Xms64m", "-Xmx256m"]
        self.config_file = home / "namesrv.properties"
        self._config = {
            "listenPort": self.port,
            "bindAddress": "127.0.0.1",
            "kvConfigPath": home / "kvConfig.json",
            "configStorePath": self.config_file,
            **(config or {}),
        }

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        write_properties(self.config_file, self._config)
        main = "org.apache.rocketmq.namesrv.NamesrvStartup"
        command = java(self.version, main, self.home, self._flags, ["-c", str(self.config_file)])
        self.child = start_child(command, self.home / "stdout.log", "The Name Server boot success", 60)


class JavaBroker(Running):
    """A released broker; it is up when its boot line came, registered when a name server says so.

    Without addresses it has to be told in `config` where it finds name servers.
    """

    def __init__(
        self,
        home: Path,
        namesrv_addrs: Sequence[str],
        name: str = "broker-a",
        cluster: str = "DefaultCluster",
        broker_id: int = 0,
        version: str = jars.NEWEST,
        config: Mapping[str, object] | None = None,
        jvm_flags: Sequence[str] = QUICK_START,
    ) -> None:
        self.home, self.name, self.cluster, self.broker_id = home, name, cluster, broker_id
        self.version = version
        self.port = free_port((-2, 0, 1))
        self._config = {
            "brokerClusterName": cluster,
            "brokerName": name,
            "brokerId": broker_id,
            "brokerRole": "SLAVE" if broker_id else "ASYNC_MASTER",
            "brokerIP1": "127.0.0.1",
            "brokerIP2": "127.0.0.1",
            "listenPort": self.port,
            "haListenPort": self.port + 1,
            **({"namesrvAddr": ";".join(namesrv_addrs)} if namesrv_addrs else {}),
            "storePathRootDir": home / "store",
            "storePathCommitLog": home / "store" / "commitlog",
            "mappedFileSizeCommitLog": 16 * 1024 * 1024,
            "mappedFileSizeConsumeQueue": 60_000,
            "mappedFileSizeTimerLog": 1024 * 1024,
            "autoCreateTopicEnable": "true",
            **IDLE_SERVER_CONFIG,
            **(config or {}),
        }
        has_timer = version != jars.OLD and not WITHOUT_TIMER.items() <= self._config.items()
        # A run that measures anything has flags of its own.
        loops = COMPILED_LOOPS if has_timer and STOCK[0] in jvm_flags else ()
        self._flags = [*jvm_flags, *loops, "-Xms256m", "-Xmx512m", "-XX:MaxDirectMemorySize=256m"]

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        write_properties(self.config_file, self._config)
        self._start_with_file()

    def restart(self) -> None:
        """Start it again with its file, in which it keeps the changes of its settings."""
        self.kill()
        self._start_with_file()

    @property
    def config_file(self) -> Path:
        return self.home / "broker.properties"

    def _start_with_file(self) -> None:
        main = "org.apache.rocketmq.broker.BrokerStartup"
        command = java(self.version, main, self.home, self._flags, ["-c", str(self.config_file)])
        self.child = start_child(command, self.home / "stdout.log", "boot success", 90)


class MqAdmin(Running):
    """mqadmin's own commands, unmodified, many in one JVM: a start takes longer than any command."""

    END = "### end of command\n"

    def __init__(
        self, home: Path, namesrv: Sequence[str], version: str = jars.NEWEST, flags: Sequence[str] = ()
    ) -> None:
        self.home, self._namesrv, self._version, self._flags = home, namesrv, version, flags

    def start(self) -> None:
        servers = f"-Drocketmq.namesrv.addr={';'.join(self._namesrv)}"
        flags = [*QUICK_START, "-Xmx256m", *self._flags, servers]
        main = "org.apache.rocketmq.tools.command.MQAdminStartup"
        command = [*jvm(self._version, main, self.home, flags), *jars.program("Commands", self._version)]
        self.child = Child(command, self.home / "stdout.log", talks=True)
        self._read = 0

    def __call__(self, *args: str) -> str:
        """What one command prints, its errors included."""
        self.child.write("\t".join(args) + "\n")
        wait_for(f"mqadmin {args[0]}", lambda: self.END in self.child.output[self._read :])
        said = self.child.output[self._read :].split(self.END)[0]
        self._read += len(said) + len(self.END)
        return said


class LiveClients(Running):
    """A push consumer TOPIC-consumer (of TagA || TagB) and a producer TOPIC-producer that stay.

    With `pop` the broker shares out the queues, and the consumer pops if its group is set to that.
    """

    def __init__(
        self, home: Path, namesrv: str, topic: str, *, pop: bool = False, flags: Sequence[str] = ()
    ) -> None:
        self.home, self._args = home, [namesrv, topic, *(["pop"] if pop else [])]
        self._flags = flags

    def start(self) -> None:
        self.child = start_clients(self.home, jars.program("LiveClients"), self._args, *self._flags)

    def order(self, line: str) -> int:
        """Have the clients do something, and wait until it is done; how many they consumed so far."""
        return int(self.child.obey(line, 40)[1].rpartition("consumed ")[2].split()[0])


class Lookups(Running):
    """A Java client that asks for routes of a topic and sends to it, without a pause, until it is `ended`.

    `domain` is that of an address server, for a client without name servers of its own.
    """

    def __init__(self, home: Path, namesrv: Sequence[str], topic: str, domain: str | None = None) -> None:
        self.home, self._args, self._domain = home, [";".join(namesrv) or "-", topic], domain

    def start(self) -> None:
        domain = [f"-Drocketmq.namesrv.domain={self._domain}"] if self._domain else []
        command = [*client_jvm(self.home, *domain), *jars.program("Lookups"), *self._args]
        self.child = start_child(command, self.home / "stdout.log", "begun", 60, talks=True)

    def ended(self) -> str:
        """What it says at its end: how often it asked, and what failed."""
        self.child.write("\n")
        return self.child.wait_for_line("asked ", 60)


def mqadmin(args: Sequence[str], namesrv: Sequence[str], home: Path, version: str = jars.NEWEST) -> str:
    """What one unmodified mqadmin command prints; it exits 0 whatever happens."""
    main = "org.apache.rocketmq.tools.command.MQAdminStartup"
    flags = [*QUICK_START, "-Xmx256m", f"-Drocketmq.namesrv.addr={';'.join(namesrv)}"]
    command = java(version, main, home, flags, args)
    result = subprocess.run(command, capture_output=True, text=True, timeout=90, cwd=home)
    return result.stdout + result.stderr
