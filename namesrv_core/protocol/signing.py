"""ACL: what of a request is signed, and the signature; the same in 4.x (ACL 1.0) and in 5.x (ACL 2.0).

Source: `AclClientRPCHook`, `AclUtils` and `AclSigner` upstream.

hmac is imported where it is used: with it comes OpenSSL's part for digests, half a MiB that who signs nothing
does without.
"""

from base64 import b64encode
from collections.abc import Mapping

from namesrv_core.protocol.codes import V4_9_3, HeaderType
from namesrv_core.protocol.command import Command

ACCESS_KEY, SECURITY_TOKEN, SIGNATURE = "AccessKey", "SecurityToken", "Signature"
_UNIQUE_KEY_QUERY = "_UNIQUE_KEY_QUERY"


def content(ext: Mapping[str, str], body: bytes) -> bytes:
    """What is signed: the values of all ext fields, but for the signature, in the order of Java's strings.

    Neither keys nor the request code are part of it.
    """
    keys = sorted((key for key in ext if key != SIGNATURE), key=_utf16)
    return "".join(ext[key] for key in keys).encode("utf-8", "replace") + body


def signature(secret_key: str, signed: bytes) -> str:
    """HMAC-SHA1 in Base64."""
    import hmac

    return b64encode(hmac.digest(secret_key.encode("utf-8", "replace"), signed, "sha1")).decode()


def sign(command: Command, access_key: str, secret_key: str, security_token: str | None = None) -> Command:
    """The command as it has to be sent, signed; nothing may be added to it any more.

    A broker signs what arrives: values that are null are left out here, and with the binary header empty
    ones too, as that loses them. _UNIQUE_KEY_QUERY is part of what 5.x signs and of what 4.9 does not, except
    that 5.x leaves it out for a request of 4.9.3 or older: so it goes as one of those.
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
    """Whether what came is signed with this secret key; compared in constant time.

    A null counts as empty, which is what the binary header makes of an empty text.
    """
    import hmac

    ext = command.ext or {}
    skipped = _UNIQUE_KEY_QUERY if command.version <= V4_9_3 else None
    counted = {key: value or "" for key, value in ext.items() if key != skipped}
    given = (ext.get(SIGNATURE) or "").encode("utf-8", "replace")
    return hmac.compare_digest(signature(secret_key, content(counted, command.body)).encode(), given)


def _utf16(key: str) -> bytes:
    """By UTF-16 code units: outside the basic plane that is another order than Python's."""
    return key.encode("utf-16-be", "surrogatepass")
