"""The names of one sequence, and how its requests are dressed: encoding, version, language, odd fields."""

import zlib
from dataclasses import replace
from random import Random
from typing import Any

from tests.interop import wire
from tests.interop.differential import registrations
from tests.interop.differential.operations import Kind, Op
from tests.interop.differential.registrations import Broker

ODD_EXT: tuple[Any, ...] = (None, "", " ", "x", 5, -1.5, True, {"a": 1}, [1, "2"])
LANGUAGES = ("JAVA", "JAVA", "JAVA", "GO", "CPP", "PYTHON", "NODE_JS")


class Dresser:
    """One sequence's randomness, names and brokers."""

    def __init__(self, seed: str) -> None:
        self.rng = Random(seed)
        self.prefix = f"d{zlib.crc32(seed.encode()):08x}-"
        self.topics = [f"{self.prefix}t{number}" for number in range(5)] + [f"{self.prefix}Ünï/{{x}}"]
        self.topics.append(f"rmq_sys_SYNC_BROKER_MEMBER_{self.prefix}b0")
        self.clusters = [f"{self.prefix}c{number}" for number in range(2)]
        self.brokers = [self._broker(number) for number in range(6)]
        self.names = list(dict.fromkeys(broker.name for broker in self.brokers))
        self.mixes_clusters = self.chance(0.08)
        self.shares_addresses = self.chance(0.15)
        if self.shares_addresses:
            self._share_addresses()
        self.toggled = self.chance(0.35)
        self._fresh = 100

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def _broker(self, number: int) -> Broker:
        group, member = divmod(number, 2)
        cluster, name = self.clusters[group // 2], f"{self.prefix}b{group}"
        return Broker(cluster, name, member, f"10.0.{group}.{member}:10911", connection=number)

    def _share_addresses(self) -> None:
        """The brokers of the last group, in a cluster of its own, have the private addresses of the first."""
        for first, last in zip(self.brokers[:2], self.brokers[-2:], strict=True):
            last.address = first.address

    def _op(
        self,
        code: int,
        ext: dict[str, Any] | None = None,
        body: bytes = b"",
        version: int | None = None,
        connection: int = 50,
        oneway: bool = False,
        marks: tuple[str, ...] = (),
    ) -> Op:
        """A request in one of the two encodings; odd values need JSON, null ones disappear in binary."""
        rng = self.rng
        version = rng.choice(registrations.VERSIONS) if version is None else version
        plain = all(isinstance(value, str) for value in (ext or {}).values())
        binary = plain and -32768 <= code <= 32767 and rng.random() < 0.4
        encoding = wire.BINARY if binary else wire.JSON
        language = rng.choice(LANGUAGES)
        request = Op(Kind.REQUEST, connection, code, ext, body, encoding, version)
        return replace(request, oneway=oneway, language=language, marks=frozenset(marks))

    def _odd_ext(
        self, ext: dict[str, Any], probability: float = 0.06, spare: tuple[str, ...] = ()
    ) -> dict[str, Any]:
        """Sometimes one field is missing or of an odd type."""
        names = [name for name in ext if name not in spare]
        if names and self.chance(probability):
            name = self.rng.choice(names)
            if self.chance(0.4):
                return {key: value for key, value in ext.items() if key != name}
            return ext | {name: self.rng.choice(ODD_EXT)}
        return ext

    def _new_connection(self) -> int:
        self._fresh += 1
        return self._fresh
