# bash completion for nsadmin, rendered from its commands

# The words up to the cursor without their quotes, so that it does not matter where bash breaks words. A word
# that is a variable stands for its value: -n $PROD.
# `typed` is the last one as it stands there, `quote` the quote that is open.
_nsadmin_split() {
    local line=${COMP_LINE:0:COMP_POINT} letter word= begun= at
    words=() typed= quote=
    for ((at = 0; at < ${#line}; at++)); do
        letter=${line:at:1}
        if [[ -z $quote && $letter == [[:blank:]] ]]; then
            [[ $word =~ ^[$][{]?([A-Za-z_][A-Za-z_0-9]*)[}]?$ ]] && word=${!BASH_REMATCH[1]}
            [[ -n $begun ]] && words+=("$word")
            word= begun= typed=
            continue
        fi
        begun=1 typed+=$letter
        if [[ $letter == "$quote" ]]; then
            quote=
        elif [[ -z $quote && $letter == [\"\'] ]]; then
            quote=$letter
        elif [[ $letter == \\ && $quote != \' ]]; then
            ((at++))
            word+=${line:at:1} typed+=${line:at:1}
        else
            word+=$letter
        fi
    done
    words+=("$word")
}

# What may stand behind a command. Each is FLAGS, or FLAGS=SOURCE where a value belongs to it.
_nsadmin_table() {
    local restore= family=front
    shopt -q nocasematch || restore=1
    shopt -s nocasematch
    places=() options=()
    case ${1//[-_]/} in
        clusterlist) family=read places=('-c,--clusterName=clusters') options=('-c,--clusterName=clusters' '-m,--moreStats' '-i,--interval=') ;;
        brokerstatus) family=read places=('-b,--brokerAddr=addresses') options=('-b,--brokerAddr=addresses' '-c,--clusterName=clusters') ;;
        hastatus) family=read places=('-b,--brokerAddr=addresses') options=('-b,--brokerAddr=addresses' '-c,--clusterName=clusters' '-i,--interval=') ;;
        getbrokerconfig) family=read places=('-b,--brokerAddr=addresses') options=('-b,--brokerAddr=addresses' '-c,--clusterName=clusters') ;;
        topiclist) family=read options=('-c,--clusterModel' '--system,--no-system' '--cluster=clusters') ;;
        topicroute) family=read places=('-t,--topic=topics') options=('-t,--topic=topics' '--raw' '-l,--list') ;;
        topicclusterlist) family=read places=('-t,--topic=topics') options=('-t,--topic=topics') ;;
        topicstatus) family=read places=('-t,--topic=topics') options=('-t,--topic=topics' '-c,--cluster=clusters') ;;
        statsall) family=read places=('-t,--topic=topics') options=('-t,--topic=topics' '-a,--activeTopic') ;;
        allocatemq) family=read places=('-t,--topic=topics' '-i,--ipList=') options=('-t,--topic=topics' '-i,--ipList=') ;;
        consumerprogress) family=read places=('-g,--groupName=groups') options=('-g,--groupName=groups' '-t,--topicName=topics' '-s,--showClientIP=true|false' '-c,--cluster=clusters' '--system') ;;
        consumerconnection) family=read places=('-g,--consumerGroup=groups') options=('-g,--consumerGroup=groups' '-b,--brokerAddr=addresses' '-c,--cluster=clusters') ;;
        consumerstatus) family=read places=('-g,--consumerGroup=groups') options=('-g,--consumerGroup=groups' '-i,--clientId=' '-b,--brokerAddr=addresses' '-s,--jstack' '-c,--cluster=clusters') ;;
        brokerconsumestats) family=read places=('-b,--brokerAddr=addresses') options=('-b,--brokerAddr=addresses' '-t,--timeoutMillis=' '-l,--level=' '-o,--order=true|false') ;;
        getconsumerconfig) family=read places=('-g,--groupName=groups') options=('-g,--groupName=groups' '-c,--clusterName=clusters') ;;
        producer) family=read places=('-b,--broker=addresses') options=('-b,--broker=addresses' '--internal,--no-internal') ;;
        producerconnection) family=read places=('-g,--producerGroup=groups' '-t,--topic=topics') options=('-g,--producerGroup=groups' '-t,--topic=topics') ;;
        querymsgbykey) family=read places=('-t,--topic=topics' '-k,--msgKey=') options=('-t,--topic=topics' '-k,--msgKey=' '-b,--beginTimestamp=' '-e,--endTimestamp=' '-m,--maxNum=' '-p,--keyType=K|T' '-l,--lastKey=' '-c,--cluster=topics') ;;
        querymsgbyoffset) family=read places=('-t,--topic=topics' '-b,--brokerName=brokers' '-i,--queueId=' '-o,--offset=') options=('-t,--topic=topics' '-b,--brokerName=brokers' '-i,--queueId=' '-o,--offset=' '-f,--bodyFormat=' '-r,--routeTopic=topics') ;;
        printmsgbyqueue) family=read places=('-t,--topic=topics' '-a,--brokerName=brokers' '-i,--queueId=') options=('-t,--topic=topics' '-a,--brokerName=brokers' '-i,--queueId=' '-c,--charsetName=' '-s,--subExpression=' '-b,--beginTimestamp=' '-e,--endTimestamp=' '-p,--print=true|false' '-d,--printBody=true|false' '-f,--calculate=true|false' '--maxNum=') ;;
        printmsg) family=read places=('-t,--topic=topics') options=('-t,--topic=topics' '-c,--charsetName=' '-s,--subExpression=' '-b,--beginTimestamp=' '-e,--endTimestamp=' '-d,--printBody=true|false' '-l,--lmqParentTopic=topics' '--maxNum=') ;;
        querymsgtracebyid) family=read places=('-i,--msgId=') options=('-i,--msgId=' '-t,--traceTopic=topics' '-b,--beginTimestamp=' '-e,--endTimestamp=' '-c,--maxNum=') ;;
        kvget) family=read places=('-s,--namespace=namespaces' '-k,--key=kv-keys') options=('-s,--namespace=namespaces' '-k,--key=kv-keys') ;;
        kvlist) family=read places=('-s,--namespace=namespaces') options=('-s,--namespace=namespaces') ;;
        getnamesrvconfig) family=read ;;
        wipewriteperm) family=change places=('-b,--brokerName=brokers') options=('-b,--brokerName=brokers') ;;
        addwriteperm) family=change places=('-b,--brokerName=brokers') options=('-b,--brokerName=brokers') ;;
        updatebrokerconfig) family=change places=('-k,--key=broker-keys' '-v,--value=') options=('-k,--key=broker-keys' '-v,--value=' '-b,--brokerAddr=addresses' '-c,--clusterName=clusters' '-a,--updateAllBroker=true|false') ;;
        cleanexpiredcq) family=change places=('-b,--brokerAddr=addresses') options=('-b,--brokerAddr=addresses' '-c,--cluster=clusters') ;;
        cleanunusedtopic) family=change places=('-b,--brokerAddr=addresses') options=('-b,--brokerAddr=addresses' '-c,--cluster=clusters') ;;
        updatetopic) family=change places=('-t,--topic=topics') options=('-t,--topic=topics' '-b,--brokerAddr=addresses' '-c,--clusterName=clusters' '-r,--readQueueNums=' '-w,--writeQueueNums=' '-p,--perm=2|4|6' '-o,--order=true|false' '-u,--unit=true|false' '-s,--hasUnitSub=true|false' '-a,--attributes=') ;;
        updatetopicperm) family=change places=('-t,--topic=topics' '-p,--perm=2|4|6') options=('-t,--topic=topics' '-p,--perm=2|4|6' '-b,--brokerAddr=addresses' '-c,--clusterName=clusters') ;;
        deletetopic) family=change places=('-t,--topic=topics' '-c,--clusterName=clusters') options=('-t,--topic=topics' '-c,--clusterName=clusters') ;;
        updatesubgroup) family=change places=('-g,--groupName=groups') options=('-g,--groupName=groups' '-b,--brokerAddr=addresses' '-c,--clusterName=clusters' '-s,--consumeEnable=true|false' '-m,--consumeFromMinEnable=true|false' '-d,--consumeBroadcastEnable=true|false' '-o,--consumeMessageOrderly=true|false' '-q,--retryQueueNums=' '-r,--retryMaxTimes=' '-p,--groupRetryPolicy=' '-i,--brokerId=' '-w,--whichBrokerWhenConsumeSlowly=' '-a,--notifyConsumerIdsChanged=true|false' '--attributes=') ;;
        deletesubgroup) family=change places=('-g,--groupName=groups') options=('-g,--groupName=groups' '-b,--brokerAddr=addresses' '-c,--clusterName=clusters' '-r,--removeOffset=true|false' '--keep-topics') ;;
        resetoffsetbytime) family=change places=('-g,--group=groups' '-t,--topic=topics') options=('-g,--group=groups' '-t,--topic=topics' '-s,--timestamp=' '-f,--force=true|false' '-b,--broker=addresses' '-q,--queue=' '-o,--offset=' '-c,--cluster=clusters') ;;
        skipaccumulatedmessage) family=change places=('-g,--group=groups' '-t,--topic=topics') options=('-g,--group=groups' '-t,--topic=topics' '-f,--force=true|false' '-c,--cluster=clusters') ;;
        clonegroupoffset) family=change places=('-s,--srcGroup=' '-d,--destGroup=groups' '-t,--topic=topics') options=('-s,--srcGroup=' '-d,--destGroup=groups' '-t,--topic=topics' '-o,--offline=true|false') ;;
        sendmessage) family=change places=('-t,--topic=topics' '-p,--body=') options=('-t,--topic=topics' '-p,--body=' '-k,--key=' '-c,--tags=' '-b,--broker=brokers' '-i,--qid=' '-m,--msgTraceEnable=true|false' '--property=') ;;
        updatekvconfig) family=change places=('-s,--namespace=namespaces' '-k,--key=kv-keys' '-v,--value=') options=('-s,--namespace=namespaces' '-k,--key=kv-keys' '-v,--value=') ;;
        deletekvconfig) family=change places=('-s,--namespace=namespaces' '-k,--key=kv-keys') options=('-s,--namespace=namespaces' '-k,--key=kv-keys') ;;
        updatenamesrvconfig) family=change places=('-k,--key=namesrv-keys' '-v,--value=') options=('-k,--key=namesrv-keys' '-v,--value=') ;;
        updateorderconf) family=mixed places=('-t,--topic=topics' '-m,--method=get|put|delete' '-v,--orderConf=') options=('-m,--method=get|put|delete' '-v,--orderConf=') ;;
        querymsgbyuniquekey) family=mixed places=('-t,--topic=topics' '-i,--msgId=') options=('-i,--msgId=' '-a,--showAll' '-s,--startTime=' '-e,--endTime=' '-c,--cluster=topics' '-g,--consumerGroup=groups' '-d,--clientId=') ;;
        querymsgbyid) family=mixed places=('-t,--topic=topics' '-i,--msgId=') options=('-i,--msgId=' '-f,--bodyFormat=' '-c,--cluster=topics' '-u,--unitName=' '-g,--consumerGroup=groups' '-d,--clientId=' '-s,--sendMessage=true|false') ;;
        contextlist) family=local ;;
        contextshow) family=local places=('--name=contexts') options=('--name=contexts') ;;
        contextuse) family=local places=('--name=contexts') options=('--name=contexts') ;;
        contextset) family=local places=('--name=contexts') options=('--name=contexts' '-n,--namesrvAddr=name-servers' '--timeout=' '--defaultOutput=table|wide|json|jsonl|yaml|csv|tsv|name|value' '--readOnly,--writable') ;;
        contextdelete) family=local places=('--name=contexts') options=('--name=contexts') ;;
        auditlist) family=local options=('--since=') ;;
        mqadminmap) family=local places=('--command=') options=('--command=') ;;
        batch) family=batch places=('-f,--file=files') ;;
        namesrv) family=program options=('-c,--configFile=files' '-p,--printConfigItem' '-n,--namesrvAddr=' '--port=' '--bind=' '--home=folders' '--journal-dir=folders' '--no-journal') ;;
        lab) family=program places=('=up|') options=('--clusters=' '--groups=' '--replicas=' '--topics=' '--seed=' '--namesrv-port=' '--broker-port=' '-n,--namesrvAddr=') ;;
        completion) family=program places=('=bash|zsh|fish|powershell|') ;;
        help) family=help places=('=commands') ;;
    esac
    [[ -z $restore ]] || shopt -u nocasematch
    case $family in
        read) options+=('--context=contexts' '-n,--namesrvAddr=name-servers' '--timeout=' '--retries=' '--concurrency=' '--output=table|wide|json|jsonl|yaml|csv|tsv|name|value' '--json' '--no-headers' '--no-color' '--watch=' '--columns=' '--sort=' '--filter=' '--quiet' '--debug' '-h,--help') ;;
        change) options+=('--context=contexts' '-n,--namesrvAddr=name-servers' '--timeout=' '--retries=' '--concurrency=' '--output=table|wide|json|jsonl|yaml|csv|tsv|name|value' '--json' '--no-headers' '--no-color' '--dry-run' '-y,--yes' '--quiet' '--debug' '-h,--help') ;;
        mixed) options+=('-t,--topic=topics' '--context=contexts' '-n,--namesrvAddr=name-servers' '--timeout=' '--retries=' '--concurrency=' '--output=table|wide|json|jsonl|yaml|csv|tsv|name|value' '--json' '--no-headers' '--no-color' '--columns=' '--sort=' '--filter=' '--dry-run' '-y,--yes' '--quiet' '--debug' '-h,--help') ;;
        local) options+=('--output=table|wide|json|jsonl|yaml|csv|tsv|name|value' '--json' '--no-headers' '--no-color' '--watch=' '--columns=' '--sort=' '--filter=' '--quiet' '--debug' '-h,--help') ;;
        batch) options+=('-f,--file=files' '--stop-on-error' '--context=contexts' '-n,--namesrvAddr=name-servers' '--timeout=' '--retries=' '--concurrency=' '--output=table|wide|json|jsonl|yaml|csv|tsv|name|value' '--json' '--no-headers' '--no-color' '--dry-run' '-y,--yes' '--quiet' '--debug' '-h,--help') ;;
        program) options+=('-h,--help') ;;
        front) options+=('--context=contexts' '-n,--namesrvAddr=name-servers' '--timeout=' '--retries=' '--concurrency=' '--output=table|wide|json|jsonl|yaml|csv|tsv|name|value' '--json' '--no-headers' '--no-color' '--watch=' '--columns=' '--sort=' '--filter=' '--quiet' '--debug' '-h,--help' '--dry-run' '-y,--yes' '--version') ;;
    esac
}

