"""Drains and restarts in the background: they go on without the screen, and can be stopped from it."""

import time
from pathlib import Path

import pytest
from textual.widgets import Input

from nsadmin.operations.installation import Installation
from nsadmin.tui.polling.drain_folders import poll_drains
from nsadmin.tui.polling.poll_records import DrainRecord
from nsadmin.tui.screens.background_jobs import BackgroundJobs, EndedJob
from nsadmin.tui.screens.screen_text import screen_to_text
from tests.support.name_servers import DEADLINE
from tests.support.playground import start_playground
from tests.support.screens import feed_polls, make_context, make_still_tui, press, run_screen_test, until_said

SIZE = (120, 30)


def wait_for_job(jobs: BackgroundJobs) -> EndedJob:
    deadline = time.monotonic() + DEADLINE
    while time.monotonic() < deadline:
        for job in jobs.take_ended_jobs():
            return job
        time.sleep(0.05)
    raise AssertionError("the job did not end")


def test_a_job_reports_its_exit_code_and_its_last_line() -> None:
    jobs = BackgroundJobs()
    jobs.start_job(["topicRoute"], ["-n", "127.0.0.1:1"])
    job = wait_for_job(jobs)
    assert (job.title, job.exit_code) == ("topicRoute", 2)
    assert "missing argument TOPIC" in job.last_line
    assert list(jobs.take_ended_jobs()) == []


def wait_for_drain(installation: Installation, is_held: bool) -> DrainRecord:
    deadline = time.monotonic() + DEADLINE
    while time.monotonic() < deadline:
        for drain in poll_drains(lambda: 0, installation).drains:
            if (drain.pid is not None) is is_held:
                return drain
        time.sleep(0.05)
    raise AssertionError("no such drain")


@run_screen_test
async def test_a_drain_goes_on_behind_the_screen_until_it_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 30: the dialog of a drain blocked the screen, and Esc ended the process that held it."""
    monkeypatch.setenv("NSADMIN_AUDIT", "off")
    monkeypatch.setenv("NSADMIN_STATE", str(tmp_path / "state"))
    with start_playground(tmp_path / "lab", name_servers=2) as ground, ground.open_client() as admin:
        installation = Installation(admin)
        app = make_still_tui(make_context(words=("-n", ";".join(ground.addrs))))
        async with app.run_test(size=SIZE) as pilot:
            await feed_polls(app, pilot, ground.poll_everything())
            app.action_controller.run_command(["drain", "broker-a-0", "--force"])
            await until_said(app, pilot, "exit code 0")
            await press(pilot, *"drain", "enter")
            assert len(app.screen_stack) == 1, "the dialog closes at once"
            drain = wait_for_drain(installation, True)
            await feed_polls(app, pilot, [poll_drains(lambda: ground.now, installation)])
            await pilot.press("7")
            assert f"pid {drain.pid}" in screen_to_text(app)
            await pilot.press("K")
            assert "stopped the drain of broker-a-0" in screen_to_text(app)
            wait_for_drain(installation, False)
            await feed_polls(app, pilot, [poll_drains(lambda: ground.now, installation)])
            assert "not running" in screen_to_text(app)
            deadline = time.monotonic() + DEADLINE
            while app.jobs.running_jobs:
                assert time.monotonic() < deadline, "the job was not reported"
                await pilot.pause(0.1)


@run_screen_test
async def test_a_rolling_restart_that_stopped_is_shown_with_its_reason_and_offers_to_resume(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NSADMIN_AUDIT", "off")
    monkeypatch.setenv("NSADMIN_STATE", str(tmp_path / "state"))
    words = ["rollingRestart", "-c", "cluster-a", "--stop", "exit 3", "--start", "true", "--force"]
    with start_playground(tmp_path / "lab", name_servers=2) as ground, ground.open_client() as admin:
        installation = Installation(admin)
        app = make_still_tui(make_context(words=("-n", ";".join(ground.addrs))), home="drains")
        async with app.run_test(size=SIZE) as pilot:
            await feed_polls(app, pilot, ground.poll_everything())
            app.action_controller.run_command(words)
            await until_said(app, pilot, "exit code 0")
            await pilot.press(*app.cluster_context.find_target(words) or "rollingRestart", "enter")
            deadline = time.monotonic() + DEADLINE
            while app.jobs.running_jobs:
                assert time.monotonic() < deadline, "the job was not reported"
                await pilot.pause(0.1)
            await feed_polls(app, pilot, [poll_drains(lambda: ground.now, installation)])
            shown = screen_to_text(app)
            assert "restart: stop" in shown
            assert "not running" in shown
            [restart] = poll_drains(lambda: ground.now, installation).restarts
            assert "failed with exit code 3" in restart.last
            await press(pilot, "R")
            assert [field.value for field in app.screen.query(Input)] == ["exit 3", "true"]
