"""Fixtures that every test may ask for."""

import gc
import inspect
import logging
import os
import signal
import tempfile
from collections.abc import Generator, Iterator
from typing import Any

import pytest
from hypothesis import settings

from namesrv_core.protocol.codes import HeaderType
from tests.interop import processes
from tests.support import work_order

pytest_plugins = ["tests.support.run_summary"]

# No test leaves a line in the audit of who runs it, nor goes by that person's settings.
os.environ["NSADMIN_AUDIT"] = "off"
# Tests reuse ports, so that an inventory would miss the brokers of earlier tests.
os.environ["NSADMIN_INVENTORY"] = "off"
os.environ["NSADMIN_LANG"] = "en"
os.environ["NSADMIN_CONFIG"] = os.path.join(tempfile.gettempdir(), "no-such-folder", "config.yaml")
for name in (
    "NAMESRV_ADDR",
    "NSADMIN_CONTEXT",
    "NSADMIN_OUTPUT",
    "NSADMIN_ACCESS_KEY",
    "NSADMIN_TLS",
    "ROCKETMQ_HOME",
):
    os.environ.pop(name, None)

# Who starts tests in the background may have us ignore Ctrl-C; the programs that they start would do so, too.
signal.signal(signal.SIGINT, signal.default_int_handler)

processes.java_timer_slack_ns = 20_000_000

# Machines do not lose power during tests. Tests about what is written safely set one of their own.
os.fsync = lambda fd: None

settings.register_profile("house", deadline=None, max_examples=60, derandomize=True, database=None)
settings.load_profile("house")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: work_order.find_place(item.nodeid))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    # Nothing of what is collected is garbage. Searches for some took a quarter of the time.
    gc.disable()
    collected = yield
    # A collection of garbage in a test does not look at 12,000 tests.
    gc.collect()
    gc.freeze()
    # Full collections would take a tenth of the time.
    gc.set_threshold(10_000, 50, 100)
    gc.enable()
    return collected


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine to its end, on the loop that the server uses."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    # Imported late, because most tests need no name server.
    from tests.support.name_servers import run_on_loop

    names = pyfuncitem._fixtureinfo.argnames
    run_on_loop(pyfuncitem.obj)(**{name: pyfuncitem.funcargs[name] for name in names})
    return True


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Replace the division by files, which `make test` chooses."""
    if config.getoption("dist") != "loadfile":
        return None
    # pytest-xdist is not there in each environment that runs a few tests.
    from xdist.scheduler.loadscope import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):  # type: ignore[misc,unused-ignore]
        def _split_scope(self, nodeid: str) -> str:
            return work_order.find_work_unit(nodeid)

        def _assign_work_unit(self, node: Any) -> None:
            chosen = work_order.choose_work_unit(self.workqueue, is_first_worker=node is self.nodes[0])
            self.workqueue.move_to_end(chosen, last=False)
            super()._assign_work_unit(node)

    return Scheduling(config, log)


@pytest.fixture(params=list(HeaderType), ids=lambda form: form.name)
def form(request: pytest.FixtureRequest) -> HeaderType:
    """The header encoding that a test body is run with: once with each."""
    return HeaderType(request.param)


@pytest.fixture(autouse=True)
def _a_log_of_its_own() -> Iterator[None]:
    """A server's log goes to the stderr of the test that set it up, and ends with that; so does its level.

    The fixtures of a whole file may have silenced it before.
    """
    logs = [logging.getLogger(name) for name in ("namesrv", "fleet", "asyncio")]
    before = [log.handlers[:] for log in logs]
    yield
    for log, handlers in zip(logs, before, strict=True):
        log.handlers[:] = handlers
        log.setLevel(logging.NOTSET)
