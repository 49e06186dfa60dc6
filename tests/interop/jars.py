"""The released jars of RocketMQ and Hadoop: brought once by Maven into a cache outside the repository."""

import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from functools import cache
from pathlib import Path

import pytest

from tests.interop import class_archives

POM = Path(__file__).with_name("pom.xml")
PROXY = Path(__file__).with_name("proxy.xml")
HADOOP = Path(__file__).with_name("hadoop.xml")
SOURCES = Path(__file__).with_name("java")
NEWEST = "5.5.0"
OLD = "4.9.7"
BROKER_ONLY = "5.5.1"
"""Published without its name server, client, tools and their libraries: it runs with those of `NEWEST`."""
PARTS = ("broker", "common", "controller", "remoting", "store", "tiered-store")
"""What is published of `BROKER_ONLY`."""
GRPC_CLIENT = "5.2.0"


def require(*programs: str, strict: bool = True) -> None:
    """Skip the test when a program is missing; under CI a missing strict one fails it instead."""
    missing = [name for name in programs if shutil.which(name) is None]
    if not missing:
        return
    _unavailable(f"{' and '.join(missing)} not found on PATH", strict)


def require_java() -> None:
    """Skip (fail under CI) unless Maven and a Java of at least 11 are here."""
    require("java", "mvn")
    banner = subprocess.run(["java", "-version"], capture_output=True, text=True, timeout=60).stderr
    found = re.search(r'version "(\d+)', banner)
    if found is None or int(found[1]) < 11:
        _unavailable("java is older than 11", strict=True)


def _unavailable(reason: str, strict: bool) -> None:
    if strict and os.environ.get("CI"):
        pytest.fail(f"{reason}, and CI may not skip the interop tests", pytrace=False)
    pytest.skip(reason)


def cache_root() -> Path:
    """Where downloaded things live: $NSADMIN_JAVA_CACHE, else the user's cache folder."""
    chosen = os.environ.get("NSADMIN_JAVA_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "nsadmin"


def publish(temporary: Path, target: Path) -> None:
    """Give a finished folder its final name; when another run was faster, its folder stays."""
    try:
        temporary.rename(target)
    except OSError:
        if not target.is_dir():
            raise
        shutil.rmtree(temporary)


def jars(version: str) -> Path:
    """The folder of one release's jars."""
    if version == BROKER_ONLY:
        return _broker_only()
    return _brought(f"rocketmq-{version}", *_needed(POM), f"-Drocketmq.version={version}")


def _broker_only() -> Path:
    target = cache_root() / f"rocketmq-{BROKER_ONLY}"
    if not target.is_dir():
        parts = [
            next(_brought(f"rocketmq-{part}-{BROKER_ONLY}", "dependency:copy", _artifact(part)).glob("*.jar"))
            for part in PARTS
        ]
        replaced = {f"rocketmq-{part}-{NEWEST}.jar" for part in PARTS}
        temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=cache_root()))
        for jar in [*parts, *(jar for jar in jars(NEWEST).iterdir() if jar.name not in replaced)]:
            shutil.copyfile(jar, temporary / jar.name)
        publish(temporary, target)
    return target


def _artifact(part: str) -> str:
    return f"-Dartifact=org.apache.rocketmq:rocketmq-{part}:{BROKER_ONLY}"


def container(version: str) -> Path:
    """The jar of the broker container, which is not among a release's other jars."""
    artifact = f"-Dartifact=org.apache.rocketmq:rocketmq-container:{version}"
    folder = _brought(f"rocketmq-container-{version}", "dependency:copy", artifact)
    return next(folder.glob("*.jar"))


def proxy(version: str) -> Path:
    """The folder of the proxy's jars."""
    return _brought(f"rocketmq-proxy-{version}", *_needed(PROXY), f"-Drocketmq.version={version}")


def grpc_client() -> Path:
    """The folder of the Java gRPC client: one jar that contains its libraries."""
    artifact = f"-Dartifact=org.apache.rocketmq:rocketmq-client-java:{GRPC_CLIENT}"
    return _brought(f"rocketmq-client-java-{GRPC_CLIENT}", "dependency:copy", artifact)


def hadoop(version: str) -> Path:
    """The folder of the jars of Hadoop's own small cluster."""
    return _brought(f"hadoop-{version}", *_needed(HADOOP), f"-Dhadoop.version={version}")


def _needed(pom: Path) -> tuple[str, ...]:
    return "dependency:copy-dependencies", "-f", str(pom)


def _brought(name: str, *goal: str) -> Path:
    """A folder of the cache, filled by a goal of Maven's at the first use."""
    target = cache_root() / name
    if target.is_dir():
        return target
    require_java()
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=target.parent))
    try:
        maven = ["mvn", "-q", "-B", *goal, f"-DoutputDirectory={temporary}"]
        subprocess.run(maven, check=True, timeout=600, capture_output=True, text=True)
        publish(temporary, target)
    except subprocess.CalledProcessError as error:
        pytest.fail(f"Maven brought no {name}:\n{error.stdout}{error.stderr}", pytrace=False)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return target


def class_path(version: str) -> str:
    return str(jars(version) / "*")


def program(name: str, version: str = NEWEST) -> list[str]:
    """What `java` has to be told to run the program `java/NAME.java` with the jars of a release."""
    return [*archive_options(version, class_archives.TOOLS), *compiled(name, version, jars(version))]


def class_archive(version: str, kind: str) -> Path:
    """Where the class archive of a release's program is, or will be."""
    return class_archives.archive_file(cache_root(), version, kind, jars(version))


def archive_options(version: str, kind: str) -> list[str]:
    """The JVM options for the class archive of a release's program, if there is one.

    The class path must begin with that of the release.
    """
    return class_archives.reading_options(class_archive(version, kind))


@cache
def rocksdb_library(version: str) -> Path | None:
    """The folder with RocksDB's native library; None without RocksDB, or on another kind of machine.

    Otherwise each broker takes its own copy of 12 MB from the jar.
    """
    found = next(jars(version).glob("*rocksdb*.jar"), None)
    if found is None or (sys.platform, platform.machine()) != ("linux", "x86_64"):
        return None
    target = cache_root() / f"native-{found.stem}"
    if not target.is_dir():
        temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=cache_root()))
        (temporary / "librocksdbjni.so").write_bytes(member(found, "librocksdbjni-linux64.so"))
        publish(temporary, target)
    return target


def compiled(name: str, version: str, folder: Path) -> list[str]:
    """The same with the jars of any folder; the program is compiled at the first use."""
    source = SOURCES / f"{name}.java"
    text = source.read_bytes()
    classes = cache_root() / f"classes-{version}-{name}-{hashlib.sha256(text).hexdigest()[:12]}"
    if not classes.is_dir():
        temporary = Path(tempfile.mkdtemp(prefix=f".{classes.name}-", dir=cache_root()))
        javac = ["javac", "-nowarn", "-d", str(temporary), "-cp", f"{folder}/*", str(source)]
        subprocess.run(javac, check=True, timeout=120)
        publish(temporary, classes)
    # A class archive only fits class paths that begin with the jars.
    return ["-cp", f"{folder}/*{os.pathsep}{classes}", name]


def member(jar: Path, name: str) -> bytes:
    with zipfile.ZipFile(jar) as archive:
        return archive.read(name)
