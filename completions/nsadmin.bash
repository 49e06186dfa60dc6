# bash completion for nsadmin
_nsadmin() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= at options=
    if [[ $before == --output ]]; then
        COMPREPLY=($(compgen -W "table wide json jsonl yaml csv tsv name value" -- "$word"))
        return
    fi
    for ((at = 1; at < COMP_CWORD; at++)); do
        case ${COMP_WORDS[at]} in
            -n|--namesrvAddr|--context|--output|--timeout|--watch|--columns|--sort|--filter) ((at++)) ;;
            -*) ;;
            *) command=${COMP_WORDS[at]}; break ;;
        esac
    done
    case $command in
        '') COMPREPLY=($(compgen -W "clusterList brokerStatus wipeWritePerm addWritePerm haStatus getBrokerConfig updateBrokerConfig cleanExpiredCQ cleanUnusedTopic topicList topicRoute topicClusterList topicStatus statsAll allocateMQ updateTopic updateTopicPerm updateOrderConf deleteTopic consumerProgress consumerConnection consumerStatus brokerConsumeStats getConsumerConfig updateSubGroup deleteSubGroup resetOffsetByTime skipAccumulatedMessage cloneGroupOffset producer producerConnection queryMsgByKey queryMsgByUniqueKey queryMsgById queryMsgByOffset printMsgByQueue printMsg sendMessage queryMsgTraceById kvGet kvList updateKvConfig deleteKvConfig getNamesrvConfig updateNamesrvConfig contextList contextShow contextUse contextSet contextDelete auditList mqadminMap batch namesrv lab --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --watch --columns --sort --filter --quiet --debug -h --help" -- "$word")); return ;;
        clusterList) options='-c --clusterName -m --moreStats -i --interval --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --watch --columns --sort --filter --quiet --debug -h --help' ;;
        brokerStatus) options='-b --brokerAddr -c --clusterName --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --watch --columns --sort --filter --quiet --debug -h --help' ;;
        wipeWritePerm) options='-b --brokerName --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --dry-run -y --yes --quiet --debug -h --help' ;;
        addWritePerm) options='-b --brokerName --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --dry-run -y --yes --quiet --debug -h --help' ;;
        haStatus) options='-b --brokerAddr -c --clusterName -i --interval --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --watch --columns --sort --filter --quiet --debug -h --help' ;;
        getBrokerConfig) options='-b --brokerAddr -c --clusterName --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --watch --columns --sort --filter --quiet --debug -h --help' ;;
        updateBrokerConfig) options='-k --key -v --value -b --brokerAddr -c --clusterName -a --updateAllBroker --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --dry-run -y --yes --quiet --debug -h --help' ;;
        cleanExpiredCQ) options='-b --brokerAddr -c --cluster --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --dry-run -y --yes --quiet --debug -h --help' ;;
        cleanUnusedTopic) options='-b --brokerAddr -c --cluster --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --dry-run -y --yes --quiet --debug -h --help' ;;
        topicList) options='-c --clusterModel --system --no-system --cluster --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --watch --columns --sort --filter --quiet --debug -h --help' ;;
        topicRoute) options='-t --topic --raw -l --list --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --watch --columns --sort --filter --quiet --debug -h --help' ;;
        topicClusterList) options='-t --topic --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --watch --columns --sort --filter --quiet --debug -h --help' ;;
        topicStatus) options='-t --topic -c --cluster --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --watch --columns --sort --filter --quiet --debug -h --help' ;;
        statsAll) options='-t --topic -a --activeTopic --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --watch --columns --sort --filter --quiet --debug -h --help' ;;
        allocateMQ) options='-t --topic -i --ipList --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --watch --columns --sort --filter --quiet --debug -h --help' ;;
        updateTopic) options='-t --topic -b --brokerAddr -c --clusterName -r --readQueueNums -w --writeQueueNums -p --perm -o --order -u --unit -s --hasUnitSub -a --attributes --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --dry-run -y --yes --quiet --debug -h --help' ;;
        updateTopicPerm) options='-t --topic -p --perm -b --brokerAddr -c --clusterName --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --dry-run -y --yes --quiet --debug -h --help' ;;
        updateOrderConf) options='-t --topic -m --method -v --orderConf --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --columns --sort --filter --dry-run -y --yes --quiet --debug -h --help' ;;
        deleteTopic) options='-t --topic -c --clusterName --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --dry-run -y --yes --quiet --debug -h --help' ;;
        consumerProgress) options='-g --groupName -t --topicName -s --showClientIP -c --cluster --system --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --watch --columns --sort --filter --quiet --debug -h --help' ;;
        consumerConnection) options='-g --consumerGroup -b --brokerAddr -c --cluster --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --watch --columns --sort --filter --quiet --debug -h --help' ;;
        consumerStatus) options='-g --consumerGroup -i --clientId -b --brokerAddr -s --jstack -c --cluster --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --watch --columns --sort --filter --quiet --debug -h --help' ;;
        brokerConsumeStats) options='-b --brokerAddr -t --timeoutMillis -l --level -o --order --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --watch --columns --sort --filter --quiet --debug -h --help' ;;
        getConsumerConfig) options='-g --groupName -c --clusterName --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --watch --columns --sort --filter --quiet --debug -h --help' ;;
        updateSubGroup) options='-g --groupName -b --brokerAddr -c --clusterName -s --consumeEnable -m --consumeFromMinEnable -d --consumeBroadcastEnable -o --consumeMessageOrderly -q --retryQueueNums -r --retryMaxTimes -p --groupRetryPolicy -i --brokerId -w --whichBrokerWhenConsumeSlowly -a --notifyConsumerIdsChanged --attributes --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --dry-run -y --yes --quiet --debug -h --help' ;;
        deleteSubGroup) options='-g --groupName -b --brokerAddr -c --clusterName -r --removeOffset --keep-topics --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --dry-run -y --yes --quiet --debug -h --help' ;;
        resetOffsetByTime) options='-g --group -t --topic -s --timestamp -f --force -b --broker -q --queue -o --offset -c --cluster --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --dry-run -y --yes --quiet --debug -h --help' ;;
        skipAccumulatedMessage) options='-g --group -t --topic -f --force -c --cluster --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --dry-run -y --yes --quiet --debug -h --help' ;;
        cloneGroupOffset) options='-s --srcGroup -d --destGroup -t --topic -o --offline --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --dry-run -y --yes --quiet --debug -h --help' ;;
        producer) options='-b --broker --internal --no-internal --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --watch --columns --sort --filter --quiet --debug -h --help' ;;
        producerConnection) options='-g --producerGroup -t --topic --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --watch --columns --sort --filter --quiet --debug -h --help' ;;
        queryMsgByKey) options='-t --topic -k --msgKey -b --beginTimestamp -e --endTimestamp -m --maxNum -p --keyType -l --lastKey -c --cluster --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --watch --columns --sort --filter --quiet --debug -h --help' ;;
        queryMsgByUniqueKey) options='-t --topic -i --msgId -a --showAll -s --startTime -e --endTime -c --cluster -g --consumerGroup -d --clientId --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --columns --sort --filter --dry-run -y --yes --quiet --debug -h --help' ;;
        queryMsgById) options='-t --topic -i --msgId -f --bodyFormat -c --cluster -u --unitName -g --consumerGroup -d --clientId -s --sendMessage --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --columns --sort --filter --dry-run -y --yes --quiet --debug -h --help' ;;
        queryMsgByOffset) options='-t --topic -b --brokerName -i --queueId -o --offset -f --bodyFormat -r --routeTopic --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --watch --columns --sort --filter --quiet --debug -h --help' ;;
        printMsgByQueue) options='-t --topic -a --brokerName -i --queueId -c --charsetName -s --subExpression -b --beginTimestamp -e --endTimestamp -p --print -d --printBody -f --calculate --maxNum --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --watch --columns --sort --filter --quiet --debug -h --help' ;;
        printMsg) options='-t --topic -c --charsetName -s --subExpression -b --beginTimestamp -e --endTimestamp -d --printBody -l --lmqParentTopic --maxNum --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --watch --columns --sort --filter --quiet --debug -h --help' ;;
        sendMessage) options='-t --topic -p --body -k --key -c --tags -b --broker -i --qid -m --msgTraceEnable --property --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --dry-run -y --yes --quiet --debug -h --help' ;;
        queryMsgTraceById) options='-i --msgId -t --traceTopic -b --beginTimestamp -e --endTimestamp -c --maxNum --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --watch --columns --sort --filter --quiet --debug -h --help' ;;
        kvGet) options='-s --namespace -k --key --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --watch --columns --sort --filter --quiet --debug -h --help' ;;
        kvList) options='-s --namespace --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --watch --columns --sort --filter --quiet --debug -h --help' ;;
        updateKvConfig) options='-s --namespace -k --key -v --value --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --dry-run -y --yes --quiet --debug -h --help' ;;
        deleteKvConfig) options='-s --namespace -k --key --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --dry-run -y --yes --quiet --debug -h --help' ;;
        getNamesrvConfig) options='--context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --watch --columns --sort --filter --quiet --debug -h --help' ;;
        updateNamesrvConfig) options='-k --key -v --value --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --dry-run -y --yes --quiet --debug -h --help' ;;
        contextList) options='--output --json --no-headers --no-color --watch --columns --sort --filter --quiet --debug -h --help' ;;
        contextShow) options='--name --output --json --no-headers --no-color --watch --columns --sort --filter --quiet --debug -h --help' ;;
        contextUse) options='--name --output --json --no-headers --no-color --watch --columns --sort --filter --quiet --debug -h --help' ;;
        contextSet) options='--name -n --namesrvAddr --timeout --defaultOutput --readOnly --writable --output --json --no-headers --no-color --watch --columns --sort --filter --quiet --debug -h --help' ;;
        contextDelete) options='--name --output --json --no-headers --no-color --watch --columns --sort --filter --quiet --debug -h --help' ;;
        auditList) options='--since --output --json --no-headers --no-color --watch --columns --sort --filter --quiet --debug -h --help' ;;
        mqadminMap) options='--command --output --json --no-headers --no-color --watch --columns --sort --filter --quiet --debug -h --help' ;;
        batch) options='-f --file --stop-on-error --context -n --namesrvAddr --timeout --retries --concurrency --output --json --no-headers --no-color --dry-run -y --yes --quiet --debug -h --help' ;;
        namesrv) options='-h --help -c --configFile -p --printConfigItem -n --namesrvAddr --port --bind --home --journal-dir --no-journal' ;;
        lab) options='-h --help --clusters --groups --replicas --topics --seed --namesrv-port --broker-port -n --namesrvAddr' ;;
    esac
    [[ $word == -* ]] && COMPREPLY=($(compgen -W "$options" -- "$word"))
}
complete -o default -F _nsadmin nsadmin
