"""Records of connected clients, and their merge."""

import pytest

from nsadmin.client.consumers.connected_clients import ConnectedClient, infer_protocol, merge_clients


@pytest.mark.parametrize(
    ("client_id", "protocol"),
    [
        ("10.0.0.1@DEFAULT", "remoting"),
        ("10.0.0.1@4711#123456789", "remoting"),
        ("10.0.0.1@4711@unit", "remoting"),
        ("host@4711@0@4mg4kizz3", "gRPC"),
        ("host.example.com@1@12@dn3hxjkrof98", "gRPC"),
    ],
)
def test_the_protocol_follows_from_the_form_of_the_id(client_id: str, protocol: str) -> None:
    assert infer_protocol(client_id) == protocol


def test_the_first_known_value_counts_and_addresses_are_joined() -> None:
    of_broker = ConnectedClient("c", "10.0.0.1:5", "JAVA", None, ("b:1",), "gRPC")
    of_proxy = ConnectedClient(
        "c", "10.0.0.2:6", "GO", "5.2.0", ("b:1", "b:2"), "remoting", ("p:1",), last_heartbeat_ms=7
    )
    other = ConnectedClient("a", None, None, None, ())
    assert merge_clients([of_broker, of_proxy, other]) == (
        other,
        ConnectedClient(
            "c", "10.0.0.1:5", "JAVA", "5.2.0", ("b:1", "b:2"), "gRPC", ("p:1",), last_heartbeat_ms=7
        ),
    )
