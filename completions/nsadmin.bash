# bash completion for nsadmin
_nsadmin() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= at options=
    if [[ $before == --output ]]; then
        COMPREPLY=($(compgen -W "table wide json jsonl yaml csv tsv name value" -- "$word"))
        return
    fi
    for ((at = 1; at < COMP_CWORD; at++)); do
        case ${COMP_WORDS[at]} in
            -n|--namesrvAddr|--output|--timeout|--watch|--columns|--sort|--filter) ((at++)) ;;
            -*) ;;
            *) command=${COMP_WORDS[at]}; break ;;
        esac
    done
    case $command in
        '') COMPREPLY=($(compgen -W "clusterList brokerStatus wipeWritePerm addWritePerm haStatus getBrokerConfig updateBrokerConfig cleanExpiredCQ cleanUnusedTopic topicList topicRoute topicClusterList topicStatus statsAll allocateMQ updateTopic updateTopicPerm updateOrderConf deleteTopic consumerProgress consumerConnection consumerStatus brokerConsumeStats getConsumerConfig updateSubGroup deleteSubGroup resetOffsetByTime skipAccumulatedMessage cloneGroupOffset producer producerConnection kvGet kvList updateKvConfig deleteKvConfig getNamesrvConfig updateNamesrvConfig namesrv lab -n --namesrvAddr --output --json --timeout --no-headers --no-color --debug -h --help" -- "$word")); return ;;
        clusterList) options='-c --clusterName -m --moreStats -i --interval -n --namesrvAddr --output --json --timeout --no-headers --no-color --watch --columns --sort --filter --debug -h --help' ;;
        brokerStatus) options='-b --brokerAddr -c --clusterName -n --namesrvAddr --output --json --timeout --no-headers --no-color --watch --columns --sort --filter --debug -h --help' ;;
        wipeWritePerm) options='-b --brokerName -n --namesrvAddr --output --json --timeout --no-headers --no-color --dry-run -y --yes --debug -h --help' ;;
        addWritePerm) options='-b --brokerName -n --namesrvAddr --output --json --timeout --no-headers --no-color --dry-run -y --yes --debug -h --help' ;;
        haStatus) options='-b --brokerAddr -c --clusterName -i --interval -n --namesrvAddr --output --json --timeout --no-headers --no-color --watch --columns --sort --filter --debug -h --help' ;;
        getBrokerConfig) options='-b --brokerAddr -c --clusterName -n --namesrvAddr --output --json --timeout --no-headers --no-color --watch --columns --sort --filter --debug -h --help' ;;
        updateBrokerConfig) options='-k --key -v --value -b --brokerAddr -c --clusterName -a --updateAllBroker -n --namesrvAddr --output --json --timeout --no-headers --no-color --dry-run -y --yes --debug -h --help' ;;
        cleanExpiredCQ) options='-b --brokerAddr -c --cluster -n --namesrvAddr --output --json --timeout --no-headers --no-color --dry-run -y --yes --debug -h --help' ;;
        cleanUnusedTopic) options='-b --brokerAddr -c --cluster -n --namesrvAddr --output --json --timeout --no-headers --no-color --dry-run -y --yes --debug -h --help' ;;
        topicList) options='-c --clusterModel --system --no-system --cluster -n --namesrvAddr --output --json --timeout --no-headers --no-color --watch --columns --sort --filter --debug -h --help' ;;
        topicRoute) options='-t --topic --raw -l --list -n --namesrvAddr --output --json --timeout --no-headers --no-color --watch --columns --sort --filter --debug -h --help' ;;
        topicClusterList) options='-t --topic -n --namesrvAddr --output --json --timeout --no-headers --no-color --watch --columns --sort --filter --debug -h --help' ;;
        topicStatus) options='-t --topic -c --cluster -n --namesrvAddr --output --json --timeout --no-headers --no-color --watch --columns --sort --filter --debug -h --help' ;;
        statsAll) options='-t --topic -a --activeTopic -n --namesrvAddr --output --json --timeout --no-headers --no-color --watch --columns --sort --filter --debug -h --help' ;;
        allocateMQ) options='-t --topic -i --ipList -n --namesrvAddr --output --json --timeout --no-headers --no-color --watch --columns --sort --filter --debug -h --help' ;;
        updateTopic) options='-t --topic -b --brokerAddr -c --clusterName -r --readQueueNums -w --writeQueueNums -p --perm -o --order -u --unit -s --hasUnitSub -a --attributes -n --namesrvAddr --output --json --timeout --no-headers --no-color --dry-run -y --yes --debug -h --help' ;;
        updateTopicPerm) options='-t --topic -p --perm -b --brokerAddr -c --clusterName -n --namesrvAddr --output --json --timeout --no-headers --no-color --dry-run -y --yes --debug -h --help' ;;
        updateOrderConf) options='-t --topic -m --method -v --orderConf -n --namesrvAddr --output --json --timeout --no-headers --no-color --dry-run -y --yes --debug -h --help' ;;
        deleteTopic) options='-t --topic -c --clusterName -n --namesrvAddr --output --json --timeout --no-headers --no-color --dry-run -y --yes --debug -h --help' ;;
        consumerProgress) options='-g --groupName -t --topicName -s --showClientIP -c --cluster --system -n --namesrvAddr --output --json --timeout --no-headers --no-color --watch --columns --sort --filter --debug -h --help' ;;
        consumerConnection) options='-g --consumerGroup -b --brokerAddr -c --cluster -n --namesrvAddr --output --json --timeout --no-headers --no-color --watch --columns --sort --filter --debug -h --help' ;;
        consumerStatus) options='-g --consumerGroup -i --clientId -b --brokerAddr -s --jstack -c --cluster -n --namesrvAddr --output --json --timeout --no-headers --no-color --watch --columns --sort --filter --debug -h --help' ;;
        brokerConsumeStats) options='-b --brokerAddr -t --timeoutMillis -l --level -o --order -n --namesrvAddr --output --json --timeout --no-headers --no-color --watch --columns --sort --filter --debug -h --help' ;;
        getConsumerConfig) options='-g --groupName -c --clusterName -n --namesrvAddr --output --json --timeout --no-headers --no-color --watch --columns --sort --filter --debug -h --help' ;;
        updateSubGroup) options='-g --groupName -b --brokerAddr -c --clusterName -s --consumeEnable -m --consumeFromMinEnable -d --consumeBroadcastEnable -o --consumeMessageOrderly -q --retryQueueNums -r --retryMaxTimes -p --groupRetryPolicy -i --brokerId -w --whichBrokerWhenConsumeSlowly -a --notifyConsumerIdsChanged --attributes -n --namesrvAddr --output --json --timeout --no-headers --no-color --dry-run -y --yes --debug -h --help' ;;
        deleteSubGroup) options='-g --groupName -b --brokerAddr -c --clusterName -r --removeOffset --keep-topics -n --namesrvAddr --output --json --timeout --no-headers --no-color --dry-run -y --yes --debug -h --help' ;;
        resetOffsetByTime) options='-g --group -t --topic -s --timestamp -f --force -b --broker -q --queue -o --offset -c --cluster -n --namesrvAddr --output --json --timeout --no-headers --no-color --dry-run -y --yes --debug -h --help' ;;
        skipAccumulatedMessage) options='-g --group -t --topic -f --force -c --cluster -n --namesrvAddr --output --json --timeout --no-headers --no-color --dry-run -y --yes --debug -h --help' ;;
        cloneGroupOffset) options='-s --srcGroup -d --destGroup -t --topic -o --offline -c --cluster -n --namesrvAddr --output --json --timeout --no-headers --no-color --dry-run -y --yes --debug -h --help' ;;
        producer) options='-b --broker --internal --no-internal -n --namesrvAddr --output --json --timeout --no-headers --no-color --watch --columns --sort --filter --debug -h --help' ;;
        producerConnection) options='-g --producerGroup -t --topic -n --namesrvAddr --output --json --timeout --no-headers --no-color --watch --columns --sort --filter --debug -h --help' ;;
        kvGet) options='-s --namespace -k --key -n --namesrvAddr --output --json --timeout --no-headers --no-color --watch --columns --sort --filter --debug -h --help' ;;
        kvList) options='-s --namespace -n --namesrvAddr --output --json --timeout --no-headers --no-color --watch --columns --sort --filter --debug -h --help' ;;
        updateKvConfig) options='-s --namespace -k --key -v --value -n --namesrvAddr --output --json --timeout --no-headers --no-color --dry-run -y --yes --debug -h --help' ;;
        deleteKvConfig) options='-s --namespace -k --key -n --namesrvAddr --output --json --timeout --no-headers --no-color --dry-run -y --yes --debug -h --help' ;;
        getNamesrvConfig) options='-n --namesrvAddr --output --json --timeout --no-headers --no-color --watch --columns --sort --filter --debug -h --help' ;;
        updateNamesrvConfig) options='-k --key -v --value -n --namesrvAddr --output --json --timeout --no-headers --no-color --dry-run -y --yes --debug -h --help' ;;
        namesrv) options='-h --help -c --configFile -p --printConfigItem -n --namesrvAddr --port --bind --home' ;;
        lab) options='-h --help --clusters --groups --replicas --topics --seed --namesrv-port -n --namesrvAddr' ;;
    esac
    [[ $word == -* ]] && COMPREPLY=($(compgen -W "$options" -- "$word"))
}
complete -o default -F _nsadmin nsadmin
