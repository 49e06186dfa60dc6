"""Which loop runs, and what comes out of it."""

import asyncio

import pytest

from namesrv_core.transport.event_loop import run_coroutine


def test_what_the_coroutine_returns_is_returned() -> None:
    async def main() -> int:
        return 7

    assert run_coroutine(main()) == 7


def test_what_the_coroutine_raises_is_raised() -> None:
    async def main() -> None:
        raise KeyError("why")

    with pytest.raises(KeyError, match="why"):
        run_coroutine(main())


def test_uvloop_runs_where_it_is_installed() -> None:
    uvloop = pytest.importorskip("uvloop")

    async def main() -> bool:
        return isinstance(asyncio.get_running_loop(), uvloop.Loop)

    assert run_coroutine(main())
