"""The types of the asynchronous nouns."""

import subprocess
import sys

import pytest

from nsadmin.manual.async_stubs import render_stubs
from tests.support.name_servers import ROOT


@pytest.fixture(scope="module")
def stubs() -> str:
    return render_stubs()


def test_a_method_has_the_types_of_the_blocking_one(stubs: str) -> None:
    assert "    async def get_route(self, topic: str) -> TopicRoute:\n" in stubs
    assert "from nsadmin.client.topic_routes import " in stubs


def test_quoted_types_and_names_of_constants_are_written_for_a_stub(stubs: str) -> None:
    assert "    async def plan_deletion(self, topic: str, cluster_name: str) -> TopicDeletion:\n" in stubs
    assert "        end_ms: int = ...,\n" in stubs
    assert "    async def get_info(self) -> ClusterInfo:\n" in stubs
    assert "clean_offset: bool = False" in stubs


def test_an_iterator_becomes_an_asynchronous_one(stubs: str) -> None:
    assert "    ) -> AsyncIterator[MessagePage]:\n" in stubs
    assert "async def read_pages" not in stubs
    assert " Iterator[" not in stubs


def test_a_noun_within_a_noun_has_a_class_of_its_own(stubs: str) -> None:
    assert "    def config_stores(self) -> AsyncConfigStores:\n" in stubs
    assert stubs.count("class AsyncConfigStores:\n") == stubs.count("class AsyncBrokerConfigs:\n") == 1


def test_the_file_is_as_clean_as_the_rest(stubs: str) -> None:
    for words in (["check", "-q", "-"], ["format", "-q", "--check", "-"]):
        ruff = [sys.executable, "-m", "ruff", *words, "--stdin-filename", "cli/nsadmin/aio/nouns.pyi"]
        result = subprocess.run(ruff, input=stubs, cwd=ROOT, capture_output=True, text=True, check=False)
        assert (result.returncode, result.stdout) == (0, ""), result
