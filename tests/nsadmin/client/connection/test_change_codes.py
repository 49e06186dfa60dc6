"""The requests that change something."""

from namesrv_core.protocol.codes import RequestCode
from nsadmin.client.connection.change_codes import CHANGE_CODES


def test_every_request_whose_name_says_so_changes_something() -> None:
    words = ("UPDATE", "DELETE", "PUT", "WIPE", "ADD", "CLEAN", "RESET", "INVOKE", "SEND", "CREATE", "SET")
    named = {code for code in RequestCode if code.name.startswith(words)}
    assert named <= CHANGE_CODES
