# fish completion for nsadmin, rendered from its commands

# What may stand behind a command. Each is FLAGS, or FLAGS=SOURCE where a value belongs to it; behind a blank,
# what it is for.
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
                '-m,--moreStats Messages in and out, yesterday and today, instead of load.' \
                '-i,--interval= Again and again, until Ctrl-C.'
            set columns 'clusterName|brokerName|brokerId|brokerAddr|version|inTps|outTps|sendThreadPoolQueueSize|sendThreadPoolQueueHeadWaitTimeMills|pullThreadPoolQueueSize|pullThreadPoolQueueHeadWaitTimeMills|ackThreadPoolQueueSize|ackThreadPoolQueueHeadWaitTimeMills|timerReadBehind|timerOffsetBehind|timerCongestNum|timerEnqueueTps|timerDequeueTps|pageCacheLockTimeMills|hour|commitLogDiskRatio|brokerActive|reachable|error|inTotalYest|outTotalYest|inTotalToday|outTotalToday|'
        case brokerstatus
            set family read
            set places \
                '-b,--brokerAddr=addresses Address of one broker.'
            set options \
                '-b,--brokerAddr=addresses Address of one broker.' \
                '-c,--clusterName=clusters Every master and slave of it.'
            set columns 'brokerAddr|key|value|'
        case hastatus
            set family read
            set places \
                '-b,--brokerAddr=addresses Address of one broker.'
            set options \
                '-b,--brokerAddr=addresses Address of one broker.' \
                '-c,--clusterName=clusters Every master and slave of it.' \
                '-i,--interval= Again and again, until Ctrl-C.'
            set columns 'brokerName|brokerId|brokerAddr|role|commitLogMaxOffset|inSyncSlaveNums|slaveAddr|slaveAckOffset|diff|inSync|transferFromWhere|masterAddr|masterFlushOffset|transferredByteInSecond|lastRead|lastWrite|error|'
        case getbrokerconfig
            set family read
            set places \
                '-b,--brokerAddr=addresses Address of one broker.'
            set options \
                '-b,--brokerAddr=addresses Address of one broker.' \
                '-c,--clusterName=clusters Every master and slave of it.'
            set columns 'brokerName|brokerId|brokerAddr|key|value|'
        case topiclist
            set family read
            set options \
                '-c,--clusterModel With the clusters of each topic and its consumer groups.' \
                '--system,--no-system Show or hide the topics that RocketMQ has for itself.' \
                '--cluster=clusters Only its topics.'
            set columns 'topic|clusterName|consumerGroups|'
        case topicroute
            set family read
            set places \
                '-t,--topic=topics Name of a topic.'
            set options \
                '-t,--topic=topics Name of a topic.' \
                '--raw The JSON as the name server sent it.' \
                '-l,--list Accepted from mqadmin: rows are the rule.'
            set columns 'topic|brokerName|clusterName|brokerAddrs|perm|readQueueNums|writeQueueNums|topicSysFlag|logicalQueues|'
        case topicclusterlist
            set family read
            set places \
                '-t,--topic=topics Name of a topic.'
            set options \
                '-t,--topic=topics Name of a topic.'
            set columns 'clusterName|'
        case topicstatus
            set family read
            set places \
                '-t,--topic=topics Name of a topic.'
            set options \
                '-t,--topic=topics Name of a topic.' \
                '-c,--cluster=clusters Ask the brokers of this cluster (or topic) about a topic without a route of its own.'
            set columns 'topic|brokerName|brokerAddr|queueId|minOffset|maxOffset|lastUpdated|topicPutTps|error|'
        case statsall
            set family read
            set places \
                '-t,--topic=topics Only this topic.'
            set options \
                '-t,--topic=topics Only this topic.' \
                '-a,--activeTopic Only what had a message in the last 24 hours.'
            set columns 'topic|consumerGroup|accumulation|inTps|outTps|inMsg24Hour|outMsg24Hour|error|'
        case allocatemq
            set family read
            set places \
                '-t,--topic=topics Name of a topic.' \
                '-i,--ipList= Client ids, or what stands for them: a,b,c.'
            set options \
                '-t,--topic=topics Name of a topic.' \
                '-i,--ipList= Client ids, or what stands for them: a,b,c.'
            set columns 'clientId|topic|brokerName|queueId|'
        case consumerprogress
            set family read
            set places \
                '-g,--groupName=groups A consumer group; all if left out.'
            set options \
                '-g,--groupName=groups A consumer group; all if left out.' \
                '-t,--topicName=topics Only this topic of the group.' \
                '-s,--showClientIP=true|false Ask the clients whose queue is whose.' \
                '-c,--cluster=clusters Ask only the brokers of this cluster.' \
                '--system Without GROUP: also the groups that brokers make for themselves.'
            set columns 'group|topic|brokerName|queueId|brokerOffset|consumerOffset|diff|inflight|lastTime|clientId|brokerAddr|error|count|version|consumeType|messageModel|tps|diffTotal|inflightTotal|'
        case consumerconnection
            set family read
            set places \
                '-g,--consumerGroup=groups A consumer group.'
            set options \
                '-g,--consumerGroup=groups A consumer group.' \
                '-b,--brokerAddr=addresses Ask only the broker at this address.' \
                '-c,--cluster=clusters Ask only the brokers of this cluster.'
            set columns 'group|clientId|clientAddr|language|version|consumeType|messageModel|consumeFromWhere|subscriptions|brokerAddrs|'
        case consumerstatus
            set family read
            set places \
                '-g,--consumerGroup=groups A consumer group.'
            set options \
                '-g,--consumerGroup=groups A consumer group.' \
                '-i,--clientId= Only this client of it.' \
                '-b,--brokerAddr=addresses Only clients of the broker there.' \
                '-s,--jstack The stacks of the clients\' threads, instead of rows.' \
                '-c,--cluster=clusters Ask only the brokers of this cluster.'
            set columns 'group|clientId|version|language|startTime|topic|brokerName|queueId|commitOffset|cachedMsgCount|cachedMsgSizeInMiB|lastPullTime|lastConsumeTime|waitAckCount|lastPopTime|locked|dropped|consumeOKTPS|consumeFailedTPS|consumeRT|pullTPS|pullRT|subscriptions|properties|error|'
        case brokerconsumestats
            set family read
            set places \
                '-b,--brokerAddr=addresses Address of one broker.'
            set options \
                '-b,--brokerAddr=addresses Address of one broker.' \
                '-t,--timeoutMillis= How long the broker may take.' \
                '-l,--level= Only queues that are this far behind.' \
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
        case producer
            set family read
            set places \
                '-b,--broker=addresses Address of one broker; all if left out.'
            set options \
                '-b,--broker=addresses Address of one broker; all if left out.' \
                '--internal,--no-internal Show or hide CLIENT_INNER_PRODUCER.'
            set columns 'producerGroup|clientId|clientAddr|language|version|lastUpdated|brokerAddr|'
        case producerconnection
            set family read
            set places \
                '-g,--producerGroup=producer-groups A producer group.' \
                '-t,--topic=topics Ask only the brokers that have this topic.'
            set options \
                '-g,--producerGroup=producer-groups A producer group.' \
                '-t,--topic=topics Ask only the brokers that have this topic.'
            set columns 'producerGroup|clientId|clientAddr|language|version|brokerAddrs|'
        case querymsgbykey
            set family read
            set places \
                '-t,--topic=topics Name of a topic.' \
                '-k,--msgKey= One of the keys of a message.'
            set options \
                '-t,--topic=topics Name of a topic.' \
                '-k,--msgKey= One of the keys of a message.' \
                '-b,--beginTimestamp= Stored since: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, -2h (s, m, h, d, w), or now.' \
                '-e,--endTimestamp= Stored until, likewise.' \
                '-m,--maxNum= The newest N messages.' \
                '-p,--keyType=K|T K: a key; T: a tag, with a RocksDB index only.' \
                '-l,--lastKey= Go on behind this indexKey, with a RocksDB index.' \
                '-c,--cluster=topics Ask the brokers of this topic or cluster instead.'
            set columns 'msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|indexKey|'
        case querymsgbyoffset
            set family read
            set places \
                '-t,--topic=topics Name of a topic.' \
                '-b,--brokerName=brokers Name of a broker.' \
                '-i,--queueId= Number of a queue, from 0.' \
                '-o,--offset= Place in the queue.'
            set options \
                '-t,--topic=topics Name of a topic.' \
                '-b,--brokerName=brokers Name of a broker.' \
                '-i,--queueId= Number of a queue, from 0.' \
                '-o,--offset= Place in the queue.' \
                '-f,--bodyFormat= Read bodies in this encoding, not in UTF-8.' \
                '-r,--routeTopic=topics Ask the broker of this topic instead.'
            set columns 'msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|tracks|'
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
                '-c,--charsetName= Read bodies in this encoding, not in UTF-8.' \
                '-s,--subExpression= Only messages with a tag of these: A || B.' \
                '-b,--beginTimestamp= Stored since: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, -2h (s, m, h, d, w), or now.' \
                '-e,--endTimestamp= Stored until, likewise.' \
                '-p,--print=true|false Whether messages are shown; true unless -f is.' \
                '-d,--printBody=true|false Whether with bodies; false.' \
                '-f,--calculate=true|false Count messages by tag; false. Has no bound.' \
                '--maxNum= Stop after so many messages.'
            set columns 'msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|tag|count|'
        case printmsg
            set family read
            set places \
                '-t,--topic=topics Name of a topic.'
            set options \
                '-t,--topic=topics Name of a topic.' \
                '-c,--charsetName= Read bodies in this encoding, not in UTF-8.' \
                '-s,--subExpression= Only messages with a tag of these: A || B.' \
                '-b,--beginTimestamp= Stored since: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, -2h (s, m, h, d, w), or now.' \
                '-e,--endTimestamp= Stored until, likewise.' \
                '-d,--printBody=true|false Whether with bodies; true.' \
                '-l,--lmqParentTopic=topics Ask the brokers of this topic instead.' \
                '--maxNum= Stop after so many messages.'
            set columns 'msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|'
        case querymsgtracebyid
            set family read
            set places \
                '-i,--msgId= The id that a producer has in its log.'
            set options \
                '-i,--msgId= The id that a producer has in its log.' \
                '-t,--traceTopic=topics Where the traces are.' \
                '-b,--beginTimestamp= Traces since: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, -2h (s, m, h, d, w), or now.' \
                '-e,--endTimestamp= Traces until, likewise.' \
                '-c,--maxNum= Look at so many trace messages of each broker.'
            set columns 'type|group|clientHost|time|costMs|status|topic|msgId|offsetMsgId|tags|keys|storeHost|messageType|retryTimes|requestId|transactionId|'
        case where
            set family read
            set columns 'namesrvAddr|source|context|reachable|latencyMillis|version|signed|tls|error|'
        case kvget
            set family read
            set places \
                '-s,--namespace=namespaces For example ORDER_TOPIC_CONFIG, whose keys are topics.' \
                '-k,--key=kv-keys Key within the namespace.'
            set options \
                '-s,--namespace=namespaces For example ORDER_TOPIC_CONFIG, whose keys are topics.' \
                '-k,--key=kv-keys Key within the namespace.'
            set columns 'namesrvAddr|namespace|key|value|result|error|'
        case kvlist
            set family read
            set places \
                '-s,--namespace=namespaces For example ORDER_TOPIC_CONFIG, whose keys are topics.'
            set options \
                '-s,--namespace=namespaces For example ORDER_TOPIC_CONFIG, whose keys are topics.'
            set columns 'namesrvAddr|namespace|key|value|result|error|'
        case getnamesrvconfig
            set family read
            set columns 'namesrvAddr|key|value|'
        case history
            set family read
            set places \
                '--kind=topic|broker|cluster|kv topic, broker, cluster or kv; all if left out.' \
                '--name= Its name; of kv, the namespace.' \
                '--key= Of kv, one key.'
            set options \
                '--kind=topic|broker|cluster|kv topic, broker, cluster or kv; all if left out.' \
                '--name= Its name; of kv, the namespace.' \
                '--key= Of kv, one key.' \
                '--since= Only from then on: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, -2h (s, m, h, d, w), or now.' \
                '--until= Only before then.' \
                '--type= Only events of this type, such as TopicsChanged. Repeatable.' \
                '-f,--follow Go on with what comes, until Ctrl-C.' \
                '--namesrv= Only the journal of this one, as records name it.' \
                '--journal=folders A name server\'s journal; else the context\'s. Repeatable.'
            set columns 'seq|time|server|type|changes|cause|client|event|'
        case routeat
            set family read
            set places \
                '-t,--topic=topics Name of a topic.'
            set options \
                '-t,--topic=topics Name of a topic.' \
                '--at= ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, -2h (s, m, h, d, w), or now.' \
                '--namesrv= Only the journal of this one, as records name it.' \
                '--journal=folders A name server\'s journal; else the context\'s. Repeatable.'
            set columns 'topic|brokerName|clusterName|brokerAddrs|perm|readQueueNums|writeQueueNums|topicSysFlag|logicalQueues|server|'
        case routediff
            set family read
            set places \
                '-t,--topic=topics Only this topic.'
            set options \
                '-t,--topic=topics Only this topic.' \
                '--from= The one side: a snapshot\'s file, HOST:PORT of a name server, a context, or a time.' \
                '--to= The other side: one of the same.' \
                '--unified As the text that diff -U0 writes.' \
                '--namesrv= Only the journal of this one, as records name it.' \
                '--journal=folders A name server\'s journal; else the context\'s. Repeatable.'
            set columns 'what|name|brokerName|changes|before|after|'
        case snapshotsave
            set family read
            set places \
                '--file=files Where to; named after the time if left out.'
            set options \
                '--file=files Where to; named after the time if left out.' \
                '--namespace=namespaces With this KV namespace too. Repeatable.'
            set columns 'file|time|nameServers|brokers|topics|kvEntries|size|'
        case collect
            set family read
            set places \
                '--dir=folders Where the journals are: a folder for each name server.'
            set options \
                '--dir=folders Where the journals are: a folder for each name server.' \
                '--interval= From one poll to the next: 500ms, 15s, 1m; 15s if left out.' \
                '--rate= Requests a second at most, over all servers; 1000 if left out.' \
                '--namespace= KV namespace to poll beside ORDER_TOPIC_CONFIG. Repeatable.' \
                '--once One poll of each name server, for cron.'
            set columns 'namesrvAddr|result|brokers|topics|events|took|journal|error|'
        case wipewriteperm
            set family change
            set places \
                '-b,--brokerName=brokers Name of a broker, as in clusterList.'
            set options \
                '-b,--brokerName=brokers Name of a broker, as in clusterList.'
            set columns 'namesrvAddr|brokerName|topicCount|changes|before|after|result|error|'
        case addwriteperm
            set family change
            set places \
                '-b,--brokerName=brokers Name of a broker, as in clusterList.'
            set options \
                '-b,--brokerName=brokers Name of a broker, as in clusterList.'
            set columns 'namesrvAddr|brokerName|topicCount|changes|before|after|result|error|'
        case updatebrokerconfig
            set family change
            set places \
                '-k,--key=broker-keys A setting that getBrokerConfig shows.' \
                '-v,--value= Its new value.'
            set options \
                '-k,--key=broker-keys A setting that getBrokerConfig shows.' \
                '-v,--value= Its new value.' \
                '-b,--brokerAddr=addresses Address of one broker.' \
                '-c,--clusterName=clusters Every master of it.' \
                '-a,--updateAllBroker=true|false With -c: its slaves too.'
            set columns 'brokerName|brokerId|brokerAddr|key|changes|before|after|result|error|'
        case sendmsgstatus
            set family change
            set places \
                '-b,--brokerName=brokers Name of a broker.'
            set options \
                '-b,--brokerName=brokers Name of a broker.' \
                '-s,--messageSize= Size of each body.' \
                '-c,--count= So many messages, one after another.'
            set columns 'brokerName|brokerAddr|queueId|offsetMsgId|queueOffset|rt|result|error|'
        case clusterrt
            set family change
            set options \
                '-a,--amount= So many messages for each broker.' \
                '-s,--size= Size of each body.' \
                '-c,--cluster=clusters Only this cluster.' \
                '-p,--print=true|false true: lines of TIME|ROOM|CLUSTER|BROKER|MS.' \
                '-m,--machineRoom= Where it is measured; a column.' \
                '-i,--interval= Again and again, until Ctrl-C.'
            set columns 'time|machineRoom|clusterName|brokerName|brokerAddr|rt|maxRt|successCount|failCount|result|error|'
        case cleanexpiredcq
            set family change
            set places \
                '-b,--brokerAddr=addresses Address of one broker.'
            set options \
                '-b,--brokerAddr=addresses Address of one broker.' \
                '-c,--cluster=clusters Every master and slave of it.'
            set columns 'brokerName|brokerId|brokerAddr|changes|result|error|'
        case cleanunusedtopic
            set family change
            set places \
                '-b,--brokerAddr=addresses Address of one broker.'
            set options \
                '-b,--brokerAddr=addresses Address of one broker.' \
                '-c,--cluster=clusters Every master and slave of it.'
            set columns 'brokerName|brokerId|brokerAddr|changes|result|error|'
        case updatetopic
            set family change
            set places \
                '-t,--topic=topics Name of a topic.'
            set options \
                '-t,--topic=topics Name of a topic.' \
                '-b,--brokerAddr=addresses Address of one master.' \
                '-c,--clusterName=clusters Every master of it.' \
                '-r,--readQueueNums= Queues to read from.' \
                '-w,--writeQueueNums= Queues to write to.' \
                '-p,--perm=2|4|6 6 read and write, 4 read, 2 write.' \
                '-o,--order=true|false true also writes its order configuration.' \
                '-u,--unit=true|false Whether it belongs to a unit.' \
                '-s,--hasUnitSub=true|false Whether units subscribe to it.' \
                '-a,--attributes= As in +message.type=FIFO,-other; 5.0 and later.'
            set columns 'target|role|brokerName|topic|changes|before|after|result|error|'
        case updatetopicperm
            set family change
            set places \
                '-t,--topic=topics Name of a topic.' \
                '-p,--perm=2|4|6 6 read and write, 4 read, 2 write.'
            set options \
                '-t,--topic=topics Name of a topic.' \
                '-p,--perm=2|4|6 6 read and write, 4 read, 2 write.' \
                '-b,--brokerAddr=addresses Address of one master.' \
                '-c,--clusterName=clusters Every master of it.'
            set columns 'target|role|brokerName|topic|changes|before|after|result|error|'
        case deletetopic
            set family change
            set places \
                '-t,--topic=topics Name of a topic.' \
                '-c,--clusterName=clusters The cluster to delete it from.'
            set options \
                '-t,--topic=topics Name of a topic.' \
                '-c,--clusterName=clusters The cluster to delete it from.'
            set columns 'target|role|topic|changes|before|after|result|error|'
        case updatesubgroup
            set family change
            set places \
                '-g,--groupName=groups A consumer group.'
            set options \
                '-g,--groupName=groups A consumer group.' \
                '-b,--brokerAddr=addresses Address of one master.' \
                '-c,--clusterName=clusters Every master of it.' \
                '-s,--consumeEnable=true|false Whether it may consume.' \
                '-m,--consumeFromMinEnable=true|false Start at the oldest message.' \
                '-d,--consumeBroadcastEnable=true|false Whether it may broadcast.' \
                '-o,--consumeMessageOrderly=true|false In order; 5.0 and later.' \
                '-q,--retryQueueNums= Queues of its retry topic.' \
                '-r,--retryMaxTimes= Retries before a dead letter.' \
                '-p,--groupRetryPolicy= Its waits; 5.0 and later.' \
                '-i,--brokerId= Broker id to consume from.' \
                '-w,--whichBrokerWhenConsumeSlowly= Broker id when it is behind.' \
                '-a,--notifyConsumerIdsChanged=true|false Tell clients of new clients.' \
                '--attributes= As in +key=value,-other; 5.1.3 and later.'
            set columns 'target|brokerName|group|changes|before|after|result|error|'
        case deletesubgroup
            set family change
            set places \
                '-g,--groupName=groups A consumer group.'
            set options \
                '-g,--groupName=groups A consumer group.' \
                '-b,--brokerAddr=addresses Address of one master.' \
                '-c,--clusterName=clusters Every master of it.' \
                '-r,--removeOffset=true|false Forget how far it has consumed, too.' \
                '--keep-topics With -c: leave its retry and dead-letter topics.'
            set columns 'target|role|group|topic|changes|before|after|result|error|'
        case resetoffsetbytime
            set family change
            set places \
                '-g,--group=groups A consumer group.' \
                '-t,--topic=topics Name of a topic.'
            set options \
                '-g,--group=groups A consumer group.' \
                '-t,--topic=topics Name of a topic.' \
                '-s,--timestamp= -1 for the end, ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, -2h (s, m, h, d, w), or now.' \
                '-f,--force=true|false false: before 5.2, only go back. Else unused.' \
                '-b,--broker=addresses With -q: the master that has the queue.' \
                '-q,--queue= With -b: only this queue.' \
                '-o,--offset= With -b and -q: to this offset, 0 too.' \
                '-c,--cluster=clusters Only the brokers of this cluster.'
            set columns 'group|topic|brokerName|brokerAddr|queueId|from|to|skipped|repeated|result|error|'
        case skipaccumulatedmessage
            set family change
            set places \
                '-g,--group=groups A consumer group.' \
                '-t,--topic=topics Name of a topic.'
            set options \
                '-g,--group=groups A consumer group.' \
                '-t,--topic=topics Name of a topic.' \
                '-f,--force=true|false false: before 5.2, only go back. Else unused.' \
                '-c,--cluster=clusters Only the brokers of this cluster.'
            set columns 'group|topic|brokerName|brokerAddr|queueId|from|to|skipped|repeated|result|error|'
        case clonegroupoffset
            set family change
            set places \
                '-s,--srcGroup=groups The group whose offsets are taken.' \
                '-d,--destGroup=groups The group that is moved there.' \
                '-t,--topic=topics Name of a topic.'
            set options \
                '-s,--srcGroup=groups The group whose offsets are taken.' \
                '-d,--destGroup=groups The group that is moved there.' \
                '-t,--topic=topics Name of a topic.' \
                '-o,--offline=true|false true: only if no client of GROUP is connected.'
            set columns 'group|topic|brokerName|brokerAddr|queueId|from|to|skipped|repeated|result|error|'
        case sendmessage
            set family change
            set places \
                '-t,--topic=topics Name of a topic.' \
                '-p,--body= Text of the message.'
            set options \
                '-t,--topic=topics Name of a topic.' \
                '-p,--body= Text of the message.' \
                '-k,--key= Its keys, separated by blanks.' \
                '-c,--tags= Its tag.' \
                '-b,--broker=brokers Name of the broker to send to.' \
                '-i,--qid= Queue to send to; needs -b.' \
                '-m,--msgTraceEnable=true|false Whether a trace is written; false.' \
                '--property= A property. Repeatable.'
            set columns 'topic|brokerName|brokerAddr|queueId|msgId|offsetMsgId|queueOffset|costMs|result|error|'
        case updatekvconfig
            set family change
            set places \
                '-s,--namespace=namespaces For example ORDER_TOPIC_CONFIG, whose keys are topics.' \
                '-k,--key=kv-keys Key within the namespace.' \
                '-v,--value= Text to store; may be empty.'
            set options \
                '-s,--namespace=namespaces For example ORDER_TOPIC_CONFIG, whose keys are topics.' \
                '-k,--key=kv-keys Key within the namespace.' \
                '-v,--value= Text to store; may be empty.'
            set columns 'namesrvAddr|namespace|key|changes|before|after|result|error|'
        case deletekvconfig
            set family change
            set places \
                '-s,--namespace=namespaces For example ORDER_TOPIC_CONFIG, whose keys are topics.' \
                '-k,--key=kv-keys Key within the namespace.'
            set options \
                '-s,--namespace=namespaces For example ORDER_TOPIC_CONFIG, whose keys are topics.' \
                '-k,--key=kv-keys Key within the namespace.'
            set columns 'namesrvAddr|namespace|key|changes|before|after|result|error|'
        case updatenamesrvconfig
            set family change
            set places \
                '-k,--key=namesrv-keys A setting that getNamesrvConfig shows.' \
                '-v,--value= Its new value.'
            set options \
                '-k,--key=namesrv-keys A setting that getNamesrvConfig shows.' \
                '-v,--value= Its new value.'
            set columns 'namesrvAddr|key|changes|before|after|result|error|'
        case updateorderconf
            set family mixed
            set places \
                '-t,--topic=topics Name of a topic.' \
                '-m,--method=get|put|delete What to do.' \
                '-v,--orderConf= For put: broker-a:4;broker-b:8, queues by broker.'
            set options \
                '-m,--method=get|put|delete What to do.' \
                '-v,--orderConf= For put: broker-a:4;broker-b:8, queues by broker.'
            set columns 'namesrvAddr|topic|orderConf|result|error|changes|before|after|'
        case querymsgbyuniquekey
            set family mixed
            set places \
                '-t,--topic=topics Name of a topic.' \
                '-i,--msgId= The id that a producer has in its log.'
            set options \
                '-i,--msgId= The id that a producer has in its log.' \
                '-a,--showAll Accepted from mqadmin: all that there are is the rule.' \
                '-s,--startTime= Stored since: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, -2h (s, m, h, d, w), or now.' \
                '-e,--endTime= Stored until, likewise.' \
                '-c,--cluster=topics Ask the brokers of this topic or cluster instead.' \
                '-g,--consumerGroup=groups With -d: hand it to this client of the group.' \
                '-d,--clientId= With -g: an id of consumerConnection.'
            set columns 'msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|tracks|brokerAddr|group|clientId|consumeResult|spentMs|result|error|'
        case querymsgbyid
            set family mixed
            set places \
                '-t,--topic=topics Name of a topic.' \
                '-i,--msgId= One id of either kind, or several: A,B.'
            set options \
                '-i,--msgId= One id of either kind, or several: A,B.' \
                '-f,--bodyFormat= Read bodies in this encoding, not in UTF-8.' \
                '-c,--cluster=topics Ask the brokers of this topic or cluster instead.' \
                '-u,--unitName= Accepted from mqadmin, without meaning.' \
                '-g,--consumerGroup=groups With -d: hand it to this client of the group.' \
                '-d,--clientId= With -g: an id of consumerConnection.' \
                '-s,--sendMessage=true|false true: send it once more to its topic.'
            set columns 'msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|tracks|brokerAddr|group|clientId|consumeResult|spentMs|result|error|costMs|'
        case contextlist
            set family local
            set columns 'name|current|namesrvAddr|configFile|endpoint|credentials|tls|timeout|retries|concurrency|output|addressMap|journals|readOnly|color|'
        case contextshow
            set family local
            set places \
                '--name=contexts Name of a context.'
            set options \
                '--name=contexts Name of a context.'
            set columns 'name|current|namesrvAddr|configFile|endpoint|credentials|tls|timeout|retries|concurrency|output|addressMap|journals|readOnly|color|'
        case contextuse
            set family local
            set places \
                '--name=contexts Name of a context, or "-".'
            set options \
                '--name=contexts Name of a context, or "-".'
            set columns 'name|current|namesrvAddr|configFile|endpoint|credentials|tls|timeout|retries|concurrency|output|addressMap|journals|readOnly|color|'
        case contextset
            set family local
            set places \
                '--name=contexts Name of a context.'
            set options \
                '--name=contexts Name of a context.' \
                '-n,--namesrvAddr=name-servers Its name servers. Repeatable.' \
                '--configFile=files Instead: a properties file that names them.' \
                '--endpoint= Instead: where HTTP tells them.' \
                '--accessKey= Who signs; the secret key is asked for, or piped in.' \
                '--secretKeyStdin Read the secret key from a line of standard input.' \
                '--securityTokenStdin Read a security token from the next line.' \
                '--credentials= Instead: where these are: env, file:PATH, tools:PATH, keyring:NAME.' \
                '--tls,--no-tls Encrypted connections, or plain ones.' \
                '--tlsCa=files Authorities to trust (PEM), not the system\'s.' \
                '--tlsCert=files The client\'s own certificate (PEM).' \
                '--tlsKey=files Its key (PEM).' \
                '--tlsKeyPasswordFrom= What opens the key: env:NAME or file:PATH.' \
                '--tlsKeyPasswordStdin Or read that from the next line.' \
                '--tlsServerName= What certificates have to name.' \
                '--verify,--insecure Whether certificates are checked.' \
                '--addressMap= Where to reach brokers; added. Repeatable.' \
                '--journal=folders Folder of a name server\'s journal. Repeatable.' \
                '--timeout= For each request on each server.' \
                '--retries= Of what got no answer and changes nothing.' \
                '--concurrency= Servers asked at a time.' \
                '--defaultOutput=table|wide|json|jsonl|yaml|csv|tsv|name|value How to write rows.' \
                '--readOnly,--writable Whether every change is refused.' \
                '--color=red|green|yellow|blue|magenta|cyan To show its name in, say red.' \
                '--unset= Forget this, such as timeout or tls.caFile. Repeatable.'
            set columns 'name|current|namesrvAddr|configFile|endpoint|credentials|tls|timeout|retries|concurrency|output|addressMap|journals|readOnly|color|'
        case contextlogin
            set family local
            set places \
                '--name=contexts Name of a context.'
            set options \
                '--name=contexts Name of a context.' \
                '--file= Store them in this file, for its owner alone.'
            set columns 'name|current|namesrvAddr|configFile|endpoint|credentials|tls|timeout|retries|concurrency|output|addressMap|journals|readOnly|color|'
        case contextdelete
            set family local
            set places \
                '--name=contexts Name of a context.'
            set options \
                '--name=contexts Name of a context.'
            set columns 'name|current|namesrvAddr|configFile|endpoint|credentials|tls|timeout|retries|concurrency|output|addressMap|journals|readOnly|color|'
        case snapshotshow
            set family local
            set places \
                '--file=files The snapshot\'s file.'
            set options \
                '--file=files The snapshot\'s file.'
            set columns 'what|name|brokerName|summary|value|'
        case snapshotlist
            set family local
            set places \
                '--dir=folders Where to look; here if left out.'
            set options \
                '--dir=folders Where to look; here if left out.'
            set columns 'file|time|nameServers|brokers|topics|kvEntries|size|'
        case journalcat
            set family local
            set places \
                '--dir=folders Folder of the journal.'
            set options \
                '--dir=folders Folder of the journal.' \
                '--since= Only from then on: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, -2h (s, m, h, d, w), or now.' \
                '--until= Only before then.'
            set columns 'seq|time|server|type|summary|cause|client|event|'
        case journaltail
            set family local
            set places \
                '--dir=folders Folder of the journal.'
            set options \
                '--dir=folders Folder of the journal.' \
                '-l,--lines= How many; 10 if left out.' \
                '-f,--follow Go on with what comes, until Ctrl-C.'
            set columns 'seq|time|server|type|summary|cause|client|event|'
        case journalstat
            set family local
            set places \
                '--dir=folders Folder of the journal.'
            set options \
                '--dir=folders Folder of the journal.'
            set columns 'type|records|plainSize|firstTime|lastTime|'
        case journalverify
            set family local
            set places \
                '--dir=folders Folder of the journal.'
            set options \
                '--dir=folders Folder of the journal.'
            set columns 'file|result|records|firstSeq|lastSeq|firstTime|lastTime|size|plainSize|problems|'
        case auditlist
            set family local
            set options \
                '--since= Only from then on: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, -2h (s, m, h, d, w), or now.'
            set columns 'time|user|context|nameServers|command|sent|results|exitCode|servers|'
        case mqadminmap
            set family local
            set places \
                '--command=addBroker|addWritePerm|allocateMQ|brokerConsumeStats|brokerStatus|checkMsgSendRT|checkRocksdbCqWriteProgress|cleanBrokerMetadata|cleanExpiredCQ|cleanUnusedTopic|cloneGroupOffset|clusterAclConfigVersion|clusterList|clusterRT|consumeMessage|consumerConnection|consumerProgress|consumerStatus|copyAcl|copyUser|createAcl|createUser|deleteAcl|deleteAclConfig|deleteExpiredCommitLog|deleteKvConfig|deleteSubGroup|deleteTopic|deleteUser|dumpCompactionLog|electMaster|exportConfigs|exportMetadata|exportMetadataInRocksDB|exportMetrics|exportPopRecord|getAcl|getAclConfig|getBrokerConfig|getBrokerEpoch|getBrokerLiteInfo|getColdDataFlowCtrInfo|getConsumerConfig|getControllerConfig|getControllerMetaData|getLiteClientInfo|getLiteGroupInfo|getLiteTopicInfo|getNamesrvConfig|getParentTopicInfo|getSyncStateSet|getUser|haStatus|listAcl|listUser|printMsg|printMsgByQueue|producer|producerConnection|queryCq|queryMsgById|queryMsgByKey|queryMsgByOffset|queryMsgByUniqueKey|queryMsgTraceById|remappingStaticTopic|removeBroker|removeColdDataFlowCtrGroupConfig|resetMasterFlushOffset|resetOffsetByTime|rocksDBConfigToJson|sendMessage|sendMsgStatus|setCommitLogReadAheadMode|setConsumeMode|skipAccumulatedMessage|startMonitoring|statsAll|switchTimerEngine|topicClusterList|topicList|topicRoute|topicStatus|triggerLiteDispatch|updateAcl|updateAclConfig|updateBrokerConfig|updateColdDataFlowCtrGroupConfig|updateControllerConfig|updateGlobalWhiteAddr|updateKvConfig|updateNamesrvConfig|updateOrderConf|updateStaticTopic|updateSubGroup|updateSubGroupList|updateTopic|updateTopicList|updateTopicPerm|updateUser|wipeWritePerm A command of mqadmin; all if left out.'
            set options \
                '--command=addBroker|addWritePerm|allocateMQ|brokerConsumeStats|brokerStatus|checkMsgSendRT|checkRocksdbCqWriteProgress|cleanBrokerMetadata|cleanExpiredCQ|cleanUnusedTopic|cloneGroupOffset|clusterAclConfigVersion|clusterList|clusterRT|consumeMessage|consumerConnection|consumerProgress|consumerStatus|copyAcl|copyUser|createAcl|createUser|deleteAcl|deleteAclConfig|deleteExpiredCommitLog|deleteKvConfig|deleteSubGroup|deleteTopic|deleteUser|dumpCompactionLog|electMaster|exportConfigs|exportMetadata|exportMetadataInRocksDB|exportMetrics|exportPopRecord|getAcl|getAclConfig|getBrokerConfig|getBrokerEpoch|getBrokerLiteInfo|getColdDataFlowCtrInfo|getConsumerConfig|getControllerConfig|getControllerMetaData|getLiteClientInfo|getLiteGroupInfo|getLiteTopicInfo|getNamesrvConfig|getParentTopicInfo|getSyncStateSet|getUser|haStatus|listAcl|listUser|printMsg|printMsgByQueue|producer|producerConnection|queryCq|queryMsgById|queryMsgByKey|queryMsgByOffset|queryMsgByUniqueKey|queryMsgTraceById|remappingStaticTopic|removeBroker|removeColdDataFlowCtrGroupConfig|resetMasterFlushOffset|resetOffsetByTime|rocksDBConfigToJson|sendMessage|sendMsgStatus|setCommitLogReadAheadMode|setConsumeMode|skipAccumulatedMessage|startMonitoring|statsAll|switchTimerEngine|topicClusterList|topicList|topicRoute|topicStatus|triggerLiteDispatch|updateAcl|updateAclConfig|updateBrokerConfig|updateColdDataFlowCtrGroupConfig|updateControllerConfig|updateGlobalWhiteAddr|updateKvConfig|updateNamesrvConfig|updateOrderConf|updateStaticTopic|updateSubGroup|updateSubGroupList|updateTopic|updateTopicList|updateTopicPerm|updateUser|wipeWritePerm A command of mqadmin; all if left out.'
            set columns 'mqadmin|nsadmin|status|since|note|'
        case batch
            set family batch
            set places \
                '-f,--file=files A file of command lines; - is stdin.'
        case namesrv
            set family program
            set options \
                '-c,--configFile=files Java properties; also where updates go' \
                '-p,--printConfigItem print all items and exit' \
                '-n,--namesrvAddr= accepted, without effect on a name server' \
                '--port= port to listen on (9876); 0 takes a free one' \
                '--bind= address to listen on (0.0.0.0)' \
                '--home=folders folder of kvConfig.json and namesrv.properties (~/namesrv)' \
                '--journal-dir=folders keep a journal of all that happens there (journal/ in the home)' \
                '--no-journal keep no journal'
        case lab
            set family program
            set places \
                '=up|run|list| '
            set options \
                '--clusters= clusters (2)' \
                '--groups= broker groups in each cluster (3)' \
                '--replicas= brokers in each group: a master and its slaves (2)' \
                '--topics= topics in each cluster, beside the system\'s (40)' \
                '--namesrvs= name servers (1)' \
                '--scenario= play one, built-in or of a YAML file, and stay when it is over' \
                '--namesrv-port= the first name server\'s, the others follow; 0 takes free ones (0)' \
                '--broker-port= the first broker\'s, the others take every tenth after it; 0 takes free ones (0)' \
                '--no-context do not write a context lab while it runs' \
                '-n,--namesrvAddr= register with these name servers instead of starting some; separated by ; or ,' \
                '--speed= virtual time: so many seconds in one, at most; max: as fast as it goes (up: 1, run: max)' \
                '--dir=folders keep journals and truth.jsonl there (a temporary folder)' \
                '--seed= another fleet (1, or the scenario\'s)' \
                '--until= end it earlier or later: 90s, 10m, 2h'
        case completion
            set family program
            set places \
                '=bash|zsh|fish|powershell| the shell'
        case help
            set family help
            set places \
                '=commands '
    end
    switch $family
        case read
            set -a options \
                '--context=contexts The context to use; NSADMIN_CONTEXT if left out.' \
                '-n,--namesrvAddr=name-servers Name servers, as HOST:PORT;HOST:PORT. Repeatable.' \
                '--configFile=files A properties file that names them: namesrvAddr, rocketmq.namesrv.addr or .domain.' \
                '--endpoint= Where HTTP tells them: a URL, or a domain as Java\'s clients.' \
                '--addressMap= Where to reach brokers, such as 10.0.0.0/8=gateway:10911. Repeatable.' \
                '--credentials= Where those are that requests are signed with: env, file:PATH, tools:PATH, keyring:NAME; or none.' \
                '--tls,--no-tls Encrypted connections, or plain ones.' \
                '--tlsCa=files Authorities to trust (PEM), not the system\'s.' \
                '--tlsCert=files This client\'s own certificate (PEM).' \
                '--tlsKey=files Its key (PEM); NSADMIN_KEY_PASSWORD opens it.' \
                '--tlsServerName= What servers\' certificates have to name.' \
                '--insecure TLS with whoever answers: certificates are not checked.' \
                '--timeout= For each request on each server; 3 if left out.' \
                '--retries= Ask again so often what got no answer and changes nothing: N + 1 times --timeout in all, and pauses of 0.1 s and more, at most N s.' \
                '--concurrency= Servers asked at a time; 64 if left out.' \
                '--output=table|wide|json|jsonl|yaml|csv|tsv|name|value table, wide, json, jsonl, yaml, csv, tsv, name, value; NSADMIN_OUTPUT if left out.' \
                '--json Short for --output json.' \
                '--no-headers No names above tables, CSV and TSV.' \
                '--no-color No colours (nor with NO_COLOR set).' \
                '--watch= Again and again, until Ctrl-C; a table in place.' \
                '--columns=columns Only these columns, in this order.' \
                '--sort=columns By these columns; - turns one round.' \
                '--filter=columns Only rows such as perm!=6, inTps>100 or topic~^order; = != < <= > >= ~ !~. Repeatable.' \
                '--quiet Nothing on stderr but errors.' \
                '--debug Show each request on stderr, and tracebacks.' \
                '-h,--help Show this and exit.'
        case change
            set -a options \
                '--context=contexts The context to use; NSADMIN_CONTEXT if left out.' \
                '-n,--namesrvAddr=name-servers Name servers, as HOST:PORT;HOST:PORT. Repeatable.' \
                '--configFile=files A properties file that names them: namesrvAddr, rocketmq.namesrv.addr or .domain.' \
                '--endpoint= Where HTTP tells them: a URL, or a domain as Java\'s clients.' \
                '--addressMap= Where to reach brokers, such as 10.0.0.0/8=gateway:10911. Repeatable.' \
                '--credentials= Where those are that requests are signed with: env, file:PATH, tools:PATH, keyring:NAME; or none.' \
                '--tls,--no-tls Encrypted connections, or plain ones.' \
                '--tlsCa=files Authorities to trust (PEM), not the system\'s.' \
                '--tlsCert=files This client\'s own certificate (PEM).' \
                '--tlsKey=files Its key (PEM); NSADMIN_KEY_PASSWORD opens it.' \
                '--tlsServerName= What servers\' certificates have to name.' \
                '--insecure TLS with whoever answers: certificates are not checked.' \
                '--timeout= For each request on each server; 3 if left out.' \
                '--retries= Ask again so often what got no answer and changes nothing: N + 1 times --timeout in all, and pauses of 0.1 s and more, at most N s.' \
                '--concurrency= Servers asked at a time; 64 if left out.' \
                '--output=table|wide|json|jsonl|yaml|csv|tsv|name|value table, wide, json, jsonl, yaml, csv, tsv, name, value; NSADMIN_OUTPUT if left out.' \
                '--json Short for --output json.' \
                '--no-headers No names above tables, CSV and TSV.' \
                '--no-color No colours (nor with NO_COLOR set).' \
                '--dry-run Only show what would be done, and where.' \
                '-y,--yes Do not ask.' \
                '--quiet Nothing on stderr but errors.' \
                '--debug Show each request on stderr, and tracebacks.' \
                '-h,--help Show this and exit.'
        case mixed
            set -a options \
                '-t,--topic=topics Name of a topic.' \
                '--context=contexts The context to use; NSADMIN_CONTEXT if left out.' \
                '-n,--namesrvAddr=name-servers Name servers, as HOST:PORT;HOST:PORT. Repeatable.' \
                '--configFile=files A properties file that names them: namesrvAddr, rocketmq.namesrv.addr or .domain.' \
                '--endpoint= Where HTTP tells them: a URL, or a domain as Java\'s clients.' \
                '--addressMap= Where to reach brokers, such as 10.0.0.0/8=gateway:10911. Repeatable.' \
                '--credentials= Where those are that requests are signed with: env, file:PATH, tools:PATH, keyring:NAME; or none.' \
                '--tls,--no-tls Encrypted connections, or plain ones.' \
                '--tlsCa=files Authorities to trust (PEM), not the system\'s.' \
                '--tlsCert=files This client\'s own certificate (PEM).' \
                '--tlsKey=files Its key (PEM); NSADMIN_KEY_PASSWORD opens it.' \
                '--tlsServerName= What servers\' certificates have to name.' \
                '--insecure TLS with whoever answers: certificates are not checked.' \
                '--timeout= For each request on each server; 3 if left out.' \
                '--retries= Ask again so often what got no answer and changes nothing: N + 1 times --timeout in all, and pauses of 0.1 s and more, at most N s.' \
                '--concurrency= Servers asked at a time; 64 if left out.' \
                '--output=table|wide|json|jsonl|yaml|csv|tsv|name|value table, wide, json, jsonl, yaml, csv, tsv, name, value; NSADMIN_OUTPUT if left out.' \
                '--json Short for --output json.' \
                '--no-headers No names above tables, CSV and TSV.' \
                '--no-color No colours (nor with NO_COLOR set).' \
                '--columns=columns Only these columns, in this order.' \
                '--sort=columns By these columns; - turns one round.' \
                '--filter=columns Only rows such as perm!=6, inTps>100 or topic~^order; = != < <= > >= ~ !~. Repeatable.' \
                '--dry-run Only show what would be done, and where.' \
                '-y,--yes Do not ask.' \
                '--quiet Nothing on stderr but errors.' \
                '--debug Show each request on stderr, and tracebacks.' \
                '-h,--help Show this and exit.'
        case local
            set -a options \
                '--output=table|wide|json|jsonl|yaml|csv|tsv|name|value table, wide, json, jsonl, yaml, csv, tsv, name, value; NSADMIN_OUTPUT if left out.' \
                '--json Short for --output json.' \
                '--no-headers No names above tables, CSV and TSV.' \
                '--no-color No colours (nor with NO_COLOR set).' \
                '--watch= Again and again, until Ctrl-C; a table in place.' \
                '--columns=columns Only these columns, in this order.' \
                '--sort=columns By these columns; - turns one round.' \
                '--filter=columns Only rows such as perm!=6, inTps>100 or topic~^order; = != < <= > >= ~ !~. Repeatable.' \
                '--quiet Nothing on stderr but errors.' \
                '--debug Show each request on stderr, and tracebacks.' \
                '-h,--help Show this and exit.'
        case batch
            set -a options \
                '-f,--file=files A file of command lines; - is stdin.' \
                '--stop-on-error End at the first that fails.' \
                '--context=contexts The context to use; NSADMIN_CONTEXT if left out.' \
                '-n,--namesrvAddr=name-servers Name servers, as HOST:PORT;HOST:PORT. Repeatable.' \
                '--configFile=files A properties file that names them: namesrvAddr, rocketmq.namesrv.addr or .domain.' \
                '--endpoint= Where HTTP tells them: a URL, or a domain as Java\'s clients.' \
                '--addressMap= Where to reach brokers, such as 10.0.0.0/8=gateway:10911. Repeatable.' \
                '--credentials= Where those are that requests are signed with: env, file:PATH, tools:PATH, keyring:NAME; or none.' \
                '--tls,--no-tls Encrypted connections, or plain ones.' \
                '--tlsCa=files Authorities to trust (PEM), not the system\'s.' \
                '--tlsCert=files This client\'s own certificate (PEM).' \
                '--tlsKey=files Its key (PEM); NSADMIN_KEY_PASSWORD opens it.' \
                '--tlsServerName= What servers\' certificates have to name.' \
                '--insecure TLS with whoever answers: certificates are not checked.' \
                '--timeout= For each request on each server; 3 if left out.' \
                '--retries= Ask again so often what got no answer and changes nothing: N + 1 times --timeout in all, and pauses of 0.1 s and more, at most N s.' \
                '--concurrency= Servers asked at a time; 64 if left out.' \
                '--output=table|wide|json|jsonl|yaml|csv|tsv|name|value table, wide, json, jsonl, yaml, csv, tsv, name, value; NSADMIN_OUTPUT if left out.' \
                '--json Short for --output json.' \
                '--no-headers No names above tables, CSV and TSV.' \
                '--no-color No colours (nor with NO_COLOR set).' \
                '--dry-run Only show what would be done, and where.' \
                '-y,--yes Do not ask.' \
                '--quiet Nothing on stderr but errors.' \
                '--debug Show each request on stderr, and tracebacks.' \
                '-h,--help Show this and exit.'
        case program
            set -a options \
                '-h,--help show this help message and exit'
        case front
            set -a options \
                '--context=contexts The context to use; NSADMIN_CONTEXT if left out.' \
                '-n,--namesrvAddr=name-servers Name servers, as HOST:PORT;HOST:PORT. Repeatable.' \
                '--configFile=files A properties file that names them: namesrvAddr, rocketmq.namesrv.addr or .domain.' \
                '--endpoint= Where HTTP tells them: a URL, or a domain as Java\'s clients.' \
                '--addressMap= Where to reach brokers, such as 10.0.0.0/8=gateway:10911. Repeatable.' \
                '--credentials= Where those are that requests are signed with: env, file:PATH, tools:PATH, keyring:NAME; or none.' \
                '--tls,--no-tls Encrypted connections, or plain ones.' \
                '--tlsCa=files Authorities to trust (PEM), not the system\'s.' \
                '--tlsCert=files This client\'s own certificate (PEM).' \
                '--tlsKey=files Its key (PEM); NSADMIN_KEY_PASSWORD opens it.' \
                '--tlsServerName= What servers\' certificates have to name.' \
                '--insecure TLS with whoever answers: certificates are not checked.' \
                '--timeout= For each request on each server; 3 if left out.' \
                '--retries= Ask again so often what got no answer and changes nothing: N + 1 times --timeout in all, and pauses of 0.1 s and more, at most N s.' \
                '--concurrency= Servers asked at a time; 64 if left out.' \
                '--output=table|wide|json|jsonl|yaml|csv|tsv|name|value table, wide, json, jsonl, yaml, csv, tsv, name, value; NSADMIN_OUTPUT if left out.' \
                '--json Short for --output json.' \
                '--no-headers No names above tables, CSV and TSV.' \
                '--no-color No colours (nor with NO_COLOR set).' \
                '--watch= Again and again, until Ctrl-C; a table in place.' \
                '--columns=columns Only these columns, in this order.' \
                '--sort=columns By these columns; - turns one round.' \
                '--filter=columns Only rows such as perm!=6, inTps>100 or topic~^order; = != < <= > >= ~ !~. Repeatable.' \
                '--quiet Nothing on stderr but errors.' \
                '--debug Show each request on stderr, and tracebacks.' \
                '-h,--help Show this and exit.' \
                '--dry-run Only show what would be done, and where.' \
                '-y,--yes Do not ask.' \
                '--version Show the version and exit.'
    end
