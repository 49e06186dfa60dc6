"""How a drain stands, in short."""

from nsadmin.operations.drain.events import Progress
from nsadmin.operations.drain.status import describe_status

PROGRESS = Progress(
    7, "wait", 1200, {"orders": 9, "pay": 2000}, {"orders": "clients", "pay": "clients"}, 1500, 2,
    {"h:4": 12, "h:5": None}, {"h:1": 0, "h:2": None}, 2, 1, 3, ("writes to stop",),
)  # fmt: skip


def test_all_that_is_known() -> None:
    assert describe_status("broker-a", PROGRESS.to_record()) == [
        ("broker-a", "snapshot wipe settle [wait] safe"),
        ("puts per minute", "1,200"),
        ("top topics", "pay 2,000 (clients), orders 9 (clients)"),
        ("lag", "1,500 messages of 2 groups"),
        ("slaves behind", "h:4 12 bytes, h:5 unknown"),
        ("writable topics", "h:1 0, h:2 unknown"),
        ("reopened", "2 times"),
        ("intervals without writes", "1 of 3"),
        ("waiting for", "writes to stop"),
    ]


def test_what_is_not_known_or_not_there() -> None:
    empty = PROGRESS._replace(puts=None, residue={}, lag=None, behind={}, waiting_for=())
    facts = dict(describe_status("broker-a", empty.to_record()))
    assert (facts["puts per minute"], facts["waiting for"]) == ("unknown", "nothing")
    assert facts.keys().isdisjoint({"top topics", "lag", "slaves behind"})


def test_the_last_writers() -> None:
    writers = {"pay": ("10.0.0.1", "app-1 (gRPC) through 10.0.0.9"), "orders": ("10.0.0.2",)}
    facts = dict(describe_status("broker-a", PROGRESS._replace(writers=writers).to_record()))
    assert facts["last writers"] == "pay: 10.0.0.1, app-1 (gRPC) through 10.0.0.9; orders: 10.0.0.2"
    earlier = {name: value for name, value in PROGRESS.to_record().items() if name != "writers"}
    assert "last writers" not in dict(describe_status("broker-a", earlier))
