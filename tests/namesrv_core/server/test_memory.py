"""Memory of a server: what large blocks leave behind."""

import platform
import subprocess
import sys

import pytest

from tests.support.running import ROOT


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="malloc is another one here")
def test_what_is_large_is_given_back_and_not_kept_for_later() -> None:
    # glibc by itself keeps what comes after something large was freed.
    code = """
import re
from namesrv_core.server.memory import map_large

map_large()
for _ in range(3):
    large = bytes(8 << 20)
heap = re.search(r"(?m)^(\\w+)-(\\w+) .*\\[heap\\]$", open("/proc/self/maps").read())
begin, end = (int(found, 16) for found in heap.groups())
print(end - begin)
"""
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=20, check=True
    )
    assert int(found.stdout) < 8 << 20
