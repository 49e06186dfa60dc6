#!/bin/sh
# The tour of `make demo`: starts a name server and a fleet of simulated brokers on free ports, runs the
# commands below against them as they are printed, and stops everything.
set -u
# Without a terminal to read from, no command stops to ask.
exec </dev/null

home=$(mktemp -d)
boot=$home/boot
# Whoever watches this may have contexts, an audit and drains; none of them counts here.
export NSADMIN_CONFIG="$home/config.yaml" NSADMIN_AUDIT="$home/audit.jsonl" XDG_STATE_HOME="$home"
unset NSADMIN_CONTEXT NSADMIN_OUTPUT
cd "$home" || exit 1
start='nsadmin lab up --namesrvs 2 --dir lab'
$start >"$boot" &
lab=$!
trap 'kill "$lab" 2>/dev/null; wait "$lab"; rm -rf "$home"' EXIT
trap 'exit 130' HUP INT TERM

while ! grep -q '^# Ctrl-C' "$boot"; do
    kill -0 "$lab" 2>/dev/null || exit 1
    sleep 0.1
done
eval "$(head -n 1 "$boot")"
export NAMESRV_ADDR

if [ -t 1 ]; then bold=$(printf '\033[1m') dim=$(printf '\033[2m') plain=$(printf '\033[0m')
else bold='' dim='' plain=''
fi

say() { printf '\n%s# %s%s\n' "$dim" "$1" "$plain"; }
run() {
    printf '%s$ %s%s\n' "$bold" "$1" "$plain"
    eval "$1" 2>&1
    status=$?
    [ "$status" -eq 0 ] || printf '%s(exit code %s)%s\n' "$dim" "$status" "$plain"
}

printf '%s$ %s &%s\n' "$bold" "$start" "$plain"
head -n 2 "$boot"

say 'Two clusters of three broker groups, master and slave, with live load'
run 'nsadmin clusterList'
run 'nsadmin topicList --no-system | grep -v % | head -n 10'
run 'nsadmin topicList -c | grep -E "clusterName|  orders "'

say 'Who is behind, and what is in a topic'
run 'nsadmin consumerProgress --sort -diffTotal'
run 'nsadmin consumerConnection warehouse --columns clientId,clientAddr,version,consumeType'
run 'nsadmin printMsg payments --maxNum 3 --columns storeTime,brokerName,queueId,tags,keys'

say 'Take the writes from a broker: its row in the route turns from rw- to r--'
run 'nsadmin topicRoute orders'
run 'nsadmin wipeWritePerm broker-a-0'
run 'nsadmin topicRoute orders'
run 'nsadmin addWritePerm broker-a-0 --yes'

say 'The KV config: what is answered is on the disk'
run 'nsadmin updateKvConfig ORDER_TOPIC_CONFIG orders "broker-a-0:8;broker-a-1:8"'
run 'nsadmin kvGet ORDER_TOPIC_CONFIG orders'
run 'nsadmin kvList ORDER_TOPIC_CONFIG'
run 'nsadmin deleteKvConfig ORDER_TOPIC_CONFIG orders --yes'

say 'The name server and a broker about themselves'
run 'nsadmin getNamesrvConfig | grep -E "key|listenPort|scanNotActive|deleteTopicWith|orderMessage"'
run 'nsadmin updateNamesrvConfig orderMessageEnable true'
run 'nsadmin brokerStatus -c cluster-a | grep -E "key|VersionDesc|putTps|msgPutTotalToday|commitLogDiskRatio " | head -n 6'

say 'Delete a topic: masters first, then name servers, then a look whether it is really gone'
run 'nsadmin deleteTopic payments -c cluster-a --dry-run'
run 'nsadmin deleteTopic payments -c cluster-a --yes'
run 'nsadmin topicClusterList payments'

say 'Somebody wiped a broker, and reached one of two name servers only'
one=${NAMESRV_ADDR%%;*}
run "nsadmin wipeWritePerm broker-a-1 -n $one"
run 'nsadmin divergence --settle 0'
run 'nsadmin check all --settle 0'
run "nsadmin routeExplain orders --filter 'result!=ok' --filter 'result!=skipped'"
run "nsadmin addWritePerm broker-a-1 -n $one --yes"

say 'A cluster as a file'
run 'nsadmin export cluster-b | head -n 12'

say 'Coming from mqadmin'
run 'nsadmin mqadminMap updateTopic'

say 'For scripts: JSON on stdout, everything else on stderr, and an exit code'
run 'nsadmin topicRoute invoices --json | head -n 12'
run 'nsadmin topicRoute no-such-topic'

say 'Stop a broker without losing a message: what would be lost, and a drain; a minute, as clients look every 30 s'
run 'nsadmin whatIf --down broker-a-2'
run 'nsadmin drain broker-a-2 --force --yes'
run 'nsadmin drainStatus'
run 'nsadmin undrain broker-a-2 --yes'

# Spark is large: `make demo` does not install it, `make test` does.
if python -c 'import pyspark' 2>/dev/null; then
    say 'Who drained what, and what became of it: the pipeline on Spark reads the journals'
    run "nsadmin report run --source '*=lab/*/journal' --output reports --reports drain_audit | tail -n 1"
    run 'nsadmin report show drain_audit'
fi
