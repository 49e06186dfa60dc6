"""What is rendered from commands, library and tables: pages, type stubs, and a few files in git."""

from namesrv_core.history import record_schema
from namesrv_core.state import credentials_schema
from nsadmin.manual import (
    async_stubs,
    checks_page,
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


def render_man_pages(overview_template: str) -> dict[str, str]:
    """nsadmin(1) and a page for each command, by file name. The wheel has them in share/man/man1."""
    commands = describe_all_commands()
    pages = {
        f"{man_pages.page_name(command.entry)}.1": man_pages.render_page(command) for command in commands
    }
    return {"nsadmin.1": man_pages.render_overview(overview_template, commands), **pages}


def render_site_pages() -> dict[str, str]:
    """Pages of the reference, by path from docs/. The site and the wheel have them."""
    return {
        **reference_page.render_pages(describe_all_commands()),
        "reference/library.md": library_page.render_library_page(),
        "reference/check-limits.md": checks_page.render_checks_page(),
        "reference/exporter-metrics.md": exporter_page.render_metrics_page(),
    }


def render_type_stubs() -> dict[str, str]:
    """The types of the library, by path from cli/. The wheel has them; `make check` writes them for mypy."""
    return {
        "nsadmin/__init__.pyi": package_stub.render_package_stub(),
        "nsadmin/aio/nouns.pyi": async_stubs.render_stubs(),
    }


def render_files_in_git() -> dict[str, str]:
    """Files that Prometheus, Grafana and editors read from a checkout, by path from the root of the project.

    The data dictionary is among them because it needs Spark, which neither the wheel nor the site does.
    """
    return {
        "docs/monitoring/exporter-alerts.yml": exporter_alerts.render_alert_rules(),
        "docs/monitoring/exporter-dashboard.json": exporter_dashboard.render_dashboard(),
        "docs/reference/journal.schema.json": record_schema.record_schema_text(),
        "docs/reference/credentials.schema.json": credentials_schema.credentials_schema_text(),
        "docs/reference/cluster.schema.json": cluster_schema.format_schema(),
        "docs/reference/data-dictionary.md": data_dictionary.render_data_dictionary(),
    }
