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
    property_lines = files(__package__).joinpath(_DEFAULTS_FILE).read_text("utf-8").splitlines()
    return dict(property_line.split("=", 1) for property_line in property_lines)


class BrokerProperties:
    """Keys and values as text, and the DataVersion, which an update advances. `now` is in ms."""

    def __init__(self, own_values: Mapping[str, object], now_ms: int) -> None:
        self._values_by_key = _load_defaults() | {
            property_key: str(own_value) for property_key, own_value in own_values.items()
        }
        self.data_version = DataVersion(0, 0, now_ms)

    def __getitem__(self, property_key: str) -> str:
        return self._values_by_key[property_key]

    @property
    def broker_permission(self) -> int:
        return int(self._values_by_key["brokerPermission"])

    @property
    def encoded_lines(self) -> bytes:
        """`key=value` lines, sorted by key. Values are not escaped, as upstream."""
        return "".join(
            f"{property_key}={property_value}\n"
            for property_key, property_value in sorted(self._values_by_key.items())
        ).encode()

    def apply_update(self, properties_bytes: bytes, now_ms: int) -> bool:
        """Apply properties text. Return whether it has a brokerPermission. Raises NoPermission.

        Unknown keys and values of another type are silently ignored, as upstream.
        """
        changed_values = loads(properties_bytes.decode("utf-8", "replace"))
        if not changed_values:
            return False
        protected_keys = {
            "rocketmqHome",
            "brokerConfigPath",
            *self._values_by_key["configBlackList"].split(";"),
        }
        if protected_keys & changed_values.keys():
            raise NoPermission("Can not update config in black list.")
        for property_key, new_value in changed_values.items():
            if property_key in self._values_by_key and _has_same_type(
                self._values_by_key[property_key], new_value
            ):
                self._values_by_key[property_key] = (
                    new_value.lower() if self._values_by_key[property_key] in ("true", "false") else new_value
                )
        self.data_version = DataVersion((self.data_version.counter or 0) + 1, 0, now_ms)
        return "brokerPermission" in changed_values


def _has_same_type(present_value: str, new_value: str) -> bool:
    """Whether `value` can replace `present`: both integers, or both booleans, or text.

    "04" is text: the hours of `deleteWhen` have leading zeros, numbers never do.
    """
    if present_value in ("true", "false"):
        return new_value.lower() in ("true", "false")
    return _INTEGER_TEXT.fullmatch(present_value) is None or _INTEGER_TEXT.fullmatch(new_value) is not None
