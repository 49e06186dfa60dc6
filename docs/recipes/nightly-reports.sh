#!/bin/sh
# Make the reports of RocketMQ's name servers, files for other tools, and web pages; then check the result.
# For cron and systemd: docs/how-to/schedule-and-use-reports.md.
#
# REPORT_SOURCES  journals and logs, named after their folders (default: *=/var/history/*)
# REPORT_HOME     folder for tables/, files/ and pages/ (default: /var/lib/nsadmin-report)
# REPORT_NAMES    reports to export to files/
set -eu
sources=${REPORT_SOURCES:-*=/var/history/*}
home=${REPORT_HOME:-/var/lib/nsadmin-report}
names=${REPORT_NAMES:-broker_availability broker_flaps drain_audit ns_divergence topic_growth data_quality}

# Exit code 3 means that the tables are complete, and that many lines of the input were unreadable.
nsadmin report run --source "$sources" --dir "$home/tables" || [ $? -eq 3 ]

mkdir -p "$home/files"
for name in $names; do
  # Readers see the old file or the new one.
  nsadmin report export "$name" --dir "$home/tables" --out "$home/files/.new.parquet"
  mv "$home/files/.new.parquet" "$home/files/$name.parquet"
done
nsadmin report html --dir "$home/tables" --out-folder "$home/pages"
nsadmin check reports --dir "$home/tables"
