#!/bin/sh
# `make demo`: starts a lab on free ports, runs the commands below as they are printed, and stops everything.
. "$(dirname "$0")/lab.sh"

say 'Two clusters of three broker groups, each a master and a slave, with load'
run 'nsadmin clusterList --columns brokerName,brokerId,brokerAddr,version,inTps,outTps,reachable'
run 'nsadmin topicRoute orders'

say 'Which groups are behind? What is in a topic?'
run 'nsadmin consumerProgress --sort -lag'
run 'nsadmin printMsg payments --limit 3 --columns storeTime,brokerName,queueId,tags,keys'

say 'Change something: see it first, then do it, then undo it'
run 'nsadmin updateTopic payments -r 16 -w 16 -c cluster-a --dry-run'
run 'nsadmin updateKvConfig ORDER_TOPIC_CONFIG payments "broker-a-0:8;broker-a-1:8"'
run 'nsadmin deleteKvConfig ORDER_TOPIC_CONFIG payments --yes'

say 'Remove the write permission of a broker, on one of two name servers only: what do the checks say?'
one=${NAMESRV_ADDR%%;*}
run "nsadmin wipeWritePerm broker-a-1 -n $one"
run 'nsadmin check all --settle 0'
run 'nsadmin divergence --settle 0'
run "nsadmin route explain orders --filter result=warning --columns result,step,seen"
run 'nsadmin repair wipe broker-a-1 --yes'

say 'What would stop if this broker stopped? What would a drain do?'
run 'nsadmin whatIf --down broker-a-2 --filter what=topic'
run 'nsadmin drain broker-a-1 --dry-run'

say 'A cluster as a file'
run 'nsadmin export cluster-b | head -n 12'

say 'Coming from mqadmin'
run 'nsadmin mqadminMap updateTopic'

say 'For scripts: JSON on stdout, everything else on stderr, and an exit code'
run 'nsadmin topicRoute invoices --json | head -n 12'
run 'nsadmin topicRoute no-such-topic'

bin=$(dirname "$(command -v nsadmin)")
cat <<END

Next, type:
  $bin/nsadmin lab up             # starts a lab of your own; leave it running
  $bin/nsadmin --context lab tui  # in another terminal: the lab on one screen
  make demo-drain $(printf %$((${#bin} + 13))s '')# drains a broker in real time (2 minutes)
The tutorial continues from here: docs/tutorial.md
END
