"""Requests with bodies that the access guard and a handler both read: each body is decoded once."""

import zlib
from functools import cached_property
from typing import Any

from namesrv_core.errors import RequestError, detach_error
from namesrv_core.events import QueueData
from namesrv_core.protocol import headers, json_bodies, registration_codec
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.protocol.registration_codec import BrokerRegistration
from namesrv_core.state.name_server_state import NameServerState
from namesrv_core.state.registration import RegistrationPreview

_COMMAND_FIELDS = ("code", "ext", "body", "opaque", "flag", "remark", "language", "version", "header_type")


class LazyRegistration:
    """The body of a registration, decoded on first use unless that has been done in steps.

    `now_ms` dates a data version without a time.
    """

    registration_preview: RegistrationPreview | None = None
    """The preview of its changes, if it has been computed."""

    def __init__(
        self, state: NameServerState, request: RemotingCommand, header: headers.RegisterBroker, now_ms: int
    ) -> None:
        self.body_bytes, self.now_ms = request.body, now_ms
        self.decode_options: dict[str, Any] = {
            "version": request.version, "compressed": header.compressed, "now": now_ms,
            "within": state.decode_limits
        }  # fmt: skip

    @cached_property
    def body_crc32(self) -> int:
        return zlib.crc32(self.body_bytes) & 0x7FFFFFFF

    @cached_property
    def body_digest(self) -> object:
        """A value that is equal for equal bodies."""
        return hash(self.body_bytes)

    @cached_property
    def decoded_registration(self) -> BrokerRegistration | ValueError | RequestError:
        """The decoded registration, or the error of decoding it."""
        try:
            return registration_codec.decode_registration(self.body_bytes, **self.decode_options)
        except (ValueError, RequestError) as error:
            return detach_error(error)


class SignedRequest(RemotingCommand):
    """A request whose expected signature with `secret_key` has been computed in steps."""

    __slots__ = ("expected_signature", "secret_key")

    def __init__(self, request: RemotingCommand, secret_key: str | None, expected: str) -> None:
        super().__init__(*(getattr(request, name) for name in _COMMAND_FIELDS))
        self.secret_key, self.expected_signature = secret_key, expected


class PreparedRequest(SignedRequest):
    """REGISTER_BROKER with a body that has been read in steps."""

    __slots__ = ("lazy_registration",)

    def __init__(self, request: RemotingCommand, lazy: LazyRegistration) -> None:
        if isinstance(request, SignedRequest):
            super().__init__(request, request.secret_key, request.expected_signature)
        else:
            super().__init__(request, None, "")
        self.lazy_registration = lazy


class TopicQueuesRequest(RemotingCommand):
    """REGISTER_TOPIC_IN_NAMESRV with a body that is decoded on first use."""

    def __init__(self, request: RemotingCommand, max_json_depth: int) -> None:
        super().__init__(*(getattr(request, name) for name in _COMMAND_FIELDS))
        self._max_json_depth = max_json_depth

    @classmethod
    def decode_once(cls, request: RemotingCommand, max_json_depth: int) -> "TopicQueuesRequest":
        """The request itself if it is one already."""
        return request if isinstance(request, cls) else cls(request, max_json_depth)

    @cached_property
    def queue_datas(self) -> list[QueueData] | ValueError | RequestError:
        """The queues of the topic, or the error of decoding them."""
        try:
            return json_bodies.parse_queue_datas(self.body, self._max_json_depth) if self.body else []
        except (ValueError, RequestError) as error:
            return detach_error(error)
