"""The ACL signature of requests, which is the same in 4.x (ACL 1.0) and in 5.x (ACL 2.0).

Source: `AclClientRPCHook`, `AclUtils` and `AclSigner` upstream.

hmac is imported where it is used, because it loads OpenSSL's digests, which take half a MiB.
"""

from base64 import b64encode
from collections.abc import Generator, Mapping

from namesrv_core.protocol.codes import V4_9_3, HeaderType
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.protocol.steps import run_all_steps

ACCESS_KEY_FIELD, SECURITY_TOKEN_FIELD, SIGNATURE_FIELD = "AccessKey", "SecurityToken", "Signature"
_UNIQUE_KEY_QUERY = "_UNIQUE_KEY_QUERY"
_PIECE_BYTES = 1 << 18


def signed_content(ext_fields: Mapping[str, str], body_bytes: bytes) -> bytes:
    """The signed content: the values of all ext fields except the signature, in Java's order of their names.

    The names of the fields and the request code are not part of it.
    """
    names = sorted((name for name in ext_fields if name != SIGNATURE_FIELD), key=_utf16_sort_key)
    return "".join(ext_fields[name] for name in names).encode("utf-8", "replace") + body_bytes


def compute_signature(secret_key: str, signed_bytes: bytes) -> str:
    """The HMAC-SHA1 of the content, in Base64."""
    import hmac

    return b64encode(hmac.digest(secret_key.encode("utf-8", "replace"), signed_bytes, "sha1")).decode()


def sign_command(
    command: RemotingCommand, access_key: str, secret_key: str, security_token: str | None = None
) -> RemotingCommand:
    """The signed command. Send it unchanged: a field added later would make the signature invalid.

    A broker computes the signature of the fields that arrive. So null values are left out, and with the
    binary header also empty ones, because that header loses them. 5.x signs _UNIQUE_KEY_QUERY and 4.9 does
    not, but 5.x leaves it out for requests of 4.9.3 or older: a command with that field is sent as 4.9.3.
    """
    is_binary = command.header_type == HeaderType.ROCKETMQ
    given_fields = {**(command.ext or {}), ACCESS_KEY_FIELD: access_key, SECURITY_TOKEN_FIELD: security_token}
    ext_fields = {n: v for n, v in given_fields.items() if v or (v == "" and not is_binary)}
    ext_fields.pop(SIGNATURE_FIELD, None)
    sent = min(command.version, V4_9_3) if _UNIQUE_KEY_QUERY in ext_fields else command.version
    fields = {name: value for name, value in ext_fields.items() if name != _UNIQUE_KEY_QUERY}
    ext_fields[SIGNATURE_FIELD] = compute_signature(secret_key, signed_content(fields, command.body))
    return RemotingCommand(
        command.code, ext_fields, command.body, command.opaque, command.flag, command.remark,
        command.language, sent, command.header_type,
    )  # fmt: skip


def has_valid_signature(command: RemotingCommand, secret_key: str) -> bool:
    """Whether the command has a valid signature of this secret key. Compares in constant time."""
    return is_signed_with(command, run_all_steps(expected_signature_in_steps(command, secret_key)))


def is_signed_with(command: RemotingCommand, expected: str) -> bool:
    import hmac

    given = ((command.ext or {}).get(SIGNATURE_FIELD) or "").encode("utf-8", "replace")
    return hmac.compare_digest(expected.encode(), given)


def expected_signature_in_steps(command: RemotingCommand, secret_key: str) -> Generator[None, None, str]:
    """Compute the signature that the command must have: 15 MB take tens of milliseconds.

    A null counts as an empty text, because the binary header turns an empty text into a null.
    """
    import hmac

    ext_fields = command.ext or {}
    skipped_field = _UNIQUE_KEY_QUERY if command.version <= V4_9_3 else None
    fields = {name: value or "" for name, value in ext_fields.items() if name != skipped_field}
    running_hmac = hmac.new(secret_key.encode("utf-8", "replace"), signed_content(fields, b""), "sha1")
    for piece_start in range(0, len(command.body), _PIECE_BYTES):
        running_hmac.update(command.body[piece_start : piece_start + _PIECE_BYTES])
        yield
    return b64encode(running_hmac.digest()).decode()


def _utf16_sort_key(name: str) -> bytes:
    """Sort by UTF-16 code units as Java does. Outside the basic plane Python's order differs."""
    return name.encode("utf-16-be", "surrogatepass")
