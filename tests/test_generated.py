"""The rendered files that are in git are what commands, tables and types say today."""

import pytest

from nsadmin.manual.rendered_files import render_files_in_git
from tests.support.name_servers import ROOT

RENDERED = render_files_in_git()


@pytest.mark.parametrize("name", RENDERED)
def test_a_rendered_file_is_up_to_date(name: str) -> None:
    assert (ROOT / name).read_text() == RENDERED[name], "run make generate"
