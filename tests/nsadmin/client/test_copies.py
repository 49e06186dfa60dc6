"""Errors and records of the library survive pickle and copy, so that they cross process boundaries."""

import copy
import importlib
import pickle
import pkgutil
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from namesrv_core import errors
from namesrv_core.errors import FrameOverLimit, OverLimit, RequestError, RocketMQError
from namesrv_core.transport.exchange import CallError
from nsadmin import client
from nsadmin.client.results import NoneReachable, NotFound, ServerResult

CALL_ERROR = CallError("h:1", "timeout", "timed out")


def list_modules() -> list[ModuleType]:
    names = [module.name for module in pkgutil.walk_packages(client.__path__, "nsadmin.client.")]
    return [importlib.import_module(name) for name in names]


def list_classes() -> Iterator[type]:
    for module in [*list_modules(), errors]:
        for value in vars(module).values():
            if isinstance(value, type) and value.__module__ == module.__name__:
                yield value


CLASSES = list(list_classes())
RECORDS: list[Any] = [kind for kind in CLASSES if issubclass(kind, tuple) and hasattr(kind, "_fields")]
ERRORS = [
    k
    for k in CLASSES
    if issubclass(k, RocketMQError) and "__init__" not in vars(k) and k.__init__ is Exception.__init__
]
EXAMPLES: list[RocketMQError] = [
    *(kind("why") for kind in ERRORS),
    CALL_ERROR,
    NoneReachable([CALL_ERROR, CallError("h:2", "unconnected", "refused")]),
    RequestError("why", 42),
    errors.build_request_error(17, None),
    OverLimit("maxFrameBytes", "a frame of 9 bytes"),
    FrameOverLimit("maxFrameBytes", "a frame of 9 bytes"),
]


def test_an_error_survives_pickle_and_copy() -> None:
    for error in EXAMPLES:
        error.__dict__["addr"] = "h:1"
        for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
            assert type(twin) is type(error)
            assert str(twin) == str(error)
            assert twin.args == error.args
            assert {name: str(value) for name, value in vars(twin).items()} == {
                name: str(value) for name, value in vars(error).items()
            }


def test_a_record_survives_pickle_and_copy() -> None:
    for record_type in RECORDS:
        record = record_type._make(range(len(record_type._fields)))
        for twin in (pickle.loads(pickle.dumps(record)), copy.copy(record), copy.deepcopy(record)):
            assert type(twin) is record_type
            assert twin == record


def test_a_result_with_an_error_survives_pickle() -> None:
    result = pickle.loads(pickle.dumps(ServerResult("h:1", None, CALL_ERROR)))
    assert (result.addr, str(result.error)) == ("h:1", str(CALL_ERROR))


def test_the_lists_hold_the_errors_and_records_of_the_library() -> None:
    assert NotFound in ERRORS
    assert ServerResult in RECORDS
    assert len(RECORDS) > 50
