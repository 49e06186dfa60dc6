# bash completion for nsadmin, rendered from its commands

# Splits the line up to the cursor into `words` without quotes, because bash also breaks words at : and =.
# A word that is a variable, such as $PROD, is replaced by its value. `typed` is the last word unchanged,
# `quote` its open quote.
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

# Sets `places`, `options` and `columns` for a command. Each option is FLAGS, or FLAGS=SOURCE if it takes a
# value.
_nsadmin_table() {
    local restore=
    family=front
    shopt -q nocasematch || restore=1
    shopt -s nocasematch
    places=() options=() columns=
    case ${1//[-_]/} in
        clusterlist) family=read places=('-c,--clusterName=clusters') options=('-c,--clusterName=clusters' '-m,--moreStats' '-i,--interval=' '--expect=BROKERS|FILE') columns='clusterName|brokerName|brokerId|brokerAddr|version|inTps|outTps|sendThreadPoolQueueSize|sendThreadPoolQueueHeadWaitTimeMills|pullThreadPoolQueueSize|pullThreadPoolQueueHeadWaitTimeMills|ackThreadPoolQueueSize|ackThreadPoolQueueHeadWaitTimeMills|timerReadBehind|timerOffsetBehind|timerCongestNum|timerEnqueueTps|timerDequeueTps|pageCacheLockTimeMills|hour|commitLogDiskRatio|brokerActive|reachable|error|inTotalYest|outTotalYest|inTotalToday|outTotalToday|' ;;
        brokerstatus) family=read places=('-b,--brokerAddr=addresses') options=('-b,--brokerAddr=addresses' '-c,--clusterName=clusters') columns='brokerAddr|key|value|' ;;
        proxylist) family=read options=('-c,--cluster=clusters') columns='proxyAddr|grpcAddr|mode|version|state|consumers|grpcConnections|lastHeartbeat|sources|error|' ;;
        hastatus) family=read places=('-b,--brokerAddr=addresses') options=('-b,--brokerAddr=addresses' '-c,--clusterName=clusters' '-i,--interval=') columns='brokerName|brokerId|brokerAddr|role|commitLogMaxOffset|inSyncSlaveNums|slaveAddr|slaveAckOffset|diff|inSync|transferFromWhere|masterAddr|masterFlushOffset|transferredByteInSecond|lastRead|lastWrite|error|' ;;
        replicadiff) family=read options=('-c,--clusterName=clusters' '-b,--brokerName=' '--settle=' '--sync-interval=' '--lag') columns='clusterName|brokerName|brokerId|brokerAddr|kind|name|state|differs|reason|since|master|slave|' ;;
        getbrokerconfig) family=read places=('-b,--brokerAddr=addresses') options=('-b,--brokerAddr=addresses' '-c,--clusterName=clusters') columns='brokerName|brokerId|brokerAddr|key|value|' ;;
        configdiff) family=read options=('-c,--clusterName=clusters' '--brokers' '--namesrvs' '--default' '--own') columns='kind|key|differs|default|values|' ;;
        inventorylist) family=read columns='clusterName|brokerName|brokerId|brokerAddr|state|pinned|topicCount|firstSeen|lastSeen|' ;;
        inventoryforget) family=read places=('-b,--brokers=brokers') options=('-b,--brokers=brokers') columns='brokerName|brokerId|result|' ;;
        inventorypin) family=read places=('-b,--brokers=brokers') options=('-b,--brokers=brokers' '--unpin') columns='brokerName|brokerId|result|' ;;
        checkrocksdbcqwriteprogress) family=read places=('-c,--cluster=clusters') options=('-c,--cluster=clusters' '-t,--topic=topics' '-cf,--checkFrom=') columns='brokerName|brokerId|brokerAddr|checkStatus|result|error|' ;;
        getcolddataflowctrinfo) family=read places=('-b,--brokerAddr=addresses') options=('-b,--brokerAddr=addresses' '-c,--clusterName=clusters') columns='brokerName|brokerId|brokerAddr|consumerGroup|threshold|coldAcc|since|lastColdRead|error|' ;;
        drainstatus) family=read places=('-b,--brokerName=brokers') options=('-b,--brokerName=brokers') columns='brokerName|clusterName|phase|started|by|pid|namesrvAddr|topicCount|openTopics|reopened|differing|error|' ;;
        rebalanceplan) family=read options=('-c,--clusterName=clusters' '--add=brokers' '--remove=brokers' '--goal=load|queues|disk' '--topics=' '--sample=' '--journal=folders' '--queue-counts=' '--max-topics=' '--max-share=' '--out=files') columns='brokerName|role|writesBefore|writesAfter|readsBefore|readsAfter|diskBefore|diskAfter|queuesBefore|queuesAfter|' ;;
        rebalancestatus) family=read options=('-c,--clusterName=clusters') columns='clusterName|planDigest|phase|started|by|pid|movedTopics|movingTopics|topic|brokerName|stage|step|readQueueNums|writeQueueNums|since|waitingFor|planFile|error|' ;;
        topiclist) family=read options=('-c,--clusterModel' '--system,--no-system' '--cluster=clusters') columns='topic|clusterName|consumerGroups|' ;;
        topicroute) family=read places=('-t,--topic=topics') options=('-t,--topic=topics' '--raw' '-l,--list') columns='topic|brokerName|clusterName|brokerAddrs|perm|readQueueNums|writeQueueNums|topicSysFlag|logicalQueues|' ;;
        topicstatus) family=read places=('-t,--topic=topics') options=('-t,--topic=topics' '-c,--cluster=clusters') columns='topic|brokerName|brokerAddr|queueId|minOffset|maxOffset|lastUpdated|topicPutTps|error|' ;;
        topicclusterlist) family=read places=('-t,--topic=topics') options=('-t,--topic=topics') columns='clusterName|' ;;
        statsall) family=read places=('-t,--topic=topics') options=('-t,--topic=topics' '-a,--activeTopic') columns='topic|consumerGroup|accumulation|inTps|outTps|inMsg24Hour|outMsg24Hour|error|' ;;
        routeexplain) family=read places=('-t,--topic=topics') options=('-t,--topic=topics' '-c,--clusterName=clusters' '-b,--brokerAddr=addresses' '--client=' '--zone=' '--contexts' '--journal=folders' '--expect=BROKERS|FILE') columns='step|result|namesrvAddrs|brokerName|brokerAddr|seen|next|command|' ;;
        allocatemq) family=read places=('-t,--topic=topics' '-i,--ipList=') options=('-t,--topic=topics' '-i,--ipList=') columns='clientId|topic|brokerName|queueId|' ;;
        getbrokerliteinfo) family=read places=('-b,--brokerAddr=addresses') options=('-b,--brokerAddr=addresses' '-c,--cluster=clusters' '-d,--showDetail') columns='brokerName|brokerId|brokerAddr|storeType|maxLmqNum|currentLmqNum|liteSubscriptionCount|orderInfoCount|cqTableSize|offsetTableSize|eventMapSize|topicMeta|groupMeta|error|' ;;
        getparenttopicinfo) family=read places=('-p,--parentTopic=topics') options=('-p,--parentTopic=topics') columns='brokerName|brokerAddr|ttl|liteTopicCount|lmqNum|groups|error|' ;;
        getlitetopicinfo) family=read places=('-p,--parentTopic=topics' '-l,--liteTopic=') options=('-p,--parentTopic=topics' '-l,--liteTopic=' '-s,--showClientId') columns='brokerName|brokerAddr|minOffset|maxOffset|lastUpdated|shardingToBroker|subscriberCount|subscribers|error|' ;;
        getliteclientinfo) family=read places=('-p,--parentTopic=topics' '-g,--group=groups' '-c,--clientId=') options=('-p,--parentTopic=topics' '-g,--group=groups' '-c,--clientId=' '-s,--showDetail') columns='brokerName|brokerAddr|liteTopicCount|lastAccessTime|lastConsumeTime|liteTopics|error|' ;;
        getlitegroupinfo) family=read places=('-p,--parentTopic=topics' '-g,--group=groups') options=('-p,--parentTopic=topics' '-g,--group=groups' '-l,--liteTopic=' '-k,--topK=') columns='brokerName|brokerAddr|liteTopic|brokerOffset|consumerOffset|lagCount|earliestUnconsumedTime|lastTime|error|' ;;
        consumerprogress) family=read places=('-g,--groupName=groups') options=('-g,--groupName=groups' '-t,--topicName=topics' '-s,--showClientIP=true|false' '-c,--cluster=clusters' '--system' '--expect=BROKERS|FILE') columns='group|topic|brokerName|queueId|brokerOffset|consumerOffset|diff|inflight|lastTime|clientId|brokerAddr|error|count|version|consumeType|messageModel|tps|diffTotal|inflightTotal|' ;;
        consumerconnection) family=read places=('-g,--consumerGroup=groups') options=('-g,--consumerGroup=groups' '-b,--brokerAddr=addresses' '-c,--cluster=clusters') columns='group|clientId|clientAddr|language|version|protocol|consumeType|messageModel|consumeFromWhere|subscriptions|brokerAddrs|proxyAddrs|lastHeartbeat|' ;;
        consumerstatus) family=read places=('-g,--consumerGroup=groups') options=('-g,--consumerGroup=groups' '-i,--clientId=' '-b,--brokerAddr=addresses' '-s,--jstack' '-c,--cluster=clusters') columns='group|clientId|version|language|protocol|proxyAddrs|startTime|topic|brokerName|queueId|commitOffset|cachedMsgCount|cachedMsgSizeInMiB|lastPullTime|lastConsumeTime|waitAckCount|lastPopTime|locked|dropped|consumeOKTPS|consumeFailedTPS|consumeRT|pullTPS|pullRT|subscriptions|properties|error|' ;;
        brokerconsumestats) family=read places=('-b,--brokerAddr=addresses') options=('-b,--brokerAddr=addresses' '-t,--timeoutMillis=' '-l,--level=' '-o,--order=true|false') columns='topic|group|brokerName|queueId|brokerOffset|consumerOffset|diff|lastTime|' ;;
        getconsumerconfig) family=read places=('-g,--groupName=groups') options=('-g,--groupName=groups' '-c,--clusterName=clusters') columns='group|brokerName|brokerAddr|consumeEnable|consumeFromMinEnable|consumeBroadcastEnable|consumeMessageOrderly|retryQueueNums|retryMaxTimes|groupRetryPolicy|consumeTimeoutMinute|brokerId|whichBrokerWhenConsumeSlowly|notifyConsumerIdsChangedEnable|groupSysFlag|subscriptionDataSet|attributes|error|' ;;
        getconsumemode) family=read options=('-b,--brokerAddr=addresses' '-c,--clusterName=clusters' '-t,--topicName=topics' '-g,--groupName=groups') columns='brokerName|brokerId|brokerAddr|topic|consumerGroup|mode|popShareQueueNum|error|' ;;
        clientlist) family=read options=('-c,--cluster=clusters' '--system') columns='clientId|clientAddr|language|version|protocol|role|groups|producerGroups|proxyAddrs|brokerAddrs|lastHeartbeat|' ;;
        producer) family=read places=('-b,--broker=addresses') options=('-b,--broker=addresses' '--internal,--no-internal') columns='producerGroup|clientId|clientAddr|language|version|protocol|lastUpdated|brokerAddr|' ;;
        producerconnection) family=read places=('-g,--producerGroup=producer-groups' '-t,--topic=topics') options=('-g,--producerGroup=producer-groups' '-t,--topic=topics') columns='producerGroup|clientId|clientAddr|language|version|protocol|brokerAddrs|' ;;
        querymsgbykey) family=read places=('-t,--topic=topics' '-k,--msgKey=') options=('-t,--topic=topics' '-k,--msgKey=' '-b,--beginTimestamp=' '-e,--endTimestamp=' '-m,--maxNum=' '-p,--keyType=K|T' '-l,--lastKey=' '-c,--cluster=topics' '--decode=') columns='msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|indexKey|' ;;
        querymsgbyoffset) family=read places=('-t,--topic=topics' '-b,--brokerName=brokers' '-i,--queueId=' '-o,--offset=') options=('-t,--topic=topics' '-b,--brokerName=brokers' '-i,--queueId=' '-o,--offset=' '-f,--bodyFormat=' '-r,--routeTopic=topics' '--decode=') columns='msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|tracks|' ;;
        querymsgtracebyid) family=read places=('-i,--msgId=') options=('-i,--msgId=' '-t,--traceTopic=topics' '-b,--beginTimestamp=' '-e,--endTimestamp=' '-c,--maxNum=') columns='type|group|clientHost|time|costMs|status|topic|msgId|offsetMsgId|tags|keys|storeHost|messageType|retryTimes|requestId|transactionId|' ;;
        printmsg) family=read places=('-t,--topic=topics') options=('-t,--topic=topics' '-c,--charsetName=' '-s,--subExpression=' '-b,--beginTimestamp=' '-e,--endTimestamp=' '-d,--printBody=true|false' '-l,--lmqParentTopic=topics' '--maxNum=') columns='msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|' ;;
        printmsgbyqueue) family=read places=('-t,--topic=topics' '-a,--brokerName=brokers' '-i,--queueId=') options=('-t,--topic=topics' '-a,--brokerName=brokers' '-i,--queueId=' '-c,--charsetName=' '-s,--subExpression=' '-b,--beginTimestamp=' '-e,--endTimestamp=' '-p,--print=true|false' '-d,--printBody=true|false' '-f,--calculate=true|false' '--maxNum=') columns='msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|tag|count|' ;;
        consumemessage) family=read places=('-t,--topic=topics') options=('-t,--topic=topics' '-b,--brokerName=brokers' '-i,--queueId=' '-o,--offset=' '-g,--consumerGroup=groups' '-s,--beginTimestamp=' '-e,--endTimestamp=' '-c,--MessageNumber=') columns='msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|' ;;
        messagetrack) family=read places=('-t,--topic=topics' '-i,--msgId=') options=('-t,--topic=topics' '-i,--msgId=') columns='time|step|group|detail|topic|brokerName|queueId|queueOffset|offsetMsgId|' ;;
        consume) family=read places=('-t,--topic=topics') options=('-t,--topic=topics' '--from=' '--until=' '-f,--follow' '--limit=' '-b,--broker=brokers' '-i,--queue=' '--tag=' '--sql=' '--key=' '--property=' '--body=' '--field=' '--format=' '--decode=') columns='msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|' ;;
        messagesexport) family=read places=('-t,--topic=topics') options=('-t,--topic=topics' '--to=FILE|DIR' '--form=jsonl|jsonl.gz|parquet' '--since=' '--until=' '--tag=' '--key=' '--property=' '--body=' '-b,--broker=brokers' '-i,--queue=') columns='topic|file|messageCount|bodyBytes|result|error|' ;;
        delayedlist) family=read places=('-t,--topic=topics') options=('-t,--topic=topics') columns='msgId|topic|brokerName|deliverTime|remainingMs|level|cancelled|keys|tags|storeTime|offsetMsgId|body|bodyEncoding|' ;;
        dlqlist) family=read options=('--all') columns='group|messageCount|lastHourCount|oldest|newest|originTopics|brokerNames|error|' ;;
        dlqshow) family=read places=('-g,--consumerGroup=groups') options=('-g,--consumerGroup=groups' '--since=' '--until=' '--origin=topics' '--key=' '--tag=' '--body=' '--id=' '--limit=' '--export=files' '--decode=') columns='msgId|originTopic|originMsgId|keys|tags|attempts|replays|storeTime|ageMs|brokerName|queueId|queueOffset|offsetMsgId|bornTime|bornHost|storeSize|properties|body|bodyEncoding|bodyError|file|messageCount|' ;;
        querycq) family=read places=('-t,--topic=topics' '-q,--queue=' '-i,--index=') options=('-t,--topic=topics' '-q,--queue=' '-i,--index=' '-c,--count=' '-b,--broker=addresses' '-g,--consumer=groups') columns='brokerName|brokerAddr|topic|queueId|queueOffset|physicalOffset|storeSize|tagsCode|extendData|bitMap|eval|msg|' ;;
        dumpcompactionlog) family=read places=('-f,--file=files') options=('-f,--file=files') columns='msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|' ;;
        where) family=read columns='namesrvAddr|source|context|reachable|latencyMillis|version|signed|tls|readOnly|error|' ;;
        divergence) family=read options=('--detail' '--hashes' '--settle=' '--section=broker|topic|kv|setting' '-s,--namespace=namespaces' '--expect=BROKERS|FILE') columns='what|name|brokerName|count|state|seenFor|differs|cause|causeKind|advice|values|namesrvAddr|brokers|topics|brokerHash|topicHash|kvHash|settingHash|error|' ;;
        kvget) family=read places=('-s,--namespace=namespaces' '-k,--key=kv-keys') options=('-s,--namespace=namespaces' '-k,--key=kv-keys') columns='namesrvAddr|namespace|key|value|result|error|' ;;
        kvlist) family=read places=('-s,--namespace=namespaces') options=('-s,--namespace=namespaces') columns='namesrvAddr|namespace|key|value|result|error|' ;;
        kvdiff) family=read options=('-s,--namespace=namespaces') columns='namespace|key|differs|values|' ;;
        kvexport) family=read places=('--file=files') options=('--file=files' '-s,--namespace=namespaces' '--from=name-servers') columns='file|namespace|entries|' ;;
        getnamesrvconfig) family=read columns='namesrvAddr|key|value|' ;;
        orderconfcheck) family=read places=('-t,--topic=topics') options=('-t,--topic=topics') columns='topic|severity|kind|problem|orderConf|servers|' ;;
        export) family=read places=('-c,--clusterName=clusters') options=('-c,--clusterName=clusters' '-s,--namespace=namespaces' '--schema') ;;
        plan) family=read places=('--file=files') options=('--file=files' '--prune' '--save-to=files' '--exit-code') columns='kind|name|action|servers|changes|before|after|messages|result|error|' ;;
        backupcreate) family=read places=('-c,--clusterName=clusters') options=('-c,--clusterName=clusters' '--file=files' '--dir=folders' '-s,--namespace=namespaces' '--with-secrets' '--passphrase-file=files' '--sign-key=files' '--every=' '--keep=') columns='file|clusterName|time|brokers|topics|groups|offsets|users|size|missing|' ;;
        backupdiff) family=read places=('--file=files' '--with=') options=('--file=files' '--with=' '--offsets') columns='section|brokerName|name|differs|before|after|' ;;
        transferverify) family=read places=('-t,--topic=topics') options=('-t,--topic=topics' '--from=contexts' '--to=contexts' '--map-topic=') columns='topic|brokerName|queueId|targetTopic|targetBroker|targetQueue|compared|copies|missing|duplicates|changed|misplaced|expired|remaining|missingOffsets|sourceHash|targetHash|result|' ;;
        bundlecreate) family=read places=('--file=files') options=('--file=files' '--since=' '--journal=folders' '-s,--namespace=namespaces' '--anonymise' '--anonymise-names' '--rate=' '--max-details=') columns='file|time|nsadmin|nameServers|servers|answers|seconds|size|anonymised|leftOut|' ;;
        whatif) family=read options=('--down=brokers' '--down-namesrv=' '--down-proxy=proxies' '--detail' '--system') columns='what|name|count|finding|lostRatio|writeQueues|writeQueuesLeft|readQueues|readQueuesLeft|brokersLost|topics|clients|namesrvAddrs|nameServers|nameServersLeft|clientsLeft|proxyAddrs|' ;;
        spread) family=read places=('-t,--topic=topics') options=('-t,--topic=topics' '--all' '-c,--clusterName=clusters' '--plan=files') columns='clusterName|topic|finding|missing|queues|differing|' ;;
        registrationsize) family=read options=('-b,--brokerAddr=addresses' '-c,--clusterName=clusters' '--largest=' '--removable') columns='clusterName|brokerName|brokerId|brokerAddr|version|topics|form|frames|bytes|framePercent|fits|removable|removableBytes|largestTopic|largestTopicBytes|error|topic|vanishedGroup|' ;;
        listuser) family=read options=('-b,--brokerAddr=addresses' '-c,--clusterName=clusters' '-f=') columns='brokerName|brokerId|brokerAddr|username|userType|userStatus|' ;;
        getuser) family=read places=('-u,--username=') options=('-u,--username=' '-b,--brokerAddr=addresses' '-c,--clusterName=clusters') columns='brokerName|brokerId|brokerAddr|username|userType|userStatus|' ;;
        listacl) family=read options=('-b,--brokerAddr=addresses' '-c,--clusterName=clusters' '-s,--subject=' '-r,--resource=') columns='brokerName|brokerId|brokerAddr|subject|policyType|resource|actions|sourceIps|decision|' ;;
        getacl) family=read places=('-s,--subject=') options=('-s,--subject=' '-b,--brokerAddr=addresses' '-c,--clusterName=clusters') columns='brokerName|brokerId|brokerAddr|subject|policyType|resource|actions|sourceIps|decision|' ;;
        getaclconfig) family=read options=('-b,--brokerAddr=addresses' '-c,--clusterName=clusters') columns='brokerName|brokerId|brokerAddr|accessKey|admin|whiteRemoteAddress|defaultTopicPerm|defaultGroupPerm|topicPerms|groupPerms|globalWhiteAddrs|' ;;
        clusteraclconfigversion) family=read options=('-b,--brokerAddr=addresses' '-c,--clusterName=clusters') columns='brokerName|brokerId|brokerAddr|aclFile|counter|lastUpdated|' ;;
        getcontrollermetadata) family=read options=('-a,--controllerAddress=') columns='controllerAddr|isLeader|group|leaderId|leaderAddr|peers|' ;;
        getsyncstateset) family=read options=('-a,--controllerAddress=' '-b,--brokerName=brokers' '-c,--clusterName=clusters' '-i,--interval=') columns='brokerName|brokerId|brokerAddr|isMaster|inSync|alive|masterEpoch|syncStateSetEpoch|' ;;
        getbrokerepoch) family=read options=('-b,--brokerName=brokers' '-c,--clusterName=clusters' '-i,--interval=') columns='brokerName|brokerId|brokerAddr|epoch|startOffset|endOffset|maxOffset|' ;;
        getcontrollerconfig) family=read options=('-a,--controllerAddress=') columns='controllerAddr|key|value|' ;;
        history) family=read places=('--kind=topic|broker|cluster|kv' '--name=' '--key=') options=('--kind=topic|broker|cluster|kv' '--name=' '--key=' '--since=' '--until=' '--type=' '--limit=' '-f,--follow' '--namesrv=' '--journal=folders') columns='seq|time|server|type|changes|cause|client|event|' ;;
        routeat) family=read places=('-t,--topic=topics') options=('-t,--topic=topics' '--at=' '--namesrv=' '--journal=folders') columns='topic|brokerName|clusterName|brokerAddrs|perm|readQueueNums|writeQueueNums|topicSysFlag|logicalQueues|server|' ;;
        routediff) family=read places=('-t,--topic=topics') options=('-t,--topic=topics' '--from=' '--to=' '--unified' '--namesrv=' '--journal=folders') columns='what|name|brokerName|changes|before|after|' ;;
        snapshotsave) family=read places=('--file=files') options=('--file=files' '-s,--namespace=namespaces' '--at=' '--namesrv=' '--journal=folders') columns='file|time|nameServers|brokers|topics|kvEntries|size|' ;;
        collect) family=read places=('--dir=folders') options=('--dir=folders' '--interval=' '--rate=' '-s,--namespace=' '--once' '--runtime' '--lag' '--broker-interval=' '--broker-rate=' '--keep-days=' '--keep-megabytes=') columns='namesrvAddr|result|brokers|topics|events|took|journal|error|' ;;
        exporter) family=read options=('--http=' '--contexts=' '--interval=' '--topic-interval=' '--rate=' '--include=' '--exclude=' '--system' '--per-queue' '--compat' '--max-series=') ;;
        discoveryprometheus) family=read options=('--port=') ;;
        exportconfigs) family=read places=('-c,--clusterName=clusters') options=('-c,--clusterName=clusters' '-f,--filePath=folders' '--all') columns='file|brokers|size|' ;;
        exportmetadata) family=read places=('-c,--clusterName=clusters') options=('-c,--clusterName=clusters' '-b,--brokerAddr=addresses' '-f,--filePath=folders' '-t,--topic' '-g,--subscriptionGroup' '-s,--specialTopic' '--sum') columns='file|brokers|size|' ;;
        exportmetrics) family=read places=('-c,--clusterName=clusters') options=('-c,--clusterName=clusters' '-f,--filePath=folders') columns='file|brokers|size|' ;;
        exportmetadatainrocksdb) family=read places=('-p,--path=folders' '-t,--configType=topics|subscriptionGroups') options=('-p,--path=folders' '-t,--configType=topics|subscriptionGroups' '-j,--jsonEnable=true|false') columns='key|value|' ;;
        updatebrokerconfig) family=change places=('-k,--key=broker-keys' '-v,--value=') options=('-k,--key=broker-keys' '-v,--value=' '-b,--brokerAddr=addresses' '-c,--clusterName=clusters' '-a,--updateAllBroker=true|false') columns='brokerName|brokerId|brokerAddr|key|changes|before|after|result|error|' ;;
        sendmsgstatus) family=change places=('-b,--brokerName=brokers') options=('-b,--brokerName=brokers' '-s,--messageSize=' '-c,--count=') columns='brokerName|brokerAddr|queueId|offsetMsgId|queueOffset|rt|result|error|' ;;
        clusterrt) family=change options=('-a,--amount=' '-s,--size=' '-c,--cluster=clusters' '-p,--print=true|false' '-m,--machineRoom=' '-i,--interval=') columns='time|machineRoom|clusterName|brokerName|brokerAddr|rt|maxRt|successCount|failCount|result|error|' ;;
        cleanexpiredcq) family=change places=('-b,--brokerAddr=addresses') options=('-b,--brokerAddr=addresses' '-c,--cluster=clusters') columns='brokerName|brokerId|brokerAddr|changes|result|error|' ;;
        deleteexpiredcommitlog) family=change places=('-b,--brokerAddr=addresses') options=('-b,--brokerAddr=addresses' '-c,--cluster=clusters') columns='brokerName|brokerId|brokerAddr|changes|result|error|' ;;
        cleanunusedtopic) family=change places=('-b,--brokerAddr=addresses') options=('-b,--brokerAddr=addresses' '-c,--cluster=clusters') columns='brokerName|brokerId|brokerAddr|changes|result|error|' ;;
        setcommitlogreadaheadmode) family=change places=('-m,--commitLogReadAheadMode=0|1') options=('-m,--commitLogReadAheadMode=0|1' '-b,--brokerAddr=addresses' '-c,--clusterName=clusters') columns='brokerName|brokerId|brokerAddr|changes|before|after|result|error|' ;;
        switchtimerengine) family=change places=('-e,--engineType=R|F') options=('-e,--engineType=R|F' '-b,--brokerAddr=addresses' '-c,--clusterName=clusters') columns='brokerName|brokerId|brokerAddr|changes|before|after|result|error|' ;;
        resetmasterflushoffset) family=change places=('-o,--offset=') options=('-o,--offset=' '-b,--brokerAddr=addresses') columns='brokerName|brokerId|brokerAddr|changes|before|after|result|error|' ;;
        updatecolddataflowctrgroupconfig) family=change places=('-g,--consumerGroup=groups' '-v,--threshold=') options=('-g,--consumerGroup=groups' '-v,--threshold=' '-b,--brokerAddr=addresses' '-c,--clusterName=clusters') columns='brokerName|brokerId|brokerAddr|consumerGroup|changes|before|after|result|error|' ;;
        removecolddataflowctrgroupconfig) family=change places=('-g,--consumerGroup=groups') options=('-g,--consumerGroup=groups' '-b,--brokerAddr=addresses' '-c,--clusterName=clusters') columns='brokerName|brokerId|brokerAddr|consumerGroup|changes|before|after|result|error|' ;;
        addbroker) family=change places=('-c,--brokerContainerAddr=' '-b,--brokerConfigPath=') options=('-c,--brokerContainerAddr=' '-b,--brokerConfigPath=') columns='brokerContainerAddr|broker|result|error|' ;;
        removebroker) family=change places=('-c,--brokerContainerAddr=' '-b,--brokerIdentity=') options=('-c,--brokerContainerAddr=' '-b,--brokerIdentity=') columns='brokerContainerAddr|broker|result|error|' ;;
        drain) family=change places=('-b,--brokerName=brokers') options=('-b,--brokerName=brokers' '--hold' '--then=' '--for-good' '--move-queues' '--durable' '--force' '--allow-unreachable' '--threshold=' '--settle=' '--interval=' '--intervals=') columns='namesrvAddr|brokerName|topicCount|openTopics|result|error|' ;;
        undrain) family=change places=('-b,--brokerName=brokers') options=('-b,--brokerName=brokers') columns='namesrvAddr|brokerName|topicCount|how|differing|result|error|' ;;
        rollingrestart) family=change places=('-c,--clusterName=clusters') options=('-c,--clusterName=clusters' '--stop=' '--start=' '--pause-after=' '--patience=' '--durable' '--force' '--allow-unreachable' '--threshold=' '--settle=' '--interval=' '--intervals=') columns='brokerName|brokerId|brokerAddr|steps|openTopics|result|' ;;
        rebalancerun) family=change places=('--file=files') options=('--file=files' '--rollback' '--ordered' '--ignore-group=groups' '--max-topics=' '--max-share=' '--max-lag=' '--max-disk=' '--max-send-errors=' '--timeout=' '--settle=' '--interval=') columns='topic|brokerName|readBefore|readAfter|writeBefore|writeAfter|ordered|result|' ;;
        wipewriteperm) family=change places=('-b,--brokerName=brokers') options=('-b,--brokerName=brokers') columns='namesrvAddr|brokerName|topicCount|changes|before|after|result|error|' ;;
        addwriteperm) family=change places=('-b,--brokerName=brokers') options=('-b,--brokerName=brokers') columns='namesrvAddr|brokerName|topicCount|changes|before|after|result|error|' ;;
        repairwipe) family=change places=('-b,--brokerName=brokers') options=('-b,--brokerName=brokers') columns='namesrvAddr|brokerName|topicCount|missing|changes|before|after|how|result|error|' ;;
        repairregister) family=change places=('-b,--brokerName=brokers') options=('-b,--brokerName=brokers') columns='namesrvAddr|brokerName|topicCount|missing|changes|before|after|how|result|error|' ;;
        updatetopic) family=change places=('-t,--topic=topics') options=('-t,--topic=topics' '-b,--brokerAddr=addresses' '-c,--clusterName=clusters' '-r,--readQueueNums=' '-w,--writeQueueNums=' '-p,--perm=2|4|6' '-o,--order=true|false' '-u,--unit=true|false' '-s,--hasUnitSub=true|false' '-a,--attributes=') columns='target|role|brokerName|topic|changes|before|after|result|error|' ;;
        updatetopicperm) family=change places=('-t,--topic=topics' '-p,--perm=2|4|6') options=('-t,--topic=topics' '-p,--perm=2|4|6' '-b,--brokerAddr=addresses' '-c,--clusterName=clusters') columns='target|role|brokerName|topic|changes|before|after|result|error|' ;;
        updatetopiclist) family=change places=('-f,--filename=files') options=('-f,--filename=files' '-b,--brokerAddr=addresses' '-c,--clusterName=clusters') columns='kind|name|action|servers|changes|before|after|messages|result|error|' ;;
        deletetopic) family=change places=('-t,--topic=topics' '-c,--clusterName=clusters') options=('-t,--topic=topics' '-c,--clusterName=clusters') columns='target|role|topic|changes|before|after|result|error|' ;;
        updatestatictopic) family=change places=('-t,--topic=topics') options=('-t,--topic=topics' '-qn,--totalQueueNum=' '-b,--brokers=brokers' '-c,--clusters=clusters' '-mf,--mapFile=files' '-fr,--forceReplace=true|false') columns='topic|queueId|before|after|brokerQueueId|logicOffset|result|error|' ;;
        remappingstatictopic) family=change places=('-t,--topic=topics') options=('-t,--topic=topics' '-b,--brokers=brokers' '-c,--clusters=clusters' '-mf,--mapFile=files' '-fr,--forceReplace=true|false') columns='topic|queueId|before|after|brokerQueueId|logicOffset|result|error|' ;;
        triggerlitedispatch) family=change places=('-p,--parentTopic=topics' '-g,--group=groups') options=('-p,--parentTopic=topics' '-g,--group=groups' '-c,--clientId=' '-b,--brokerName=brokers') columns='brokerName|brokerAddr|group|clientId|result|error|' ;;
        updatesubgroup) family=change places=('-g,--groupName=groups') options=('-g,--groupName=groups' '-b,--brokerAddr=addresses' '-c,--clusterName=clusters' '-s,--consumeEnable=true|false' '-m,--consumeFromMinEnable=true|false' '-d,--consumeBroadcastEnable=true|false' '-o,--consumeMessageOrderly=true|false' '-q,--retryQueueNums=' '-r,--retryMaxTimes=' '-p,--groupRetryPolicy=' '-i,--brokerId=' '-w,--whichBrokerWhenConsumeSlowly=' '-a,--notifyConsumerIdsChanged=true|false' '--attributes=') columns='target|brokerName|group|changes|before|after|result|error|' ;;
        updatesubgrouplist) family=change places=('-f,--filename=files') options=('-f,--filename=files' '-b,--brokerAddr=addresses' '-c,--clusterName=clusters') columns='kind|name|action|servers|changes|before|after|messages|result|error|' ;;
        deletesubgroup) family=change places=('-g,--groupName=groups') options=('-g,--groupName=groups' '-b,--brokerAddr=addresses' '-c,--clusterName=clusters' '-r,--removeOffset=true|false' '--keep-topics') columns='target|role|group|topic|changes|before|after|result|error|' ;;
        setconsumemode) family=change places=('-t,--topicName=topics' '-g,--groupName=groups' '-m,--mode=PULL|POP') options=('-t,--topicName=topics' '-g,--groupName=groups' '-m,--mode=PULL|POP' '-q,--popShareQueueNum=' '-b,--brokerAddr=addresses' '-c,--clusterName=clusters') columns='brokerName|brokerId|brokerAddr|topic|consumerGroup|changes|before|after|result|error|' ;;
        resetoffsetbytime) family=change places=('-g,--group=groups' '-t,--topic=topics') options=('-g,--group=groups' '-t,--topic=topics' '-s,--timestamp=' '-f,--force=true|false' '-b,--broker=addresses' '-q,--queue=' '-o,--offset=' '-c,--cluster=clusters' '--no-verify') columns='group|topic|brokerName|brokerAddr|queueId|from|to|skipped|repeated|result|error|' ;;
        skipaccumulatedmessage) family=change places=('-g,--group=groups' '-t,--topic=topics') options=('-g,--group=groups' '-t,--topic=topics' '-f,--force=true|false' '-c,--cluster=clusters' '--no-verify') columns='group|topic|brokerName|brokerAddr|queueId|from|to|skipped|repeated|result|error|' ;;
        clonegroupoffset) family=change places=('-s,--srcGroup=groups' '-d,--destGroup=groups' '-t,--topic=topics') options=('-s,--srcGroup=groups' '-d,--destGroup=groups' '-t,--topic=topics' '-o,--offline=true|false' '--no-verify') columns='group|topic|brokerName|brokerAddr|queueId|from|to|skipped|repeated|result|error|' ;;
        sendmessage) family=change places=('-t,--topic=topics' '-p,--body=') options=('-t,--topic=topics' '-p,--body=' '-k,--key=' '-c,--tags=' '-b,--broker=brokers' '-i,--qid=' '-m,--msgTraceEnable=true|false' '--property=') columns='topic|brokerName|brokerAddr|queueId|msgId|offsetMsgId|queueOffset|costMs|result|error|' ;;
        produce) family=change places=('-t,--topic=topics' '--body=') options=('-t,--topic=topics' '--body=' '--input=files' '--jsonl' '--raw' '--template=' '--count=' '-k,--key=' '-c,--tags=' '--property=' '--sharding-key=' '--delay=' '--compression=zlib|lz4|zstd' '--compress' '--transaction=commit|rollback' '--trace' '--rate=' '-b,--broker=brokers' '-i,--queue=' '--each') columns='topic|brokerName|transaction|messageCount|bodyBytes|failed|messagesPerSecond|result|error|brokerAddr|queueId|msgId|offsetMsgId|queueOffset|costMs|' ;;
        messagesimport) family=change places=('--file=files') options=('--file=files' '--to-topic=topics' '--rate=' '--again') columns='file|topic|toTopic|messageCount|sentBefore|sent|failed|result|error|' ;;
        delayedcancel) family=change places=('-t,--topic=topics' '-i,--msgId=') options=('-t,--topic=topics' '-i,--msgId=') columns='msgId|topic|brokerName|brokerAddr|deliverTime|result|error|' ;;
        benchproduce) family=change options=('-c,--cluster=clusters' '--count=' '--size=' '--queues=' '--rate=') columns='brokerName|messageCount|bodyBytes|seconds|messagesPerSecond|bytesPerSecond|failed|result|error|' ;;
        benchconsume) family=change options=('-c,--cluster=clusters' '--count=' '--size=' '--queues=') columns='brokerName|messageCount|bodyBytes|seconds|messagesPerSecond|bytesPerSecond|failed|result|error|' ;;
        benchlatency) family=change options=('-c,--cluster=clusters' '--count=' '--size=' '--rate=') columns='brokerName|kind|messageCount|p50|p90|p99|p999|max|failed|result|error|' ;;
        dlqreplay) family=change places=('-g,--consumerGroup=groups') options=('-g,--consumerGroup=groups' '--since=' '--until=' '--origin=topics' '--key=' '--tag=' '--body=' '--id=' '--limit=' '--rate=' '--max-failures=' '--settle=' '--to-topic' '--again' '--force') columns='brokerName|group|deadLetters|examined|replayed|replayedBefore|copies|skipped|failed|failedAgain|result|error|originTopic|age|messageCount|' ;;
        dlqpurge) family=change places=('-g,--consumerGroup=groups') options=('-g,--consumerGroup=groups' '--before=') columns='clusterName|group|topic|older|newer|notReplayed|result|error|' ;;
        checkmsgsendrt) family=change places=('-t,--topic=topics') options=('-t,--topic=topics' '-a,--amount=' '-s,--size=') columns='brokerName|brokerAddr|queueId|offsetMsgId|queueOffset|rt|result|error|' ;;
        kvsync) family=change places=('--from=name-servers') options=('--from=name-servers' '-s,--namespace=namespaces' '-k,--key=' '--prune') columns='namesrvAddr|namespace|key|changes|before|after|result|error|' ;;
        kvimport) family=change places=('--file=files') options=('--file=files' '-s,--namespace=namespaces' '--prune') columns='namesrvAddr|namespace|key|changes|before|after|result|error|' ;;
        updatekvconfig) family=change places=('-s,--namespace=namespaces' '-k,--key=kv-keys' '-v,--value=') options=('-s,--namespace=namespaces' '-k,--key=kv-keys' '-v,--value=') columns='namesrvAddr|namespace|key|changes|before|after|result|error|' ;;
        deletekvconfig) family=change places=('-s,--namespace=namespaces' '-k,--key=kv-keys') options=('-s,--namespace=namespaces' '-k,--key=kv-keys') columns='namesrvAddr|namespace|key|changes|before|after|result|error|' ;;
        updatenamesrvconfig) family=change places=('-k,--key=namesrv-keys' '-v,--value=') options=('-k,--key=namesrv-keys' '-v,--value=') columns='namesrvAddr|key|changes|before|after|result|error|' ;;
        apply) family=change places=('--file=files') options=('--file=files' '--prune' '--max-deletes=' '--allow-stranded') columns='kind|name|action|servers|changes|before|after|messages|result|error|' ;;
        backuprestore) family=change places=('--file=files') options=('--file=files' '-c,--clusterName=clusters' '--map=' '--section=topics|staticTopics|groups|orderConf|kv|consumeModes|offsets|users|acls|accounts' '-t,--topic=topics' '-g,--groupName=groups' '--overwrite-offsets' '--passphrase-file=files' '--verify-key=files') columns='section|server|name|changes|reason|before|after|result|error|' ;;
        createuser) family=change places=('-u,--username=') options=('-u,--username=' '-t,--userType=Normal|Super' '-p,--password=' '--passwordFile=files' '--passwordStdin' '--passwordVisible' '-b,--brokerAddr=addresses' '-c,--clusterName=clusters') columns='brokerName|brokerId|brokerAddr|username|changes|before|after|result|error|' ;;
        updateuser) family=change places=('-u,--username=') options=('-u,--username=' '-t,--userType=Normal|Super' '-s,--userStatus=enable|disable' '-p,--password=' '--passwordPrompt' '--passwordFile=files' '--passwordStdin' '--passwordVisible' '-b,--brokerAddr=addresses' '-c,--clusterName=clusters') columns='brokerName|brokerId|brokerAddr|username|changes|before|after|result|error|' ;;
        copyuser) family=change places=('-f,--fromBroker=' '-t,--toBroker=') options=('-f,--fromBroker=' '-t,--toBroker=' '-u,--usernames=columns') columns='brokerName|brokerId|brokerAddr|username|changes|before|after|result|error|' ;;
        deleteuser) family=change places=('-u,--username=') options=('-u,--username=' '-b,--brokerAddr=addresses' '-c,--clusterName=clusters') columns='brokerName|brokerId|brokerAddr|username|changes|before|after|result|error|' ;;
        createacl) family=change places=('-s,--subject=') options=('-s,--subject=' '-r,--resources=columns' '-a,--actions=columns' '-d,--decision=Allow|Deny' '-i,--sourceIp=columns' '-b,--brokerAddr=addresses' '-c,--clusterName=clusters') columns='brokerName|brokerId|brokerAddr|subject|changes|before|after|result|error|' ;;
        updateacl) family=change places=('-s,--subject=') options=('-s,--subject=' '-r,--resources=columns' '-a,--actions=columns' '-d,--decision=Allow|Deny' '-i,--sourceIp=columns' '-b,--brokerAddr=addresses' '-c,--clusterName=clusters') columns='brokerName|brokerId|brokerAddr|subject|changes|before|after|result|error|' ;;
        copyacl) family=change places=('-f,--fromBroker=' '-t,--toBroker=') options=('-f,--fromBroker=' '-t,--toBroker=' '-s,--subjects=columns') columns='brokerName|brokerId|brokerAddr|subject|changes|before|after|result|error|' ;;
        deleteacl) family=change places=('-s,--subject=') options=('-s,--subject=' '-r,--resources=columns' '--policyType=Custom|Default' '-b,--brokerAddr=addresses' '-c,--clusterName=clusters') columns='brokerName|brokerId|brokerAddr|subject|changes|before|after|result|error|' ;;
        updateaclconfig) family=change places=('-a,--accessKey=') options=('-a,--accessKey=' '-s,--secretKey=' '-m,--admin=true|false' '-w,--whiteRemoteAddress=' '-i,--defaultTopicPerm=' '-u,--defaultGroupPerm=' '-t,--topicPerms=' '-g,--groupPerms=' '--secretKeyPrompt' '--passwordFile=files' '--passwordStdin' '--passwordVisible' '-b,--brokerAddr=addresses' '-c,--clusterName=clusters') columns='brokerName|brokerId|brokerAddr|accessKey|changes|before|after|result|error|' ;;
        deleteaclconfig) family=change places=('-a,--accessKey=') options=('-a,--accessKey=' '-b,--brokerAddr=addresses' '-c,--clusterName=clusters') columns='brokerName|brokerId|brokerAddr|accessKey|changes|before|after|result|error|' ;;
        updateglobalwhiteaddr) family=change places=('-g,--globalWhiteRemoteAddresses=') options=('-g,--globalWhiteRemoteAddresses=' '-p,--aclFileFullPath=' '-b,--brokerAddr=addresses' '-c,--clusterName=clusters') columns='brokerName|brokerId|brokerAddr|changes|before|after|result|error|' ;;
        updatecontrollerconfig) family=change places=('-k,--key=' '-v,--value=') options=('-k,--key=' '-v,--value=' '-a,--controllerAddress=') columns='controllerAddr|key|changes|before|after|result|error|' ;;
        electmaster) family=change places=('-bn,--brokerName=brokers' '-b,--brokerId=') options=('-bn,--brokerName=brokers' '-b,--brokerId=' '-a,--controllerAddress=' '-c,--clusterName=clusters' '--force') columns='brokerName|changes|before|after|result|error|' ;;
        cleanbrokermetadata) family=change places=('-bn,--brokerName=brokers') options=('-bn,--brokerName=brokers' '-a,--controllerAddress=' '-b,--brokerControllerIdsToClean=' '-c,--clusterName=clusters' '-l,--cleanLivingBroker') columns='brokerName|changes|before|after|result|error|' ;;
        exportpoprecord) family=change places=('-b,--brokerAddr=addresses') options=('-b,--brokerAddr=addresses' '-c,--clusterName=clusters' '-d,--dryRun=') columns='brokerName|brokerId|brokerAddr|changes|result|error|' ;;
        updateorderconf) family=mixed places=('-t,--topic=topics' '-m,--method=get|put|delete' '-v,--orderConf=') options=('-t,--topic=topics' '-m,--method=get|put|delete' '-v,--orderConf=') columns='namesrvAddr|topic|orderConf|result|error|changes|before|after|brokerAddr|' ;;
        querymsgbyuniquekey) family=mixed places=('-t,--topic=topics' '-i,--msgId=') options=('-t,--topic=topics' '-i,--msgId=' '-a,--showAll' '-s,--startTime=' '-e,--endTime=' '-c,--cluster=topics' '-g,--consumerGroup=groups' '-d,--clientId=' '--decode=') columns='msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|tracks|brokerAddr|group|clientId|consumeResult|spentMs|result|error|' ;;
        querymsgbyid) family=mixed places=('-t,--topic=topics' '-i,--msgId=') options=('-t,--topic=topics' '-i,--msgId=' '-f,--bodyFormat=' '-c,--cluster=topics' '-u,--unitName=' '-g,--consumerGroup=groups' '-d,--clientId=' '-s,--sendMessage=true|false' '--decode=') columns='msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|tracks|brokerAddr|group|clientId|consumeResult|spentMs|result|error|costMs|' ;;
        transfertopics) family=mixed places=('-t,--topic=topics') options=('--from=contexts' '--to=contexts' '-t,--topic=topics' '--from-cluster=clusters' '--to-cluster=clusters' '--map=' '--all-brokers') columns='section|server|name|changes|reason|before|after|result|error|' ;;
        transfergroups) family=mixed places=('-g,--groupName=groups') options=('--from=contexts' '--to=contexts' '-g,--groupName=groups' '--from-cluster=clusters' '--to-cluster=clusters' '--map=' '--all-brokers') columns='section|server|name|changes|reason|before|after|result|error|' ;;
        transferacl) family=mixed options=('--from=contexts' '--to=contexts' '--from-cluster=clusters' '--to-cluster=clusters' '--map=' '--all-brokers') columns='section|server|name|changes|reason|before|after|result|error|' ;;
        transfermessages) family=mixed places=('-t,--topic=topics') options=('-t,--topic=topics' '--from=contexts' '--to=contexts' '--since=' '-f,--follow' '--rate=' '--tag=' '--sql=' '--key=' '--property=' '--body=' '--map-topic=' '--merge-queues') columns='topic|brokerName|queueId|targetTopic|targetBroker|targetQueue|beginOffset|nextOffset|remaining|copied|skipped|lost|result|error|' ;;
        transferoffsets) family=mixed places=('-g,--groupName=groups') options=('-g,--groupName=groups' '--from=contexts' '--to=contexts' '--overwrite-offsets') columns='topic|sourceOffsets|targetTopic|targetBroker|targetQueue|from|to|repeated|missed|result|error|' ;;
        orphans) family=mixed options=('--clean' '--dlq') columns='kind|topic|finding|brokers|namesrvAddrs|group|target|role|changes|before|after|result|error|' ;;
        rocksdbconfigtojson) family=mixed options=('-b,--brokerAddr=addresses' '-c,--cluster,--clusterName=clusters' '-t,--configType=' '-p,--configPath=folders' '-e,--exportFile=files' '-j,--jsonEnable=true|false') columns='key|value|file|size|brokerName|brokerId|brokerAddr|changes|result|error|' ;;
        backupshow) family=local places=('--file=files') options=('--file=files' '--passphrase-file=files' '--verify-key=files') columns='section|brokerName|name|value|' ;;
        bundleshow) family=local places=('--file=files') options=('--file=files') columns='kind|item|count|reason|' ;;
        bundlediff) family=local places=('--file=files' '--with=') options=('--file=files' '--with=') columns='section|brokerName|name|differs|before|after|' ;;
        snapshotshow) family=local places=('--file=files') options=('--file=files') columns='what|name|brokerName|summary|value|' ;;
        snapshotlist) family=local places=('--dir=folders') options=('--dir=folders') columns='file|time|nameServers|brokers|topics|kvEntries|size|' ;;
        journalcat) family=local places=('--dir=folders') options=('--dir=folders' '--since=' '--until=') columns='seq|time|server|type|summary|cause|client|event|' ;;
        journaltail) family=local places=('--dir=folders') options=('--dir=folders' '-l,--lines=' '-f,--follow') columns='seq|time|server|type|summary|cause|client|event|' ;;
        journalstat) family=local places=('--dir=folders') options=('--dir=folders') columns='type|records|plainSize|firstTime|lastTime|' ;;
        journalverify) family=local places=('--dir=folders') options=('--dir=folders') columns='file|result|records|firstSeq|lastSeq|firstTime|lastTime|size|plainSize|problems|' ;;
        auditlist) family=local options=('--since=') columns='time|user|origin|context|nameServers|command|sent|results|exitCode|servers|' ;;
        contextlist) family=local columns='name|current|namesrvAddr|configFile|endpoint|bundle|credentials|tls|timeout|retries|concurrency|output|addressMap|proxies|kube|ssh|journals|readOnly|color|' ;;
        contextshow) family=local places=('--name=contexts') options=('--name=contexts') columns='name|current|namesrvAddr|configFile|endpoint|bundle|credentials|tls|timeout|retries|concurrency|output|addressMap|proxies|kube|ssh|journals|readOnly|color|' ;;
        contextuse) family=local places=('--name=contexts') options=('--name=contexts') columns='name|current|namesrvAddr|configFile|endpoint|bundle|credentials|tls|timeout|retries|concurrency|output|addressMap|proxies|kube|ssh|journals|readOnly|color|' ;;
        contextset) family=local places=('--name=contexts') options=('--name=contexts' '-n,--namesrvAddr=name-servers' '--configFile=files' '--endpoint=' '--bundle=files' '--accessKey=' '--secretKeyStdin' '--securityTokenStdin' '--credentials=' '--tls,--no-tls' '--tlsCa=files' '--tlsCert=files' '--tlsKey=files' '--tlsKeyPasswordFrom=' '--tlsKeyPasswordStdin' '--tlsServerName=' '--verify,--insecure' '--addressMap=' '--proxies=proxies' '--kube=' '--ssh=' '--journal=folders' '--timeout=' '--retries=' '--concurrency=' '--defaultOutput=table|wide|json|jsonl|yaml|csv|spreadsheet|tsv|name|value|mqadmin' '--readOnly,--writable' '--color=red|green|yellow|blue|magenta|cyan' '--unset=') columns='name|current|namesrvAddr|configFile|endpoint|bundle|credentials|tls|timeout|retries|concurrency|output|addressMap|proxies|kube|ssh|journals|readOnly|color|' ;;
        contextlogin) family=local places=('--name=contexts') options=('--name=contexts' '--file=') columns='name|current|namesrvAddr|configFile|endpoint|bundle|credentials|tls|timeout|retries|concurrency|output|addressMap|proxies|kube|ssh|journals|readOnly|color|' ;;
        contextdelete) family=local places=('--name=contexts') options=('--name=contexts') columns='name|current|namesrvAddr|configFile|endpoint|bundle|credentials|tls|timeout|retries|concurrency|output|addressMap|proxies|kube|ssh|journals|readOnly|color|' ;;
        reportshow) family=local places=('--report=broker_availability|broker_flaps|drain_audit|heartbeat_gaps|ns_divergence|ns_convergence|topic_growth|registration_forecast|orphan_topics|hot_brokers|consumer_lag_trend|topic_volume|config_changes|ns_health|proxy_health|route_as_of|data_quality|bronze/files|bronze/lines|silver/agreement_interval|silver/broker_lifecycle|silver/broker_runtime|silver/consumer_lag|silver/entry_interval|silver/knowledge_change|silver/knowledge_interval|silver/log_fact|silver/poll_fact|silver/quarantine|silver/route_interval|silver/stats_minute|silver/ns_event') options=('--report=broker_availability|broker_flaps|drain_audit|heartbeat_gaps|ns_divergence|ns_convergence|topic_growth|registration_forecast|orphan_topics|hot_brokers|consumer_lag_trend|topic_volume|config_changes|ns_health|proxy_health|route_as_of|data_quality|bronze/files|bronze/lines|silver/agreement_interval|silver/broker_lifecycle|silver/broker_runtime|silver/consumer_lag|silver/entry_interval|silver/knowledge_change|silver/knowledge_interval|silver/log_fact|silver/poll_fact|silver/quarantine|silver/route_interval|silver/stats_minute|silver/ns_event' '--dir=folders' '--since=' '--until=' '--as-of=' '--expect=BROKERS|FILE') columns='date|cluster|brokerName|brokerId|upSeconds|downSeconds|plannedSeconds|unknownSeconds|partialSeconds|availability|failures|mtbfSeconds|mttrSeconds|ts|endTs|ongoing|servers|outages|conflicts|longestSeconds|cause|server|outcome|method|client|closedTs|topics|closedTopics|heldSeconds|openedTs|openedTopics|openedType|openedCause|openedClient|seconds|causedBy|silentBrokers|topic|key|field|values|trigger|changes|unfinishedChanges|p50Seconds|p95Seconds|maxSeconds|change|bytes|days|bytesPerDay|lowBytesPerDay|highBytesPerDay|fullDate|earliestDate|latestDate|brokers|reason|knownSince|lastPut|source|puts|gets|putShare|getShare|fairShare|putRatio|skew|gini|queueSkew|skewedTopic|consumerGroup|samples|lastLag|minLag|maxLag|lagPerSecond|drainSeconds|stuck|trend|group|messagesIn|bytesIn|messagesOut|bytesOut|sentBack|putMillis|getMillis|behindSeconds|minutes|type|namespace|before|after|knownSeconds|starts|stops|pauses|failedPolls|eventsLost|repairs|decodeErrors|unparsedWarnings|scanGaps|longestPauseSeconds|longestScanGapSeconds|waterMarks|requests|clients|peakClients|clientsLeft|clientsLost|routeFailures|failedTopics|nameServerFailures|unreachableServers|syncFailures|requestErrors|responses|readQueueNums|writeQueueNums|perm|topicSysFlag|known|validFrom|fromType|fromCause|fromClient|kind|lines|quarantinedLines|quarantineShare|lateLines|gaps|lastTs|path|length|modified|file|line|hash|ingestTime|text|differ|isWatchChange|validTo|seq|time|brokerAddr|groups|pauseMillis|silentMillis|resumed|lost|observer|isLog|recordOrder|brokerVersion|bootTime|brokerActive|putTps|getTps|putTotal|getTotal|commitLogDiskRatio|commitLogMinOffset|commitLogMaxOffset|dispatchBehindBytes|sendQueueSize|sendQueueWaitMillis|pullQueueSize|pageCacheLockMillis|earliestMessageTime|queueCount|uncommittedQueues|brokerOffset|consumerOffset|lag|inflight|consumedTime|name|value|orderOffset|since|isRouteSource|toType|ok|error|polls|millis|toCause|toClient|broker|sum|' ;;
        reportschema) family=local places=('--table=broker_availability|broker_flaps|drain_audit|heartbeat_gaps|ns_divergence|ns_convergence|topic_growth|registration_forecast|orphan_topics|hot_brokers|consumer_lag_trend|topic_volume|config_changes|ns_health|proxy_health|route_as_of|data_quality|bronze/files|bronze/lines|silver/agreement_interval|silver/broker_lifecycle|silver/broker_runtime|silver/consumer_lag|silver/entry_interval|silver/knowledge_change|silver/knowledge_interval|silver/log_fact|silver/poll_fact|silver/quarantine|silver/route_interval|silver/stats_minute|silver/ns_event') options=('--table=broker_availability|broker_flaps|drain_audit|heartbeat_gaps|ns_divergence|ns_convergence|topic_growth|registration_forecast|orphan_topics|hot_brokers|consumer_lag_trend|topic_volume|config_changes|ns_health|proxy_health|route_as_of|data_quality|bronze/files|bronze/lines|silver/agreement_interval|silver/broker_lifecycle|silver/broker_runtime|silver/consumer_lag|silver/entry_interval|silver/knowledge_change|silver/knowledge_interval|silver/log_fact|silver/poll_fact|silver/quarantine|silver/route_interval|silver/stats_minute|silver/ns_event' '--dir=folders' '--sql') columns='table|column|type|unit|meaning|' ;;
        reportexport) family=local places=('--report=broker_availability|broker_flaps|drain_audit|heartbeat_gaps|ns_divergence|ns_convergence|topic_growth|registration_forecast|orphan_topics|hot_brokers|consumer_lag_trend|topic_volume|config_changes|ns_health|proxy_health|route_as_of|data_quality|bronze/files|bronze/lines|silver/agreement_interval|silver/broker_lifecycle|silver/broker_runtime|silver/consumer_lag|silver/entry_interval|silver/knowledge_change|silver/knowledge_interval|silver/log_fact|silver/poll_fact|silver/quarantine|silver/route_interval|silver/stats_minute|silver/ns_event') options=('--report=broker_availability|broker_flaps|drain_audit|heartbeat_gaps|ns_divergence|ns_convergence|topic_growth|registration_forecast|orphan_topics|hot_brokers|consumer_lag_trend|topic_volume|config_changes|ns_health|proxy_health|route_as_of|data_quality|bronze/files|bronze/lines|silver/agreement_interval|silver/broker_lifecycle|silver/broker_runtime|silver/consumer_lag|silver/entry_interval|silver/knowledge_change|silver/knowledge_interval|silver/log_fact|silver/poll_fact|silver/quarantine|silver/route_interval|silver/stats_minute|silver/ns_event' '--dir=folders' '--to=files' '--since=' '--until=' '--as-of=') ;;
        reporthtml) family=local options=('--dir=folders' '--since=' '--until=' '--as-of=' '--to=files' '--to-folder=') ;;
        reportmarkdown) family=local options=('--dir=folders' '--since=' '--until=' '--as-of=' '--to=files') ;;
        mqadminmap) family=local places=('--command=addBroker|addWritePerm|allocateMQ|brokerConsumeStats|brokerStatus|checkMsgSendRT|checkRocksdbCqWriteProgress|cleanBrokerMetadata|cleanExpiredCQ|cleanUnusedTopic|cloneGroupOffset|clusterAclConfigVersion|clusterList|clusterRT|consumeMessage|consumerConnection|consumerProgress|consumerStatus|copyAcl|copyUser|createAcl|createUser|deleteAcl|deleteAclConfig|deleteExpiredCommitLog|deleteKvConfig|deleteSubGroup|deleteTopic|deleteUser|dumpCompactionLog|electMaster|exportConfigs|exportMetadata|exportMetadataInRocksDB|exportMetrics|exportPopRecord|getAcl|getAclConfig|getBrokerConfig|getBrokerEpoch|getBrokerLiteInfo|getColdDataFlowCtrInfo|getConsumerConfig|getControllerConfig|getControllerMetaData|getLiteClientInfo|getLiteGroupInfo|getLiteTopicInfo|getNamesrvConfig|getParentTopicInfo|getSyncStateSet|getUser|haStatus|listAcl|listUser|printMsg|printMsgByQueue|producer|producerConnection|queryCq|queryMsgById|queryMsgByKey|queryMsgByOffset|queryMsgByUniqueKey|queryMsgTraceById|remappingStaticTopic|removeBroker|removeColdDataFlowCtrGroupConfig|resetMasterFlushOffset|resetOffsetByTime|rocksDBConfigToJson|sendMessage|sendMsgStatus|setCommitLogReadAheadMode|setConsumeMode|skipAccumulatedMessage|startMonitoring|statsAll|switchTimerEngine|topicClusterList|topicList|topicRoute|topicStatus|triggerLiteDispatch|updateAcl|updateAclConfig|updateBrokerConfig|updateColdDataFlowCtrGroupConfig|updateControllerConfig|updateGlobalWhiteAddr|updateKvConfig|updateNamesrvConfig|updateOrderConf|updateStaticTopic|updateSubGroup|updateSubGroupList|updateTopic|updateTopicList|updateTopicPerm|updateUser|wipeWritePerm') options=('--command=addBroker|addWritePerm|allocateMQ|brokerConsumeStats|brokerStatus|checkMsgSendRT|checkRocksdbCqWriteProgress|cleanBrokerMetadata|cleanExpiredCQ|cleanUnusedTopic|cloneGroupOffset|clusterAclConfigVersion|clusterList|clusterRT|consumeMessage|consumerConnection|consumerProgress|consumerStatus|copyAcl|copyUser|createAcl|createUser|deleteAcl|deleteAclConfig|deleteExpiredCommitLog|deleteKvConfig|deleteSubGroup|deleteTopic|deleteUser|dumpCompactionLog|electMaster|exportConfigs|exportMetadata|exportMetadataInRocksDB|exportMetrics|exportPopRecord|getAcl|getAclConfig|getBrokerConfig|getBrokerEpoch|getBrokerLiteInfo|getColdDataFlowCtrInfo|getConsumerConfig|getControllerConfig|getControllerMetaData|getLiteClientInfo|getLiteGroupInfo|getLiteTopicInfo|getNamesrvConfig|getParentTopicInfo|getSyncStateSet|getUser|haStatus|listAcl|listUser|printMsg|printMsgByQueue|producer|producerConnection|queryCq|queryMsgById|queryMsgByKey|queryMsgByOffset|queryMsgByUniqueKey|queryMsgTraceById|remappingStaticTopic|removeBroker|removeColdDataFlowCtrGroupConfig|resetMasterFlushOffset|resetOffsetByTime|rocksDBConfigToJson|sendMessage|sendMsgStatus|setCommitLogReadAheadMode|setConsumeMode|skipAccumulatedMessage|startMonitoring|statsAll|switchTimerEngine|topicClusterList|topicList|topicRoute|topicStatus|triggerLiteDispatch|updateAcl|updateAclConfig|updateBrokerConfig|updateColdDataFlowCtrGroupConfig|updateControllerConfig|updateGlobalWhiteAddr|updateKvConfig|updateNamesrvConfig|updateOrderConf|updateStaticTopic|updateSubGroup|updateSubGroupList|updateTopic|updateTopicList|updateTopicPerm|updateUser|wipeWritePerm') columns='mqadmin|nsadmin|status|since|note|' ;;
        securityaudit) family=check options=('--warning=' '--critical=') columns='check|about|state|exitCode|time|summary|details|values|checks|' ;;
        checkall) family=check options=('-t,--topic=topics' '-g,--groupName=groups' '--expect=N|BROKERS|FILE' '--journal=folders' '--settle=' '--reports=folders' '--warning=' '--critical=' '--skip=namesrv|brokers|divergence|writable|heartbeat|replicas|registrationSize|certificates|journal|drain|reports') columns='check|about|state|exitCode|time|summary|details|values|checks|' ;;
        checknamesrv) family=check options=('--warning=' '--critical=') columns='check|about|state|exitCode|time|summary|details|values|' ;;
        checkbrokers) family=check options=('--clusterName=clusters' '--expect=N|BROKERS|FILE' '--warning=' '--critical=') columns='check|about|state|exitCode|time|summary|details|values|' ;;
        checkdivergence) family=check options=('--settle=' '--expect=BROKERS|FILE' '--warning=' '--critical=') columns='check|about|state|exitCode|time|summary|details|values|' ;;
        checktopic) family=check places=('-t,--topic=topics') options=('-t,--topic=topics' '--expect=BROKERS|FILE' '--warning=' '--critical=') columns='check|about|state|exitCode|time|summary|details|values|' ;;
        checkwritable) family=check options=('--clusterName=clusters' '--expect=BROKERS|FILE' '--exclude=' '--warning=' '--critical=') columns='check|about|state|exitCode|time|summary|details|values|' ;;
        checklag) family=check places=('-g,--groupName=groups') options=('-g,--groupName=groups' '-t,--topicName=topics' '--clusterName=clusters' '--warning=' '--critical=') columns='check|about|state|exitCode|time|summary|details|values|' ;;
        checkclients) family=check options=('--min-version=' '--clusterName=clusters' '--warning=' '--critical=') columns='check|about|state|exitCode|time|summary|details|values|' ;;
        checkheartbeat) family=check options=('--warning=' '--critical=') columns='check|about|state|exitCode|time|summary|details|values|' ;;
        checkregistrationsize) family=check options=('-b,--brokerAddr=addresses' '--clusterName=clusters' '--warning=' '--critical=') columns='check|about|state|exitCode|time|summary|details|values|' ;;
        checkcertificates) family=check options=('--warning=' '--critical=') columns='check|about|state|exitCode|time|summary|details|values|' ;;
        checkjournal) family=check options=('--journal=folders' '--since=' '--verify' '--warning=' '--critical=') columns='check|about|state|exitCode|time|summary|details|values|' ;;
        checkreplicas) family=check options=('--clusterName=clusters' '--warning=' '--critical=') columns='check|about|state|exitCode|time|summary|details|values|' ;;
        checkreports) family=check options=('--dir=folders' '--warning=' '--critical=') columns='check|about|state|exitCode|time|summary|details|values|' ;;
        checkbackup) family=check places=('--path=') options=('--path=' '--clusterName=clusters' '--warning=' '--critical=') columns='check|about|state|exitCode|time|summary|details|values|' ;;
        checkdrain) family=check options=('--warning=' '--critical=') columns='check|about|state|exitCode|time|summary|details|values|' ;;
        kubedoctor) family=check options=('--warning=' '--critical=') columns='check|about|state|exitCode|time|summary|details|values|checks|' ;;
        startmonitoring) family=check options=('--once' '-i,--interval=' '--clusterName=clusters' '--warning=' '--critical=') columns='check|about|state|exitCode|time|summary|details|values|checks|' ;;
        reportrun) family=program options=('--input=folders' '--source=' '--dir=folders' '--since=' '--until=' '--reports=' '--max-quarantine=' '--keep=' '--master=' '--conf=' '--compact') ;;
        reportstream) family=program options=('--input=folders' '--source=' '--dir=folders' '--since=' '--until=' '--reports=' '--max-quarantine=' '--keep=' '--master=' '--conf=' '--once' '--every=') ;;
        lab) family=program places=('=up|run|list|' '=acting-master|address-conflict|drift|flapping-broker|name-server-pause|name-server-waits|no-route|quiet-day|reconnect-storm|rolling-restart|split-brain|topic-explosion|undone-wipe|') options=('--clusters=' '--groups=' '--replicas=' '--topics=' '--namesrvs=' '--scenario=acting-master|address-conflict|drift|flapping-broker|name-server-pause|name-server-waits|no-route|quiet-day|reconnect-storm|rolling-restart|split-brain|topic-explosion|undone-wipe|' '--namesrv-port=' '--broker-port=' '--no-context' '-n,--namesrvAddr=' '--speed=' '--dir=folders' '--seed=' '--until=' '--java-logs=4.x|5.x|') ;;
        namesrv) family=program options=('-c,--configFile=files' '-D=' '-p,--printConfigItem' '-n,--namesrvAddr=' '--port=' '--bind=' '--home=folders' '--journal-dir=folders' '--http=' '--credentials=files' '--read-only' '--no-remote-config' '--log-format=text|json|' '--log-level=DEBUG|INFO|WARN|ERROR|' '--no-journal') ;;
        completion) family=program places=('=bash|zsh|fish|powershell|') ;;
        tui) family=screen places=('--screen=') options=('--screen=' '--interval=' '-s,--namespace=' '--journal=folders' '--read-only' '--record=files' '--replay=' '--speed=') ;;
        mcp) family=screen options=('--contexts=' '--tools=' '--files=folders' '--allow-changes' '--time-limit=' '--max-calls=') ;;
        batch) family=batch places=('-f,--file=files') ;;
        audit) family=group places=('=list|') ;;
        backup) family=group places=('=create|show|diff|restore|') ;;
        bench) family=group places=('=produce|consume|latency|') ;;
        bundle) family=group places=('=create|show|diff|') ;;
        check) family=group places=('=all|namesrv|brokers|divergence|topic|writable|lag|clients|heartbeat|registrationSize|certificates|journal|replicas|reports|backup|drain|') ;;
        client) family=group places=('=list|') ;;
        context) family=group places=('=list|show|use|set|login|delete|') ;;
        delayed) family=group places=('=list|cancel|') ;;
        discovery) family=group places=('=prometheus|') ;;
        dlq) family=group places=('=list|show|replay|purge|') ;;
        inventory) family=group places=('=list|forget|pin|') ;;
        journal) family=group places=('=cat|tail|stat|verify|') ;;
        kube) family=group places=('=doctor|') ;;
        kv) family=group places=('=get|list|diff|sync|export|import|') ;;
        message) family=group places=('=track|') ;;
        messages) family=group places=('=export|import|') ;;
        proxy) family=group places=('=list|') ;;
        rebalance) family=group places=('=plan|run|status|') ;;
        repair) family=group places=('=wipe|register|') ;;
        report) family=group places=('=run|stream|show|schema|export|html|markdown|') ;;
        route) family=group places=('=explain|at|diff|') ;;
        snapshot) family=group places=('=save|show|list|') ;;
        transfer) family=group places=('=topics|groups|acl|messages|verify|offsets|') ;;
        help) family=help places=('=commands') ;;
    esac
    [[ -z $restore ]] || shopt -u nocasematch
    case $family in
        read) options+=('--context=contexts' '--bundle=files' '-n,--namesrvAddr=name-servers' '--configFile=files' '--endpoint=' '--addressMap=' '--proxies=proxies' '--kube=' '--ssh=' '--credentials=' '--tls,--no-tls' '--tlsCa=files' '--tlsCert=files' '--tlsKey=files' '--tlsServerName=' '--insecure' '--timeout=' '--retries=' '--concurrency=' '--output=table|wide|json|jsonl|yaml|csv|spreadsheet|tsv|name|value|mqadmin' '--json' '--no-headers' '--no-color' '--watch=' '--columns=columns' '--sort=columns' '--filter=columns' '--quiet' '--debug' '-h,--help') ;;
        change) options+=('--context=contexts' '--bundle=files' '-n,--namesrvAddr=name-servers' '--configFile=files' '--endpoint=' '--addressMap=' '--proxies=proxies' '--kube=' '--ssh=' '--credentials=' '--tls,--no-tls' '--tlsCa=files' '--tlsCert=files' '--tlsKey=files' '--tlsServerName=' '--insecure' '--timeout=' '--retries=' '--concurrency=' '--output=table|wide|json|jsonl|yaml|csv|spreadsheet|tsv|name|value|mqadmin' '--json' '--no-headers' '--no-color' '--dry-run' '-y,--yes' '--quiet' '--debug' '-h,--help') ;;
        mixed) options+=('--context=contexts' '--bundle=files' '-n,--namesrvAddr=name-servers' '--configFile=files' '--endpoint=' '--addressMap=' '--proxies=proxies' '--kube=' '--ssh=' '--credentials=' '--tls,--no-tls' '--tlsCa=files' '--tlsCert=files' '--tlsKey=files' '--tlsServerName=' '--insecure' '--timeout=' '--retries=' '--concurrency=' '--output=table|wide|json|jsonl|yaml|csv|spreadsheet|tsv|name|value|mqadmin' '--json' '--no-headers' '--no-color' '--columns=columns' '--sort=columns' '--filter=columns' '--dry-run' '-y,--yes' '--quiet' '--debug' '-h,--help') ;;
        local) options+=('--output=table|wide|json|jsonl|yaml|csv|spreadsheet|tsv|name|value|mqadmin' '--json' '--no-headers' '--no-color' '--watch=' '--columns=columns' '--sort=columns' '--filter=columns' '--quiet' '--debug' '-h,--help') ;;
        check) options+=('--context=contexts' '--bundle=files' '-n,--namesrvAddr=name-servers' '--configFile=files' '--endpoint=' '--addressMap=' '--proxies=proxies' '--kube=' '--ssh=' '--credentials=' '--tls,--no-tls' '--tlsCa=files' '--tlsCert=files' '--tlsKey=files' '--tlsServerName=' '--insecure' '--timeout=' '--retries=' '--concurrency=' '--format=text|nagios|json|prometheus' '--json' '--output-file=files' '--wait-until-ok=' '--quiet' '--debug' '-h,--help') ;;
        program) options+=('-h,--help') ;;
        screen) options+=('--context=contexts' '--bundle=files' '-n,--namesrvAddr=name-servers' '--configFile=files' '--endpoint=' '--addressMap=' '--proxies=proxies' '--kube=' '--ssh=' '--credentials=' '--tls,--no-tls' '--tlsCa=files' '--tlsCert=files' '--tlsKey=files' '--tlsServerName=' '--insecure' '--timeout=' '--retries=' '--concurrency=' '--quiet' '--debug' '-h,--help') ;;
        batch) options+=('-f,--file=files' '--stop-on-error' '--context=contexts' '--bundle=files' '-n,--namesrvAddr=name-servers' '--configFile=files' '--endpoint=' '--addressMap=' '--proxies=proxies' '--kube=' '--ssh=' '--credentials=' '--tls,--no-tls' '--tlsCa=files' '--tlsCert=files' '--tlsKey=files' '--tlsServerName=' '--insecure' '--timeout=' '--retries=' '--concurrency=' '--output=table|wide|json|jsonl|yaml|csv|spreadsheet|tsv|name|value|mqadmin' '--json' '--no-headers' '--no-color' '--dry-run' '-y,--yes' '--quiet' '--debug' '-h,--help') ;;
        front) options+=('--context=contexts' '--bundle=files' '-n,--namesrvAddr=name-servers' '--configFile=files' '--endpoint=' '--addressMap=' '--proxies=proxies' '--kube=' '--ssh=' '--credentials=' '--tls,--no-tls' '--tlsCa=files' '--tlsCert=files' '--tlsKey=files' '--tlsServerName=' '--insecure' '--timeout=' '--retries=' '--concurrency=' '--output=table|wide|json|jsonl|yaml|csv|spreadsheet|tsv|name|value|mqadmin' '--json' '--no-headers' '--no-color' '--watch=' '--columns=columns' '--sort=columns' '--filter=columns' '--quiet' '--debug' '-h,--help' '--dry-run' '-y,--yes' '--version') ;;
    esac
}

