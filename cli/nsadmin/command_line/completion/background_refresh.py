"""Refreshes the cached values of a source in a separate process, so that TAB does not wait for servers."""

import json
import signal
import sys
import time

from namesrv_core.errors import RocketMQError
from nsadmin.command_line.completion.live_values import ask_servers
from nsadmin.command_line.completion.value_cache import ValueCache, value_cache_folder
from nsadmin.command_line.completion.value_question import ValueQuestion
from nsadmin.console import python_process, settings
from nsadmin.console.session import Session

REFRESH_LIFETIME_SECONDS = 30
"""Seconds after which a refresh is ended, even if it still waits for a server."""


def refresh_values(value_question: ValueQuestion, value_cache: ValueCache, now_seconds: float) -> None:
    """Ask the servers and cache the values. If no server answers, the cached values stay.

    If another process is already refreshing the same values, do nothing.
    """
    cache_name = value_question.cache_name()
    with value_cache.lock_values(cache_name) as is_locked:
        if not is_locked:
            return
        option_values = {"context": None, "namesrv_addr": None, **value_question.option_values}
        admin = Session(settings.resolve_options(option_values)).admin
        try:
            lines = ask_servers(value_question.value_source, admin, value_question.detail)
        except RocketMQError:
            return
        finally:
            admin.close()
        value_cache.write_lines(cache_name, lines, now_seconds)
        if value_question.value_source == "kv-keys" and lines:
            _remember_namespace(value_question, value_cache, now_seconds)


def _remember_namespace(value_question: ValueQuestion, value_cache: ValueCache, now_seconds: float) -> None:
    """Remember a namespace that has keys, because name servers cannot list their namespaces."""
    cache_name = value_question._replace(value_source="namespaces", detail="").cache_name()
    cached_lines = value_cache.read_lines(cache_name)
    value_cache.write_lines(
        cache_name,
        sorted({value_question.detail, *(cached_lines.lines if cached_lines else ())}),
        now_seconds,
    )


def start_refresh(value_question: ValueQuestion) -> None:
    """Start a process that refreshes the values; it has no terminal and outlives this process."""
    import subprocess

    process = subprocess.Popen(
        python_process.build_command(__name__, json.dumps(value_question)),
        env=python_process.build_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        creationflags=getattr(subprocess, "DETACHED_PROCESS", 0),
    )
    # Prevents the ResourceWarning about a process without wait().
    process.returncode = 0


def main(question_text: str) -> None:
    if hasattr(signal, "alarm"):
        signal.alarm(REFRESH_LIFETIME_SECONDS)
    refresh_values(ValueQuestion(*json.loads(question_text)), ValueCache(value_cache_folder()), time.time())


if __name__ == "__main__":
    main(sys.argv[1])