end

# The source of the values of a flag; it fails where none belongs to it.
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

# Candidates from a source that begin with what is typed; `$argv[4..]` are the words before.
function __nsadmin_values --argument-names source typed head
    switch $source
        case ''
        case files
            # As it is typed: with a ~ or a variable, which fish knows to read.
            test -z "$head"; and set typed (commandline -ct)
            printf '%s\n' $head(__fish_complete_path $typed)
        case folders
            printf '%s\n' $head(__fish_complete_directories $typed '')
        case commands
            printf '%s\n' clusterList\t'Brokers with their load and state' brokerStatus\t'All that a broker tells about itself' haStatus\t'How far slaves are behind' getBrokerConfig\t'Settings in force on brokers' topicList\t'Names of topics, or who consumes them' topicRoute\t'Brokers and queues of a topic' topicClusterList\t'Clusters that have a topic' topicStatus\t'Offsets of a topic\'s queues' statsAll\t'What topics take and groups read' allocateMQ\t'Which client gets which queues' consumerProgress\t'How far a group is behind, or all groups' consumerConnection\t'Clients of a group, and what they subscribe to' consumerStatus\t'What the clients of a group tell about themselves' brokerConsumeStats\t'How far all groups are behind on one broker' getConsumerConfig\t'Settings of a group' producer\t'All producers of a broker, or of all' producerConnection\t'Clients of a group' queryMsgByKey\t'Messages with a business key' queryMsgByOffset\t'The message at one place of a queue' printMsgByQueue\t'Messages in one queue, or its tags' printMsg\t'Messages in all queues of a topic' queryMsgTraceById\t'Who sent and who consumed a message' where\t'Which are asked, who said so, and whether they answer' kvGet\t'One value of the KV config' kvList\t'All values of a KV namespace' getNamesrvConfig\t'Settings in force' history\t'What happened to a topic, a broker or a key' routeAt\t'The route of a topic at a moment of the past' routeDiff\t'What differs between two moments or places' snapshotSave\t'All that name servers know, in a file' collect\t'Write journals of name servers that keep none' wipeWritePerm\t'Stop writes to a broker' addWritePerm\t'Allow writes to a broker again' updateBrokerConfig\t'Set one item on brokers' sendMsgStatus\t'Write test messages to a broker, and time each' clusterRT\t'Write test messages to all masters, and time them' cleanExpiredCQ\t'Delete parts of queues whose messages expired' cleanUnusedTopic\t'Delete queues of topics without config' updateTopic\t'Create or change a topic' updateTopicPerm\t'Change a topic\'s permission' deleteTopic\t'Delete a topic with its messages' updateSubGroup\t'Create or change a group' deleteSubGroup\t'Delete a group' resetOffsetByTime\t'Move a group to a time or an offset' skipAccumulatedMessage\t'Move a group to the end of a topic' cloneGroupOffset\t'Move a group to where another one is' sendMessage\t'Send one text message to a topic' updateKvConfig\t'Write a value of the KV config' deleteKvConfig\t'Delete a value of the KV config' updateNamesrvConfig\t'Set one item' updateOrderConf\t'Show or write a topic\'s order configuration' queryMsgByUniqueKey\t'Messages by the id in a producer\'s log' queryMsgById\t'A message by an id of either kind' contextList\t'Clusters that are known by name' contextShow\t'One of them' contextUse\t'Choose one for all commands' contextSet\t'Make or change one' contextLogin\t'Store its credentials' contextDelete\t'Forget one' snapshotShow\t'What is in such a file' snapshotList\t'Such files in a folder' journalCat\t'What a name server\'s journal says' journalTail\t'The end of it, and what comes' journalStat\t'What is in it, by type of event' journalVerify\t'Whether it is whole' auditList\t'Changes that were made from this account' mqadminMap\t'What to type instead of a command of mqadmin' batch\t'Run many commands, one a line' namesrv\t'Run a name server here' lab\t'Run a name server and simulated brokers, to play with' completion\t'Write the completion of a shell' help\t'More on one command'
        case 'columns:*'
            # The last of several, such as a,b or a,-b.
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
                # A word that is a variable stands for its value: -n $PROD.
                set -l variable (string match -r '^\$(\w+)$' -- $word)[2]
                set -q variable[1]; and set -a before $$variable; or set -a before $word
            end
            set -l found ($program complete described $source "=$typed" $before 2>/dev/null)
            set -q found[1]; and printf '%s\n' $head$found
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
        else if not set -q command[1]
            set command $word
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
