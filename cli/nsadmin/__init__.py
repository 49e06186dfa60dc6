"""nsadmin: an operator's command line for Apache RocketMQ's name servers, and the library below it.

Everything that scripts need is importable from here. `nsadmin.library.public_names` lists it.
"""

from namesrv_core import __version__ as __version__


def __getattr__(name: str) -> object:
    # The table is loaded late: a command needs only `__version__`.
    from importlib import import_module

    from nsadmin.library.public_names import MODULES_BY_NAME

    if name == "__all__":
        return ["__version__", *MODULES_BY_NAME]
    if name not in MODULES_BY_NAME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(MODULES_BY_NAME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    from nsadmin.library.public_names import MODULES_BY_NAME

    return [*globals(), *MODULES_BY_NAME]