# Succeeds if the flag takes a value, and sets `source`.
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

# Completes the value `$1` from the source; `$2` is the text before it in the same word.
_nsadmin_values() {
    local IFS=$'\n' item found=()
    if [[ $source == columns ]]; then
        # Complete the last column of a list such as a,b or a,-b, without a blank: the list may go on.
        item=${1##*[,-]} source=$columns
        set -- "$item" "$2${1%"$item"}"
        type compopt &>/dev/null && compopt -o nospace 2>/dev/null
    fi
    case $source in
        '') ;;
        files | folders)
            item=-f
            [[ $source == files ]] || item=-d
            read -r -d '' -a found <<< "$(compgen $item -- "$1")"
            type compopt &>/dev/null && compopt -o filenames 2>/dev/null || _nsadmin_keep_plain ;;
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

# Without compopt, bash inserts file names without quotes, and would run a name such as $(reboot).
_nsadmin_keep_plain() {
    local name plain=()
    for name in "${found[@]}"; do
        [[ $name == *[!A-Za-z0-9._/~+,:=@%-]* ]] || plain+=("$name")
    done
    found=("${plain[@]}")
}

# Finds the commands with the prefix `$1`, in any case, with or without - and _.
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
    local IFS=$' \t\n' known='clusterList brokerStatus haStatus replicaDiff getBrokerConfig configDiff checkRocksdbCqWriteProgress getColdDataFlowCtrInfo drainStatus topicList topicRoute topicStatus topicClusterList statsAll allocateMQ getBrokerLiteInfo getParentTopicInfo getLiteTopicInfo getLiteClientInfo getLiteGroupInfo consumerProgress consumerConnection consumerStatus brokerConsumeStats getConsumerConfig getConsumeMode producer producerConnection queryMsgByKey queryMsgByOffset queryMsgTraceById printMsg printMsgByQueue consumeMessage consume queryCq dumpCompactionLog where divergence getNamesrvConfig orderConfCheck export plan whatIf spread registrationSize listUser getUser listAcl getAcl getAclConfig clusterAclConfigVersion getControllerMetaData getSyncStateSet getBrokerEpoch getControllerConfig history collect exporter exportConfigs exportMetadata exportMetrics exportMetadataInRocksDB updateBrokerConfig sendMsgStatus clusterRT cleanExpiredCQ deleteExpiredCommitLog cleanUnusedTopic setCommitLogReadAheadMode switchTimerEngine resetMasterFlushOffset updateColdDataFlowCtrGroupConfig removeColdDataFlowCtrGroupConfig addBroker removeBroker drain undrain rollingRestart wipeWritePerm addWritePerm updateTopic updateTopicPerm updateTopicList deleteTopic updateStaticTopic remappingStaticTopic triggerLiteDispatch updateSubGroup updateSubGroupList deleteSubGroup setConsumeMode resetOffsetByTime skipAccumulatedMessage cloneGroupOffset sendMessage produce checkMsgSendRT updateKvConfig deleteKvConfig updateNamesrvConfig apply createUser updateUser copyUser deleteUser createAcl updateAcl copyAcl deleteAcl updateAclConfig deleteAclConfig updateGlobalWhiteAddr updateControllerConfig electMaster cleanBrokerMetadata exportPopRecord updateOrderConf queryMsgByUniqueKey queryMsgById orphans rocksDBConfigToJson mqadminMap securityAudit startMonitoring lab namesrv completion tui mcp batch audit backup bench bundle check client context delayed discovery dlq inventory journal kube kv message messages proxy rebalance repair report route snapshot transfer help'
    local words places options columns word typed quote source family item at flag
    local command= given=0 taken=, next=
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
        elif [[ -z $command || $family == group ]]; then
            command+=$word
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
    # Readline replaces only the text after the last word break, such as : or =.
    local kept=
    [[ $typed == *"$2" ]] && kept=${typed%"$2"}
    kept=${kept#[\"\']}
    COMPREPLY=("${COMPREPLY[@]#"$kept"}")
}

complete -F _nsadmin nsadmin
