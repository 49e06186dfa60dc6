"""Refresh: asks servers for the values of a source and keeps them, in a process that nobody waits for."""

from collections.abc import Sequence

from namesrv_core.errors import RocketMQError
from nsadmin import python_process, settings
from nsadmin.completion.live_values import ask_servers
from nsadmin.completion.value_cache import ValueCache
from nsadmin.completion.value_question import ValueQuestion, parse_connection_values
from nsadmin.session import Session


def refresh_values(value_question: ValueQuestion, value_cache: ValueCache, now_seconds: float) -> None:
    """Ask and keep. Where no server answers, what is kept stays; while another one asks, nothing is done."""
    cache_name = value_question.cache_name()
    with value_cache.lock_values(cache_name) as is_locked:
        if not is_locked:
            return
        admin = Session(settings.resolve_options(parse_connection_values(value_question.words_before))).admin
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
    """Name servers do not list namespaces: one that was used and has keys is offered from then on."""
    cache_name = value_question._replace(value_source="namespaces", detail="").cache_name()
    cached_lines = value_cache.read_lines(cache_name)
    value_cache.write_lines(
        cache_name,
        sorted({value_question.detail, *(cached_lines.lines if cached_lines else ())}),
        now_seconds,
    )


def start_refresh(value_question: ValueQuestion) -> None:
    """A process that refreshes, with no terminal and outliving this one."""
    import subprocess

    question_words: Sequence[str] = (
        value_question.value_source,
        value_question.detail,
        *value_question.words_before,
    )
    process = subprocess.Popen(
        python_process.build_command("nsadmin", "complete", "refresh", *question_words),
        env=python_process.build_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        creationflags=getattr(subprocess, "DETACHED_PROCESS", 0),
    )
    # Nobody will wait for it, and that is nothing to warn of.
    process.returncode = 0
