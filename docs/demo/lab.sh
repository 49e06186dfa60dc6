# Sourced by demo.sh and demo-drain.sh: starts a lab on free ports, and defines `say` and `run`.
set -u
# Without a terminal to read from, no command stops to ask.
exec </dev/null

home=$(mktemp -d)
boot=$home/boot
# The contexts, audit and drains of this account do not matter here.
export NSADMIN_CONFIG="$home/config.yaml" NSADMIN_AUDIT="$home/audit.jsonl" XDG_STATE_HOME="$home"
unset NSADMIN_CONTEXT NSADMIN_OUTPUT NSADMIN_STATE
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
