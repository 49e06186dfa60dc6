"""Refresh: asks servers for the values of a source and keeps them, in a process that nobody waits for."""

import sys
from collections.abc import Sequence

from namesrv_core.errors import RocketMQError
from nsadmin import settings
from nsadmin.complete.cache import Cache
from nsadmin.complete.question import Question, connection
from nsadmin.complete.values import of_servers
from nsadmin.session import Session


def refresh(question: Question, cache: Cache, now: float) -> None:
    """Ask and keep. Where no server answers, what is kept stays; while another one asks, nothing is done."""
    name = question.name()
    with cache.alone(name) as mine:
        if not mine:
            return
        admin = Session(settings.resolve(connection(question.before))).admin
        try:
            lines = of_servers(question.source, admin, question.detail)
        except RocketMQError:
            return
        finally:
            admin.close()
        cache.write(name, lines, now)
        if question.source == "kv-keys" and lines:
            _remember(question, cache, now)


def _remember(question: Question, cache: Cache, now: float) -> None:
    """Name servers do not list namespaces: one that was used and has keys is offered from then on."""
    name = question._replace(source="namespaces", detail="").name()
    kept = cache.read(name)
    cache.write(name, sorted({question.detail, *(kept.lines if kept else ())}), now)


def start(question: Question) -> None:
    """A process that refreshes, with no terminal and outliving this one."""
    import subprocess

    words: Sequence[str] = (question.source, question.detail, *question.before)
    # -P: whatever lies in the current folder is not imported.
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "nsadmin", "complete", "refresh", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        creationflags=getattr(subprocess, "DETACHED_PROCESS", 0),
    )
    # Nobody will wait for it, and that is nothing to warn of.
    process.returncode = 0
