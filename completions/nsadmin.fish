# fish completion for nsadmin, rendered from its commands

# Sets places, options and columns for a command. Each option is FLAGS, or FLAGS=SOURCE if it takes a value,
# then a blank and its help.
function __nsadmin_table --no-scope-shadowing
    set family front
    set places
    set options
    set columns ''
    switch (string replace -ra '[-_]' '' -- $argv[1] | string lower)
        case clusterlist
            set family read
            set places \
                '-c,--clusterName=clusters Only this cluster.'
            set options \
                '-c,--clusterName=clusters Only this cluster.' \
                '-m,--moreStats Show the number of messages in and out, yesterday and today, instead of the load.' \
                '-i,--interval= Repeat after this time, until Ctrl-C.' \
                '--expect=BROKERS|FILE Brokers that must be registered: broker-a,broker-b:1, a file with one in each line, a plan or a journal.'
            set columns 'clusterName|brokerName|brokerId|brokerAddr|version|inTps|outTps|sendThreadPoolQueueSize|sendThreadPoolQueueHeadWaitTimeMills|pullThreadPoolQueueSize|pullThreadPoolQueueHeadWaitTimeMills|ackThreadPoolQueueSize|ackThreadPoolQueueHeadWaitTimeMills|timerReadBehind|timerOffsetBehind|timerCongestNum|timerEnqueueTps|timerDequeueTps|pageCacheLockTimeMills|hour|commitLogDiskRatio|brokerActive|reachable|error|inTotalYest|outTotalYest|inTotalToday|outTotalToday|'
        case brokerstatus
            set family read
            set places \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.'
            set options \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.' \
                '-c,--clusterName=clusters All masters and slaves of this cluster.'
            set columns 'brokerAddr|key|value|'
        case proxylist
            set family read
            set options \
                '-c,--cluster=clusters Ask only the brokers of this cluster.'
            set columns 'proxyAddr|grpcAddr|mode|version|state|consumers|grpcConnections|lastHeartbeat|sources|error|'
        case hastatus
            set family read
            set places \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.'
            set options \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.' \
                '-c,--clusterName=clusters All masters and slaves of this cluster.' \
                '-i,--interval= Repeat after this time, until Ctrl-C.'
            set columns 'brokerName|brokerId|brokerAddr|role|commitLogMaxOffset|inSyncSlaveNums|slaveAddr|slaveAckOffset|diff|inSync|transferFromWhere|masterAddr|masterFlushOffset|transferredByteInSecond|lastRead|lastWrite|error|'
        case replicadiff
            set family read
            set options \
                '-c,--clusterName=clusters Only the brokers of this cluster.' \
                '-b,--brokerName= Only the replicas of this broker.' \
                '--settle= How long to wait for slaves that may still copy a difference.' \
                '--sync-interval= Time between two copies by a slave. Default: 70 for 5.x, 10 for 4.x.' \
                '--lag Also list differences that the next copy may remove.'
            set columns 'clusterName|brokerName|brokerId|brokerAddr|kind|name|state|differs|reason|since|master|slave|'
        case getbrokerconfig
            set family read
            set places \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.'
            set options \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.' \
                '-c,--clusterName=clusters All masters and slaves of this cluster.'
            set columns 'brokerName|brokerId|brokerAddr|key|value|'
        case configdiff
            set family read
            set options \
                '-c,--clusterName=clusters Only the brokers of this cluster.' \
                '--brokers Only brokers.' \
                '--namesrvs Only name servers.' \
                '--default Show settings that differ from the default of the server\'s release instead.' \
                '--own Include names, addresses, ports and paths.'
            set columns 'kind|key|differs|default|values|'
        case inventorylist
            set family read
            set columns 'clusterName|brokerName|brokerId|brokerAddr|state|pinned|topicCount|firstSeen|lastSeen|'
        case inventoryforget
            set family read
            set places \
                '-b,--brokers=brokers Brokers, as broker-a,broker-b:1.'
            set options \
                '-b,--brokers=brokers Brokers, as broker-a,broker-b:1.'
            set columns 'brokerName|brokerId|result|'
        case inventorypin
            set family read
            set places \
                '-b,--brokers=brokers Brokers (broker-a,broker-b:1), a file with one broker per line, a plan, or a journal.'
            set options \
                '-b,--brokers=brokers Brokers (broker-a,broker-b:1), a file with one broker per line, a plan, or a journal.' \
                '--unpin Undo the pin: forget them again after 7 days if no name server lists them.'
            set columns 'brokerName|brokerId|result|'
        case checkrocksdbcqwriteprogress
            set family read
            set places \
                '-c,--cluster=clusters Every master of this cluster.'
            set options \
                '-c,--cluster=clusters Every master of this cluster.' \
                '-t,--topic=topics Only this topic.' \
                '-cf,--checkFrom= Only messages stored since this time. Default: 30 days ago.'
            set columns 'brokerName|brokerId|brokerAddr|checkStatus|result|error|'
        case getcolddataflowctrinfo
            set family read
            set places \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.'
            set options \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.' \
                '-c,--clusterName=clusters All masters and slaves of this cluster.'
            set columns 'brokerName|brokerId|brokerAddr|consumerGroup|threshold|coldAcc|since|lastColdRead|error|'
        case drainstatus
            set family read
            set places \
                '-b,--brokerName=brokers Only the drain of this broker.'
            set options \
                '-b,--brokerName=brokers Only the drain of this broker.'
            set columns 'brokerName|clusterName|phase|started|by|pid|namesrvAddr|topicCount|openTopics|reopened|differing|error|'
        case rebalanceplan
            set family read
            set options \
                '-c,--clusterName=clusters The cluster. Default: the only one.' \
                '--add=brokers Bring this new broker into use. Repeatable.' \
                '--remove=brokers Take all queues from this broker. Repeatable.' \
                '--goal=load|queues|disk Level messages (load), numbers of queues, or bytes (disk).' \
                '--topics= Move only topics that match this shell pattern, such as \'orders-*\'. Repeatable.' \
                '--sample= Measure traffic for so long, such as 5m. Default: the brokers\' statistics of up to 24 h.' \
                '--journal=folders Read the traffic from this journal of `collect --lag`.' \
                '--queue-counts= Numbers of queues that a changed topic may have on a broker.' \
                '--max-topics= Change at most N topics. Default: no limit.' \
                '--max-share= Move at most this percent of the load. Default: no limit.' \
                '--out=files Write the plan to FILE, for rebalance run.'
            set columns 'brokerName|role|writesBefore|writesAfter|readsBefore|readsAfter|diskBefore|diskAfter|queuesBefore|queuesAfter|'
        case rebalancestatus
            set family read
            set options \
                '-c,--clusterName=clusters Only runs in this cluster. Default: all clusters.'
            set columns 'clusterName|planDigest|phase|started|by|pid|movedTopics|movingTopics|topic|brokerName|stage|step|readQueueNums|writeQueueNums|since|waitingFor|planFile|error|'
        case topiclist
            set family read
            set options \
                '-c,--clusterModel Also show the clusters and consumer groups of each topic.' \
                '--system,--no-system Whether to show RocketMQ\'s own topics.' \
                '--cluster=clusters Only topics of this cluster.'
            set columns 'topic|clusterName|consumerGroups|'
        case topicroute
            set family read
            set places \
                '-t,--topic=topics Name of a topic.'
            set options \
                '-t,--topic=topics Name of a topic.' \
                '--raw Print the JSON of the name server.' \
                '-l,--list Accepted for mqadmin. nsadmin prints rows by default.'
            set columns 'topic|brokerName|clusterName|brokerAddrs|perm|readQueueNums|writeQueueNums|topicSysFlag|logicalQueues|'
        case topicstatus
            set family read
            set places \
                '-t,--topic=topics Name of a topic.'
            set options \
                '-t,--topic=topics Name of a topic.' \
                '-c,--cluster=clusters If the topic has no route: ask the brokers of this cluster or topic.'
            set columns 'topic|brokerName|brokerAddr|queueId|minOffset|maxOffset|lastUpdated|topicPutTps|error|'
        case topicclusterlist
            set family read
            set places \
                '-t,--topic=topics Name of a topic.'
            set options \
                '-t,--topic=topics Name of a topic.'
            set columns 'clusterName|'
        case statsall
            set family read
            set places \
                '-t,--topic=topics Only this topic.'
            set options \
                '-t,--topic=topics Only this topic.' \
                '-a,--activeTopic Only topics with a message in the last 24 hours.'
            set columns 'topic|consumerGroup|accumulation|inTps|outTps|inMsg24Hour|outMsg24Hour|error|'
        case routeexplain
            set family read
            set places \
                '-t,--topic=topics Name of a topic.'
            set options \
                '-t,--topic=topics Name of a topic.' \
                '-c,--clusterName=clusters The cluster where the client expects the topic.' \
                '-b,--brokerAddr=addresses A broker that should have it, if no name server has that broker. Repeatable.' \
                '--client= The name servers in the client\'s configuration. nsadmin also asks these.' \
                '--zone= The client\'s zone (rocketmq.zone).' \
                '--contexts Also look for the topic in all other contexts.' \
                '--journal=folders Folder of a name server\'s journal, or of `nsadmin collect`. Repeatable. Default: the context\'s.' \
                '--expect=BROKERS|FILE Brokers that must be registered: broker-a,broker-b:1, a file with one in each line, a plan or a journal.'
            set columns 'step|result|namesrvAddrs|brokerName|brokerAddr|seen|next|command|'
        case allocatemq
            set family read
            set places \
                '-t,--topic=topics Name of a topic.' \
                '-i,--ipList= Client ids, or placeholders: a,b,c.'
            set options \
                '-t,--topic=topics Name of a topic.' \
                '-i,--ipList= Client ids, or placeholders: a,b,c.'
            set columns 'clientId|topic|brokerName|queueId|'
        case getbrokerliteinfo
            set family read
            set places \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.'
            set options \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.' \
                '-c,--cluster=clusters Every master of this cluster.' \
                '-d,--showDetail Show parent topics and their groups in the table.'
            set columns 'brokerName|brokerId|brokerAddr|storeType|maxLmqNum|currentLmqNum|liteSubscriptionCount|orderInfoCount|cqTableSize|offsetTableSize|eventMapSize|topicMeta|groupMeta|error|'
        case getparenttopicinfo
            set family read
            set places \
                '-p,--parentTopic=topics Name of a parent topic.'
            set options \
                '-p,--parentTopic=topics Name of a parent topic.'
            set columns 'brokerName|brokerAddr|ttl|liteTopicCount|lmqNum|groups|error|'
        case getlitetopicinfo
            set family read
            set places \
                '-p,--parentTopic=topics Name of a parent topic.' \
                '-l,--liteTopic= Name of a lite topic.'
            set options \
                '-p,--parentTopic=topics Name of a parent topic.' \
                '-l,--liteTopic= Name of a lite topic.' \
                '-s,--showClientId Show subscribers in the table.'
            set columns 'brokerName|brokerAddr|minOffset|maxOffset|lastUpdated|shardingToBroker|subscriberCount|subscribers|error|'
        case getliteclientinfo
            set family read
            set places \
                '-p,--parentTopic=topics Name of a parent topic.' \
                '-g,--group=groups A consumer group.' \
                '-c,--clientId= Id of a client.'
            set options \
                '-p,--parentTopic=topics Name of a parent topic.' \
                '-g,--group=groups A consumer group.' \
                '-c,--clientId= Id of a client.' \
                '-s,--showDetail Show its lite topics in the table.'
            set columns 'brokerName|brokerAddr|liteTopicCount|lastAccessTime|lastConsumeTime|liteTopics|error|'
        case getlitegroupinfo
            set family read
            set places \
                '-p,--parentTopic=topics Name of a parent topic.' \
                '-g,--group=groups A consumer group.'
            set options \
                '-p,--parentTopic=topics Name of a parent topic.' \
                '-g,--group=groups A consumer group.' \
                '-l,--liteTopic= Only this lite topic.' \
                '-k,--topK= Number of lite topics to show, starting with the largest backlog.'
            set columns 'brokerName|brokerAddr|liteTopic|brokerOffset|consumerOffset|lagCount|earliestUnconsumedTime|lastTime|error|'
        case consumerprogress
            set family read
            set places \
                '-g,--groupName=groups A consumer group. Default: all groups.'
            set options \
                '-g,--groupName=groups A consumer group. Default: all groups.' \
                '-t,--topicName=topics Only this topic of the group.' \
                '-s,--showClientIP=true|false Ask the clients which of them owns each queue.' \
                '-c,--cluster=clusters Ask only the brokers of this cluster.' \
                '--system Without GROUP: also show the groups that brokers create for themselves.' \
                '--expect=BROKERS|FILE Brokers that must be registered: broker-a,broker-b:1, a file with one in each line, a plan or a journal.'
            set columns 'group|topic|brokerName|queueId|brokerOffset|consumerOffset|diff|inflight|lastTime|clientId|brokerAddr|error|count|version|consumeType|messageModel|tps|diffTotal|inflightTotal|'
        case consumerconnection
            set family read
            set places \
                '-g,--consumerGroup=groups A consumer group.'
            set options \
                '-g,--consumerGroup=groups A consumer group.' \
                '-b,--brokerAddr=addresses Ask only this broker: address, NAME or NAME/ID.' \
                '-c,--cluster=clusters Ask only the brokers of this cluster.'
            set columns 'group|clientId|clientAddr|language|version|protocol|consumeType|messageModel|consumeFromWhere|subscriptions|brokerAddrs|proxyAddrs|lastHeartbeat|'
        case consumerstatus
            set family read
            set places \
                '-g,--consumerGroup=groups A consumer group.'
            set options \
                '-g,--consumerGroup=groups A consumer group.' \
                '-i,--clientId= Only this client of the group.' \
                '-b,--brokerAddr=addresses Only clients that are connected to this broker.' \
                '-s,--jstack Show the thread stacks of the clients instead of rows.' \
                '-c,--cluster=clusters Ask only the brokers of this cluster.'
            set columns 'group|clientId|version|language|protocol|proxyAddrs|startTime|topic|brokerName|queueId|commitOffset|cachedMsgCount|cachedMsgSizeInMiB|lastPullTime|lastConsumeTime|waitAckCount|lastPopTime|locked|dropped|consumeOKTPS|consumeFailedTPS|consumeRT|pullTPS|pullRT|subscriptions|properties|error|'
        case brokerconsumestats
            set family read
            set places \
                '-b,--brokerAddr=addresses One broker: address, NAME or NAME/ID.'
            set options \
                '-b,--brokerAddr=addresses One broker: address, NAME or NAME/ID.' \
                '-t,--timeoutMillis= Timeout of the broker.' \
                '-l,--level= Only queues that are at least this far behind.' \
                '-o,--order=true|false true: only ordered topics.'
            set columns 'topic|group|brokerName|queueId|brokerOffset|consumerOffset|diff|lastTime|'
        case getconsumerconfig
            set family read
            set places \
                '-g,--groupName=groups A consumer group.'
            set options \
                '-g,--groupName=groups A consumer group.' \
                '-c,--clusterName=clusters Only the brokers of this cluster.'
            set columns 'group|brokerName|brokerAddr|consumeEnable|consumeFromMinEnable|consumeBroadcastEnable|consumeMessageOrderly|retryQueueNums|retryMaxTimes|groupRetryPolicy|consumeTimeoutMinute|brokerId|whichBrokerWhenConsumeSlowly|notifyConsumerIdsChangedEnable|groupSysFlag|subscriptionDataSet|attributes|error|'
        case getconsumemode
            set family read
            set options \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.' \
                '-c,--clusterName=clusters All masters and slaves of this cluster.' \
                '-t,--topicName=topics Only this topic.' \
                '-g,--groupName=groups Only this group.'
            set columns 'brokerName|brokerId|brokerAddr|topic|consumerGroup|mode|popShareQueueNum|error|'
        case clientlist
            set family read
            set options \
                '-c,--cluster=clusters Ask only the brokers of this cluster.' \
                '--system Also show clients that only have groups of RocketMQ itself.'
            set columns 'clientId|clientAddr|language|version|protocol|role|groups|producerGroups|proxyAddrs|brokerAddrs|lastHeartbeat|'
        case producer
            set family read
            set places \
                '-b,--broker=addresses A broker: address, NAME or NAME/ID. Default: all brokers.'
            set options \
                '-b,--broker=addresses A broker: address, NAME or NAME/ID. Default: all brokers.' \
                '--internal,--no-internal Whether to show CLIENT_INNER_PRODUCER.'
            set columns 'producerGroup|clientId|clientAddr|language|version|protocol|lastUpdated|brokerAddr|'
        case producerconnection
            set family read
            set places \
                '-g,--producerGroup=producer-groups A producer group.' \
                '-t,--topic=topics Ask only the brokers of this topic.'
            set options \
                '-g,--producerGroup=producer-groups A producer group.' \
                '-t,--topic=topics Ask only the brokers of this topic.'
            set columns 'producerGroup|clientId|clientAddr|language|version|protocol|brokerAddrs|'
        case querymsgbykey
            set family read
            set places \
                '-t,--topic=topics Name of a topic.' \
                '-k,--msgKey= One of the keys of a message.'
            set options \
                '-t,--topic=topics Name of a topic.' \
                '-k,--msgKey= One of the keys of a message.' \
                '-b,--beginTimestamp= Only messages stored since: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.' \
                '-e,--endTimestamp= Only messages stored until this time.' \
                '-m,--maxNum= The maximum number of messages, the newest first.' \
                '-p,--keyType=K|T K: a key. T: a tag, only with a RocksDB index.' \
                '-l,--lastKey= Continue after this indexKey, with a RocksDB index.' \
                '-c,--cluster=topics Ask the brokers of this topic or cluster instead.' \
                '--decode= Decode bodies: base64, gzip, hex, json, avro[:SCHEMA], protobuf:FILE#TYPE. Repeatable.'
            set columns 'msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|indexKey|'
        case querymsgbyoffset
            set family read
            set places \
                '-t,--topic=topics Name of a topic.' \
                '-b,--brokerName=brokers Name of a broker.' \
                '-i,--queueId= Number of a queue, from 0.' \
                '-o,--offset= Position in the queue.'
            set options \
                '-t,--topic=topics Name of a topic.' \
                '-b,--brokerName=brokers Name of a broker.' \
                '-i,--queueId= Number of a queue, from 0.' \
                '-o,--offset= Position in the queue.' \
                '-f,--bodyFormat= Encoding of the bodies. Default: UTF-8.' \
                '-r,--routeTopic=topics Ask the brokers of this topic instead.' \
                '--decode= Decode bodies: base64, gzip, hex, json, avro[:SCHEMA], protobuf:FILE#TYPE. Repeatable.'
            set columns 'msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|tracks|'
        case querymsgtracebyid
            set family read
            set places \
                '-i,--msgId= Message id from the producer\'s log.'
            set options \
                '-i,--msgId= Message id from the producer\'s log.' \
                '-t,--traceTopic=topics Topic of the traces.' \
                '-b,--beginTimestamp= Only traces since: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.' \
                '-e,--endTimestamp= Only traces until this time.' \
                '-c,--maxNum= Maximum number of trace messages to read from each broker.'
            set columns 'type|group|clientHost|time|costMs|status|topic|msgId|offsetMsgId|tags|keys|storeHost|messageType|retryTimes|requestId|transactionId|'
        case printmsg
            set family read
            set places \
                '-t,--topic=topics Name of a topic.'
            set options \
                '-t,--topic=topics Name of a topic.' \
                '-c,--charsetName= Encoding of the bodies. Default: UTF-8.' \
                '-s,--subExpression= Only messages with one of these tags: A || B.' \
                '-b,--beginTimestamp= Only messages stored since: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.' \
                '-e,--endTimestamp= Only messages stored until this time.' \
                '-d,--printBody=true|false Whether to show bodies. Default: true.' \
                '-l,--lmqParentTopic=topics Ask the brokers of this topic instead.' \
                '--maxNum= Maximum number of messages.'
            set columns 'msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|'
        case printmsgbyqueue
            set family read
            set places \
                '-t,--topic=topics Name of a topic.' \
                '-a,--brokerName=brokers Name of a broker.' \
                '-i,--queueId= Number of a queue, from 0.'
            set options \
                '-t,--topic=topics Name of a topic.' \
                '-a,--brokerName=brokers Name of a broker.' \
                '-i,--queueId= Number of a queue, from 0.' \
                '-c,--charsetName= Encoding of the bodies. Default: UTF-8.' \
                '-s,--subExpression= Only messages with one of these tags: A || B.' \
                '-b,--beginTimestamp= Only messages stored since: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.' \
                '-e,--endTimestamp= Only messages stored until this time.' \
                '-p,--print=true|false Whether to show messages. Default: true, or false with -f.' \
                '-d,--printBody=true|false Whether to show bodies. Default: false.' \
                '-f,--calculate=true|false Count messages by tag, without a limit. Default: false.' \
                '--maxNum= Maximum number of messages.'
            set columns 'msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|tag|count|'
        case consumemessage
            set family read
            set places \
                '-t,--topic=topics Name of a topic.'
            set options \
                '-t,--topic=topics Name of a topic.' \
                '-b,--brokerName=brokers Only queues of this broker.' \
                '-i,--queueId= With -b: only this queue.' \
                '-o,--offset= With -i: start at this offset.' \
                '-g,--consumerGroup=groups Ignored: nsadmin joins no group.' \
                '-s,--beginTimestamp= Only messages stored since: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.' \
                '-e,--endTimestamp= Only messages stored until this time.' \
                '-c,--MessageNumber= Maximum number of messages.'
            set columns 'msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|'
        case messagetrack
            set family read
            set places \
                '-t,--topic=topics Name of a topic.' \
                '-i,--msgId= An id of either kind.'
            set options \
                '-t,--topic=topics Name of a topic.' \
                '-i,--msgId= An id of either kind.'
            set columns 'time|step|group|detail|topic|brokerName|queueId|queueOffset|offsetMsgId|'
        case consume
            set family read
            set places \
                '-t,--topic=topics Name of a topic.'
            set options \
                '-t,--topic=topics Name of a topic.' \
                '--from= earliest, latest, offset:N or a time; latest with --follow, else earliest.' \
                '--until= Only messages stored until: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.' \
                '-f,--follow Print also the messages to come, until Ctrl-C.' \
                '--limit= Stop after N messages.' \
                '-b,--broker=brokers Only queues of this broker.' \
                '-i,--queue= Only queues with this id.' \
                '--tag= Only messages with this tag. Repeatable.' \
                '--sql= Only messages that this expression matches on the broker.' \
                '--key= Only messages with this key. Repeatable.' \
                '--property= Only messages with this property. Repeatable.' \
                '--body= Only messages whose body matches somewhere.' \
                '--field= Only messages whose JSON body has this value, such as order.id=7. Repeatable.' \
                '--format= A line for each message, such as \'{storeTime} {body}\'.' \
                '--decode= Decode bodies: base64, gzip, hex, json, avro[:SCHEMA], protobuf:FILE#TYPE. Repeatable.'
            set columns 'msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|'
        case messagesexport
            set family read
            set places \
                '-t,--topic=topics Names of topics, separated by commas.'
            set options \
                '-t,--topic=topics Names of topics, separated by commas.' \
                '--to=FILE|DIR File for all topics (.jsonl, .jsonl.gz, .parquet), or folder.' \
                '--form=jsonl|jsonl.gz|parquet Form of the files in a folder. Default: jsonl.gz.' \
                '--since= Only messages stored since: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.' \
                '--until= Only messages stored until this time.' \
                '--tag= Only messages with this tag. Repeatable.' \
                '--key= Only messages with this key. Repeatable.' \
                '--property= Only messages with this property. Repeatable.' \
                '--body= Only messages whose body matches somewhere.' \
                '-b,--broker=brokers Only queues of this broker.' \
                '-i,--queue= Only queues with this id.'
            set columns 'topic|file|messageCount|bodyBytes|result|error|'
        case delayedlist
            set family read
            set places \
                '-t,--topic=topics Name of a topic.'
            set options \
                '-t,--topic=topics Name of a topic.'
            set columns 'msgId|topic|brokerName|deliverTime|remainingMs|level|cancelled|keys|tags|storeTime|offsetMsgId|body|bodyEncoding|'
        case dlqlist
            set family read
            set options \
                '--all List also groups whose dead-letter topic is empty.'
            set columns 'group|messageCount|lastHourCount|oldest|newest|originTopics|brokerNames|error|'
        case dlqshow
            set family read
            set places \
                '-g,--consumerGroup=groups Name of a consumer group.'
            set options \
                '-g,--consumerGroup=groups Name of a consumer group.' \
                '--since= Only dead letters stored since: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.' \
                '--until= Only dead letters stored until this time.' \
                '--origin=topics Only messages from this topic. Repeatable.' \
                '--key= Only messages with this key. Repeatable.' \
                '--tag= Only messages with this tag. Repeatable.' \
                '--body= Only messages whose body matches somewhere, read as UTF-8.' \
                '--id= Only the dead letter with this offsetMsgId of `dlq show`. Repeatable.' \
                '--limit= Stop after N messages; 128 by default, all with --export.' \
                '--export=files Write a line of JSON for each message here.' \
                '--decode= Decode bodies: base64, gzip, hex, json, avro[:SCHEMA], protobuf:FILE#TYPE. Repeatable.'
            set columns 'msgId|originTopic|originMsgId|keys|tags|attempts|replays|storeTime|ageMs|brokerName|queueId|queueOffset|offsetMsgId|bornTime|bornHost|storeSize|properties|body|bodyEncoding|bodyError|file|messageCount|'
        case querycq
            set family read
            set places \
                '-t,--topic=topics Name of a topic.' \
                '-q,--queue= Number of a queue, from 0.' \
                '-i,--index= The first entry, by its position in the queue.'
            set options \
                '-t,--topic=topics Name of a topic.' \
                '-q,--queue= Number of a queue, from 0.' \
                '-i,--index= The first entry, by its position in the queue.' \
                '-c,--count= The maximum number of entries.' \
                '-b,--broker=addresses Only this broker: address, NAME or NAME/ID.' \
                '-g,--consumer=groups Show whether the filter of this group accepts each message.'
            set columns 'brokerName|brokerAddr|topic|queueId|queueOffset|physicalOffset|storeSize|tagsCode|extendData|bitMap|eval|msg|'
        case dumpcompactionlog
            set family read
            set places \
                '-f,--file=files A file of a broker on this machine.'
            set options \
                '-f,--file=files A file of a broker on this machine.'
            set columns 'msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|'
        case where
            set family read
            set columns 'namesrvAddr|source|context|reachable|latencyMillis|version|signed|tls|readOnly|error|'
        case divergence
            set family read
            set options \
                '--detail Show a row for each item instead of one for each kind of difference.' \
                '--hashes Show a row for each name server instead, with a hash of each section.' \
                '--settle= How long brokers may take to make name servers equal. Default: 60.' \
                '--section=broker|topic|kv|setting Only broker, topic, kv or setting. Repeatable.' \
                '-s,--namespace=namespaces Include this KV namespace. Repeatable.' \
                '--expect=BROKERS|FILE Brokers that must be registered: broker-a,broker-b:1, a file with one in each line, a plan or a journal.'
            set columns 'what|name|brokerName|count|state|seenFor|differs|cause|causeKind|advice|values|namesrvAddr|brokers|topics|brokerHash|topicHash|kvHash|settingHash|error|'
        case kvget
            set family read
            set places \
                '-s,--namespace=namespaces Namespace, for example ORDER_TOPIC_CONFIG, whose keys are topics.' \
                '-k,--key=kv-keys Key in the namespace.'
            set options \
                '-s,--namespace=namespaces Namespace, for example ORDER_TOPIC_CONFIG, whose keys are topics.' \
                '-k,--key=kv-keys Key in the namespace.'
            set columns 'namesrvAddr|namespace|key|value|result|error|'
        case kvlist
            set family read
            set places \
                '-s,--namespace=namespaces Namespace, for example ORDER_TOPIC_CONFIG, whose keys are topics.'
            set options \
                '-s,--namespace=namespaces Namespace, for example ORDER_TOPIC_CONFIG, whose keys are topics.'
            set columns 'namesrvAddr|namespace|key|value|result|error|'
        case kvdiff
            set family read
            set options \
                '-s,--namespace=namespaces KV namespace. Default: ORDER_TOPIC_CONFIG. Repeatable.'
            set columns 'namespace|key|differs|values|'
        case kvexport
            set family read
            set places \
                '--file=files File to write. Default: standard output.'
            set options \
                '--file=files File to write. Default: standard output.' \
                '-s,--namespace=namespaces KV namespace. Default: ORDER_TOPIC_CONFIG. Repeatable.' \
                '--from=name-servers Export the KV config of this name server.'
            set columns 'file|namespace|entries|'
        case getnamesrvconfig
            set family read
            set columns 'namesrvAddr|key|value|'
        case orderconfcheck
            set family read
            set places \
                '-t,--topic=topics Only this topic.'
            set options \
                '-t,--topic=topics Only this topic.'
            set columns 'topic|severity|kind|problem|orderConf|servers|'
        case export
            set family read
            set places \
                '-c,--clusterName=clusters Name of a cluster.'
            set options \
                '-c,--clusterName=clusters Name of a cluster.' \
                '-s,--namespace=namespaces Include this KV namespace. Repeatable.' \
                '--schema Write the JSON schema of these files instead.'
        case plan
            set family read
            set places \
                '--file=files A YAML file with the wanted state.'
            set options \
                '--file=files A YAML file with the wanted state.' \
                '--prune Delete items that the file does not have, in the sections that it has.' \
                '--save-to=files Save the plan for `nsadmin apply`.' \
                '--exit-code Exit with 2 if the plan has changes, and with 1 if the file is invalid.'
            set columns 'kind|name|action|servers|changes|before|after|messages|result|error|'
        case backupcreate
            set family read
            set places \
                '-c,--clusterName=clusters Name of a cluster.'
            set options \
                '-c,--clusterName=clusters Name of a cluster.' \
                '--file=files File to write. It is replaced.' \
                '--dir=folders Folder to write to. The file is named by cluster and time.' \
                '-s,--namespace=namespaces Include this KV namespace. Repeatable.' \
                '--with-secrets Include passwords and secret keys, encrypted with a passphrase.' \
                '--passphrase-file=files File with the passphrase of the passwords. Default: the variable NSADMIN_BACKUP_PASSPHRASE.' \
                '--sign-key=files Sign the backup with a private Ed25519 key in PEM form.' \
                '--every= Repeat after this time, such as 1h. Needs --dir.' \
                '--keep= Keep this number of backups of the cluster in --dir, and delete older ones.'
            set columns 'file|clusterName|time|brokers|topics|groups|offsets|users|size|missing|'
        case backupdiff
            set family read
            set places \
                '--file=files A file of `nsadmin backup create`.' \
                '--with= A later backup. Default: the cluster as it is now.'
            set options \
                '--file=files A file of `nsadmin backup create`.' \
                '--with= A later backup. Default: the cluster as it is now.' \
                '--offsets Also compare offsets, which move while consumers run.'
            set columns 'section|brokerName|name|differs|before|after|'
        case transferverify
            set family read
            set places \
                '-t,--topic=topics Topics, separated by commas.'
            set options \
                '-t,--topic=topics Topics, separated by commas.' \
                '--from=contexts The source: a context, or name servers (HOST:PORT).' \
                '--to=contexts The target: a context, or name servers (HOST:PORT).' \
                '--map-topic= Name of a topic in the target. Repeatable.'
            set columns 'topic|brokerName|queueId|targetTopic|targetBroker|targetQueue|compared|copies|missing|duplicates|changed|misplaced|expired|remaining|missingOffsets|sourceHash|targetHash|result|'
        case bundlecreate
            set family read
            set places \
                '--file=files File to write. Default: named by the time.'
            set options \
                '--file=files File to write. Default: named by the time.' \
                '--since= Include journals and the audit log of this last time.' \
                '--journal=folders Include this journal, or folder of `nsadmin collect`. Repeatable. Default: the context\'s.' \
                '-s,--namespace=namespaces Include this KV namespace. Repeatable.' \
                '--anonymise Replace host names and addresses by pseudonyms.' \
                '--anonymise-names Also replace names of topics, groups, brokers, clusters and users. Implies --anonymise.' \
                '--rate= Send each server at most N requests per second. Default: 5000, or 20000 for name servers.' \
                '--max-details= Send at most N requests about single topics, groups and clients.'
            set columns 'file|time|nsadmin|nameServers|servers|answers|seconds|size|anonymised|leftOut|'
        case whatif
            set family read
            set options \
                '--down=brokers Broker names, separated by commas. broker-a:0 is only its master.' \
                '--down-namesrv= Addresses of name servers, separated by commas.' \
                '--down-proxy=proxies Addresses of proxies, separated by commas.' \
                '--detail Show each topic, broker and client, also those with a partial loss.' \
                '--system Include RocketMQ\'s own topics, and topics of retries and dead letters.'
            set columns 'what|name|count|finding|lostRatio|writeQueues|writeQueuesLeft|readQueues|readQueuesLeft|brokersLost|topics|clients|namesrvAddrs|nameServers|nameServersLeft|clientsLeft|proxyAddrs|'
        case spread
            set family read
            set places \
                '-t,--topic=topics Only this topic.'
            set options \
                '-t,--topic=topics Only this topic.' \
                '--all All topics that are unbalanced.' \
                '-c,--clusterName=clusters Only this cluster.' \
                '--plan=files Write a plan that balances them, for plan and apply.'
            set columns 'clusterName|topic|finding|missing|queues|differing|'
        case registrationsize
            set family read
            set options \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.' \
                '-c,--clusterName=clusters All masters and slaves of this cluster.' \
                '--largest= Show this number of topics of each broker, the largest first.' \
                '--removable Show the topics of retries and dead letters whose group no longer exists.'
            set columns 'clusterName|brokerName|brokerId|brokerAddr|version|topics|form|frames|bytes|framePercent|fits|removable|removableBytes|largestTopic|largestTopicBytes|error|topic|vanishedGroup|'
        case listuser
            set family read
            set options \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.' \
                '-c,--clusterName=clusters All masters and slaves of this cluster.' \
                '-f= Only users whose names contain this text.'
            set columns 'brokerName|brokerId|brokerAddr|username|userType|userStatus|'
        case getuser
            set family read
            set places \
                '-u,--username= Name of the user.'
            set options \
                '-u,--username= Name of the user.' \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.' \
                '-c,--clusterName=clusters All masters and slaves of this cluster.'
            set columns 'brokerName|brokerId|brokerAddr|username|userType|userStatus|'
        case listacl
            set family read
            set options \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.' \
                '-c,--clusterName=clusters All masters and slaves of this cluster.' \
                '-s,--subject= Only subjects that contain this text.' \
                '-r,--resource= Only resources that contain this text.'
            set columns 'brokerName|brokerId|brokerAddr|subject|policyType|resource|actions|sourceIps|decision|'
        case getacl
            set family read
            set places \
                '-s,--subject= The user: User:NAME or NAME.'
            set options \
                '-s,--subject= The user: User:NAME or NAME.' \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.' \
                '-c,--clusterName=clusters All masters and slaves of this cluster.'
            set columns 'brokerName|brokerId|brokerAddr|subject|policyType|resource|actions|sourceIps|decision|'
        case getaclconfig
            set family read
            set options \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.' \
                '-c,--clusterName=clusters All masters and slaves of this cluster.'
            set columns 'brokerName|brokerId|brokerAddr|accessKey|admin|whiteRemoteAddress|defaultTopicPerm|defaultGroupPerm|topicPerms|groupPerms|globalWhiteAddrs|'
        case clusteraclconfigversion
            set family read
            set options \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.' \
                '-c,--clusterName=clusters All masters and slaves of this cluster.'
            set columns 'brokerName|brokerId|brokerAddr|aclFile|counter|lastUpdated|'
        case getcontrollermetadata
            set family read
            set options \
                '-a,--controllerAddress= Controllers, as HOST:PORT;HOST:PORT.'
            set columns 'controllerAddr|isLeader|group|leaderId|leaderAddr|peers|'
        case getsyncstateset
            set family read
            set options \
                '-a,--controllerAddress= Controllers, as HOST:PORT;HOST:PORT.' \
                '-b,--brokerName=brokers Only this broker.' \
                '-c,--clusterName=clusters Every broker of this cluster.' \
                '-i,--interval= Repeat after this time, until Ctrl-C.'
            set columns 'brokerName|brokerId|brokerAddr|isMaster|inSync|alive|masterEpoch|syncStateSetEpoch|'
        case getbrokerepoch
            set family read
            set options \
                '-b,--brokerName=brokers Only this broker.' \
                '-c,--clusterName=clusters Every broker of this cluster.' \
                '-i,--interval= Repeat after this time, until Ctrl-C.'
            set columns 'brokerName|brokerId|brokerAddr|epoch|startOffset|endOffset|maxOffset|'
        case getcontrollerconfig
            set family read
            set options \
                '-a,--controllerAddress= Controllers, as HOST:PORT;HOST:PORT.'
            set columns 'controllerAddr|key|value|'
        case history
            set family read
            set places \
                '--kind=topic|broker|cluster|kv topic, broker, cluster or kv. Default: all events.' \
                '--name= Name of the subject; for kv, the namespace.' \
                '--key= For kv: only this key.'
            set options \
                '--kind=topic|broker|cluster|kv topic, broker, cluster or kv. Default: all events.' \
                '--name= Name of the subject; for kv, the namespace.' \
                '--key= For kv: only this key.' \
                '--since= Only events since this time: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.' \
                '--until= Only events before this time.' \
                '--type= Only events of this type, such as TopicsChanged. Repeatable.' \
                '--limit= Only the newest N events; 0 for all. Default: 1000.' \
                '-f,--follow Follow new events, until Ctrl-C.' \
                '--namesrv= Only the journal of this name server, by its name in the records.' \
                '--journal=folders Folder of a name server\'s journal, or of `nsadmin collect`. Repeatable. Default: the context\'s.'
            set columns 'seq|time|server|type|changes|cause|client|event|'
        case routeat
            set family read
            set places \
                '-t,--topic=topics Name of a topic.'
            set options \
                '-t,--topic=topics Name of a topic.' \
                '--at= ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.' \
                '--namesrv= Only the journal of this name server, by its name in the records.' \
                '--journal=folders Folder of a name server\'s journal, or of `nsadmin collect`. Repeatable. Default: the context\'s.'
            set columns 'topic|brokerName|clusterName|brokerAddrs|perm|readQueueNums|writeQueueNums|topicSysFlag|logicalQueues|server|'
        case routediff
            set family read
            set places \
                '-t,--topic=topics Only this topic.'
            set options \
                '-t,--topic=topics Only this topic.' \
                '--from= The first side: a snapshot file, a name server (HOST:PORT), a context, or a time.' \
                '--to= The second side: the same kinds.' \
                '--unified Print text in the format of diff -U0.' \
                '--namesrv= Only the journal of this name server, by its name in the records.' \
                '--journal=folders Folder of a name server\'s journal, or of `nsadmin collect`. Repeatable. Default: the context\'s.'
            set columns 'what|name|brokerName|changes|before|after|'
        case snapshotsave
            set family read
            set places \
                '--file=files File to write. Default: a name with the current time.'
            set options \
                '--file=files File to write. Default: a name with the current time.' \
                '-s,--namespace=namespaces Include this KV namespace. Repeatable.' \
                '--at= Save the state at a past time, from a journal: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.' \
                '--namesrv= Only the journal of this name server, by its name in the records.' \
                '--journal=folders Folder of a name server\'s journal, or of `nsadmin collect`. Repeatable. Default: the context\'s.'
            set columns 'file|time|nameServers|brokers|topics|kvEntries|size|'
        case collect
            set family read
            set places \
                '--dir=folders Folder of the journals, with a subfolder for each name server.'
            set options \
                '--dir=folders Folder of the journals, with a subfolder for each name server.' \
                '--interval= Time between two polls: 500ms, 15s, 1m. Default: 15s.' \
                '--rate= Maximum requests per second, to all servers together. Default: 1000.' \
                '-s,--namespace= KV namespace to poll in addition to ORDER_TOPIC_CONFIG. Repeatable.' \
                '--once Poll each name server once, for cron.' \
                '--runtime Also poll brokers: release, TPS, disk, waiting requests.' \
                '--lag Also poll how far each consumer group is behind on each topic.' \
                '--broker-interval= Time between two rounds of brokers. Default: 60s.' \
                '--broker-rate= Maximum requests per second to brokers. Default: 50.' \
                '--keep-days= Maximum age of a journal\'s files. Default: 400.' \
                '--keep-megabytes= Maximum size of each journal. Default: 2048.'
            set columns 'namesrvAddr|result|brokers|topics|events|took|journal|error|'
        case exporter
            set family read
            set options \
                '--http= Address of the metrics page. Without a host: 127.0.0.1. Default: 9557.' \
                '--contexts= Contexts to export, separated by commas. Default: the name servers of the command line.' \
                '--interval= Time between two passes over all brokers. Default: 30s.' \
                '--topic-interval= Time between two passes over topics. Default: 60s.' \
                '--rate= Maximum requests per second to all servers of a cluster. Default: 250.' \
                '--include= Only topics and groups that match, such as \'orders*\'. Repeatable.' \
                '--exclude= No topics and groups that match. Repeatable.' \
                '--system Also the topics and groups that brokers create for themselves.' \
                '--per-queue Also a series for each queue of a topic and of a group.' \
                '--compat Also the metrics of rocketmq-exporter under its names; implies --system.' \
                '--max-series= Maximum series of a page. Default: 100000.'
        case discoveryprometheus
            set family read
            set options \
                '--port= Port of the targets, such as 9100 for node_exporter. Default: the port of each server.'
        case exportconfigs
            set family read
            set places \
                '-c,--clusterName=clusters Name of a cluster.'
            set options \
                '-c,--clusterName=clusters Name of a cluster.' \
                '-f,--filePath=folders Write a file to this folder instead of standard output.' \
                '--all All settings, not only the 16 settings that mqadmin picks.'
            set columns 'file|brokers|size|'
        case exportmetadata
            set family read
            set places \
                '-c,--clusterName=clusters Every master of this cluster.'
            set options \
                '-c,--clusterName=clusters Every master of this cluster.' \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.' \
                '-f,--filePath=folders Write a file to this folder instead of standard output.' \
                '-t,--topic Only topics.' \
                '-g,--subscriptionGroup Only consumer groups.' \
                '-s,--specialTopic Also the topics of retries and dead letters.' \
                '--sum Add up the queues of all brokers, like mqadmin. Use this only for counting.'
            set columns 'file|brokers|size|'
        case exportmetrics
            set family read
            set places \
                '-c,--clusterName=clusters Name of a cluster.'
            set options \
                '-c,--clusterName=clusters Name of a cluster.' \
                '-f,--filePath=folders Write a file to this folder instead of standard output.'
            set columns 'file|brokers|size|'
        case exportmetadatainrocksdb
            set family read
            set places \
                '-p,--path=folders A broker\'s config folder on this machine.' \
                '-t,--configType=topics|subscriptionGroups The tables to read.'
            set options \
                '-p,--path=folders A broker\'s config folder on this machine.' \
                '-t,--configType=topics|subscriptionGroups The tables to read.' \
                '-j,--jsonEnable=true|false true: print JSON in the broker\'s format instead of rows.'
            set columns 'key|value|'
        case updatebrokerconfig
            set family change
            set places \
                '-k,--key=broker-keys A setting that getBrokerConfig shows.' \
                '-v,--value= The new value.'
            set options \
                '-k,--key=broker-keys A setting that getBrokerConfig shows.' \
                '-v,--value= The new value.' \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.' \
                '-c,--clusterName=clusters Every master of this cluster.' \
                '-a,--updateAllBroker=true|false With -c: also the slaves.'
            set columns 'brokerName|brokerId|brokerAddr|key|changes|before|after|result|error|'
        case sendmsgstatus
            set family change
            set places \
                '-b,--brokerName=brokers Name of a broker.'
            set options \
                '-b,--brokerName=brokers Name of a broker.' \
                '-s,--messageSize= Bytes of each body.' \
                '-c,--count= Number of messages, sent one after another.'
            set columns 'brokerName|brokerAddr|queueId|offsetMsgId|queueOffset|rt|result|error|'
        case clusterrt
            set family change
            set options \
                '-a,--amount= Number of messages for each broker.' \
                '-s,--size= Bytes of each body.' \
                '-c,--cluster=clusters Only this cluster.' \
                '-p,--print=true|false true: print lines of TIME|ROOM|CLUSTER|BROKER|MS.' \
                '-m,--machineRoom= Location of the measurement, for a column.' \
                '-i,--interval= Repeat after this time, until Ctrl-C.'
            set columns 'time|machineRoom|clusterName|brokerName|brokerAddr|rt|maxRt|successCount|failCount|result|error|'
        case cleanexpiredcq
            set family change
            set places \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.'
            set options \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.' \
                '-c,--cluster=clusters Every master and slave of this cluster.'
            set columns 'brokerName|brokerId|brokerAddr|changes|result|error|'
        case deleteexpiredcommitlog
            set family change
            set places \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.'
            set options \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.' \
                '-c,--cluster=clusters Every master and slave of this cluster.'
            set columns 'brokerName|brokerId|brokerAddr|changes|result|error|'
        case cleanunusedtopic
            set family change
            set places \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.'
            set options \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.' \
                '-c,--cluster=clusters Every master and slave of this cluster.'
            set columns 'brokerName|brokerId|brokerAddr|changes|result|error|'
        case setcommitlogreadaheadmode
            set family change
            set places \
                '-m,--commitLogReadAheadMode=0|1 0 enables read-ahead, 1 disables it.'
            set options \
                '-m,--commitLogReadAheadMode=0|1 0 enables read-ahead, 1 disables it.' \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.' \
                '-c,--clusterName=clusters All masters and slaves of this cluster.'
            set columns 'brokerName|brokerId|brokerAddr|changes|before|after|result|error|'
        case switchtimerengine
            set family change
            set places \
                '-e,--engineType=R|F R (RocksDB) or F (time wheel files).'
            set options \
                '-e,--engineType=R|F R (RocksDB) or F (time wheel files).' \
                '-b,--brokerAddr=addresses One master: HOST:PORT or NAME.' \
                '-c,--clusterName=clusters All masters of this cluster.'
            set columns 'brokerName|brokerId|brokerAddr|changes|before|after|result|error|'
        case resetmasterflushoffset
            set family change
            set places \
                '-o,--offset= Position in the commit log, in bytes.'
            set options \
                '-o,--offset= Position in the commit log, in bytes.' \
                '-b,--brokerAddr=addresses A slave: address or NAME/ID.'
            set columns 'brokerName|brokerId|brokerAddr|changes|before|after|result|error|'
        case updatecolddataflowctrgroupconfig
            set family change
            set places \
                '-g,--consumerGroup=groups Name of a group.' \
                '-v,--threshold= Bytes of cold data per second.'
            set options \
                '-g,--consumerGroup=groups Name of a group.' \
                '-v,--threshold= Bytes of cold data per second.' \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.' \
                '-c,--clusterName=clusters All masters of this cluster.'
            set columns 'brokerName|brokerId|brokerAddr|consumerGroup|changes|before|after|result|error|'
        case removecolddataflowctrgroupconfig
            set family change
            set places \
                '-g,--consumerGroup=groups Name of a group.'
            set options \
                '-g,--consumerGroup=groups Name of a group.' \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.' \
                '-c,--clusterName=clusters All masters of this cluster.'
            set columns 'brokerName|brokerId|brokerAddr|consumerGroup|changes|before|after|result|error|'
        case addbroker
            set family change
            set places \
                '-c,--brokerContainerAddr= Address of the container.' \
                '-b,--brokerConfigPath= The broker\'s properties file, on the container\'s machine.'
            set options \
                '-c,--brokerContainerAddr= Address of the container.' \
                '-b,--brokerConfigPath= The broker\'s properties file, on the container\'s machine.'
            set columns 'brokerContainerAddr|broker|result|error|'
        case removebroker
            set family change
            set places \
                '-c,--brokerContainerAddr= Address of the container.' \
                '-b,--brokerIdentity= The broker to stop. 0 is the id of a master.'
            set options \
                '-c,--brokerContainerAddr= Address of the container.' \
                '-b,--brokerIdentity= The broker to stop. 0 is the id of a master.'
            set columns 'brokerContainerAddr|broker|result|error|'
        case drain
            set family change
            set places \
                '-b,--brokerName=brokers Name of a broker, from clusterList.'
            set options \
                '-b,--brokerName=brokers Name of a broker, from clusterList.' \
                '--hold Keep the broker drained after it is safe to stop, until Ctrl-C.' \
                '--then= Shell command to run when the broker is safe to stop. {brokerName} and {brokerAddr} are replaced, and are in NSADMIN_BROKER_NAME and NSADMIN_BROKER_ADDR.' \
                '--for-good Also wait until consumer groups have read all messages on the broker.' \
                '--move-queues With --for-good: first move the broker\'s queues to other brokers.' \
                '--durable Change brokerPermission, which survives a restart of the broker, instead of name servers.' \
                '--force Drain even if some topics lose their only writable broker.' \
                '--allow-unreachable Continue even if a name server does not answer.' \
                '--threshold= Messages per minute that count as no traffic. Default: 0.' \
                '--settle= How long clients need to refresh their routes (pollNameServerInterval). Default: 30s.' \
                '--interval= Time between two checks. Default: 10s.' \
                '--intervals= Number of checks in a row without writes. Default: 3.'
            set columns 'namesrvAddr|brokerName|topicCount|openTopics|result|error|'
        case undrain
            set family change
            set places \
                '-b,--brokerName=brokers Name of a broker, from clusterList.'
            set options \
                '-b,--brokerName=brokers Name of a broker, from clusterList.'
            set columns 'namesrvAddr|brokerName|topicCount|how|differing|result|error|'
        case rollingrestart
            set family change
            set places \
                '-c,--clusterName=clusters Name of the cluster.'
            set options \
                '-c,--clusterName=clusters Name of the cluster.' \
                '--stop= Shell command that stops a broker. {brokerName}, {brokerAddr}, {brokerId} are replaced, and are in NSADMIN_BROKER_NAME, NSADMIN_BROKER_ADDR, NSADMIN_BROKER_ID.' \
                '--start= Shell command that starts a broker, with the same replacements.' \
                '--pause-after= Stop after this number of broker names. The next run resumes.' \
                '--patience= How long a broker may take to become healthy. Default: 10m.' \
                '--durable Drain with brokerPermission, which also stops writes until slaves are in sync.' \
                '--force Restart even if some topics have only one broker.' \
                '--allow-unreachable Continue even if a name server does not answer.' \
                '--threshold= Messages per minute that count as no traffic. Default: 0.' \
                '--settle= How long clients need to refresh their routes (pollNameServerInterval). Default: 30s.' \
                '--interval= Time between two checks. Default: 10s.' \
                '--intervals= Number of checks in a row without writes. Default: 3.'
            set columns 'brokerName|brokerId|brokerAddr|steps|openTopics|result|'
        case rebalancerun
            set family change
            set places \
                '--file=files A plan of `nsadmin rebalance plan`.'
            set options \
                '--file=files A plan of `nsadmin rebalance plan`.' \
                '--rollback Move the topics back to where they were before this plan.' \
                '--ordered Also move ordered topics, and keep the sequence of every key.' \
                '--ignore-group=groups Do not wait for this group: it loses its unconsumed messages. Repeatable.' \
                '--max-topics= Topics that move at once. Default: 10.' \
                '--max-share= Percent of the cluster\'s write queues whose topics move at once. Default: 20.' \
                '--max-lag= Pause if a group has more unconsumed messages of a moving topic. Default: no limit.' \
                '--max-disk= Pause if a broker that gets queues uses more of its disk. Default: 85.' \
                '--max-send-errors= Pause if a broker fails to store more messages per minute. Default: 60.' \
                '--timeout= Pause if a step takes longer. Default: no limit.' \
                '--settle= How long clients need to refresh their routes and to share out queues. Default: 60s.' \
                '--interval= Time between two checks. Default: 5s.'
            set columns 'topic|brokerName|readBefore|readAfter|writeBefore|writeAfter|ordered|result|'
        case wipewriteperm
            set family change
            set places \
                '-b,--brokerName=brokers Name of a broker, from clusterList.'
            set options \
                '-b,--brokerName=brokers Name of a broker, from clusterList.'
            set columns 'namesrvAddr|brokerName|topicCount|changes|before|after|result|error|'
        case addwriteperm
            set family change
            set places \
                '-b,--brokerName=brokers Name of a broker, from clusterList.'
            set options \
                '-b,--brokerName=brokers Name of a broker, from clusterList.'
            set columns 'namesrvAddr|brokerName|topicCount|changes|before|after|result|error|'
        case repairwipe
            set family change
            set places \
                '-b,--brokerName=brokers Name of a broker, from clusterList.'
            set options \
                '-b,--brokerName=brokers Name of a broker, from clusterList.'
            set columns 'namesrvAddr|brokerName|topicCount|missing|changes|before|after|how|result|error|'
        case repairregister
            set family change
            set places \
                '-b,--brokerName=brokers Name of a broker, from clusterList.'
            set options \
                '-b,--brokerName=brokers Name of a broker, from clusterList.'
            set columns 'namesrvAddr|brokerName|topicCount|missing|changes|before|after|how|result|error|'
        case updatetopic
            set family change
            set places \
                '-t,--topic=topics Name of a topic.'
            set options \
                '-t,--topic=topics Name of a topic.' \
                '-b,--brokerAddr=addresses One master: HOST:PORT or NAME.' \
                '-c,--clusterName=clusters All masters of this cluster.' \
                '-r,--readQueueNums= Number of read queues.' \
                '-w,--writeQueueNums= Number of write queues.' \
                '-p,--perm=2|4|6 6 (read and write), 4 (read) or 2 (write).' \
                '-o,--order=true|false Ordered messages. true also writes the order configuration.' \
                '-u,--unit=true|false Whether the topic belongs to a unit.' \
                '-s,--hasUnitSub=true|false Whether units subscribe to the topic.' \
                '-a,--attributes= Attributes: +message.type=FIFO,-other. 5.0 and later.'
            set columns 'target|role|brokerName|topic|changes|before|after|result|error|'
        case updatetopicperm
            set family change
            set places \
                '-t,--topic=topics Name of a topic.' \
                '-p,--perm=2|4|6 6 (read and write), 4 (read) or 2 (write).'
            set options \
                '-t,--topic=topics Name of a topic.' \
                '-p,--perm=2|4|6 6 (read and write), 4 (read) or 2 (write).' \
                '-b,--brokerAddr=addresses One master: HOST:PORT or NAME.' \
                '-c,--clusterName=clusters All masters of this cluster.'
            set columns 'target|role|brokerName|topic|changes|before|after|result|error|'
        case updatetopiclist
            set family change
            set places \
                '-f,--filename=files A JSON list in mqadmin\'s format, or a file of exportMetadata or `nsadmin export`.'
            set options \
                '-f,--filename=files A JSON list in mqadmin\'s format, or a file of exportMetadata or `nsadmin export`.' \
                '-b,--brokerAddr=addresses One master: HOST:PORT or NAME.' \
                '-c,--clusterName=clusters All masters of this cluster.'
            set columns 'kind|name|action|servers|changes|before|after|messages|result|error|'
        case deletetopic
            set family change
            set places \
                '-t,--topic=topics Name of a topic.' \
                '-c,--clusterName=clusters The cluster to delete it from.'
            set options \
                '-t,--topic=topics Name of a topic.' \
                '-c,--clusterName=clusters The cluster to delete it from.'
            set columns 'target|role|topic|changes|before|after|result|error|'
        case updatestatictopic
            set family change
            set places \
                '-t,--topic=topics Name of a topic.'
            set options \
                '-t,--topic=topics Name of a topic.' \
                '-qn,--totalQueueNum= Total number of logical queues.' \
                '-b,--brokers=brokers Names of brokers.' \
                '-c,--clusters=clusters All brokers of these clusters.' \
                '-mf,--mapFile=files Execute this mapping file instead, see above.' \
                '-fr,--forceReplace=true|false Make brokers accept mappings that they would refuse.'
            set columns 'topic|queueId|before|after|brokerQueueId|logicOffset|result|error|'
        case remappingstatictopic
            set family change
            set places \
                '-t,--topic=topics Name of a topic.'
            set options \
                '-t,--topic=topics Name of a topic.' \
                '-b,--brokers=brokers Names of brokers.' \
                '-c,--clusters=clusters All brokers of these clusters.' \
                '-mf,--mapFile=files Execute this mapping file instead, see above.' \
                '-fr,--forceReplace=true|false Make brokers accept mappings that they would refuse.'
            set columns 'topic|queueId|before|after|brokerQueueId|logicOffset|result|error|'
        case triggerlitedispatch
            set family change
            set places \
                '-p,--parentTopic=topics Name of a parent topic.' \
                '-g,--group=groups A consumer group.'
            set options \
                '-p,--parentTopic=topics Name of a parent topic.' \
                '-g,--group=groups A consumer group.' \
                '-c,--clientId= Only for this client.' \
                '-b,--brokerName=brokers Only on this broker.'
            set columns 'brokerName|brokerAddr|group|clientId|result|error|'
        case updatesubgroup
            set family change
            set places \
                '-g,--groupName=groups A consumer group.'
            set options \
                '-g,--groupName=groups A consumer group.' \
                '-b,--brokerAddr=addresses One master: HOST:PORT or NAME.' \
                '-c,--clusterName=clusters All masters of this cluster.' \
                '-s,--consumeEnable=true|false Whether the group may consume.' \
                '-m,--consumeFromMinEnable=true|false Whether it starts at the oldest message.' \
                '-d,--consumeBroadcastEnable=true|false Whether it may broadcast.' \
                '-o,--consumeMessageOrderly=true|false Consume in order. 5.0 and later.' \
                '-q,--retryQueueNums= Queues of the retry topic.' \
                '-r,--retryMaxTimes= Retries before a dead letter.' \
                '-p,--groupRetryPolicy= Delays between retries, in JSON. 5.0 and later.' \
                '-i,--brokerId= Id of the broker to consume from.' \
                '-w,--whichBrokerWhenConsumeSlowly= The same if the group is far behind.' \
                '-a,--notifyConsumerIdsChanged=true|false Notify clients of new ones.' \
                '--attributes= Attributes, as in +key=value,-other. 5.1.3 and later.'
            set columns 'target|brokerName|group|changes|before|after|result|error|'
        case updatesubgrouplist
            set family change
            set places \
                '-f,--filename=files A JSON list in mqadmin\'s format, or a file of exportMetadata or `nsadmin export`.'
            set options \
                '-f,--filename=files A JSON list in mqadmin\'s format, or a file of exportMetadata or `nsadmin export`.' \
                '-b,--brokerAddr=addresses One master: HOST:PORT or NAME.' \
                '-c,--clusterName=clusters All masters of this cluster.'
            set columns 'kind|name|action|servers|changes|before|after|messages|result|error|'
        case deletesubgroup
            set family change
            set places \
                '-g,--groupName=groups A consumer group.'
            set options \
                '-g,--groupName=groups A consumer group.' \
                '-b,--brokerAddr=addresses One master: HOST:PORT or NAME.' \
                '-c,--clusterName=clusters All masters of this cluster.' \
                '-r,--removeOffset=true|false Also delete the group\'s offsets.' \
                '--keep-topics With -c: keep the group\'s retry and dead-letter topics.'
            set columns 'target|role|group|topic|changes|before|after|result|error|'
        case setconsumemode
            set family change
            set places \
                '-t,--topicName=topics Name of a topic.' \
                '-g,--groupName=groups Name of a group.' \
                '-m,--mode=PULL|POP PULL or POP.'
            set options \
                '-t,--topicName=topics Name of a topic.' \
                '-g,--groupName=groups Name of a group.' \
                '-m,--mode=PULL|POP PULL or POP.' \
                '-q,--popShareQueueNum= With POP: how many more clients share a queue.' \
                '-b,--brokerAddr=addresses One master: HOST:PORT or NAME.' \
                '-c,--clusterName=clusters All masters of this cluster.'
            set columns 'brokerName|brokerId|brokerAddr|topic|consumerGroup|changes|before|after|result|error|'
        case resetoffsetbytime
            set family change
            set places \
                '-g,--group=groups A consumer group.' \
                '-t,--topic=topics Name of a topic.'
            set options \
                '-g,--group=groups A consumer group.' \
                '-t,--topic=topics Name of a topic.' \
                '-s,--timestamp= The target time: -1 (the end), ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.' \
                '-f,--force=true|false false: only move backwards, on brokers before 5.2. Otherwise ignored.' \
                '-b,--broker=addresses With -q: the master with the queue.' \
                '-q,--queue= With -b: only this queue.' \
                '-o,--offset= With -b and -q: the target offset. Takes precedence over -s.' \
                '-c,--cluster=clusters Only the brokers of this cluster.' \
                '--no-verify Do not wait for the next commits of connected clients.'
            set columns 'group|topic|brokerName|brokerAddr|queueId|from|to|skipped|repeated|result|error|'
        case skipaccumulatedmessage
            set family change
            set places \
                '-g,--group=groups A consumer group.' \
                '-t,--topic=topics Name of a topic.'
            set options \
                '-g,--group=groups A consumer group.' \
                '-t,--topic=topics Name of a topic.' \
                '-f,--force=true|false false: only move backwards, on brokers before 5.2. Otherwise ignored.' \
                '-c,--cluster=clusters Only the brokers of this cluster.' \
                '--no-verify Do not wait for the next commits of connected clients.'
            set columns 'group|topic|brokerName|brokerAddr|queueId|from|to|skipped|repeated|result|error|'
        case clonegroupoffset
            set family change
            set places \
                '-s,--srcGroup=groups The group whose offsets are copied.' \
                '-d,--destGroup=groups The group that is moved.' \
                '-t,--topic=topics Name of a topic.'
            set options \
                '-s,--srcGroup=groups The group whose offsets are copied.' \
                '-d,--destGroup=groups The group that is moved.' \
                '-t,--topic=topics Name of a topic.' \
                '-o,--offline=true|false true: refuse if a client of GROUP is connected.' \
                '--no-verify Do not wait for the next commits of connected clients.'
            set columns 'group|topic|brokerName|brokerAddr|queueId|from|to|skipped|repeated|result|error|'
        case sendmessage
            set family change
            set places \
                '-t,--topic=topics Name of a topic.' \
                '-p,--body= Text of the message.'
            set options \
                '-t,--topic=topics Name of a topic.' \
                '-p,--body= Text of the message.' \
                '-k,--key= Keys, separated by blanks.' \
                '-c,--tags= Tag of the message.' \
                '-b,--broker=brokers Name of the broker to send to.' \
                '-i,--qid= Queue to send to. Needs -b.' \
                '-m,--msgTraceEnable=true|false Whether to write a trace. Default: false.' \
                '--property= A property. Repeatable.'
            set columns 'topic|brokerName|brokerAddr|queueId|msgId|offsetMsgId|queueOffset|costMs|result|error|'
        case produce
            set family change
            set places \
                '-t,--topic=topics Name of a topic.' \
                '--body= Text of the message. Default: read the input.'
            set options \
                '-t,--topic=topics Name of a topic.' \
                '--body= Text of the message. Default: read the input.' \
                '--input=files Read messages from FILE; - is standard input.' \
                '--jsonl Each line of the input is a JSON object: see above.' \
                '--raw The whole input is one body. Default: each line.' \
                '--template= Generate bodies with {n} (1, 2, 3 ...), {time}, {uuid}, {random:1-100}.' \
                '--count= Send BODY or the template N times.' \
                '-k,--key= Keys, separated by blanks; placeholders work here too.' \
                '-c,--tags= The tag.' \
                '--property= A property. Repeatable.' \
                '--sharding-key= Send to one queue, in order; placeholders work too.' \
                '--delay= A level from 1 to 18, or a duration on brokers since 5.0.' \
                '--compression=zlib|lz4|zstd Compress the bodies that get smaller.' \
                '--compress The same as --compression zlib.' \
                '--transaction=commit|rollback Send each message in a transaction that ends like this.' \
                '--trace Write traces to RMQ_SYS_TRACE_TOPIC, as Java producers do.' \
                '--rate= Send at most N messages per second.' \
                '-b,--broker=brokers Only queues of this broker.' \
                '-i,--queue= Only queues with this id.' \
                '--each Print a row for each message, with its ids.'
            set columns 'topic|brokerName|transaction|messageCount|bodyBytes|failed|messagesPerSecond|result|error|brokerAddr|queueId|msgId|offsetMsgId|queueOffset|costMs|'
        case messagesimport
            set family change
            set places \
                '--file=files File of messages, or a folder with such files.'
            set options \
                '--file=files File of messages, or a folder with such files.' \
                '--to-topic=topics Send to this topic; OLD is a topic in the files. Repeatable. Default: the same topic.' \
                '--rate= Send at most N messages per second.' \
                '--again Send also the messages that an earlier import sent.'
            set columns 'file|topic|toTopic|messageCount|sentBefore|sent|failed|result|error|'
        case delayedcancel
            set family change
            set places \
                '-t,--topic=topics Name of a topic.' \
                '-i,--msgId= The id of `delayed list`.'
            set options \
                '-t,--topic=topics Name of a topic.' \
                '-i,--msgId= The id of `delayed list`.'
            set columns 'msgId|topic|brokerName|brokerAddr|deliverTime|result|error|'
        case benchproduce
            set family change
            set options \
                '-c,--cluster=clusters The cluster. Default: the only one.' \
                '--count= Send N messages in all.' \
                '--size= Size of each body.' \
                '--queues= Queues of the topic on each broker.' \
                '--rate= Send at most N messages per second.'
            set columns 'brokerName|messageCount|bodyBytes|seconds|messagesPerSecond|bytesPerSecond|failed|result|error|'
        case benchconsume
            set family change
            set options \
                '-c,--cluster=clusters The cluster. Default: the only one.' \
                '--count= Write and read N messages in all.' \
                '--size= Size of each body.' \
                '--queues= Queues of the topic on each broker.'
            set columns 'brokerName|messageCount|bodyBytes|seconds|messagesPerSecond|bytesPerSecond|failed|result|error|'
        case benchlatency
            set family change
            set options \
                '-c,--cluster=clusters The cluster. Default: the only one.' \
                '--count= Send N messages to each broker.' \
                '--size= Size of each body.' \
                '--rate= Send N messages per second, one after another.'
            set columns 'brokerName|kind|messageCount|p50|p90|p99|p999|max|failed|result|error|'
        case dlqreplay
            set family change
            set places \
                '-g,--consumerGroup=groups Name of a consumer group.'
            set options \
                '-g,--consumerGroup=groups Name of a consumer group.' \
                '--since= Only dead letters stored since: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.' \
                '--until= Only dead letters stored until this time.' \
                '--origin=topics Only messages from this topic. Repeatable.' \
                '--key= Only messages with this key. Repeatable.' \
                '--tag= Only messages with this tag. Repeatable.' \
                '--body= Only messages whose body matches somewhere, read as UTF-8.' \
                '--id= Only the dead letter with this offsetMsgId of `dlq show`. Repeatable.' \
                '--limit= Replay at most N.' \
                '--rate= Replay at most N messages per second.' \
                '--max-failures= Stop if more than N fail again.' \
                '--settle= Count failures for this long after the last message.' \
                '--to-topic Send to the origin topic, where every group gets the message.' \
                '--again Replay also the messages that an earlier run replayed.' \
                '--force Replay also messages that died again after 3 replays.'
            set columns 'brokerName|group|deadLetters|examined|replayed|replayedBefore|copies|skipped|failed|failedAgain|result|error|originTopic|age|messageCount|'
        case dlqpurge
            set family change
            set places \
                '-g,--consumerGroup=groups Name of a consumer group.'
            set options \
                '-g,--consumerGroup=groups Name of a consumer group.' \
                '--before= Delete dead letters before: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.'
            set columns 'clusterName|group|topic|older|newer|notReplayed|result|error|'
        case checkmsgsendrt
            set family change
            set places \
                '-t,--topic=topics Name of a topic.'
            set options \
                '-t,--topic=topics Name of a topic.' \
                '-a,--amount= Number of messages, sent one after another.' \
                '-s,--size= Bytes of each body.'
            set columns 'brokerName|brokerAddr|queueId|offsetMsgId|queueOffset|rt|result|error|'
        case kvsync
            set family change
            set places \
                '--from=name-servers The name server to copy from.'
            set options \
                '--from=name-servers The name server to copy from.' \
                '-s,--namespace=namespaces KV namespace. Default: ORDER_TOPIC_CONFIG. Repeatable.' \
                '-k,--key= Only this key. Repeatable.' \
                '--prune Delete keys that the source does not have.'
            set columns 'namesrvAddr|namespace|key|changes|before|after|result|error|'
        case kvimport
            set family change
            set places \
                '--file=files A file from `nsadmin kv export`, or a name server\'s file.'
            set options \
                '--file=files A file from `nsadmin kv export`, or a name server\'s file.' \
                '-s,--namespace=namespaces Only this namespace of the file. Repeatable.' \
                '--prune Delete keys that the file does not have.'
            set columns 'namesrvAddr|namespace|key|changes|before|after|result|error|'
        case updatekvconfig
            set family change
            set places \
                '-s,--namespace=namespaces Namespace, for example ORDER_TOPIC_CONFIG, whose keys are topics.' \
                '-k,--key=kv-keys Key in the namespace.' \
                '-v,--value= Text to store. May be empty.'
            set options \
                '-s,--namespace=namespaces Namespace, for example ORDER_TOPIC_CONFIG, whose keys are topics.' \
                '-k,--key=kv-keys Key in the namespace.' \
                '-v,--value= Text to store. May be empty.'
            set columns 'namesrvAddr|namespace|key|changes|before|after|result|error|'
        case deletekvconfig
            set family change
            set places \
                '-s,--namespace=namespaces Namespace, for example ORDER_TOPIC_CONFIG, whose keys are topics.' \
                '-k,--key=kv-keys Key in the namespace.'
            set options \
                '-s,--namespace=namespaces Namespace, for example ORDER_TOPIC_CONFIG, whose keys are topics.' \
                '-k,--key=kv-keys Key in the namespace.'
            set columns 'namesrvAddr|namespace|key|changes|before|after|result|error|'
        case updatenamesrvconfig
            set family change
            set places \
                '-k,--key=namesrv-keys A setting that getNamesrvConfig shows.' \
                '-v,--value= The new value.'
            set options \
                '-k,--key=namesrv-keys A setting that getNamesrvConfig shows.' \
                '-v,--value= The new value.'
            set columns 'namesrvAddr|key|changes|before|after|result|error|'
        case apply
            set family change
            set places \
                '--file=files A YAML file with the wanted state, or a saved plan.'
            set options \
                '--file=files A YAML file with the wanted state, or a saved plan.' \
                '--prune Delete items that the file does not have, in the sections that it has.' \
                '--max-deletes= Refuse the plan if it deletes more than N items. Default: 10.' \
                '--allow-stranded Remove queues even if consumers have not read their messages.'
            set columns 'kind|name|action|servers|changes|before|after|messages|result|error|'
        case backuprestore
            set family change
            set places \
                '--file=files A file of `nsadmin backup create`.'
            set options \
                '--file=files A file of `nsadmin backup create`.' \
                '-c,--clusterName=clusters Restore into this cluster. Default: its own.' \
                '--map= Restore a broker of the backup to another one. Repeatable.' \
                '--section=topics|staticTopics|groups|orderConf|kv|consumeModes|offsets|users|acls|accounts Restore only this section. Repeatable.' \
                '-t,--topic=topics Restore only this topic and its offsets. Repeatable.' \
                '-g,--groupName=groups Restore only this group and its offsets. Repeatable.' \
                '--overwrite-offsets Move groups that have another offset, also backward.' \
                '--passphrase-file=files File with the passphrase of the passwords. Default: the variable NSADMIN_BACKUP_PASSPHRASE.' \
                '--verify-key=files Refuse a backup that was not signed with this key: a public Ed25519 key in PEM form.'
            set columns 'section|server|name|changes|reason|before|after|result|error|'
        case createuser
            set family change
            set places \
                '-u,--username= Name of the user.'
            set options \
                '-u,--username= Name of the user.' \
                '-t,--userType=Normal|Super Normal: permissions come from ACLs. Super: all permissions.' \
                '-p,--password= The password. Needs --passwordVisible.' \
                '--passwordFile=files Read it from this file, which must be readable only by its owner.' \
                '--passwordStdin Read it from a line of standard input.' \
                '--passwordVisible Accept it on the command line, where other users of this machine can see it.' \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.' \
                '-c,--clusterName=clusters All masters and slaves of this cluster.'
            set columns 'brokerName|brokerId|brokerAddr|username|changes|before|after|result|error|'
        case updateuser
            set family change
            set places \
                '-u,--username= Name of the user.'
            set options \
                '-u,--username= Name of the user.' \
                '-t,--userType=Normal|Super Normal: permissions come from ACLs. Super: all permissions.' \
                '-s,--userStatus=enable|disable Whether the user can sign requests.' \
                '-p,--password= The password. Needs --passwordVisible.' \
                '--passwordPrompt Ask for a new password on the terminal.' \
                '--passwordFile=files Read it from this file, which must be readable only by its owner.' \
                '--passwordStdin Read it from a line of standard input.' \
                '--passwordVisible Accept it on the command line, where other users of this machine can see it.' \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.' \
                '-c,--clusterName=clusters All masters and slaves of this cluster.'
            set columns 'brokerName|brokerId|brokerAddr|username|changes|before|after|result|error|'
        case copyuser
            set family change
            set places \
                '-f,--fromBroker= The broker to copy from: address or name.' \
                '-t,--toBroker= The broker to copy to: address or name.'
            set options \
                '-f,--fromBroker= The broker to copy from: address or name.' \
                '-t,--toBroker= The broker to copy to: address or name.' \
                '-u,--usernames=columns Only these users.'
            set columns 'brokerName|brokerId|brokerAddr|username|changes|before|after|result|error|'
        case deleteuser
            set family change
            set places \
                '-u,--username= Name of the user.'
            set options \
                '-u,--username= Name of the user.' \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.' \
                '-c,--clusterName=clusters All masters and slaves of this cluster.'
            set columns 'brokerName|brokerId|brokerAddr|username|changes|before|after|result|error|'
        case createacl
            set family change
            set places \
                '-s,--subject= The user: User:NAME or NAME.'
            set options \
                '-s,--subject= The user: User:NAME or NAME.' \
                '-r,--resources=columns The resource: Topic:NAME, Group:NAME, Cluster:NAME, Namespace:NAME; Topic:PREFIX*, Topic:*, *.' \
                '-a,--actions=columns The actions: All, Pub, Sub, Create, Update, Delete, Get, List.' \
                '-d,--decision=Allow|Deny The decision: Allow or Deny.' \
                '-i,--sourceIp=columns Only for clients at these addresses or networks (10.0.0.0/8).' \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.' \
                '-c,--clusterName=clusters All masters and slaves of this cluster.'
            set columns 'brokerName|brokerId|brokerAddr|subject|changes|before|after|result|error|'
        case updateacl
            set family change
            set places \
                '-s,--subject= The user: User:NAME or NAME.'
            set options \
                '-s,--subject= The user: User:NAME or NAME.' \
                '-r,--resources=columns The resource: Topic:NAME, Group:NAME, Cluster:NAME, Namespace:NAME; Topic:PREFIX*, Topic:*, *.' \
                '-a,--actions=columns The actions: All, Pub, Sub, Create, Update, Delete, Get, List.' \
                '-d,--decision=Allow|Deny The decision: Allow or Deny.' \
                '-i,--sourceIp=columns Only for clients at these addresses or networks (10.0.0.0/8).' \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.' \
                '-c,--clusterName=clusters All masters and slaves of this cluster.'
            set columns 'brokerName|brokerId|brokerAddr|subject|changes|before|after|result|error|'
        case copyacl
            set family change
            set places \
                '-f,--fromBroker= The broker to copy from: address or name.' \
                '-t,--toBroker= The broker to copy to: address or name.'
            set options \
                '-f,--fromBroker= The broker to copy from: address or name.' \
                '-t,--toBroker= The broker to copy to: address or name.' \
                '-s,--subjects=columns Only the ACLs of these users.'
            set columns 'brokerName|brokerId|brokerAddr|subject|changes|before|after|result|error|'
        case deleteacl
            set family change
            set places \
                '-s,--subject= The user: User:NAME or NAME.'
            set options \
                '-s,--subject= The user: User:NAME or NAME.' \
                '-r,--resources=columns Delete only the entries for these resources. Default: the whole ACL.' \
                '--policyType=Custom|Default Delete only entries of this policy type. Default: both types.' \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.' \
                '-c,--clusterName=clusters All masters and slaves of this cluster.'
            set columns 'brokerName|brokerId|brokerAddr|subject|changes|before|after|result|error|'
        case updateaclconfig
            set family change
            set places \
                '-a,--accessKey= Access key of the account.'
            set options \
                '-a,--accessKey= Access key of the account.' \
                '-s,--secretKey= The secret key. Needs --passwordVisible.' \
                '-m,--admin=true|false Whether the account has all permissions.' \
                '-w,--whiteRemoteAddress= Addresses from which requests need no signature: 10.0.0.*.' \
                '-i,--defaultTopicPerm= Permission for topics that are not listed: DENY, PUB, SUB, PUB|SUB.' \
                '-u,--defaultGroupPerm= Permission for groups that are not listed.' \
                '-t,--topicPerms= Permissions by topic: orders=PUB|SUB,other=DENY.' \
                '-g,--groupPerms= Permissions by group: shop=SUB.' \
                '--secretKeyPrompt Ask for a secret key on the terminal.' \
                '--passwordFile=files Read it from this file, which must be readable only by its owner.' \
                '--passwordStdin Read it from a line of standard input.' \
                '--passwordVisible Accept it on the command line, where other users of this machine can see it.' \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.' \
                '-c,--clusterName=clusters All masters and slaves of this cluster.'
            set columns 'brokerName|brokerId|brokerAddr|accessKey|changes|before|after|result|error|'
        case deleteaclconfig
            set family change
            set places \
                '-a,--accessKey= Access key of the account.'
            set options \
                '-a,--accessKey= Access key of the account.' \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.' \
                '-c,--clusterName=clusters All masters and slaves of this cluster.'
            set columns 'brokerName|brokerId|brokerAddr|accessKey|changes|before|after|result|error|'
        case updateglobalwhiteaddr
            set family change
            set places \
                '-g,--globalWhiteRemoteAddresses= Addresses such as 10.0.0.*,10.1.*.*.'
            set options \
                '-g,--globalWhiteRemoteAddresses= Addresses such as 10.0.0.*,10.1.*.*.' \
                '-p,--aclFileFullPath= Write to this ACL file of the broker.' \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.' \
                '-c,--clusterName=clusters All masters and slaves of this cluster.'
            set columns 'brokerName|brokerId|brokerAddr|changes|before|after|result|error|'
        case updatecontrollerconfig
            set family change
            set places \
                '-k,--key= A setting that getControllerConfig shows.' \
                '-v,--value= The new value.'
            set options \
                '-k,--key= A setting that getControllerConfig shows.' \
                '-v,--value= The new value.' \
                '-a,--controllerAddress= Controllers, as HOST:PORT;HOST:PORT.'
            set columns 'controllerAddr|key|changes|before|after|result|error|'
        case electmaster
            set family change
            set places \
                '-bn,--brokerName=brokers Name of a broker.' \
                '-b,--brokerId= Id of the replica, from getSyncStateSet.'
            set options \
                '-bn,--brokerName=brokers Name of a broker.' \
                '-b,--brokerId= Id of the replica, from getSyncStateSet.' \
                '-a,--controllerAddress= Controllers, as HOST:PORT;HOST:PORT.' \
                '-c,--clusterName=clusters Broker\'s cluster.' \
                '--force Elect the replica even if it lacks topics or groups of its master, or does not answer.'
            set columns 'brokerName|changes|before|after|result|error|'
        case cleanbrokermetadata
            set family change
            set places \
                '-bn,--brokerName=brokers Name of a broker.'
            set options \
                '-bn,--brokerName=brokers Name of a broker.' \
                '-a,--controllerAddress= Controllers, as HOST:PORT;HOST:PORT.' \
                '-b,--brokerControllerIdsToClean= Only these replicas, as 1;2. Default: all.' \
                '-c,--clusterName=clusters Cluster of the broker. Optional with -l.' \
                '-l,--cleanLivingBroker Remove the whole broker, even if it is alive.'
            set columns 'brokerName|changes|before|after|result|error|'
        case exportpoprecord
            set family change
            set places \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.'
            set options \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.' \
                '-c,--clusterName=clusters Every master and slave of this cluster.' \
                '-d,--dryRun= Refused. Use --dry-run instead.'
            set columns 'brokerName|brokerId|brokerAddr|changes|result|error|'
        case updateorderconf
            set family mixed
            set places \
                '-t,--topic=topics Name of a topic.' \
                '-m,--method=get|put|delete get, put or delete.' \
                '-v,--orderConf= For put: queues by broker, as broker-a:4;broker-b:8.'
            set options \
                '-t,--topic=topics Name of a topic.' \
                '-m,--method=get|put|delete get, put or delete.' \
                '-v,--orderConf= For put: queues by broker, as broker-a:4;broker-b:8.'
            set columns 'namesrvAddr|topic|orderConf|result|error|changes|before|after|brokerAddr|'
        case querymsgbyuniquekey
            set family mixed
            set places \
                '-t,--topic=topics Name of a topic.' \
                '-i,--msgId= Message id from the producer\'s log.'
            set options \
                '-t,--topic=topics Name of a topic.' \
                '-i,--msgId= Message id from the producer\'s log.' \
                '-a,--showAll Accepted for mqadmin. nsadmin always shows all messages.' \
                '-s,--startTime= Only messages stored since: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.' \
                '-e,--endTime= Only messages stored until this time.' \
                '-c,--cluster=topics Ask the brokers of this topic or cluster instead.' \
                '-g,--consumerGroup=groups With -d: deliver the message to this client of the group.' \
                '-d,--clientId= With -g: a client id from consumerConnection.' \
                '--decode= Decode bodies: base64, gzip, hex, json, avro[:SCHEMA], protobuf:FILE#TYPE. Repeatable.'
            set columns 'msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|tracks|brokerAddr|group|clientId|consumeResult|spentMs|result|error|'
        case querymsgbyid
            set family mixed
            set places \
                '-t,--topic=topics Name of a topic.' \
                '-i,--msgId= One or several ids of either kind: A,B.'
            set options \
                '-t,--topic=topics Name of a topic.' \
                '-i,--msgId= One or several ids of either kind: A,B.' \
                '-f,--bodyFormat= Encoding of the bodies. Default: UTF-8.' \
                '-c,--cluster=topics Ask the brokers of this topic or cluster instead.' \
                '-u,--unitName= Accepted for mqadmin, without effect.' \
                '-g,--consumerGroup=groups With -d: deliver the message to this client of the group.' \
                '-d,--clientId= With -g: a client id from consumerConnection.' \
                '-s,--sendMessage=true|false true: send the message to its topic again.' \
                '--decode= Decode bodies: base64, gzip, hex, json, avro[:SCHEMA], protobuf:FILE#TYPE. Repeatable.'
            set columns 'msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|tracks|brokerAddr|group|clientId|consumeResult|spentMs|result|error|costMs|'
        case transfertopics
            set family mixed
            set places \
                '-t,--topic=topics Topics, separated by commas. Default: all topics of users.'
            set options \
                '--from=contexts The source: a context, or name servers (HOST:PORT).' \
                '--to=contexts The target: a context, or name servers (HOST:PORT).' \
                '-t,--topic=topics Topics, separated by commas. Default: all topics of users.' \
                '--from-cluster=clusters Cluster of the source. Default: its only one.' \
                '--to-cluster=clusters Cluster of the target. Default: its only one.' \
                '--map= Target broker NEW for source broker OLD. Repeatable.' \
                '--all-brokers Every target broker gets the items of all source brokers.'
            set columns 'section|server|name|changes|reason|before|after|result|error|'
        case transfergroups
            set family mixed
            set places \
                '-g,--groupName=groups Consumer groups, separated by commas. Default: all groups of users.'
            set options \
                '--from=contexts The source: a context, or name servers (HOST:PORT).' \
                '--to=contexts The target: a context, or name servers (HOST:PORT).' \
                '-g,--groupName=groups Consumer groups, separated by commas. Default: all groups of users.' \
                '--from-cluster=clusters Cluster of the source. Default: its only one.' \
                '--to-cluster=clusters Cluster of the target. Default: its only one.' \
                '--map= Target broker NEW for source broker OLD. Repeatable.' \
                '--all-brokers Every target broker gets the items of all source brokers.'
            set columns 'section|server|name|changes|reason|before|after|result|error|'
        case transferacl
            set family mixed
            set options \
                '--from=contexts The source: a context, or name servers (HOST:PORT).' \
                '--to=contexts The target: a context, or name servers (HOST:PORT).' \
                '--from-cluster=clusters Cluster of the source. Default: its only one.' \
                '--to-cluster=clusters Cluster of the target. Default: its only one.' \
                '--map= Target broker NEW for source broker OLD. Repeatable.' \
                '--all-brokers Every target broker gets the items of all source brokers.'
            set columns 'section|server|name|changes|reason|before|after|result|error|'
        case transfermessages
            set family mixed
            set places \
                '-t,--topic=topics Topics, separated by commas.'
            set options \
                '-t,--topic=topics Topics, separated by commas.' \
                '--from=contexts The source: a context, or name servers (HOST:PORT).' \
                '--to=contexts The target: a context, or name servers (HOST:PORT).' \
                '--since= Only messages stored since: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.' \
                '-f,--follow Copy also the messages to come, until Ctrl-C.' \
                '--rate= Copy at most N messages per second.' \
                '--tag= Only messages with this tag. Repeatable.' \
                '--sql= Only messages that this expression matches on the broker.' \
                '--key= Only messages with this key. Repeatable.' \
                '--property= Only messages with this property. Repeatable.' \
                '--body= Only messages whose body matches somewhere.' \
                '--map-topic= Name of a topic in the target. Repeatable.' \
                '--merge-queues Let source queues share target queues if the target has fewer.'
            set columns 'topic|brokerName|queueId|targetTopic|targetBroker|targetQueue|beginOffset|nextOffset|remaining|copied|skipped|lost|result|error|'
        case transferoffsets
            set family mixed
            set places \
                '-g,--groupName=groups A consumer group.'
            set options \
                '-g,--groupName=groups A consumer group.' \
                '--from=contexts The source: a context, or name servers (HOST:PORT).' \
                '--to=contexts The target: a context, or name servers (HOST:PORT).' \
                '--overwrite-offsets Move queues that have another offset, also backward.'
            set columns 'topic|sourceOffsets|targetTopic|targetBroker|targetQueue|from|to|repeated|missed|result|error|'
        case orphans
            set family mixed
            set options \
                '--clean Delete topics without a broker, and retry topics without a group.' \
                '--dlq With --clean: also delete dead-letter topics without a group, with their messages.'
            set columns 'kind|topic|finding|brokers|namesrvAddrs|group|target|role|changes|before|after|result|error|'
        case rocksdbconfigtojson
            set family mixed
            set options \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.' \
                '-c,--cluster,--clusterName=clusters Every master and slave of this cluster.' \
                '-t,--configType= topics;subscriptionGroups;consumerOffsets, or some of them. With -p, one.' \
                '-p,--configPath=folders A broker\'s config folder on this machine.' \
                '-e,--exportFile=files With -p: write to this file.' \
                '-j,--jsonEnable=true|false With -p: false prints rows instead of JSON.'
            set columns 'key|value|file|size|brokerName|brokerId|brokerAddr|changes|result|error|'
        case backupshow
            set family local
            set places \
                '--file=files A file of `nsadmin backup create`.'
            set options \
                '--file=files A file of `nsadmin backup create`.' \
                '--passphrase-file=files File with the passphrase of the passwords. Default: the variable NSADMIN_BACKUP_PASSPHRASE.' \
                '--verify-key=files Refuse a backup that was not signed with this key: a public Ed25519 key in PEM form.'
            set columns 'section|brokerName|name|value|'
        case bundleshow
            set family local
            set places \
                '--file=files A file of `nsadmin bundle create`.'
            set options \
                '--file=files A file of `nsadmin bundle create`.'
            set columns 'kind|item|count|reason|'
        case bundlediff
            set family local
            set places \
                '--file=files A file of `nsadmin bundle create`.' \
                '--with= A later bundle.'
            set options \
                '--file=files A file of `nsadmin bundle create`.' \
                '--with= A later bundle.'
            set columns 'section|brokerName|name|differs|before|after|'
        case snapshotshow
            set family local
            set places \
                '--file=files A snapshot file.'
            set options \
                '--file=files A snapshot file.'
            set columns 'what|name|brokerName|summary|value|'
        case snapshotlist
            set family local
            set places \
                '--dir=folders Folder of the snapshots. Default: the current folder.'
            set options \
                '--dir=folders Folder of the snapshots. Default: the current folder.'
            set columns 'file|time|nameServers|brokers|topics|kvEntries|size|'
        case journalcat
            set family local
            set places \
                '--dir=folders Folder of a journal.'
            set options \
                '--dir=folders Folder of a journal.' \
                '--since= Only records since this time: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.' \
                '--until= Only records before this time.'
            set columns 'seq|time|server|type|summary|cause|client|event|'
        case journaltail
            set family local
            set places \
                '--dir=folders Folder of a journal.'
            set options \
                '--dir=folders Folder of a journal.' \
                '-l,--lines= Number of records. Default: 10.' \
                '-f,--follow Follow new records, until Ctrl-C.'
            set columns 'seq|time|server|type|summary|cause|client|event|'
        case journalstat
            set family local
            set places \
                '--dir=folders Folder of a journal.'
            set options \
                '--dir=folders Folder of a journal.'
            set columns 'type|records|plainSize|firstTime|lastTime|'
        case journalverify
            set family local
            set places \
                '--dir=folders Folder of a journal.'
            set options \
                '--dir=folders Folder of a journal.'
            set columns 'file|result|records|firstSeq|lastSeq|firstTime|lastTime|size|plainSize|problems|'
        case auditlist
            set family local
            set options \
                '--since= Only commands since this time: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.'
            set columns 'time|user|origin|context|nameServers|command|sent|results|exitCode|servers|'
        case contextlist
            set family local
            set columns 'name|current|namesrvAddr|configFile|endpoint|bundle|credentials|tls|timeout|retries|concurrency|output|addressMap|proxies|kube|ssh|journals|readOnly|color|'
        case contextshow
            set family local
            set places \
                '--name=contexts Name of a context.'
            set options \
                '--name=contexts Name of a context.'
            set columns 'name|current|namesrvAddr|configFile|endpoint|bundle|credentials|tls|timeout|retries|concurrency|output|addressMap|proxies|kube|ssh|journals|readOnly|color|'
        case contextuse
            set family local
            set places \
                '--name=contexts Name of a context, or - for the previous one.'
            set options \
                '--name=contexts Name of a context, or - for the previous one.'
            set columns 'name|current|namesrvAddr|configFile|endpoint|bundle|credentials|tls|timeout|retries|concurrency|output|addressMap|proxies|kube|ssh|journals|readOnly|color|'
        case contextset
            set family local
            set places \
                '--name=contexts Name of a context.'
            set options \
                '--name=contexts Name of a context.' \
                '-n,--namesrvAddr=name-servers Its name servers, as HOST:PORT;HOST:PORT. Repeatable.' \
                '--configFile=files A properties file with the name servers, instead of -n.' \
                '--endpoint= A URL that returns the name servers, instead of -n.' \
                '--bundle=files A support bundle that is read in place of servers.' \
                '--accessKey= Access key for signatures. nsadmin asks for the secret key.' \
                '--secretKeyStdin Read the secret key from a line of standard input.' \
                '--securityTokenStdin Read a security token from the next line.' \
                '--credentials= Source of the credentials, instead of --accessKey: env, file:PATH, tools:PATH, keyring:NAME.' \
                '--tls,--no-tls Use TLS or plain text.' \
                '--tlsCa=files Certificate authorities to trust (PEM). Default: the system\'s.' \
                '--tlsCert=files The client\'s certificate (PEM).' \
                '--tlsKey=files The client\'s key (PEM).' \
                '--tlsKeyPasswordFrom= Source of the key\'s password: env:NAME or file:PATH.' \
                '--tlsKeyPasswordStdin Read the key\'s password from the next line of standard input.' \
                '--tlsServerName= The name that servers\' certificates must have.' \
                '--verify,--insecure Whether to verify certificates. Without verification, signing commands also need --insecure.' \
                '--addressMap= Replacement address of brokers, added to the map. Repeatable.' \
                '--proxies=proxies Its proxies, at their remoting ports: HOST:8080;HOST:8080. Repeatable.' \
                '--kube= Kubernetes namespace that kubectl reaches the servers in.' \
                '--ssh= SSH host that connections lead through, instead of --kube.' \
                '--journal=folders Folder of a name server\'s journal. Repeatable.' \
                '--timeout= Timeout of each request on each server.' \
                '--retries= Retries of reads that got no answer.' \
                '--concurrency= Number of servers asked at the same time.' \
                '--defaultOutput=table|wide|json|jsonl|yaml|csv|spreadsheet|tsv|name|value|mqadmin Default output format.' \
                '--readOnly,--writable Whether to refuse changes.' \
                '--color=red|green|yellow|blue|magenta|cyan Color of the context\'s name, such as red.' \
                '--unset= Remove this field, such as timeout or tls.caFile. Repeatable.'
            set columns 'name|current|namesrvAddr|configFile|endpoint|bundle|credentials|tls|timeout|retries|concurrency|output|addressMap|proxies|kube|ssh|journals|readOnly|color|'
        case contextlogin
            set family local
            set places \
                '--name=contexts Name of a context.'
            set options \
                '--name=contexts Name of a context.' \
                '--file= Store the credentials in this file, which only its owner can read.'
            set columns 'name|current|namesrvAddr|configFile|endpoint|bundle|credentials|tls|timeout|retries|concurrency|output|addressMap|proxies|kube|ssh|journals|readOnly|color|'
        case contextdelete
            set family local
            set places \
                '--name=contexts Name of a context.'
            set options \
                '--name=contexts Name of a context.'
            set columns 'name|current|namesrvAddr|configFile|endpoint|bundle|credentials|tls|timeout|retries|concurrency|output|addressMap|proxies|kube|ssh|journals|readOnly|color|'
        case reportshow
            set family local
            set places \
                '--report=broker_availability|broker_flaps|drain_audit|heartbeat_gaps|ns_divergence|ns_convergence|topic_growth|registration_forecast|orphan_topics|hot_brokers|consumer_lag_trend|topic_volume|config_changes|ns_health|proxy_health|route_as_of|data_quality|bronze/files|bronze/lines|silver/agreement_interval|silver/broker_lifecycle|silver/broker_runtime|silver/consumer_lag|silver/entry_interval|silver/knowledge_change|silver/knowledge_interval|silver/log_fact|silver/poll_fact|silver/quarantine|silver/route_interval|silver/stats_minute|silver/ns_event Name of a report or table.'
            set options \
                '--report=broker_availability|broker_flaps|drain_audit|heartbeat_gaps|ns_divergence|ns_convergence|topic_growth|registration_forecast|orphan_topics|hot_brokers|consumer_lag_trend|topic_volume|config_changes|ns_health|proxy_health|route_as_of|data_quality|bronze/files|bronze/lines|silver/agreement_interval|silver/broker_lifecycle|silver/broker_runtime|silver/consumer_lag|silver/entry_interval|silver/knowledge_change|silver/knowledge_interval|silver/log_fact|silver/poll_fact|silver/quarantine|silver/route_interval|silver/stats_minute|silver/ns_event Name of a report or table.' \
                '--dir=folders The folder that report run --dir wrote.' \
                '--since= First day (UTC), for example 2025-01-31.' \
                '--until= Last day (UTC).' \
                '--as-of= Read the tables as they were at this time: ISO 8601 (UTC without a zone), or 12h or 2d ago.' \
                '--expect=BROKERS|FILE Brokers that must be registered: broker-a,broker-b:1, a file with one in each line, a plan or a journal.'
            set columns 'date|cluster|brokerName|brokerId|upSeconds|downSeconds|plannedSeconds|unknownSeconds|partialSeconds|availability|failures|mtbfSeconds|mttrSeconds|ts|endTs|ongoing|servers|outages|conflicts|longestSeconds|cause|server|outcome|method|client|closedTs|topics|closedTopics|heldSeconds|openedTs|openedTopics|openedType|openedCause|openedClient|seconds|causedBy|silentBrokers|topic|key|field|values|trigger|changes|unfinishedChanges|p50Seconds|p95Seconds|maxSeconds|change|bytes|days|bytesPerDay|lowBytesPerDay|highBytesPerDay|fullDate|earliestDate|latestDate|brokers|reason|knownSince|lastPut|source|puts|gets|putShare|getShare|fairShare|putRatio|skew|gini|queueSkew|skewedTopic|consumerGroup|samples|lastLag|minLag|maxLag|lagPerSecond|drainSeconds|stuck|trend|group|messagesIn|bytesIn|messagesOut|bytesOut|sentBack|putMillis|getMillis|behindSeconds|minutes|type|namespace|before|after|knownSeconds|starts|stops|pauses|failedPolls|eventsLost|repairs|decodeErrors|unparsedWarnings|scanGaps|longestPauseSeconds|longestScanGapSeconds|waterMarks|requests|clients|peakClients|clientsLeft|clientsLost|routeFailures|failedTopics|nameServerFailures|unreachableServers|syncFailures|requestErrors|responses|readQueueNums|writeQueueNums|perm|topicSysFlag|known|validFrom|fromType|fromCause|fromClient|kind|lines|quarantinedLines|quarantineShare|lateLines|gaps|lastTs|path|length|modified|file|line|hash|ingestTime|text|differ|isWatchChange|validTo|seq|time|brokerAddr|groups|pauseMillis|silentMillis|resumed|lost|observer|isLog|recordOrder|brokerVersion|bootTime|brokerActive|putTps|getTps|putTotal|getTotal|commitLogDiskRatio|commitLogMinOffset|commitLogMaxOffset|dispatchBehindBytes|sendQueueSize|sendQueueWaitMillis|pullQueueSize|pageCacheLockMillis|earliestMessageTime|queueCount|uncommittedQueues|brokerOffset|consumerOffset|lag|inflight|consumedTime|name|value|orderOffset|since|isRouteSource|toType|ok|error|polls|millis|toCause|toClient|broker|sum|'
        case reportschema
            set family local
            set places \
                '--table=broker_availability|broker_flaps|drain_audit|heartbeat_gaps|ns_divergence|ns_convergence|topic_growth|registration_forecast|orphan_topics|hot_brokers|consumer_lag_trend|topic_volume|config_changes|ns_health|proxy_health|route_as_of|data_quality|bronze/files|bronze/lines|silver/agreement_interval|silver/broker_lifecycle|silver/broker_runtime|silver/consumer_lag|silver/entry_interval|silver/knowledge_change|silver/knowledge_interval|silver/log_fact|silver/poll_fact|silver/quarantine|silver/route_interval|silver/stats_minute|silver/ns_event Name of a report or table. Default: all of them.'
            set options \
                '--table=broker_availability|broker_flaps|drain_audit|heartbeat_gaps|ns_divergence|ns_convergence|topic_growth|registration_forecast|orphan_topics|hot_brokers|consumer_lag_trend|topic_volume|config_changes|ns_health|proxy_health|route_as_of|data_quality|bronze/files|bronze/lines|silver/agreement_interval|silver/broker_lifecycle|silver/broker_runtime|silver/consumer_lag|silver/entry_interval|silver/knowledge_change|silver/knowledge_interval|silver/log_fact|silver/poll_fact|silver/quarantine|silver/route_interval|silver/stats_minute|silver/ns_event Name of a report or table. Default: all of them.' \
                '--dir=folders The folder that report run --dir wrote.' \
                '--sql Print CREATE VIEW statements for DuckDB, also for former names.'
            set columns 'table|column|type|unit|meaning|'
        case reportexport
            set family local
            set places \
                '--report=broker_availability|broker_flaps|drain_audit|heartbeat_gaps|ns_divergence|ns_convergence|topic_growth|registration_forecast|orphan_topics|hot_brokers|consumer_lag_trend|topic_volume|config_changes|ns_health|proxy_health|route_as_of|data_quality|bronze/files|bronze/lines|silver/agreement_interval|silver/broker_lifecycle|silver/broker_runtime|silver/consumer_lag|silver/entry_interval|silver/knowledge_change|silver/knowledge_interval|silver/log_fact|silver/poll_fact|silver/quarantine|silver/route_interval|silver/stats_minute|silver/ns_event Name of a report or table.'
            set options \
                '--report=broker_availability|broker_flaps|drain_audit|heartbeat_gaps|ns_divergence|ns_convergence|topic_growth|registration_forecast|orphan_topics|hot_brokers|consumer_lag_trend|topic_volume|config_changes|ns_health|proxy_health|route_as_of|data_quality|bronze/files|bronze/lines|silver/agreement_interval|silver/broker_lifecycle|silver/broker_runtime|silver/consumer_lag|silver/entry_interval|silver/knowledge_change|silver/knowledge_interval|silver/log_fact|silver/poll_fact|silver/quarantine|silver/route_interval|silver/stats_minute|silver/ns_event Name of a report or table.' \
                '--dir=folders The folder that report run --dir wrote.' \
                '--to=files File that ends in .csv, .parquet or .xlsx. Required.' \
                '--since= First day (UTC), for example 2025-01-31.' \
                '--until= Last day (UTC).' \
                '--as-of= Read the tables as they were at this time: ISO 8601 (UTC without a zone), or 12h or 2d ago.'
        case reporthtml
            set family local
            set options \
                '--dir=folders The folder that report run --dir wrote.' \
                '--since= First day (UTC), for example 2025-01-31.' \
                '--until= Last day (UTC).' \
                '--as-of= Read the tables as they were at this time: ISO 8601 (UTC without a zone), or 12h or 2d ago.' \
                '--to=files Write to this file instead of stdout.' \
                '--to-folder= Write index.html and a page for each cluster into this folder.'
        case reportmarkdown
            set family local
            set options \
                '--dir=folders The folder that report run --dir wrote.' \
                '--since= First day (UTC), for example 2025-01-31.' \
                '--until= Last day (UTC).' \
                '--as-of= Read the tables as they were at this time: ISO 8601 (UTC without a zone), or 12h or 2d ago.' \
                '--to=files Write to this file instead of stdout.'
        case mqadminmap
            set family local
            set places \
                '--command=addBroker|addWritePerm|allocateMQ|brokerConsumeStats|brokerStatus|checkMsgSendRT|checkRocksdbCqWriteProgress|cleanBrokerMetadata|cleanExpiredCQ|cleanUnusedTopic|cloneGroupOffset|clusterAclConfigVersion|clusterList|clusterRT|consumeMessage|consumerConnection|consumerProgress|consumerStatus|copyAcl|copyUser|createAcl|createUser|deleteAcl|deleteAclConfig|deleteExpiredCommitLog|deleteKvConfig|deleteSubGroup|deleteTopic|deleteUser|dumpCompactionLog|electMaster|exportConfigs|exportMetadata|exportMetadataInRocksDB|exportMetrics|exportPopRecord|getAcl|getAclConfig|getBrokerConfig|getBrokerEpoch|getBrokerLiteInfo|getColdDataFlowCtrInfo|getConsumerConfig|getControllerConfig|getControllerMetaData|getLiteClientInfo|getLiteGroupInfo|getLiteTopicInfo|getNamesrvConfig|getParentTopicInfo|getSyncStateSet|getUser|haStatus|listAcl|listUser|printMsg|printMsgByQueue|producer|producerConnection|queryCq|queryMsgById|queryMsgByKey|queryMsgByOffset|queryMsgByUniqueKey|queryMsgTraceById|remappingStaticTopic|removeBroker|removeColdDataFlowCtrGroupConfig|resetMasterFlushOffset|resetOffsetByTime|rocksDBConfigToJson|sendMessage|sendMsgStatus|setCommitLogReadAheadMode|setConsumeMode|skipAccumulatedMessage|startMonitoring|statsAll|switchTimerEngine|topicClusterList|topicList|topicRoute|topicStatus|triggerLiteDispatch|updateAcl|updateAclConfig|updateBrokerConfig|updateColdDataFlowCtrGroupConfig|updateControllerConfig|updateGlobalWhiteAddr|updateKvConfig|updateNamesrvConfig|updateOrderConf|updateStaticTopic|updateSubGroup|updateSubGroupList|updateTopic|updateTopicList|updateTopicPerm|updateUser|wipeWritePerm A command of mqadmin. Default: all commands.'
            set options \
                '--command=addBroker|addWritePerm|allocateMQ|brokerConsumeStats|brokerStatus|checkMsgSendRT|checkRocksdbCqWriteProgress|cleanBrokerMetadata|cleanExpiredCQ|cleanUnusedTopic|cloneGroupOffset|clusterAclConfigVersion|clusterList|clusterRT|consumeMessage|consumerConnection|consumerProgress|consumerStatus|copyAcl|copyUser|createAcl|createUser|deleteAcl|deleteAclConfig|deleteExpiredCommitLog|deleteKvConfig|deleteSubGroup|deleteTopic|deleteUser|dumpCompactionLog|electMaster|exportConfigs|exportMetadata|exportMetadataInRocksDB|exportMetrics|exportPopRecord|getAcl|getAclConfig|getBrokerConfig|getBrokerEpoch|getBrokerLiteInfo|getColdDataFlowCtrInfo|getConsumerConfig|getControllerConfig|getControllerMetaData|getLiteClientInfo|getLiteGroupInfo|getLiteTopicInfo|getNamesrvConfig|getParentTopicInfo|getSyncStateSet|getUser|haStatus|listAcl|listUser|printMsg|printMsgByQueue|producer|producerConnection|queryCq|queryMsgById|queryMsgByKey|queryMsgByOffset|queryMsgByUniqueKey|queryMsgTraceById|remappingStaticTopic|removeBroker|removeColdDataFlowCtrGroupConfig|resetMasterFlushOffset|resetOffsetByTime|rocksDBConfigToJson|sendMessage|sendMsgStatus|setCommitLogReadAheadMode|setConsumeMode|skipAccumulatedMessage|startMonitoring|statsAll|switchTimerEngine|topicClusterList|topicList|topicRoute|topicStatus|triggerLiteDispatch|updateAcl|updateAclConfig|updateBrokerConfig|updateColdDataFlowCtrGroupConfig|updateControllerConfig|updateGlobalWhiteAddr|updateKvConfig|updateNamesrvConfig|updateOrderConf|updateStaticTopic|updateSubGroup|updateSubGroupList|updateTopic|updateTopicList|updateTopicPerm|updateUser|wipeWritePerm A command of mqadmin. Default: all commands.'
            set columns 'mqadmin|nsadmin|status|since|note|'
        case securityaudit
            set family check
            set options \
                '--warning= How many kinds of warnings to accept. Default: 0.' \
                '--critical= How many kinds of critical findings to accept. Default: 0.'
            set columns 'check|about|state|exitCode|time|summary|details|values|checks|'
        case checkall
            set family check
            set options \
                '-t,--topic=topics Also check this topic. Repeatable.' \
                '-g,--groupName=groups Also check the lag of this group. Repeatable.' \
                '--expect=N|BROKERS|FILE The expected number of brokers; or the expected brokers, as broker-a,broker-b:1, a file with one broker per line, a plan, or a journal.' \
                '--journal=folders Folder of a name server\'s journal, or of `nsadmin collect`. Repeatable. Default: the context\'s.' \
                '--settle= If name servers differ, how long brokers may take to make them equal. Default: 50.' \
                '--reports=folders Also check the tables that report run --dir wrote here.' \
                '--warning= The warning limits of a check, such as lag=10000. Repeatable.' \
                '--critical= The critical limits of a check, such as lag=500000. Repeatable.' \
                '--skip=namesrv|brokers|divergence|writable|heartbeat|replicas|registrationSize|certificates|journal|drain|reports Skip this check. Repeatable.'
            set columns 'check|about|state|exitCode|time|summary|details|values|checks|'
        case checknamesrv
            set family check
            set options \
                '--warning= Name servers that may be down. Default: 0.' \
                '--critical= Name servers that must serve. Default: 1: (at least one).'
            set columns 'check|about|state|exitCode|time|summary|details|values|'
        case checkbrokers
            set family check
            set options \
                '--clusterName=clusters Only this cluster.' \
                '--expect=N|BROKERS|FILE The expected number of brokers; or the expected brokers, as broker-a,broker-b:1, a file with one broker per line, a plan, or a journal.' \
                '--warning= Brokers that may be down, or missing as masters. Default: 0.' \
                '--critical= Broker names that may lack a master that answers. Default: 0.'
            set columns 'check|about|state|exitCode|time|summary|details|values|'
        case checkdivergence
            set family check
            set options \
                '--settle= If name servers differ, how long brokers may take to make them equal. Default: 50.' \
                '--expect=BROKERS|FILE Brokers that must be registered: broker-a,broker-b:1, a file with one in each line, a plan or a journal.' \
                '--warning= Differences to accept. Default: 0.' \
                '--critical= Brokers and queues of topics that may differ. Default: 0.'
            set columns 'check|about|state|exitCode|time|summary|details|values|'
        case checktopic
            set family check
            set places \
                '-t,--topic=topics Name of a topic.'
            set options \
                '-t,--topic=topics Name of a topic.' \
                '--expect=BROKERS|FILE Brokers that must be registered: broker-a,broker-b:1, a file with one in each line, a plan or a journal.' \
                '--warning= Brokers of the topic that may refuse messages. Default: 0.' \
                '--critical= Brokers of the topic that must accept messages. Default: 1: (at least one).'
            set columns 'check|about|state|exitCode|time|summary|details|values|'
        case checkwritable
            set family check
            set options \
                '--clusterName=clusters Only this cluster.' \
                '--expect=BROKERS|FILE Brokers that must be registered: broker-a,broker-b:1, a file with one in each line, a plan or a journal.' \
                '--exclude= Skip topics whose names match this pattern.' \
                '--warning= Topics that may be writable on only some of their brokers. Default: 0.' \
                '--critical= Topics that may be unwritable. Default: 0.'
            set columns 'check|about|state|exitCode|time|summary|details|values|'
        case checklag
            set family check
            set places \
                '-g,--groupName=groups A consumer group.'
            set options \
                '-g,--groupName=groups A consumer group.' \
                '-t,--topicName=topics Only this topic.' \
                '--clusterName=clusters Only this cluster.' \
                '--warning= Messages that the group may be behind. Default: 10000.' \
                '--critical= Messages that the group may be behind. Default: 100000.'
            set columns 'check|about|state|exitCode|time|summary|details|values|'
        case checkclients
            set family check
            set options \
                '--min-version= The oldest accepted release. Default: 5.0.0.' \
                '--clusterName=clusters Only this cluster.' \
                '--warning= Clients that may be older. Default: 0.' \
                '--critical= Clients that may be older. Default: 1000000.'
            set columns 'check|about|state|exitCode|time|summary|details|values|'
        case checkheartbeat
            set family check
            set options \
                '--warning= Silence of a broker, in percent of its timeout. Default: 50.' \
                '--critical= Silence of a broker, in percent of its timeout. Default: 75.'
            set columns 'check|about|state|exitCode|time|summary|details|values|'
        case checkregistrationsize
            set family check
            set options \
                '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.' \
                '--clusterName=clusters Only this cluster.' \
                '--warning= Size of a registration, in percent of 16 MiB. Default: 50.' \
                '--critical= Size of a registration, in percent of 16 MiB. Default: 80.'
            set columns 'check|about|state|exitCode|time|summary|details|values|'
        case checkcertificates
            set family check
            set options \
                '--warning= Days until a certificate expires. Default: 30:.' \
                '--critical= Days until a certificate expires. Default: 7:.'
            set columns 'check|about|state|exitCode|time|summary|details|values|'
        case checkjournal
            set family check
            set options \
                '--journal=folders Folder of a name server\'s journal, or of `nsadmin collect`. Repeatable. Default: the context\'s.' \
                '--since= Count losses since this time. Default: -24h. ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.' \
                '--verify Verify every record of each journal, which takes longer.' \
                '--warning= Age of the last record, in seconds. Default: 120.' \
                '--critical= Age of the last record, in seconds. Default: 600.'
            set columns 'check|about|state|exitCode|time|summary|details|values|'
        case checkreplicas
            set family check
            set options \
                '--clusterName=clusters Only this cluster.' \
                '--warning= Differences that slaves do not remove. Default: 0.' \
                '--critical= Items that slaves may lack. Default: 0.'
            set columns 'check|about|state|exitCode|time|summary|details|values|'
        case checkreports
            set family check
            set options \
                '--dir=folders The folder that report run --dir wrote.' \
                '--warning= Seconds since the last line was read. Default: 93600 (26 h).' \
                '--critical= Seconds since the last line was read. Default: 180000 (50 h).'
            set columns 'check|about|state|exitCode|time|summary|details|values|'
        case checkbackup
            set family check
            set places \
                '--path= A backup, or a folder of `nsadmin backup create --dir`.'
            set options \
                '--path= A backup, or a folder of `nsadmin backup create --dir`.' \
                '--clusterName=clusters Only the backups of this cluster in the folder.' \
                '--warning= Age of the last backup in seconds. Default: 93600 (26 h).' \
                '--critical= Age of the last backup in seconds. Default: 180000 (50 h).'
            set columns 'check|about|state|exitCode|time|summary|details|values|'
        case checkdrain
            set family check
            set options \
                '--warning= Age of a drain, in seconds. Default: 86400 (one day).' \
                '--critical= Topics on drained brokers that may be writable. Default: 0.'
            set columns 'check|about|state|exitCode|time|summary|details|values|'
        case kubedoctor
            set family check
            set options \
                '--warning= How many kinds of warnings to accept. Default: 0.' \
                '--critical= How many kinds of critical findings to accept. Default: 0.'
            set columns 'check|about|state|exitCode|time|summary|details|values|checks|'
        case startmonitoring
            set family check
            set options \
                '--once Check once, and exit with the state.' \
                '-i,--interval= Time between two checks.' \
                '--clusterName=clusters Only this cluster.' \
                '--warning= Messages that a group may be behind. Default: 10000.' \
                '--critical= Messages that a group may be behind. Default: 100000.'
            set columns 'check|about|state|exitCode|time|summary|details|values|checks|'
        case reportrun
            set family program
            set options \
                '--input=folders read journals, or logs of Java servers, in this folder and below (may contain *); repeatable' \
                '--source= the same, for the server NAME (\'*=DIR/*/logs\': the first * is the name); repeatable' \
                '--dir=folders folder of the tables and reports' \
                '--since= report on events from this time on: ISO 8601 (UTC without a zone), 7d for a week ago (m, h, d, w), or ms since 1970' \
                '--until= report on events before this time' \
                '--reports= compute only these reports' \
                '--max-quarantine= exit with code 3 if more than this share of the lines is unreadable: 1%, 0.01 (default: 1%)' \
                '--keep= keep replaced rows readable for this time: 36h, 30d (default: 7d)' \
                '--master= Spark master: local[4], spark://HOST:PORT, yarn (default: local[*])' \
                '--conf= Spark setting, such as spark.driver.memory=4g; repeatable' \
                '--compact then merge small files of the tables, up to 128 MiB'
        case reportstream
            set family program
            set options \
                '--input=folders read journals, or logs of Java servers, in this folder and below (may contain *); repeatable' \
                '--source= the same, for the server NAME (\'*=DIR/*/logs\': the first * is the name); repeatable' \
                '--dir=folders folder of the tables and reports' \
                '--since= report on events from this time on: ISO 8601 (UTC without a zone), 7d for a week ago (m, h, d, w), or ms since 1970' \
                '--until= report on events before this time' \
                '--reports= compute only these reports' \
                '--max-quarantine= exit with code 3 if more than this share of the lines is unreadable: 1%, 0.01 (default: 1%)' \
                '--keep= keep replaced rows readable for this time: 36h, 30d (default: 7d)' \
                '--master= Spark master: local[4], spark://HOST:PORT, yarn (default: local[*])' \
                '--conf= Spark setting, such as spark.driver.memory=4g; repeatable' \
                '--once process the existing data and exit, for cron' \
                '--every= time between two checks for new data: 30s, 5m (default: 60s)'
        case lab
            set family program
            set places \
                '=up|run|list| ' \
                '=acting-master|address-conflict|drift|flapping-broker|name-server-pause|name-server-waits|no-route|quiet-day|reconnect-storm|rolling-restart|split-brain|topic-explosion|undone-wipe| scenario to play: a built-in name or a YAML file; the cluster keeps running after its end'
            set options \
                '--clusters= clusters (2)' \
                '--groups= broker groups in each cluster (3)' \
                '--replicas= brokers in each group, master included (2)' \
                '--topics= topics in each cluster, without system topics (40)' \
                '--namesrvs= number of name servers (1)' \
                '--scenario=acting-master|address-conflict|drift|flapping-broker|name-server-pause|name-server-waits|no-route|quiet-day|reconnect-storm|rolling-restart|split-brain|topic-explosion|undone-wipe| scenario to play: a built-in name or a YAML file; the cluster keeps running after its end' \
                '--namesrv-port= port of the first name server, the others get the next ports; 0 selects free ports (0)' \
                '--broker-port= port of the first broker, the others get every tenth port; 0 selects free ports (0)' \
                '--no-context do not write the context "lab"' \
                '-n,--namesrvAddr= register the brokers with these name servers (separated by ; or ,) and start none' \
                '--speed= virtual seconds per real second at most, or max (up: 1, run: max)' \
                '--dir=folders folder for journals and truth.jsonl (a temporary folder)' \
                '--seed= seed of the random numbers that choose the topics and clients (1, or the scenario\'s)' \
                '--until= duration of the run (the scenario\'s): 90s, 10m, 2h' \
                '--java-logs=4.x|5.x| also write the logs that Java name servers of this release would write'
        case namesrv
            set family program
            set options \
                '-c,--configFile=files configuration file (Java properties); UPDATE_NAMESRV_CONFIG writes to it' \
                '-D= set any setting of docs/reference/configuration.md, such as -Dtls.server.mode=enforcing; the environment has the same settings, such as NAMESRV_TLS_SERVER_MODE=enforcing' \
                '-p,--printConfigItem print the settings and exit; nsadmin\'s own settings only if they are changed' \
                '-n,--namesrvAddr= accepted for compatibility with mqnamesrv, has no effect' \
                '--port= port to listen on (default: 9876); 0 selects a free port' \
                '--bind= address to listen on (default: 0.0.0.0)' \
                '--home=folders folder of kvConfig.json and namesrv.properties (default: ~/namesrv)' \
                '--journal-dir=folders write a journal to this folder (default: journal/ in --home)' \
                '--http= serve /metrics, /healthz, /readyz and /rocketmq/nsaddr on this port, without ADDR only on 127.0.0.1 (default: no HTTP port)' \
                '--credentials=files access rules, see docs/how-to/secure-the-name-server.md (default: everything is allowed)' \
                '--read-only refuse all changes by operators; brokers still register' \
                '--no-remote-config refuse UPDATE_NAMESRV_CONFIG from every peer' \
                '--log-format=text|json| format of the log on stderr (default: text)' \
                '--log-level=DEBUG|INFO|WARN|ERROR| lowest level to log: DEBUG, INFO, WARN or ERROR (default: INFO); SIGUSR2 toggles DEBUG' \
                '--no-journal write no journal'
        case completion
            set family program
            set places \
                '=bash|zsh|fish|powershell| name of the shell'
        case tui
            set family screen
            set places \
                '--screen= The first screen. Default: home.'
            set options \
                '--screen= The first screen. Default: home.' \
                '--interval= Time between two polls of a server. Default: 5.' \
                '-s,--namespace= KV namespace to show in addition to ORDER_TOPIC_CONFIG. Repeatable.' \
                '--journal=folders Journal to show events from. Default: the context\'s. Repeatable.' \
                '--read-only Refuse all changes.' \
                '--record=files Record the session to this file, for --replay.' \
                '--replay= Replay a recording, or a folder with journals.' \
                '--speed= Replay N seconds per second. Default: 1.'
        case mcp
            set family screen
            set options \
                '--contexts= Contexts that the client can choose from, separated by commas. Default: the name servers of the command line.' \
                '--tools= Only these tools: commands such as topicRoute, and categories of `nsadmin help` such as topics. Default: all.' \
                '--files=folders Folder with backups, bundles and snapshots that the client may read.' \
                '--allow-changes Also serve tools that plan changes, and a tool that executes plans.' \
                '--time-limit= Time limit of a call that reads. Default: 2m.' \
                '--max-calls= Commands that run at once. Default: 4.'
        case batch
            set family batch
            set places \
                '-f,--file=files A file of command lines. - is standard input.'
        case audit
            set family group
            set places \
                '=list| '
        case backup
            set family group
            set places \
                '=create|show|diff|restore| '
        case bench
            set family group
            set places \
                '=produce|consume|latency| '
        case bundle
            set family group
            set places \
                '=create|show|diff| '
        case check
            set family group
            set places \
                '=all|namesrv|brokers|divergence|topic|writable|lag|clients|heartbeat|registrationSize|certificates|journal|replicas|reports|backup|drain| '
        case client
            set family group
            set places \
                '=list| '
        case context
            set family group
            set places \
                '=list|show|use|set|login|delete| '
        case delayed
            set family group
            set places \
                '=list|cancel| '
        case discovery
            set family group
            set places \
                '=prometheus| '
        case dlq
            set family group
            set places \
                '=list|show|replay|purge| '
        case inventory
            set family group
            set places \
                '=list|forget|pin| '
        case journal
            set family group
            set places \
                '=cat|tail|stat|verify| '
        case kube
            set family group
            set places \
                '=doctor| '
        case kv
            set family group
            set places \
                '=get|list|diff|sync|export|import| '
        case message
            set family group
            set places \
                '=track| '
        case messages
            set family group
            set places \
                '=export|import| '
        case proxy
            set family group
            set places \
                '=list| '
        case rebalance
            set family group
            set places \
                '=plan|run|status| '
        case repair
            set family group
            set places \
                '=wipe|register| '
        case report
            set family group
            set places \
                '=run|stream|show|schema|export|html|markdown| '
        case route
            set family group
            set places \
                '=explain|at|diff| '
        case snapshot
            set family group
            set places \
                '=save|show|list| '
        case transfer
            set family group
            set places \
                '=topics|groups|acl|messages|verify|offsets| '
        case help
            set family help
            set places \
                '=commands '
    end
    switch $family
        case read
            set -a options \
                '--context=contexts Use the name servers, TLS settings and credentials of this context.' \
                '--bundle=files Read this support bundle (nsadmin bundle create) instead of the servers.' \
                '-n,--namesrvAddr=name-servers Name servers: HOST:PORT;HOST:PORT. Repeatable.' \
                '--configFile=files Read name servers from a properties file: namesrvAddr, rocketmq.namesrv.addr or .domain.' \
                '--endpoint= Get the name servers from this URL, or from a domain as Java clients do.' \
                '--addressMap= Reach brokers at another address, for example 10.0.0.0/8=gateway:10911. Repeatable.' \
                '--proxies=proxies Also ask these proxies, at their remoting ports: HOST:8080;HOST:8080. Repeatable.' \
                '--kube= Reach servers in this Kubernetes namespace through kubectl.' \
                '--ssh= Reach servers through this SSH host: USER@HOST, USER@HOST:PORT or an alias of ssh_config.' \
                '--credentials= Sign requests with credentials from env, file:PATH, tools:PATH or keyring:NAME. none: do not sign.' \
                '--tls,--no-tls Use TLS, or plain connections.' \
                '--tlsCa=files Trust these CA certificates (PEM) instead of the system\'s.' \
                '--tlsCert=files Client certificate (PEM).' \
                '--tlsKey=files Private key of the client certificate (PEM). NSADMIN_KEY_PASSWORD has its password.' \
                '--tlsServerName= Name that certificates of servers must contain.' \
                '--insecure Do not verify certificates, and sign requests anyway. Implies --tls.' \
                '--timeout= Time limit of each request (default: 3).' \
                '--retries= Repeat a read up to N times if a server does not answer, after growing pauses (default: 0).' \
                '--concurrency= Number of servers to ask at the same time (default: 64).' \
                '--output=table|wide|json|jsonl|yaml|csv|spreadsheet|tsv|name|value|mqadmin Output format: table, wide, json, jsonl, yaml, csv, spreadsheet, tsv, name, value, mqadmin (default: table).' \
                '--json Short for --output json.' \
                '--no-headers Print tables, CSV and TSV without headings.' \
                '--no-color Print no colours.' \
                '--watch= Repeat the command at this interval until Ctrl-C.' \
                '--columns=columns Print only these columns, in this order.' \
                '--sort=columns Sort by these columns. Prefix one with - for descending order.' \
                '--filter=columns Print only rows such as perm!=6, inTps>100 or topic~^order. Operators: = != < <= > >= ~ !~. Repeatable.' \
                '--quiet Print nothing but errors on stderr.' \
                '--debug Print each request, and tracebacks, on stderr.' \
                '-h,--help Show this help.'
        case change
            set -a options \
                '--context=contexts Use the name servers, TLS settings and credentials of this context.' \
                '--bundle=files Read this support bundle (nsadmin bundle create) instead of the servers.' \
                '-n,--namesrvAddr=name-servers Name servers: HOST:PORT;HOST:PORT. Repeatable.' \
                '--configFile=files Read name servers from a properties file: namesrvAddr, rocketmq.namesrv.addr or .domain.' \
                '--endpoint= Get the name servers from this URL, or from a domain as Java clients do.' \
                '--addressMap= Reach brokers at another address, for example 10.0.0.0/8=gateway:10911. Repeatable.' \
                '--proxies=proxies Also ask these proxies, at their remoting ports: HOST:8080;HOST:8080. Repeatable.' \
                '--kube= Reach servers in this Kubernetes namespace through kubectl.' \
                '--ssh= Reach servers through this SSH host: USER@HOST, USER@HOST:PORT or an alias of ssh_config.' \
                '--credentials= Sign requests with credentials from env, file:PATH, tools:PATH or keyring:NAME. none: do not sign.' \
                '--tls,--no-tls Use TLS, or plain connections.' \
                '--tlsCa=files Trust these CA certificates (PEM) instead of the system\'s.' \
                '--tlsCert=files Client certificate (PEM).' \
                '--tlsKey=files Private key of the client certificate (PEM). NSADMIN_KEY_PASSWORD has its password.' \
                '--tlsServerName= Name that certificates of servers must contain.' \
                '--insecure Do not verify certificates, and sign requests anyway. Implies --tls.' \
                '--timeout= Time limit of each request (default: 3).' \
                '--retries= Repeat a read up to N times if a server does not answer, after growing pauses (default: 0).' \
                '--concurrency= Number of servers to ask at the same time (default: 64).' \
                '--output=table|wide|json|jsonl|yaml|csv|spreadsheet|tsv|name|value|mqadmin Output format: table, wide, json, jsonl, yaml, csv, spreadsheet, tsv, name, value, mqadmin (default: table).' \
                '--json Short for --output json.' \
                '--no-headers Print tables, CSV and TSV without headings.' \
                '--no-color Print no colours.' \
                '--dry-run Show what would change, and change nothing.' \
                '-y,--yes Change without asking for confirmation.' \
                '--quiet Print nothing but errors on stderr.' \
                '--debug Print each request, and tracebacks, on stderr.' \
                '-h,--help Show this help.'
        case mixed
            set -a options \
                '--context=contexts Use the name servers, TLS settings and credentials of this context.' \
                '--bundle=files Read this support bundle (nsadmin bundle create) instead of the servers.' \
                '-n,--namesrvAddr=name-servers Name servers: HOST:PORT;HOST:PORT. Repeatable.' \
                '--configFile=files Read name servers from a properties file: namesrvAddr, rocketmq.namesrv.addr or .domain.' \
                '--endpoint= Get the name servers from this URL, or from a domain as Java clients do.' \
                '--addressMap= Reach brokers at another address, for example 10.0.0.0/8=gateway:10911. Repeatable.' \
                '--proxies=proxies Also ask these proxies, at their remoting ports: HOST:8080;HOST:8080. Repeatable.' \
                '--kube= Reach servers in this Kubernetes namespace through kubectl.' \
                '--ssh= Reach servers through this SSH host: USER@HOST, USER@HOST:PORT or an alias of ssh_config.' \
                '--credentials= Sign requests with credentials from env, file:PATH, tools:PATH or keyring:NAME. none: do not sign.' \
                '--tls,--no-tls Use TLS, or plain connections.' \
                '--tlsCa=files Trust these CA certificates (PEM) instead of the system\'s.' \
                '--tlsCert=files Client certificate (PEM).' \
                '--tlsKey=files Private key of the client certificate (PEM). NSADMIN_KEY_PASSWORD has its password.' \
                '--tlsServerName= Name that certificates of servers must contain.' \
                '--insecure Do not verify certificates, and sign requests anyway. Implies --tls.' \
                '--timeout= Time limit of each request (default: 3).' \
                '--retries= Repeat a read up to N times if a server does not answer, after growing pauses (default: 0).' \
                '--concurrency= Number of servers to ask at the same time (default: 64).' \
                '--output=table|wide|json|jsonl|yaml|csv|spreadsheet|tsv|name|value|mqadmin Output format: table, wide, json, jsonl, yaml, csv, spreadsheet, tsv, name, value, mqadmin (default: table).' \
                '--json Short for --output json.' \
                '--no-headers Print tables, CSV and TSV without headings.' \
                '--no-color Print no colours.' \
                '--columns=columns Print only these columns, in this order.' \
                '--sort=columns Sort by these columns. Prefix one with - for descending order.' \
                '--filter=columns Print only rows such as perm!=6, inTps>100 or topic~^order. Operators: = != < <= > >= ~ !~. Repeatable.' \
                '--dry-run Show what would change, and change nothing.' \
                '-y,--yes Change without asking for confirmation.' \
                '--quiet Print nothing but errors on stderr.' \
                '--debug Print each request, and tracebacks, on stderr.' \
                '-h,--help Show this help.'
        case local
            set -a options \
                '--output=table|wide|json|jsonl|yaml|csv|spreadsheet|tsv|name|value|mqadmin Output format: table, wide, json, jsonl, yaml, csv, spreadsheet, tsv, name, value, mqadmin (default: table).' \
                '--json Short for --output json.' \
                '--no-headers Print tables, CSV and TSV without headings.' \
                '--no-color Print no colours.' \
                '--watch= Repeat the command at this interval until Ctrl-C.' \
                '--columns=columns Print only these columns, in this order.' \
                '--sort=columns Sort by these columns. Prefix one with - for descending order.' \
                '--filter=columns Print only rows such as perm!=6, inTps>100 or topic~^order. Operators: = != < <= > >= ~ !~. Repeatable.' \
                '--quiet Print nothing but errors on stderr.' \
                '--debug Print each request, and tracebacks, on stderr.' \
                '-h,--help Show this help.'
        case check
            set -a options \
                '--context=contexts Use the name servers, TLS settings and credentials of this context.' \
                '--bundle=files Read this support bundle (nsadmin bundle create) instead of the servers.' \
                '-n,--namesrvAddr=name-servers Name servers: HOST:PORT;HOST:PORT. Repeatable.' \
                '--configFile=files Read name servers from a properties file: namesrvAddr, rocketmq.namesrv.addr or .domain.' \
                '--endpoint= Get the name servers from this URL, or from a domain as Java clients do.' \
                '--addressMap= Reach brokers at another address, for example 10.0.0.0/8=gateway:10911. Repeatable.' \
                '--proxies=proxies Also ask these proxies, at their remoting ports: HOST:8080;HOST:8080. Repeatable.' \
                '--kube= Reach servers in this Kubernetes namespace through kubectl.' \
                '--ssh= Reach servers through this SSH host: USER@HOST, USER@HOST:PORT or an alias of ssh_config.' \
                '--credentials= Sign requests with credentials from env, file:PATH, tools:PATH or keyring:NAME. none: do not sign.' \
                '--tls,--no-tls Use TLS, or plain connections.' \
                '--tlsCa=files Trust these CA certificates (PEM) instead of the system\'s.' \
                '--tlsCert=files Client certificate (PEM).' \
                '--tlsKey=files Private key of the client certificate (PEM). NSADMIN_KEY_PASSWORD has its password.' \
                '--tlsServerName= Name that certificates of servers must contain.' \
                '--insecure Do not verify certificates, and sign requests anyway. Implies --tls.' \
                '--timeout= Time limit of each request (default: 3).' \
                '--retries= Repeat a read up to N times if a server does not answer, after growing pauses (default: 0).' \
                '--concurrency= Number of servers to ask at the same time (default: 64).' \
                '--format=text|nagios|json|prometheus Output format (default: text). nagios is for plugins, prometheus for a textfile collector.' \
                '--json Short for --format json.' \
                '--output-file=files Write the result to this file, atomically, and nothing to stdout.' \
                '--wait-until-ok= Repeat the check until it is OK, at most for this time: 90s, 5m, 1h.' \
                '--quiet Print nothing but errors on stderr.' \
                '--debug Print each request, and tracebacks, on stderr.' \
                '-h,--help Show this help.'
        case program
            set -a options \
                '-h,--help show this help message and exit'
        case screen
            set -a options \
                '--context=contexts Use the name servers, TLS settings and credentials of this context.' \
                '--bundle=files Read this support bundle (nsadmin bundle create) instead of the servers.' \
                '-n,--namesrvAddr=name-servers Name servers: HOST:PORT;HOST:PORT. Repeatable.' \
                '--configFile=files Read name servers from a properties file: namesrvAddr, rocketmq.namesrv.addr or .domain.' \
                '--endpoint= Get the name servers from this URL, or from a domain as Java clients do.' \
                '--addressMap= Reach brokers at another address, for example 10.0.0.0/8=gateway:10911. Repeatable.' \
                '--proxies=proxies Also ask these proxies, at their remoting ports: HOST:8080;HOST:8080. Repeatable.' \
                '--kube= Reach servers in this Kubernetes namespace through kubectl.' \
                '--ssh= Reach servers through this SSH host: USER@HOST, USER@HOST:PORT or an alias of ssh_config.' \
                '--credentials= Sign requests with credentials from env, file:PATH, tools:PATH or keyring:NAME. none: do not sign.' \
                '--tls,--no-tls Use TLS, or plain connections.' \
                '--tlsCa=files Trust these CA certificates (PEM) instead of the system\'s.' \
                '--tlsCert=files Client certificate (PEM).' \
                '--tlsKey=files Private key of the client certificate (PEM). NSADMIN_KEY_PASSWORD has its password.' \
                '--tlsServerName= Name that certificates of servers must contain.' \
                '--insecure Do not verify certificates, and sign requests anyway. Implies --tls.' \
                '--timeout= Time limit of each request (default: 3).' \
                '--retries= Repeat a read up to N times if a server does not answer, after growing pauses (default: 0).' \
                '--concurrency= Number of servers to ask at the same time (default: 64).' \
                '--quiet Print nothing but errors on stderr.' \
                '--debug Print each request, and tracebacks, on stderr.' \
                '-h,--help Show this help.'
        case batch
            set -a options \
                '-f,--file=files A file of command lines. - is standard input.' \
                '--stop-on-error Stop at the first command that fails.' \
                '--context=contexts Use the name servers, TLS settings and credentials of this context.' \
                '--bundle=files Read this support bundle (nsadmin bundle create) instead of the servers.' \
                '-n,--namesrvAddr=name-servers Name servers: HOST:PORT;HOST:PORT. Repeatable.' \
                '--configFile=files Read name servers from a properties file: namesrvAddr, rocketmq.namesrv.addr or .domain.' \
                '--endpoint= Get the name servers from this URL, or from a domain as Java clients do.' \
                '--addressMap= Reach brokers at another address, for example 10.0.0.0/8=gateway:10911. Repeatable.' \
                '--proxies=proxies Also ask these proxies, at their remoting ports: HOST:8080;HOST:8080. Repeatable.' \
                '--kube= Reach servers in this Kubernetes namespace through kubectl.' \
                '--ssh= Reach servers through this SSH host: USER@HOST, USER@HOST:PORT or an alias of ssh_config.' \
                '--credentials= Sign requests with credentials from env, file:PATH, tools:PATH or keyring:NAME. none: do not sign.' \
                '--tls,--no-tls Use TLS, or plain connections.' \
                '--tlsCa=files Trust these CA certificates (PEM) instead of the system\'s.' \
                '--tlsCert=files Client certificate (PEM).' \
                '--tlsKey=files Private key of the client certificate (PEM). NSADMIN_KEY_PASSWORD has its password.' \
                '--tlsServerName= Name that certificates of servers must contain.' \
                '--insecure Do not verify certificates, and sign requests anyway. Implies --tls.' \
                '--timeout= Time limit of each request (default: 3).' \
                '--retries= Repeat a read up to N times if a server does not answer, after growing pauses (default: 0).' \
                '--concurrency= Number of servers to ask at the same time (default: 64).' \
                '--output=table|wide|json|jsonl|yaml|csv|spreadsheet|tsv|name|value|mqadmin Output format: table, wide, json, jsonl, yaml, csv, spreadsheet, tsv, name, value, mqadmin (default: table).' \
                '--json Short for --output json.' \
                '--no-headers Print tables, CSV and TSV without headings.' \
                '--no-color Print no colours.' \
                '--dry-run Show what would change, and change nothing.' \
                '-y,--yes Change without asking for confirmation.' \
                '--quiet Print nothing but errors on stderr.' \
                '--debug Print each request, and tracebacks, on stderr.' \
                '-h,--help Show this help.'
        case front
            set -a options \
                '--context=contexts Use the name servers, TLS settings and credentials of this context.' \
                '--bundle=files Read this support bundle (nsadmin bundle create) instead of the servers.' \
                '-n,--namesrvAddr=name-servers Name servers: HOST:PORT;HOST:PORT. Repeatable.' \
                '--configFile=files Read name servers from a properties file: namesrvAddr, rocketmq.namesrv.addr or .domain.' \
                '--endpoint= Get the name servers from this URL, or from a domain as Java clients do.' \
                '--addressMap= Reach brokers at another address, for example 10.0.0.0/8=gateway:10911. Repeatable.' \
                '--proxies=proxies Also ask these proxies, at their remoting ports: HOST:8080;HOST:8080. Repeatable.' \
                '--kube= Reach servers in this Kubernetes namespace through kubectl.' \
                '--ssh= Reach servers through this SSH host: USER@HOST, USER@HOST:PORT or an alias of ssh_config.' \
                '--credentials= Sign requests with credentials from env, file:PATH, tools:PATH or keyring:NAME. none: do not sign.' \
                '--tls,--no-tls Use TLS, or plain connections.' \
                '--tlsCa=files Trust these CA certificates (PEM) instead of the system\'s.' \
                '--tlsCert=files Client certificate (PEM).' \
                '--tlsKey=files Private key of the client certificate (PEM). NSADMIN_KEY_PASSWORD has its password.' \
                '--tlsServerName= Name that certificates of servers must contain.' \
                '--insecure Do not verify certificates, and sign requests anyway. Implies --tls.' \
                '--timeout= Time limit of each request (default: 3).' \
                '--retries= Repeat a read up to N times if a server does not answer, after growing pauses (default: 0).' \
                '--concurrency= Number of servers to ask at the same time (default: 64).' \
                '--output=table|wide|json|jsonl|yaml|csv|spreadsheet|tsv|name|value|mqadmin Output format: table, wide, json, jsonl, yaml, csv, spreadsheet, tsv, name, value, mqadmin (default: table).' \
                '--json Short for --output json.' \
                '--no-headers Print tables, CSV and TSV without headings.' \
                '--no-color Print no colours.' \
                '--watch= Repeat the command at this interval until Ctrl-C.' \
                '--columns=columns Print only these columns, in this order.' \
                '--sort=columns Sort by these columns. Prefix one with - for descending order.' \
                '--filter=columns Print only rows such as perm!=6, inTps>100 or topic~^order. Operators: = != < <= > >= ~ !~. Repeatable.' \
                '--quiet Print nothing but errors on stderr.' \
                '--debug Print each request, and tracebacks, on stderr.' \
                '-h,--help Show this help.' \
                '--dry-run Show what would change, and change nothing.' \
                '-y,--yes Change without asking for confirmation.' \
                '--version Show the version and exit.'
    end
