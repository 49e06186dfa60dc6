"""--from and --to: contexts or addresses, and a target that is read-only."""

import pytest

from tests.nsadmin.conftest import Run
from tests.support.transfer_clusters import ClusterPair


def test_contexts_name_the_clusters(run: Run, pair: ClusterPair) -> None:
    pair.source.store_message(b"one")
    assert run("context", "set", "prod", "-n", pair.source_server.addr, "--read-only").code == 0
    assert run("context", "set", "dr", "-n", pair.target_server.addr).code == 0
    words = ("transfer", "messages", "T", "--from", "prod", "--to", "dr", "--yes")
    assert run(*words).code == 0
    assert pair.copied_bodies() == [b"one"]
    # The context in use does not matter, only that of the target.
    run("context", "use", "prod")
    pair.source.store_message(b"two")
    assert run(*words).code == 0
    assert pair.copied_bodies() == [b"one", b"two"]


def test_a_read_only_target_is_refused(run: Run, pair: ClusterPair) -> None:
    assert run("context", "set", "dr", "-n", pair.target_server.addr, "--read-only").code == 0
    words = ("transfer", "messages", "T", "--from", pair.source_server.addr, "--to", "dr")
    result = run(*words, "--yes")
    assert result.code == 6
    assert result.err == (
        "nsadmin: transfer messages changes the target, and the context dr is read-only: use another "
        "context, or run nsadmin context set dr --writable\n"
    )
    assert run(*words, "--dry-run").code == 0


@pytest.mark.parametrize("text", ["nowhere", "host:"])
def test_an_unknown_cluster_is_a_mistake_in_the_command_line(run: Run, pair: ClusterPair, text: str) -> None:
    result = run("transfer", "messages", "T", "--from", text, "--to", pair.target_server.addr)
    assert result.code == 2
    assert f'unknown context "{text}" for --from, which takes a context, or name servers' in result.err
