"""Renders the files of the wheel that are not in git: man pages, pages of the reference, and type stubs."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class RenderedFiles(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        sys.path[:0] = [str(Path(self.root, folder)) for folder in (".", "cli", "pipeline")]
        from nsadmin.manual import rendered_files

        self.folder = TemporaryDirectory()
        for kind, target, files in (
            (
                "shared_data",
                "share/man/man1",
                rendered_files.render_man_pages(Path(self.root, "man", "nsadmin.1.in").read_text()),
            ),
            ("shared_data", "share/doc/nsadmin", rendered_files.render_site_pages()),
            ("force_include", "", rendered_files.render_type_stubs()),
        ):
            for name, text in files.items():
                path = Path(self.folder.name, target, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
                build_data[kind][str(path)] = str(Path(target, name))

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            self.folder.cleanup()