end

# Succeeds if the flag takes a value, and sets source.
function __nsadmin_takes --no-scope-shadowing
    for __nsadmin_item in $options
        set __nsadmin_item (string split -m1 ' ' -- $__nsadmin_item)[1]
        set -l parts (string split -m1 '=' -- $__nsadmin_item)
        if set -q parts[2]; and contains -- $argv[1] (string split ',' -- $parts[1])
            set source $parts[2]
            test "$source" = columns; and set source "columns:$columns"
            return 0
        end
    end
    return 1
end

# Prints the values of a source that begin with the typed text. $argv[4..] are the words before.
function __nsadmin_values --argument-names source typed head
    switch $source
        case ''
        case files
            # Unchanged, because fish expands ~ and variables in paths.
            test -z "$head"; and set typed (commandline -ct)
            printf '%s\n' $head(__fish_complete_path $typed)
        case folders
            printf '%s\n' $head(__fish_complete_directories $typed '')
        case commands
            printf '%s\n' clusterList\t'List brokers with their load and state' brokerStatus\t'Show all runtime figures of a broker' haStatus\t'Show how far slaves are behind their master' replicaDiff\t'Compare slaves with their masters' getBrokerConfig\t'Show the settings of brokers' configDiff\t'Compare settings across brokers and with defaults' checkRocksdbCqWriteProgress\t'Compare file and RocksDB queues' getColdDataFlowCtrInfo\t'Show cold-data read limits and use' drainStatus\t'List open drains and later changes' topicList\t'List topics' topicRoute\t'Show the brokers and queues of a topic' topicStatus\t'Show the offsets of a topic\'s queues' topicClusterList\t'List the clusters of a topic' statsAll\t'Show the traffic of topics and groups' allocateMQ\t'Show which client gets which queues' getBrokerLiteInfo\t'Show the lite topics of brokers' getParentTopicInfo\t'Count the lite topics of a parent topic' getLiteTopicInfo\t'Show offsets and subscribers of a lite topic' getLiteClientInfo\t'List the lite topics of a client' getLiteGroupInfo\t'Show a group\'s backlog on lite topics' consumerProgress\t'Show the backlog of one group or of all' consumerConnection\t'List a group\'s clients and subscriptions' consumerStatus\t'Show the state of a group\'s clients' brokerConsumeStats\t'Show the backlog of all groups on a broker' getConsumerConfig\t'Show the settings of a group' getConsumeMode\t'List groups that are set to pull or pop' producer\t'List producers' producerConnection\t'List the clients of a producer group' queryMsgByKey\t'Find messages by key' queryMsgByOffset\t'Show the message at an offset of a queue' queryMsgTraceById\t'Show who sent and who consumed a message' printMsg\t'Print the messages of a topic' printMsgByQueue\t'Print the messages of one queue, or count tags' consumeMessage\t'Print messages from an offset or a time on' consume\t'Print the messages of a topic, also those to come' queryCq\t'Show entries of a consume queue' dumpCompactionLog\t'Print the messages of a compaction log file' where\t'Show the effective settings and test the servers' divergence\t'Compare name servers and explain differences' getNamesrvConfig\t'Show the settings of name servers' orderConfCheck\t'Compare order configs with brokers' export\t'Write a cluster\'s configuration as YAML' plan\t'Compare a file with the cluster' whatIf\t'Show what an outage of servers would break' spread\t'List topics that are unbalanced across brokers' registrationSize\t'Compare registrations with their limit' listUser\t'List users' getUser\t'Show a user' listAcl\t'List ACLs' getAcl\t'Show the ACL of a user' getAclConfig\t'List accounts (brokers of 4.x)' clusterAclConfigVersion\t'Show versions of ACL files (4.x)' getControllerMetaData\t'Show the controllers and their leader' getSyncStateSet\t'List replicas and whether they are in sync' getBrokerEpoch\t'Show the epochs of brokers' getControllerConfig\t'Show the settings of controllers' history\t'Show past changes of a topic, broker or key' collect\t'Record journals of name servers that keep none' exporter\t'Serve metrics of a cluster for Prometheus' exportConfigs\t'Export broker settings as JSON' exportMetadata\t'Export topics and groups as JSON' exportMetrics\t'Export load, versions and sizes as JSON' exportMetadataInRocksDB\t'Export topics or groups from RocksDB' updateBrokerConfig\t'Change a setting of brokers' sendMsgStatus\t'Time test messages to one broker' clusterRT\t'Time test messages to every master' cleanExpiredCQ\t'Delete consume queue files of expired messages' deleteExpiredCommitLog\t'Delete expired commit log files' cleanUnusedTopic\t'Delete consume queues of topics without config' setCommitLogReadAheadMode\t'Switch commit log read-ahead' switchTimerEngine\t'Choose the store of timed messages' resetMasterFlushOffset\t'Set the master flush offset on a slave' updateColdDataFlowCtrGroupConfig\t'Limit a group\'s cold-data reads' removeColdDataFlowCtrGroupConfig\t'Remove a group\'s cold-data limit' addBroker\t'Start a broker in a broker container' removeBroker\t'Stop a broker in a broker container' drain\t'Stop writes to a broker until it is safe to stop' undrain\t'Restore the permissions from before the drain' rollingRestart\t'Restart the brokers of a cluster one by one' wipeWritePerm\t'Remove the write permission of a broker' addWritePerm\t'Give a broker write permission again' updateTopic\t'Create or change a topic' updateTopicPerm\t'Change the permission of a topic' updateTopicList\t'Create or change the topics of a file' deleteTopic\t'Delete a topic and its messages' updateStaticTopic\t'Create or enlarge a static topic' remappingStaticTopic\t'Move queues of a static topic' triggerLiteDispatch\t'Dispatch lite topics to clients again' updateSubGroup\t'Create or change a group' updateSubGroupList\t'Create or change the groups of a file' deleteSubGroup\t'Delete a group' setConsumeMode\t'Set a group to pull or pop' resetOffsetByTime\t'Move a group to a time or an offset' skipAccumulatedMessage\t'Move a group to the end of a topic' cloneGroupOffset\t'Copy the offsets of another group' sendMessage\t'Send a text message' produce\t'Send messages from a text, a file or a template' checkMsgSendRT\t'Time test messages to a topic' updateKvConfig\t'Set a value of the KV config' deleteKvConfig\t'Delete a value of the KV config' updateNamesrvConfig\t'Change a setting of name servers' apply\t'Change the cluster to match a file' createUser\t'Create a user' updateUser\t'Change a user\'s password, type or status' copyUser\t'Copy users to other brokers' deleteUser\t'Delete a user and its ACL' createAcl\t'Create an ACL' updateAcl\t'Change an ACL' copyAcl\t'Copy ACLs to other brokers' deleteAcl\t'Delete an ACL or parts of it' updateAclConfig\t'Create or change an account (4.x)' deleteAclConfig\t'Delete an account (4.x)' updateGlobalWhiteAddr\t'Set addresses that need no signature (4.x)' updateControllerConfig\t'Change a setting of controllers' electMaster\t'Make a replica the master' cleanBrokerMetadata\t'Remove replicas from the controllers' exportPopRecord\t'Move pop records to the message store' updateOrderConf\t'Show or change a topic\'s order config' queryMsgByUniqueKey\t'Find messages by the producer\'s id' queryMsgById\t'Find a message by an id of either kind' orphans\t'Find leftover topics, and delete them' rocksDBConfigToJson\t'Export a RocksDB config store as JSON' mqadminMap\t'Show the nsadmin command for an mqadmin command' securityAudit\t'List security risks and how to fix them' startMonitoring\t'Check all consumer groups repeatedly' lab\t'Run a name server with simulated brokers' namesrv\t'Run a name server' completion\t'Print the completion script of a shell' tui\t'Watch and operate the cluster in the terminal' mcp\t'Serve the commands as tools to MCP clients' batch\t'Run many commands over the same connections' audit\t'The record of changes made from this account' backup\t'Backups of a cluster, and how to restore them' bench\t'Throughput and latency of a cluster, measured with a bounded load' bundle\t'Support bundles: the answers of a cluster in a file' check\t'Checks for monitoring systems' client\t'The clients that are connected to brokers and proxies' context\t'Clusters that you saved under a name' delayed\t'Messages that brokers deliver later' discovery\t'The servers of a cluster, for other programs' dlq\t'Dead letters: the messages that consumer groups failed to consume' inventory\t'The brokers that nsadmin expects' journal\t'The journal of a name server: every change of its tables' kube\t'RocketMQ in a Kubernetes namespace' kv\t'The KV config of the name servers' message\t'One message' messages\t'The messages of topics in files' proxy\t'The proxies of RocketMQ 5' rebalance\t'Queues of topics moved between brokers: scale out, scale in, level the load' repair\t'Registrations that name servers and broker disagree about' report\t'Availability and drain reports from journals and logs' route\t'The route of a topic: why it is missing, and how it changed' snapshot\t'The complete state of the name servers, saved in a file' transfer\t'A cluster\'s contents copied to another cluster' help\t'Help for a command or a group'
        case 'columns:*'
            # Complete the last column of a list such as a,b or a,-b.
            set -l others (string replace -r '[^,-]*$' '' -- $typed)
            set -l columns (string split -n '|' -- (string replace 'columns:' '' -- $source))
            printf '%s\n' $head$others$columns
        case '*|*'
            printf '%s\n' $head(string split -n '|' -- $source)
        case '*'
            set -l program (string replace -r '^~' $HOME -- $argv[4])
            type -q $program; or set program nsadmin
            set -l before
            for word in $argv[5..]
                # A word that is a variable, such as $PROD, is replaced by its value.
                set -l variable (string match -r '^\$(\w+)$' -- $word)[2]
                set -q variable[1]; and set -a before $$variable; or set -a before $word
            end
            set -l found ($program complete described $source "=$typed" $before 2>/dev/null)
            set -q found[1]; and printf '%s\n' $head$found
    end
