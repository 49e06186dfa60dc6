"""Class archives (CDS) of the released Java programs: their start takes half of the processor time.

Java ignores an archive that is missing, damaged, or of other jars.
"""

import hashlib
import os
import shutil
from pathlib import Path

NAME_SERVER, BROKER, TOOLS = PROGRAMS = ("namesrv", "broker", "tools")
"""The programs with an archive. That of the tools serves all programs with clients."""
_QUIET = ("-Xlog:cds=off", "-Xlog:cds+dynamic=off")


def archive_file(cache: Path, version: str, program: str, jar_folder: Path) -> Path:
    """Return the place of the archive. Its name identifies the Java and the jars."""
    java = Path(os.path.realpath(shutil.which("java") or ""))
    release = java.parent.parent / "release"
    identity = [
        str(java),
        release.read_text() if release.is_file() else "",
        *(f"{jar} {jar.stat().st_mtime_ns}" for jar in sorted(jar_folder.glob("*.jar"))),
    ]
    digest = hashlib.sha256("\n".join(identity).encode()).hexdigest()[:12]
    return cache / f"archive-{version}-{program}-{digest}.jsa"


def reading_options(archive: Path) -> list[str]:
    """Return the JVM options that use the archive; none if it does not exist."""
    return [f"-XX:SharedArchiveFile={archive}", *_QUIET] if archive.exists() else []


def writing_options(archive: Path) -> list[str]:
    """Return the JVM options that write the archive when the program exits."""
    return [f"-XX:ArchiveClassesAtExit={archive}", *_QUIET]
