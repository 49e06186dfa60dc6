"""The configuration of one broker: the defaults of the released 5.5.0, overridden by its own settings."""

import re
from collections.abc import Mapping
from importlib.resources import files

from javaproperties import loads

from namesrv_core.errors import NoPermission
from namesrv_core.protocol.json_bodies import DataVersion

_DEFAULTS_FILE = "broker-5.5.0.properties"
_INTEGER_TEXT = re.compile(r"0|-?[1-9][0-9]{0,18}")


def _load_defaults() -> dict[str, str]:
    lines = files(__package__).joinpath(_DEFAULTS_FILE).read_text("utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines)


class BrokerProperties:
    """Keys and values as text, and the DataVersion, which an update advances. `now` is in ms."""

    def __init__(self, own: Mapping[str, object], now_ms: int) -> None:
        self._values = _load_defaults() | {key: str(value) for key, value in own.items()}
        self.data_version = DataVersion(0, 0, now_ms)

    def __getitem__(self, key: str) -> str:
        return self._values[key]

    @property
    def broker_permission(self) -> int:
        return int(self._values["brokerPermission"])

    @property
    def encoded_lines(self) -> bytes:
        """`key=value` lines, sorted by key. Values are not escaped, as upstream."""
        return "".join(f"{key}={value}\n" for key, value in sorted(self._values.items())).encode()

    def apply_update(self, data: bytes, now_ms: int) -> bool:
        """Apply properties text. Return whether it has a brokerPermission. Raises NoPermission.

        Unknown keys and values of another type are silently ignored, as upstream.
        """
        changed = loads(data.decode("utf-8", "replace"))
        if not changed:
            return False
        protected = {"rocketmqHome", "brokerConfigPath", *self._values["configBlackList"].split(";")}
        if protected & changed.keys():
            raise NoPermission("Can not update config in black list.")
        for key, new_value in changed.items():
            if key in self._values and _has_same_type(self._values[key], new_value):
                self._values[key] = new_value.lower() if self._values[key] in ("true", "false") else new_value
        self.data_version = DataVersion((self.data_version.counter or 0) + 1, 0, now_ms)
        return "brokerPermission" in changed


def _has_same_type(value: str, new_value: str) -> bool:
    """Whether `value` can replace `present`: both integers, or both booleans, or text.

    "04" is text: the hours of `deleteWhen` have leading zeros, numbers never do.
    """
    if value in ("true", "false"):
        return new_value.lower() in ("true", "false")
    return _INTEGER_TEXT.fullmatch(value) is None or _INTEGER_TEXT.fullmatch(new_value) is not None