end

# Prints the commands of a group.
function __nsadmin_members --argument-names group
    for member in 'proxy list'\t'List proxies with their mode and state' 'inventory list'\t'List expected brokers, also missing ones' 'inventory forget'\t'Stop expecting a broker' 'inventory pin'\t'Expect a broker until you forget it' 'rebalance plan'\t'Propose queues that level the load of brokers' 'rebalance status'\t'List runs of rebalance plans' 'route explain'\t'Explain "No route info of this topic"' 'client list'\t'List every connected client' 'message track'\t'Show the story of one message' 'messages export'\t'Write the messages of topics to files' 'delayed list'\t'List messages that brokers deliver later' 'dlq list'\t'Count the dead letters of each group' 'dlq show'\t'Print or export the dead letters of a group' 'kv get'\t'Show a value of the KV config' 'kv list'\t'List the values of a namespace' 'kv diff'\t'Compare the KV config of name servers' 'kv export'\t'Write the KV config to a file' 'backup create'\t'Save a cluster in one file' 'backup diff'\t'Compare a backup with the cluster' 'transfer verify'\t'Compare messages with their copies' 'bundle create'\t'Save the answers of a cluster in one file' 'route at'\t'Show the route of a topic at a past time' 'route diff'\t'Compare routes of two times or places' 'snapshot save'\t'Save the state of the name servers to a file' 'discovery prometheus'\t'Print all servers as targets for Prometheus' 'rebalance run'\t'Move queues as a plan says, or move them back' 'repair wipe'\t'Restore each topic\'s permission from the broker' 'repair register'\t'Register all topics of a broker again' 'messages import'\t'Send the messages of files' 'delayed cancel'\t'Cancel a timed message' 'bench produce'\t'Measure how many messages brokers store' 'bench consume'\t'Measure how many messages a client reads' 'bench latency'\t'Measure the latency of each broker' 'dlq replay'\t'Deliver dead letters to their group again' 'dlq purge'\t'Delete the dead letters of a group' 'kv sync'\t'Copy the KV config to the other name servers' 'kv import'\t'Write a file\'s KV config to every name server' 'backup restore'\t'Create the items of a backup again' 'transfer topics'\t'Create topics in another cluster' 'transfer groups'\t'Create groups in another cluster' 'transfer acl'\t'Create users and ACLs in another cluster' 'transfer messages'\t'Copy messages to another cluster' 'transfer offsets'\t'Move a group to copied messages' 'backup show'\t'Verify a backup and list its items' 'bundle show'\t'List the contents of a bundle, and its gaps' 'bundle diff'\t'Compare two bundles' 'snapshot show'\t'Show the contents of a snapshot' 'snapshot list'\t'List the snapshots of a folder' 'journal cat'\t'Print the events of a journal' 'journal tail'\t'Print the last events and follow' 'journal stat'\t'Count the events of a journal by type' 'journal verify'\t'Check that a journal is complete' 'audit list'\t'List the changes that this account made' 'context list'\t'List the saved contexts' 'context show'\t'Show a context' 'context use'\t'Choose the current context' 'context set'\t'Create or change a context' 'context login'\t'Store the credentials of a context' 'context delete'\t'Delete a context' 'report show'\t'Show a computed report' 'report schema'\t'Show the columns of tables with units' 'report export'\t'Write a table as CSV, Parquet or Excel' 'report html'\t'Write all reports as one HTML page' 'report markdown'\t'Write all reports as Markdown' 'check all'\t'Run every check that applies' 'check namesrv'\t'Check that name servers answer' 'check brokers'\t'Check that all brokers answer and have a master' 'check divergence'\t'Check that name servers agree' 'check topic'\t'Check that a topic is writable' 'check writable'\t'Check that all topics are writable' 'check lag'\t'Check the backlog of a group' 'check clients'\t'Check the releases of connected clients' 'check heartbeat'\t'Check the age of broker heartbeats' 'check registrationSize'\t'Check registrations against their limit' 'check certificates'\t'Check when certificates expire' 'check journal'\t'Check that journals grow and are complete' 'check replicas'\t'Check that slaves can replace masters' 'check reports'\t'Check that reports are fresh and complete' 'check backup'\t'Check that a backup is fresh and complete' 'check drain'\t'Check that drained brokers stay drained' 'kube doctor'\t'Examine RocketMQ in a Kubernetes namespace' 'report run'\t'Compute reports from journals and logs' 'report stream'\t'Compute reports continuously'
        string match -q -- "$group *" $member; and string replace -r '^\S+ ' '' -- $member
    end
