"""A separate network for servers, whose addresses nothing outside can reach: a network namespace of Linux."""

import ctypes
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

CLONE_NEWNET = 0x40000000


@contextmanager
def pod_network(addrs: Sequence[str]) -> Iterator[int]:
    """Yields the process that holds the network. It has its own loopback, with these addresses as well."""
    if os.geteuid() != 0 or shutil.which("unshare") is None or shutil.which("ip") is None:
        pytest.skip("needs root, unshare (util-linux) and ip (iproute2)")
    script = "ip link set lo up && " + "".join(f"ip addr add {addr}/32 dev lo && " for addr in addrs)
    holder = subprocess.Popen(
        ["unshare", "--net", "sh", "-c", f"{script}echo up && exec sleep 600"], stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    try:
        if holder.stdout.readline() != b"up\n":
            pytest.skip("network namespaces are not allowed here")
        yield holder.pid
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()


@contextmanager
def inside(network: int) -> Iterator[None]:
    """Connections and processes of this thread are in the network."""
    with open("/proc/thread-self/ns/net") as outside, open(f"/proc/{network}/ns/net") as network_file:
        enter(network_file.fileno())
        try:
            yield
        finally:
            enter(outside.fileno())


def enter(descriptor: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(descriptor, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")


def ends_soon(process: int) -> bool:
    """Whether a process is gone within 10 seconds."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if not Path(f"/proc/{process}").exists():
            return True
        time.sleep(0.05)
    return False
