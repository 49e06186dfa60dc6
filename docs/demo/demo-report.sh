#!/bin/sh
# `make demo-report`: a bad day in the lab, the pipeline on its journals, and the page of all reports.
set -eu
page=$(pwd)/${1:-demo-report.html}
day=$(cd "$(dirname "$0")" && pwd)/demo-report.yaml
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
export NSADMIN_CONFIG="$home/config.yaml" NSADMIN_AUDIT=off XDG_STATE_HOME="$home"
unset NSADMIN_CONTEXT NSADMIN_OUTPUT
cd "$home"
echo 'Thirty hours in the lab, which take half a minute'
nsadmin lab run "$day" --dir lab | tail -n 1
# At its end the lab stops all brokers, which is no failure of theirs.
nsadmin report run --source '*=lab/*/journal' --dir reports --until 2025-02-03T02:59:00Z
nsadmin report html --dir reports --out "$page"
