"""`python -m nsadmin.manual`: writes man/, generated pages, schemas and type stubs.

`--check` only compares.
"""

import sys
from pathlib import Path

from namesrv_core.history import record_schema
from namesrv_core.state import credentials_schema
from nsadmin.manual import (
    async_stubs,
    data_dictionary,
    exporter_alerts,
    exporter_dashboard,
    exporter_page,
    library_page,
    man_pages,
    package_stub,
    reference_page,
)
from nsadmin.manual.command_descriptions import describe_all_commands
from nsadmin.operations.plans import schema as cluster_schema


def render_files() -> dict[str, str]:
    """Every file that is rendered, by its path from the root of the project."""
    command_descriptions = describe_all_commands()
    return {
        "man/man1/nsadmin.1": man_pages.render_overview(command_descriptions),
        **{
            f"man/man1/{man_pages.page_name(command.entry)}.1": man_pages.render_page(command)
            for command in command_descriptions
        },
        **reference_page.render_pages(command_descriptions),
        "docs/reference/library.md": library_page.render_library_page(),
        "docs/reference/data-dictionary.md": data_dictionary.render_data_dictionary(),
        "docs/reference/exporter-metrics.md": exporter_page.render_metrics_page(),
        "docs/monitoring/exporter-alerts.yml": exporter_alerts.render_alert_rules(),
        "docs/monitoring/exporter-dashboard.json": exporter_dashboard.render_dashboard(),
        "docs/reference/journal.schema.json": record_schema.record_schema_text(),
        "docs/reference/credentials.schema.json": credentials_schema.credentials_schema_text(),
        "docs/reference/cluster.schema.json": cluster_schema.format_schema(),
        "cli/nsadmin/__init__.pyi": package_stub.render_package_stub(),
        "cli/nsadmin/aio/nouns.pyi": async_stubs.render_stubs(),
    }


def find_outdated_files(root_folder: Path) -> list[str]:
    """Return the files that are missing or different, and the pages of commands that no longer exist."""
    rendered_texts = render_files()
    present_pages = {
        page_path.relative_to(root_folder).as_posix()
        for page_pattern in ("man/man1/*.1", f"{reference_page.CATEGORY_FOLDER}/*.md")
        for page_path in root_folder.glob(page_pattern)
    }
    changed_files = [
        file_name
        for file_name, rendered_text in rendered_texts.items()
        if not _has_text(root_folder / file_name, rendered_text)
    ]
    return sorted({*changed_files, *(present_pages - rendered_texts.keys())})


def _has_text(file_path: Path, expected_text: str) -> bool:
    return file_path.is_file() and file_path.read_text() == expected_text


def main(argv: list[str]) -> int:
    root_folder = Path.cwd()
    outdated_files = find_outdated_files(root_folder)
    if "--check" in argv:
        for file_name in outdated_files:
            print(f"{file_name} is outdated: run make generate", file=sys.stderr)
        return 1 if outdated_files else 0
    rendered_texts = render_files()
    for file_name in outdated_files:
        file_path = root_folder / file_name
        if file_name in rendered_texts:
            file_path.parent.mkdir(parents=True, exist_ok=True)
            file_path.write_text(rendered_texts[file_name])
        else:
            file_path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
