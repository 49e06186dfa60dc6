"""The configuration of one broker: a released 5.5.0's defaults, and over them what makes it this broker."""

import re
from collections.abc import Mapping
from importlib.resources import files

from javaproperties import loads

from namesrv_core.errors import NoPermission
from namesrv_core.protocol.bodies import DataVersion

_DEFAULTS = "broker-5.5.0.properties"
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}")


def _defaults() -> dict[str, str]:
    lines = files(__package__).joinpath(_DEFAULTS).read_text("utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines)


class Properties:
    """Keys and values as text, and the DataVersion that an update moves on; `now` is in ms."""

    def __init__(self, own: Mapping[str, object], now: int) -> None:
        self._values = _defaults() | {key: str(value) for key, value in own.items()}
        self.version = DataVersion(0, 0, now)

    def __getitem__(self, key: str) -> str:
        return self._values[key]

    @property
    def permission(self) -> int:
        return int(self._values["brokerPermission"])

    @property
    def body(self) -> bytes:
        """`key=value` lines in the order of keys; values are not escaped, as upstream's are not."""
        return "".join(f"{key}={value}\n" for key, value in sorted(self._values.items())).encode()

    def update(self, body: bytes, now: int) -> bool:
        """Apply properties text; whether it has a brokerPermission. NoPermission where a key is protected.

        Unknown keys and values of another type are silently left out, as upstream leaves them out.
        """
        changes = loads(body.decode("utf-8", "replace"))
        if not changes:
            return False
        protected = {"rocketmqHome", "brokerConfigPath", *self._values["configBlackList"].split(";")}
        if protected & changes.keys():
            raise NoPermission("Can not update config in black list.")
        for key, value in changes.items():
            if key in self._values and _fits(self._values[key], value):
                self._values[key] = value.lower() if self._values[key] in ("true", "false") else value
        self.version = DataVersion((self.version.counter or 0) + 1, 0, now)
        return "brokerPermission" in changes


def _fits(present: str, value: str) -> bool:
    """Whether `value` can replace `present`: both integers, or both booleans, or text.

    "04" is text: the hours of `deleteWhen` have leading zeros, numbers never do.
    """
    if present in ("true", "false"):
        return value.lower() in ("true", "false")
    return _INTEGER.fullmatch(present) is None or _INTEGER.fullmatch(value) is not None
