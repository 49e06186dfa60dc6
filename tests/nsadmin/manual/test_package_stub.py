"""The types of the package are those of its public names."""

import ast

from nsadmin.library.public_names import MODULES_BY_NAME
from nsadmin.manual.package_stub import render_package_stub


def test_the_stub_imports_every_public_name_from_its_module() -> None:
    tree = ast.parse(render_package_stub())
    imported = {
        alias.name: node.module
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert imported == {**MODULES_BY_NAME, "__version__": "namesrv_core"}


def test_its_all_is_sorted_and_complete() -> None:
    [listed] = [node.value for node in ast.parse(render_package_stub()).body if isinstance(node, ast.Assign)]
    assert ast.literal_eval(listed) == sorted(["__version__", *MODULES_BY_NAME])