# Whether a value belongs to a flag, and its source.
_nsadmin_takes() {
    local item
    for item in "${options[@]}"; do
        if [[ $item == *=* && ,${item%%=*}, == *,"$1",* ]]; then
            source=${item#*=}
            return 0
        fi
    done
    return 1
}

# Candidates from a source; `$1` is the beginning of the value, `$2` what stands before it in the same word.
_nsadmin_values() {
    local IFS=$'\n' item found=()
    case $source in
        '') ;;
        files | folders)
            item=-f
            [[ $source == files ]] || item=-d
            read -r -d '' -a found <<< "$(compgen $item -- "$1")"
            type compopt &>/dev/null && compopt -o filenames 2>/dev/null ;;
        commands) _nsadmin_commands "$1" ;;
        *\|*)
            IFS='|'
            for item in $source; do
                [[ $item == "$1"* ]] && found+=("$item")
            done
            IFS=$'\n' ;;
        *)
            local form=quoted program=${COMP_WORDS[0]/#\~/$HOME}
            [[ -z $quote ]] || form=plain
            type -P "$program" &>/dev/null || program=nsadmin
            item=$("$program" complete "$form" "$source" "=$1" "${words[@]:1:${#words[@]} - 2}" 2>/dev/null)
            read -r -d '' -a found <<< "$item" ;;
    esac
    COMPREPLY=("${found[@]/#/$2}")
}

