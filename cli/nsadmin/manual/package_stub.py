"""Renders nsadmin/__init__.pyi, the public names of the library for type checkers."""

from nsadmin.library.public_names import MODULES_BY_NAME

_LINE_LENGTH = 110
_HEAD = '''"""The public names of `nsadmin`, for type checkers."""

from namesrv_core import __version__
'''


def render_package_stub() -> str:
    """The text of __init__.pyi, as `ruff format` leaves it."""
    names_by_module: dict[str, list[str]] = {}
    for name, module_name in sorted(MODULES_BY_NAME.items()):
        names_by_module.setdefault(module_name, []).append(name)
    import_lines = "".join(_render_import(n, names) for n, names in sorted(names_by_module.items()))
    listed_names = "".join(f'    "{name}",\n' for name in sorted(["__version__", *MODULES_BY_NAME]))
    return f"{_HEAD}{import_lines}\n__all__ = [\n{listed_names}]\n"


def _render_import(module_name: str, names: list[str]) -> str:
    # ruff sorts imported classes without case, before functions.
    names = sorted(names, key=lambda name: (name.islower(), name.lower()))
    line = f"from {module_name} import {', '.join(names)}\n"
    if len(line) <= _LINE_LENGTH + 1:
        return line
    return f"from {module_name} import (\n" + "".join(f"    {name},\n" for name in names) + ")\n"
