"""The types of the asynchronous nouns."""

import subprocess
import sys

from nsadmin.manual.async_stubs import render_stubs
from tests.support.name_servers import ROOT

STUBS = render_stubs()


def test_a_method_has_the_types_of_the_blocking_one() -> None:
    assert "    async def get_route(self, topic: str) -> TopicRoute:\n" in STUBS
    assert "from nsadmin.client.topic_routes import " in STUBS


def test_quoted_types_and_names_of_constants_are_written_for_a_stub() -> None:
    assert "    async def plan_deletion(self, topic: str, cluster_name: str) -> TopicDeletion:\n" in STUBS
    assert "        end_ms: int = ...,\n" in STUBS
    assert "    async def get_info(self) -> ClusterInfo:\n" in STUBS
    assert "clean_offset: bool = False" in STUBS


def test_an_iterator_becomes_an_asynchronous_one() -> None:
    assert "    ) -> AsyncIterator[MessagePage]:\n" in STUBS
    assert "async def read_pages" not in STUBS
    assert " Iterator[" not in STUBS


def test_a_noun_within_a_noun_has_a_class_of_its_own() -> None:
    assert "    def config_stores(self) -> AsyncConfigStores:\n" in STUBS
    assert STUBS.count("class AsyncConfigStores:\n") == STUBS.count("class AsyncBrokerConfigs:\n") == 1


def test_the_file_is_as_clean_as_the_rest() -> None:
    for words in (["check", "-q", "-"], ["format", "-q", "--check", "-"]):
        ruff = [sys.executable, "-m", "ruff", *words, "--stdin-filename", "cli/nsadmin/aio/nouns.pyi"]
        result = subprocess.run(ruff, input=STUBS, cwd=ROOT, capture_output=True, text=True, check=False)
        assert (result.returncode, result.stdout) == (0, ""), result