end

function __nsadmin_flags
    for item in $argv
        set -l parts (string split -m1 ' ' -- $item)
        for flag in (string split ',' -- (string split -m1 '=' -- $parts[1])[1])
            printf '%s\t%s\n' $flag $parts[2]
        end
    end
end

function __nsadmin_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct | string replace -r '^["\']' '')
    set typed (string unescape -- $typed; or printf '%s' $typed)
    set -l given 0
    set -l taken
    set -l family
    set -l places
    set -l options
    set -l columns
    set -l source
    set -l command
    set -l waiting
    set -l __nsadmin_item
    __nsadmin_table ''
    for word in $words[2..]
        if set -q waiting[1]
            set waiting
        else if string match -q -- '-?*' $word
            set -a taken (string split -m1 '=' -- $word)[1]
            if not string match -q -- '*=*' $word; and __nsadmin_takes $word
                set waiting value
            end
        else if not set -q command[1]; or test "$family" = group
            set command "$command$word"
            __nsadmin_table $command
        else
            set given (math $given + 1)
        end
    end
    if set -q waiting[1]
        __nsadmin_values "$source" "$typed" '' $words
    else if string match -q -- '--*=*' "$typed"
        set -l parts (string split -m1 '=' -- $typed)
        __nsadmin_takes $parts[1]; and __nsadmin_values "$source" "$parts[2]" "$parts[1]=" $words
    else if string match -q -- '-*' "$typed"
        __nsadmin_flags $options
    else if not set -q command[1]
        __nsadmin_values commands '' ''
    else if test "$family" = group
        __nsadmin_members (string lower -- $command)
    else
        for item in $places
            set -l parts (string split -m1 '=' -- (string split -m1 ' ' -- $item)[1])
            set -l is_taken
            for flag in (string split -n ',' -- $parts[1])
                contains -- $flag $taken; and set is_taken yes
            end
            set -q is_taken[1]; and continue
            if test $given -gt 0
                set given (math $given - 1)
                continue
            end
            __nsadmin_values "$parts[2]" "$typed" '' $words
            return
        end
        test -n "$typed"; or __nsadmin_flags $options
    end
end

complete -c nsadmin -f -a '(__nsadmin_complete)'
