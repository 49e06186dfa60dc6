"""Reads what is needed to foresee an outage of brokers; `losses` computes the losses."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient, NotFound, ServerResult
from nsadmin.client.pictures import Picture, of_each
from nsadmin.client.results import NoneReachable
from nsadmin.operations.topic_kinds import is_of_users
from nsadmin.operations.what_if.losses import (
    GroupLoss,
    Loss,
    Members,
    Worst,
    group_losses,
    losses,
    members,
    worst,
    write_share,
)
from nsadmin.wording import first_of


class Outlook(NamedTuple):
    """What would be lost: the largest losses of topics and groups first, out of `topic_count` topics.

    `write_share` is the lost fraction of all writable queues, 0 to 1, on the name server with the largest
    loss. `errors` has None for each server that answered.
    """

    asked: int
    write_share: float
    topics: Sequence[Worst]
    groups: Sequence[GroupLoss]
    errors: Mapping[str, RocketMQError | None]


def without_brokers(admin: AdminClient, words: Sequence[str], now: int, *, system: bool = False) -> Outlook:
    """What would be lost without these brokers, each given as NAME or, for one process of it, NAME:ID.

    System topics and topics of retries and dead letters count only with `include_system`.

    Raises:
        NotFound: no name server knows one of the brokers.
        NoneReachable: no name server answered.
    """
    found = of_each(admin, now)
    pictures = {picture.source: picture for _, picture, _ in found if picture is not None}
    if not pictures:
        raise NoneReachable([error for _, _, error in found if error is not None])  # type: ignore[misc]
    down = chosen(words, pictures)
    own = frozenset() if system else admin.topics.system_names()
    of_users = {
        addr: picture._replace(
            topics={
                topic: queues for topic, queues in picture.topics.items() if system or is_of_users(topic, own)
            }
        )
        for addr, picture in pictures.items()
    }
    topics = worst({addr: losses(picture, down) for addr, picture in of_users.items()})
    readers, clients, unknown = _readers(admin, pictures, down, [item.loss for item in topics])
    return Outlook(
        len({topic for picture in of_users.values() for topic in picture.topics}),
        max(write_share(picture, down) for picture in of_users.values()),
        topics,
        group_losses(readers, clients, topics),
        {**{result.addr: result.error for result in found}, **unknown},
    )


def chosen(words: Sequence[str], pictures: Mapping[str, Picture]) -> dict[str, frozenset[int]]:
    """The processes that the words name.

    Raises:
        NotFound: no name server knows a broker or process.
    """
    present: dict[str, frozenset[int]] = {}
    for picture in pictures.values():
        for name, ids in members(picture).items():
            present[name] = present.get(name, frozenset()) | ids
    down: dict[str, frozenset[int]] = {}
    for word in words:
        name, _, number = word.rpartition(":")
        if word in present:
            name, ids = word, present[word]
        elif name in present and number.isdecimal() and int(number) in present[name]:
            ids = frozenset({int(number)})
        else:
            raise NotFound(f"no broker {word!r}: name servers know {_known(present)}")
        down[name] = down.get(name, frozenset()) | ids
    return down


def _known(present: Members) -> str:
    return first_of(sorted(present), 10) or "none"


def _readers(
    admin: AdminClient, pictures: Mapping[str, Picture], down: Members, lost: Sequence[Loss]
) -> tuple[dict[str, set[str]], dict[str, int], dict[str, RocketMQError | None]]:
    """The consumed topics by group, the client counts by group, and the errors, asked of these brokers."""
    addrs = [addr for name in down for addr in _first(name, pictures)]
    online, errors = admin.consumers.online(addrs)
    readers = {group: {item.topic for item in found.subscriptions} for group, found in online.items()}
    for addr in [addr for addr, error in errors.items() if error is None]:
        told: ServerResult[dict[str, tuple[str, ...]]] = admin.topics.readers(
            addr, [loss.topic for loss in lost]
        )
        errors[addr] = told.error
        for topic, groups in (told.result or {}).items():
            for group in groups:
                readers.setdefault(group, set()).add(topic)
    return readers, {group: len(found.clients) for group, found in online.items()}, errors


def _first(name: str, pictures: Mapping[str, Picture]) -> list[str]:
    """The address of a broker's master, or of its slave with the lowest id; [] if it is not registered."""
    for picture in pictures.values():
        addrs = picture.brokers.get(name, {"brokerAddrs": {}})["brokerAddrs"]
        if addrs:
            return [str(addrs[min(addrs, key=int)])]
    return []
