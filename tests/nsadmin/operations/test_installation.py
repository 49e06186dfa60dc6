"""Which saved runs belong to an installation."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from nsadmin.client import AdminClient
from nsadmin.client.connection.tunnels import kubectl_program, tunnel_leases
from nsadmin.client.connection.tunnels.tunnel_targets import KubeTarget, SshTarget, TunnelTarget
from nsadmin.operations.dead_letters.replay_store import open_replays
from nsadmin.operations.drain.state import DrainState, open_drain
from nsadmin.operations.installation import Installation
from nsadmin.operations.restart.state import BrokerProcess, RestartState, open_restart
from tests.support.installations import make_installation

DRAIN = DrainState("C", "b", ("a:1", "b:1", "127.0.0.1:1"), 1, 2, brokers=("x:1", "y:1"), tunnel="")
BASTION = SshTarget("bastion")


@pytest.fixture(autouse=True)
def _no_tunnel_is_left() -> Iterator[None]:
    yield
    tunnel_leases._close_all()


@pytest.mark.parametrize(
    ("addrs", "brokers", "tunnel", "owns"),
    [
        (("b:1", "c:1"), (), None, True),
        (("b:2", "c:1"), (), None, False),
        (("c:1",), ("y:1", "z:1"), None, True),
        (("c:1",), ("x:2",), None, False),
        (("a:1",), ("x:1",), BASTION, False),
        (("127.0.0.1:1",), ("x:2",), None, False),
        (("127.0.0.1:1",), ("x:1",), None, True),
    ],
)
def test_a_common_name_server_or_broker_without_another_tunnel(
    addrs: tuple[str, ...], brokers: tuple[str, ...], tunnel: TunnelTarget | None, owns: bool, tmp_path: Path
) -> None:
    installation = make_installation(tmp_path, *addrs, brokers=brokers, tunnel=tunnel)
    assert installation.owns(DRAIN) is owns


def test_files_of_earlier_releases_lack_the_tunnel_and_perhaps_all_addresses(tmp_path: Path) -> None:
    far = make_installation(tmp_path, "a:1", tunnel=BASTION)
    assert far.owns(DRAIN._replace(tunnel=None))
    restart = RestartState("C", (BrokerProcess("b", 0, "x:1"),), 1)
    assert not far.owns(restart)
    assert make_installation(tmp_path, "c:1", brokers=("x:1",)).owns(restart)
    assert far.owns(RestartState("C", (), 1))


def test_a_local_name_server_decides_if_brokers_are_unknown(tmp_path: Path) -> None:
    with AdminClient("127.0.0.1:1") as admin:
        silent = Installation(admin, tmp_path)
        assert silent.owns(DRAIN)
        assert silent.owns(DRAIN._replace(brokers=()))


def test_a_new_run_has_the_servers_the_tunnel_and_the_options_that_lead_there(tmp_path: Path) -> None:
    installation = make_installation(tmp_path, "b:1", "a:1", brokers=("x:1",), tunnel=BASTION)
    folder = installation.find_run(lambda home: open_drain(home, "C", "b"))
    assert (
        folder.path == tmp_path / "installations" / "a%3a1%20through%20ssh%20bastion" / "drains" / "C" / "b"
    )
    state = folder.sign(DrainState("C", "b", ("b:1", "a:1"), 1, 2))
    assert (state.name_servers, state.brokers, state.tunnel) == (("b:1", "a:1"), ("x:1",), "ssh bastion")
    assert state.owner == "b:1;a:1 through ssh bastion"
    assert state.advise("undrain", "b") == "nsadmin undrain b -n 'b:1;a:1' --ssh bastion"


def test_a_run_is_found_where_it_was_begun(tmp_path: Path) -> None:
    first, second = make_installation(tmp_path, "b:1", "c:1"), make_installation(tmp_path, "a:1", "b:1")
    begun = first.find_run(lambda home: open_restart(home, "C"))
    begun.state.save(first.sign(RestartState("C", (), 1)))
    assert second.home != first.home
    assert second.find_run(lambda home: open_restart(home, "C")).state.path == begun.state.path
    other = make_installation(tmp_path, "d:1").find_run(lambda home: open_restart(home, "C"))
    assert other.state.load() is None


def test_replays_of_an_earlier_release_are_those_of_any_installation_until_one_goes_on(
    tmp_path: Path,
) -> None:
    old = open_replays(tmp_path, ["C"], "G")
    old.path.mkdir(parents=True)
    (old.path / "replays.jsonl").touch()
    first, second = make_installation(tmp_path, "a:1"), make_installation(tmp_path, "b:1")
    found = [i.find_run(lambda home: open_replays(home, ["C"], "G")) for i in (first, second)]
    assert [folder.path for folder in found] == [old.path] * 2
    state = found[0].state.load()
    assert state is not None
    found[0].state.save(first.sign(state))
    assert second.find_run(lambda home: open_replays(home, ["C"], "G")).path.is_relative_to(second.home)


def test_the_current_context_of_kubectl_is_a_part_of_the_tunnel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kubectl_program.KubectlProgram, "run", lambda *words: b"staging\n")
    installation = make_installation(tmp_path, "namesrv-0:9876", tunnel=KubeTarget("mq"))
    assert installation.tunnel == "kubectl staging/mq"
    assert installation.sign(DRAIN).connection == ("-n", "namesrv-0:9876", "--kube", "staging/mq")