# Commands that begin so, in any case, and with - or _ between their words.
_nsadmin_commands() {
    local IFS=' ' restore= item
    shopt -q nocasematch || restore=1
    shopt -s nocasematch
    for item in $known; do
        [[ $item == "${1//[-_]/}"* ]] && found+=("$item")
    done
    [[ -z $restore ]] || shopt -u nocasematch
}

_nsadmin_flags() {
    local item flags=
    for item in "${options[@]}"; do
        flags+=" ${item%%=*}"
    done
    COMPREPLY=($(compgen -W "${flags//,/ }" -- "$1"))
}

_nsadmin() {
    local known='clusterList brokerStatus haStatus getBrokerConfig topicList topicRoute topicClusterList topicStatus statsAll allocateMQ consumerProgress consumerConnection consumerStatus brokerConsumeStats getConsumerConfig producer producerConnection queryMsgByKey queryMsgByOffset printMsgByQueue printMsg queryMsgTraceById kvGet kvList getNamesrvConfig wipeWritePerm addWritePerm updateBrokerConfig cleanExpiredCQ cleanUnusedTopic updateTopic updateTopicPerm deleteTopic updateSubGroup deleteSubGroup resetOffsetByTime skipAccumulatedMessage cloneGroupOffset sendMessage updateKvConfig deleteKvConfig updateNamesrvConfig updateOrderConf queryMsgByUniqueKey queryMsgById contextList contextShow contextUse contextSet contextDelete auditList mqadminMap batch namesrv lab completion help'
    local words places options word typed quote source command= given=0 taken=, at flag next= item
    _nsadmin_split
    _nsadmin_table ''
    local last=$((${#words[@]} - 1))
    for ((at = 1; at < last; at++)); do
        word=${words[at]} flag=${words[at]%%=*}
        if [[ $word == -?* ]]; then
            taken+=$flag,
            if [[ $word != *=* ]] && _nsadmin_takes "$flag" && ((++at == last)); then
                next=value
            fi
        elif [[ -z $command ]]; then
            command=$word
            _nsadmin_table "$command"
        else
            ((given++))
        fi
    done
    word=${words[last]} COMPREPLY=()
    if [[ $next == value ]]; then
        _nsadmin_values "$word" ''
    elif [[ $word == --*=* ]]; then
        _nsadmin_takes "${word%%=*}" && _nsadmin_values "${word#*=}" "${word%%=*}="
    elif [[ $word == -* ]]; then
        _nsadmin_flags "$word"
    elif [[ -z $command ]]; then
        source=commands
        _nsadmin_values "$word" ''
    else
        for item in "${places[@]}"; do
            flag=${item%%=*}
            [[ $taken == *,"${flag%%,*}",* || $taken == *,"${flag##*,}",* ]] && continue
            ((given-- > 0)) && continue
            next=place source=${item#*=}
            _nsadmin_values "$word" ''
            break
        done
        [[ -n $next || -n $word ]] || _nsadmin_flags ''
    fi
    # Readline replaces only what stands behind the last of its word breaks, which are : and = among others.
    local kept=
    [[ $typed == *"$2" ]] && kept=${typed%"$2"}
    kept=${kept#[\"\']}
    COMPREPLY=("${COMPREPLY[@]#"$kept"}")
}

complete -F _nsadmin nsadmin
