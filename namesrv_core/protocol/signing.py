"""The ACL signature of requests, which is the same in 4.x (ACL 1.0) and in 5.x (ACL 2.0).

Source: `AclClientRPCHook`, `AclUtils` and `AclSigner` upstream.

hmac is imported where it is used, because it loads OpenSSL's digests, which take half a MiB.
"""

from base64 import b64encode
from collections.abc import Mapping

from namesrv_core.protocol.codes import V4_9_3, HeaderType
from namesrv_core.protocol.command import Command

ACCESS_KEY, SECURITY_TOKEN, SIGNATURE = "AccessKey", "SecurityToken", "Signature"
_UNIQUE_KEY_QUERY = "_UNIQUE_KEY_QUERY"


def content(ext: Mapping[str, str], body: bytes) -> bytes:
    """The signed content: the values of all ext fields except the signature, in Java's order of their names.

    The names of the fields and the request code are not part of it.
    """
    keys = sorted((key for key in ext if key != SIGNATURE), key=_utf16)
    return "".join(ext[key] for key in keys).encode("utf-8", "replace") + body


def signature(secret_key: str, signed: bytes) -> str:
    """The HMAC-SHA1 of the content, in Base64."""
    import hmac

    return b64encode(hmac.digest(secret_key.encode("utf-8", "replace"), signed, "sha1")).decode()


def sign(command: Command, access_key: str, secret_key: str, security_token: str | None = None) -> Command:
    """The signed command. Send it unchanged: a field added later would make the signature invalid.

    A broker computes the signature of the fields that arrive. So null values are left out, and with the
    binary header also empty ones, because that header loses them. 5.x signs _UNIQUE_KEY_QUERY and 4.9 does
    not, but 5.x leaves it out for requests of 4.9.3 or older: a command with that field is sent as 4.9.3.
    """
    is_binary = command.header_type == HeaderType.ROCKETMQ
    given = {**(command.ext or {}), ACCESS_KEY: access_key, SECURITY_TOKEN: security_token}
    ext = {key: value for key, value in given.items() if value or (value == "" and not is_binary)}
    ext.pop(SIGNATURE, None)
    version = min(command.version, V4_9_3) if _UNIQUE_KEY_QUERY in ext else command.version
    counted = {key: value for key, value in ext.items() if key != _UNIQUE_KEY_QUERY}
    ext[SIGNATURE] = signature(secret_key, content(counted, command.body))
    return Command(
        command.code, ext, command.body, command.opaque, command.flag, command.remark,
        command.language, version, command.header_type,
    )  # fmt: skip


def is_signed(command: Command, secret_key: str) -> bool:
    """Whether the command has a valid signature of this secret key. Compares in constant time.

    A null counts as an empty text, because the binary header turns an empty text into a null.
    """
    import hmac

    ext = command.ext or {}
    skipped = _UNIQUE_KEY_QUERY if command.version <= V4_9_3 else None
    counted = {key: value or "" for key, value in ext.items() if key != skipped}
    given = (ext.get(SIGNATURE) or "").encode("utf-8", "replace")
    return hmac.compare_digest(signature(secret_key, content(counted, command.body)).encode(), given)


def _utf16(key: str) -> bytes:
    """Sort by UTF-16 code units as Java does. Outside the basic plane Python's order differs."""
    return key.encode("utf-16-be", "surrogatepass")
