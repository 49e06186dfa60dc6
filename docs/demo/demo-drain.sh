#!/bin/sh
# `make demo-drain`: drains a broker in real time, which takes a minute as clients read routes every 30 s.
. "$(dirname "$0")/lab.sh"

say 'What would stop if this broker stopped?'
run 'nsadmin whatIf --down broker-a-1'

say 'Drain it. nsadmin waits until no producer writes to it, which takes about a minute'
run 'nsadmin drain broker-a-1 --dry-run'
run 'nsadmin drain broker-a-1 --yes'
run 'nsadmin drainStatus'

say 'Here the broker is stopped and started again. Then everything is as it was before'
run 'nsadmin undrain broker-a-1 --yes'
run 'nsadmin history topic orders --journal lab/ns-1/journal --type WritePermWiped --type TopicsChanged --from 5m'
