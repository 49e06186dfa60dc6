# PowerShell completion for nsadmin, rendered from its commands

Register-ArgumentCompleter -Native -CommandName nsadmin -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    # What may stand behind a command. Each is FLAGS, or FLAGS=SOURCE where a value belongs to it; behind a
    # blank, what it is for.
    $commands = @{
        'clusterlist' = @{
            name = 'clusterList'; family = 'read'; help = 'Brokers with their load and state'
            places = @('-c,--clusterName=clusters Only this cluster.')
            options = @('-c,--clusterName=clusters Only this cluster.', '-m,--moreStats Messages in and out, yesterday and today, instead of load.', '-i,--interval= Again and again, until Ctrl-C.'); columns = 'clusterName|brokerName|brokerId|brokerAddr|version|inTps|outTps|sendThreadPoolQueueSize|sendThreadPoolQueueHeadWaitTimeMills|pullThreadPoolQueueSize|pullThreadPoolQueueHeadWaitTimeMills|ackThreadPoolQueueSize|ackThreadPoolQueueHeadWaitTimeMills|timerReadBehind|timerOffsetBehind|timerCongestNum|timerEnqueueTps|timerDequeueTps|pageCacheLockTimeMills|hour|commitLogDiskRatio|brokerActive|reachable|error|inTotalYest|outTotalYest|inTotalToday|outTotalToday|'
        }
        'brokerstatus' = @{
            name = 'brokerStatus'; family = 'read'; help = 'All that a broker tells about itself'
            places = @('-b,--brokerAddr=addresses Address of one broker.')
            options = @('-b,--brokerAddr=addresses Address of one broker.', '-c,--clusterName=clusters Every master and slave of it.'); columns = 'brokerAddr|key|value|'
        }
        'hastatus' = @{
            name = 'haStatus'; family = 'read'; help = 'How far slaves are behind'
            places = @('-b,--brokerAddr=addresses Address of one broker.')
            options = @('-b,--brokerAddr=addresses Address of one broker.', '-c,--clusterName=clusters Every master and slave of it.', '-i,--interval= Again and again, until Ctrl-C.'); columns = 'brokerName|brokerId|brokerAddr|role|commitLogMaxOffset|inSyncSlaveNums|slaveAddr|slaveAckOffset|diff|inSync|transferFromWhere|masterAddr|masterFlushOffset|transferredByteInSecond|lastRead|lastWrite|error|'
        }
        'getbrokerconfig' = @{
            name = 'getBrokerConfig'; family = 'read'; help = 'Settings in force on brokers'
            places = @('-b,--brokerAddr=addresses Address of one broker.')
            options = @('-b,--brokerAddr=addresses Address of one broker.', '-c,--clusterName=clusters Every master and slave of it.'); columns = 'brokerName|brokerId|brokerAddr|key|value|'
        }
        'topiclist' = @{
            name = 'topicList'; family = 'read'; help = 'Names of topics, or who consumes them'
            places = @()
            options = @('-c,--clusterModel With the clusters of each topic and its consumer groups.', '--system,--no-system Show or hide the topics that RocketMQ has for itself.', '--cluster=clusters Only its topics.'); columns = 'topic|clusterName|consumerGroups|'
        }
        'topicroute' = @{
            name = 'topicRoute'; family = 'read'; help = 'Brokers and queues of a topic'
            places = @('-t,--topic=topics Name of a topic.')
            options = @('-t,--topic=topics Name of a topic.', '--raw The JSON as the name server sent it.', '-l,--list Accepted from mqadmin: rows are the rule.'); columns = 'topic|brokerName|clusterName|brokerAddrs|perm|readQueueNums|writeQueueNums|topicSysFlag|logicalQueues|'
        }
        'topicclusterlist' = @{
            name = 'topicClusterList'; family = 'read'; help = 'Clusters that have a topic'
            places = @('-t,--topic=topics Name of a topic.')
            options = @('-t,--topic=topics Name of a topic.'); columns = 'clusterName|'
        }
        'topicstatus' = @{
            name = 'topicStatus'; family = 'read'; help = 'Offsets of a topic''s queues'
            places = @('-t,--topic=topics Name of a topic.')
            options = @('-t,--topic=topics Name of a topic.', '-c,--cluster=clusters Ask the brokers of this cluster (or topic) about a topic without a route of its own.'); columns = 'topic|brokerName|brokerAddr|queueId|minOffset|maxOffset|lastUpdated|topicPutTps|error|'
        }
        'statsall' = @{
            name = 'statsAll'; family = 'read'; help = 'What topics take and groups read'
            places = @('-t,--topic=topics Only this topic.')
            options = @('-t,--topic=topics Only this topic.', '-a,--activeTopic Only what had a message in the last 24 hours.'); columns = 'topic|consumerGroup|accumulation|inTps|outTps|inMsg24Hour|outMsg24Hour|error|'
        }
        'allocatemq' = @{
            name = 'allocateMQ'; family = 'read'; help = 'Which client gets which queues'
            places = @('-t,--topic=topics Name of a topic.', '-i,--ipList= Client ids, or what stands for them: a,b,c.')
            options = @('-t,--topic=topics Name of a topic.', '-i,--ipList= Client ids, or what stands for them: a,b,c.'); columns = 'clientId|topic|brokerName|queueId|'
        }
        'consumerprogress' = @{
            name = 'consumerProgress'; family = 'read'; help = 'How far a group is behind, or all groups'
            places = @('-g,--groupName=groups A consumer group; all if left out.')
            options = @('-g,--groupName=groups A consumer group; all if left out.', '-t,--topicName=topics Only this topic of the group.', '-s,--showClientIP=true|false Ask the clients whose queue is whose.', '-c,--cluster=clusters Ask only the brokers of this cluster.', '--system Without GROUP: also the groups that brokers make for themselves.'); columns = 'group|topic|brokerName|queueId|brokerOffset|consumerOffset|diff|inflight|lastTime|clientId|brokerAddr|error|count|version|consumeType|messageModel|tps|diffTotal|inflightTotal|'
        }
        'consumerconnection' = @{
            name = 'consumerConnection'; family = 'read'; help = 'Clients of a group, and what they subscribe to'
            places = @('-g,--consumerGroup=groups A consumer group.')
            options = @('-g,--consumerGroup=groups A consumer group.', '-b,--brokerAddr=addresses Ask only the broker at this address.', '-c,--cluster=clusters Ask only the brokers of this cluster.'); columns = 'group|clientId|clientAddr|language|version|consumeType|messageModel|consumeFromWhere|subscriptions|brokerAddrs|'
        }
        'consumerstatus' = @{
            name = 'consumerStatus'; family = 'read'; help = 'What the clients of a group tell about themselves'
            places = @('-g,--consumerGroup=groups A consumer group.')
            options = @('-g,--consumerGroup=groups A consumer group.', '-i,--clientId= Only this client of it.', '-b,--brokerAddr=addresses Only clients of the broker there.', '-s,--jstack The stacks of the clients'' threads, instead of rows.', '-c,--cluster=clusters Ask only the brokers of this cluster.'); columns = 'group|clientId|version|language|startTime|topic|brokerName|queueId|commitOffset|cachedMsgCount|cachedMsgSizeInMiB|lastPullTime|lastConsumeTime|waitAckCount|lastPopTime|locked|dropped|consumeOKTPS|consumeFailedTPS|consumeRT|pullTPS|pullRT|subscriptions|properties|error|'
        }
        'brokerconsumestats' = @{
            name = 'brokerConsumeStats'; family = 'read'; help = 'How far all groups are behind on one broker'
            places = @('-b,--brokerAddr=addresses Address of one broker.')
            options = @('-b,--brokerAddr=addresses Address of one broker.', '-t,--timeoutMillis= How long the broker may take.', '-l,--level= Only queues that are this far behind.', '-o,--order=true|false true: only ordered topics.'); columns = 'topic|group|brokerName|queueId|brokerOffset|consumerOffset|diff|lastTime|'
        }
        'getconsumerconfig' = @{
            name = 'getConsumerConfig'; family = 'read'; help = 'Settings of a group'
            places = @('-g,--groupName=groups A consumer group.')
            options = @('-g,--groupName=groups A consumer group.', '-c,--clusterName=clusters Only the brokers of this cluster.'); columns = 'group|brokerName|brokerAddr|consumeEnable|consumeFromMinEnable|consumeBroadcastEnable|consumeMessageOrderly|retryQueueNums|retryMaxTimes|groupRetryPolicy|consumeTimeoutMinute|brokerId|whichBrokerWhenConsumeSlowly|notifyConsumerIdsChangedEnable|groupSysFlag|subscriptionDataSet|attributes|error|'
        }
        'producer' = @{
            name = 'producer'; family = 'read'; help = 'All producers of a broker, or of all'
            places = @('-b,--broker=addresses Address of one broker; all if left out.')
            options = @('-b,--broker=addresses Address of one broker; all if left out.', '--internal,--no-internal Show or hide CLIENT_INNER_PRODUCER.'); columns = 'producerGroup|clientId|clientAddr|language|version|lastUpdated|brokerAddr|'
        }
        'producerconnection' = @{
            name = 'producerConnection'; family = 'read'; help = 'Clients of a group'
            places = @('-g,--producerGroup=producer-groups A producer group.', '-t,--topic=topics Ask only the brokers that have this topic.')
            options = @('-g,--producerGroup=producer-groups A producer group.', '-t,--topic=topics Ask only the brokers that have this topic.'); columns = 'producerGroup|clientId|clientAddr|language|version|brokerAddrs|'
        }
        'querymsgbykey' = @{
            name = 'queryMsgByKey'; family = 'read'; help = 'Messages with a business key'
            places = @('-t,--topic=topics Name of a topic.', '-k,--msgKey= One of the keys of a message.')
            options = @('-t,--topic=topics Name of a topic.', '-k,--msgKey= One of the keys of a message.', '-b,--beginTimestamp= Stored since: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, -2h (s, m, h, d, w), or now.', '-e,--endTimestamp= Stored until, likewise.', '-m,--maxNum= The newest N messages.', '-p,--keyType=K|T K: a key; T: a tag, with a RocksDB index only.', '-l,--lastKey= Go on behind this indexKey, with a RocksDB index.', '-c,--cluster=topics Ask the brokers of this topic or cluster instead.'); columns = 'msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|indexKey|'
        }
        'querymsgbyoffset' = @{
            name = 'queryMsgByOffset'; family = 'read'; help = 'The message at one place of a queue'
            places = @('-t,--topic=topics Name of a topic.', '-b,--brokerName=brokers Name of a broker.', '-i,--queueId= Number of a queue, from 0.', '-o,--offset= Place in the queue.')
            options = @('-t,--topic=topics Name of a topic.', '-b,--brokerName=brokers Name of a broker.', '-i,--queueId= Number of a queue, from 0.', '-o,--offset= Place in the queue.', '-f,--bodyFormat= Read bodies in this encoding, not in UTF-8.', '-r,--routeTopic=topics Ask the broker of this topic instead.'); columns = 'msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|tracks|'
        }
        'printmsgbyqueue' = @{
            name = 'printMsgByQueue'; family = 'read'; help = 'Messages in one queue, or its tags'
            places = @('-t,--topic=topics Name of a topic.', '-a,--brokerName=brokers Name of a broker.', '-i,--queueId= Number of a queue, from 0.')
            options = @('-t,--topic=topics Name of a topic.', '-a,--brokerName=brokers Name of a broker.', '-i,--queueId= Number of a queue, from 0.', '-c,--charsetName= Read bodies in this encoding, not in UTF-8.', '-s,--subExpression= Only messages with a tag of these: A || B.', '-b,--beginTimestamp= Stored since: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, -2h (s, m, h, d, w), or now.', '-e,--endTimestamp= Stored until, likewise.', '-p,--print=true|false Whether messages are shown; true unless -f is.', '-d,--printBody=true|false Whether with bodies; false.', '-f,--calculate=true|false Count messages by tag; false. Has no bound.', '--maxNum= Stop after so many messages.'); columns = 'msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|tag|count|'
        }
        'printmsg' = @{
            name = 'printMsg'; family = 'read'; help = 'Messages in all queues of a topic'
            places = @('-t,--topic=topics Name of a topic.')
            options = @('-t,--topic=topics Name of a topic.', '-c,--charsetName= Read bodies in this encoding, not in UTF-8.', '-s,--subExpression= Only messages with a tag of these: A || B.', '-b,--beginTimestamp= Stored since: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, -2h (s, m, h, d, w), or now.', '-e,--endTimestamp= Stored until, likewise.', '-d,--printBody=true|false Whether with bodies; true.', '-l,--lmqParentTopic=topics Ask the brokers of this topic instead.', '--maxNum= Stop after so many messages.'); columns = 'msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|'
        }
        'querymsgtracebyid' = @{
            name = 'queryMsgTraceById'; family = 'read'; help = 'Who sent and who consumed a message'
            places = @('-i,--msgId= The id that a producer has in its log.')
            options = @('-i,--msgId= The id that a producer has in its log.', '-t,--traceTopic=topics Where the traces are.', '-b,--beginTimestamp= Traces since: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, -2h (s, m, h, d, w), or now.', '-e,--endTimestamp= Traces until, likewise.', '-c,--maxNum= Look at so many trace messages of each broker.'); columns = 'type|group|clientHost|time|costMs|status|topic|msgId|offsetMsgId|tags|keys|storeHost|messageType|retryTimes|requestId|transactionId|'
        }
        'where' = @{
            name = 'where'; family = 'read'; help = 'Which are asked, who said so, and whether they answer'
            places = @()
            options = @(); columns = 'namesrvAddr|source|context|reachable|latencyMillis|version|signed|tls|error|'
        }
        'kvget' = @{
            name = 'kvGet'; family = 'read'; help = 'One value of the KV config'
            places = @('-s,--namespace=namespaces For example ORDER_TOPIC_CONFIG, whose keys are topics.', '-k,--key=kv-keys Key within the namespace.')
            options = @('-s,--namespace=namespaces For example ORDER_TOPIC_CONFIG, whose keys are topics.', '-k,--key=kv-keys Key within the namespace.'); columns = 'namesrvAddr|namespace|key|value|result|error|'
        }
        'kvlist' = @{
            name = 'kvList'; family = 'read'; help = 'All values of a KV namespace'
            places = @('-s,--namespace=namespaces For example ORDER_TOPIC_CONFIG, whose keys are topics.')
            options = @('-s,--namespace=namespaces For example ORDER_TOPIC_CONFIG, whose keys are topics.'); columns = 'namesrvAddr|namespace|key|value|result|error|'
        }
        'getnamesrvconfig' = @{
            name = 'getNamesrvConfig'; family = 'read'; help = 'Settings in force'
            places = @()
            options = @(); columns = 'namesrvAddr|key|value|'
        }
        'history' = @{
            name = 'history'; family = 'read'; help = 'What happened to a topic, a broker or a key'
            places = @('--kind=topic|broker|cluster|kv topic, broker, cluster or kv; all if left out.', '--name= Its name; of kv, the namespace.', '--key= Of kv, one key.')
            options = @('--kind=topic|broker|cluster|kv topic, broker, cluster or kv; all if left out.', '--name= Its name; of kv, the namespace.', '--key= Of kv, one key.', '--since= Only from then on: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, -2h (s, m, h, d, w), or now.', '--until= Only before then.', '--type= Only events of this type, such as TopicsChanged. Repeatable.', '-f,--follow Go on with what comes, until Ctrl-C.', '--namesrv= Only the journal of this one, as records name it.', '--journal=folders A name server''s journal; else the context''s. Repeatable.'); columns = 'seq|time|server|type|changes|cause|client|event|'
        }
        'routeat' = @{
            name = 'routeAt'; family = 'read'; help = 'The route of a topic at a moment of the past'
            places = @('-t,--topic=topics Name of a topic.')
            options = @('-t,--topic=topics Name of a topic.', '--at= ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, -2h (s, m, h, d, w), or now.', '--namesrv= Only the journal of this one, as records name it.', '--journal=folders A name server''s journal; else the context''s. Repeatable.'); columns = 'topic|brokerName|clusterName|brokerAddrs|perm|readQueueNums|writeQueueNums|topicSysFlag|logicalQueues|server|'
        }
        'routediff' = @{
            name = 'routeDiff'; family = 'read'; help = 'What differs between two moments or places'
            places = @('-t,--topic=topics Only this topic.')
            options = @('-t,--topic=topics Only this topic.', '--from= The one side: a snapshot''s file, HOST:PORT of a name server, a context, or a time.', '--to= The other side: one of the same.', '--unified As the text that diff -U0 writes.', '--namesrv= Only the journal of this one, as records name it.', '--journal=folders A name server''s journal; else the context''s. Repeatable.'); columns = 'what|name|brokerName|changes|before|after|'
        }
        'snapshotsave' = @{
            name = 'snapshotSave'; family = 'read'; help = 'All that name servers know, in a file'
            places = @('--file=files Where to; named after the time if left out.')
            options = @('--file=files Where to; named after the time if left out.', '--namespace=namespaces With this KV namespace too. Repeatable.'); columns = 'file|time|nameServers|brokers|topics|kvEntries|size|'
        }
        'collect' = @{
            name = 'collect'; family = 'read'; help = 'Write journals of name servers that keep none'
            places = @('--dir=folders Where the journals are: a folder for each name server.')
            options = @('--dir=folders Where the journals are: a folder for each name server.', '--interval= From one poll to the next: 500ms, 15s, 1m; 15s if left out.', '--rate= Requests a second at most, over all servers; 1000 if left out.', '--namespace= KV namespace to poll beside ORDER_TOPIC_CONFIG. Repeatable.', '--once One poll of each name server, for cron.'); columns = 'namesrvAddr|result|brokers|topics|events|took|journal|error|'
        }
        'wipewriteperm' = @{
            name = 'wipeWritePerm'; family = 'change'; help = 'Stop writes to a broker'
            places = @('-b,--brokerName=brokers Name of a broker, as in clusterList.')
            options = @('-b,--brokerName=brokers Name of a broker, as in clusterList.'); columns = 'namesrvAddr|brokerName|topicCount|changes|before|after|result|error|'
        }
        'addwriteperm' = @{
            name = 'addWritePerm'; family = 'change'; help = 'Allow writes to a broker again'
            places = @('-b,--brokerName=brokers Name of a broker, as in clusterList.')
            options = @('-b,--brokerName=brokers Name of a broker, as in clusterList.'); columns = 'namesrvAddr|brokerName|topicCount|changes|before|after|result|error|'
        }
        'updatebrokerconfig' = @{
            name = 'updateBrokerConfig'; family = 'change'; help = 'Set one item on brokers'
            places = @('-k,--key=broker-keys A setting that getBrokerConfig shows.', '-v,--value= Its new value.')
            options = @('-k,--key=broker-keys A setting that getBrokerConfig shows.', '-v,--value= Its new value.', '-b,--brokerAddr=addresses Address of one broker.', '-c,--clusterName=clusters Every master of it.', '-a,--updateAllBroker=true|false With -c: its slaves too.'); columns = 'brokerName|brokerId|brokerAddr|key|changes|before|after|result|error|'
        }
        'sendmsgstatus' = @{
            name = 'sendMsgStatus'; family = 'change'; help = 'Write test messages to a broker, and time each'
            places = @('-b,--brokerName=brokers Name of a broker.')
            options = @('-b,--brokerName=brokers Name of a broker.', '-s,--messageSize= Size of each body.', '-c,--count= So many messages, one after another.'); columns = 'brokerName|brokerAddr|queueId|offsetMsgId|queueOffset|rt|result|error|'
        }
        'clusterrt' = @{
            name = 'clusterRT'; family = 'change'; help = 'Write test messages to all masters, and time them'
            places = @()
            options = @('-a,--amount= So many messages for each broker.', '-s,--size= Size of each body.', '-c,--cluster=clusters Only this cluster.', '-p,--print=true|false true: lines of TIME|ROOM|CLUSTER|BROKER|MS.', '-m,--machineRoom= Where it is measured; a column.', '-i,--interval= Again and again, until Ctrl-C.'); columns = 'time|machineRoom|clusterName|brokerName|brokerAddr|rt|maxRt|successCount|failCount|result|error|'
        }
        'cleanexpiredcq' = @{
            name = 'cleanExpiredCQ'; family = 'change'; help = 'Delete parts of queues whose messages expired'
            places = @('-b,--brokerAddr=addresses Address of one broker.')
            options = @('-b,--brokerAddr=addresses Address of one broker.', '-c,--cluster=clusters Every master and slave of it.'); columns = 'brokerName|brokerId|brokerAddr|changes|result|error|'
        }
        'cleanunusedtopic' = @{
            name = 'cleanUnusedTopic'; family = 'change'; help = 'Delete queues of topics without config'
            places = @('-b,--brokerAddr=addresses Address of one broker.')
            options = @('-b,--brokerAddr=addresses Address of one broker.', '-c,--cluster=clusters Every master and slave of it.'); columns = 'brokerName|brokerId|brokerAddr|changes|result|error|'
        }
        'updatetopic' = @{
            name = 'updateTopic'; family = 'change'; help = 'Create or change a topic'
            places = @('-t,--topic=topics Name of a topic.')
            options = @('-t,--topic=topics Name of a topic.', '-b,--brokerAddr=addresses Address of one master.', '-c,--clusterName=clusters Every master of it.', '-r,--readQueueNums= Queues to read from.', '-w,--writeQueueNums= Queues to write to.', '-p,--perm=2|4|6 6 read and write, 4 read, 2 write.', '-o,--order=true|false true also writes its order configuration.', '-u,--unit=true|false Whether it belongs to a unit.', '-s,--hasUnitSub=true|false Whether units subscribe to it.', '-a,--attributes= As in +message.type=FIFO,-other; 5.0 and later.'); columns = 'target|role|brokerName|topic|changes|before|after|result|error|'
        }
        'updatetopicperm' = @{
            name = 'updateTopicPerm'; family = 'change'; help = 'Change a topic''s permission'
            places = @('-t,--topic=topics Name of a topic.', '-p,--perm=2|4|6 6 read and write, 4 read, 2 write.')
            options = @('-t,--topic=topics Name of a topic.', '-p,--perm=2|4|6 6 read and write, 4 read, 2 write.', '-b,--brokerAddr=addresses Address of one master.', '-c,--clusterName=clusters Every master of it.'); columns = 'target|role|brokerName|topic|changes|before|after|result|error|'
        }
        'deletetopic' = @{
            name = 'deleteTopic'; family = 'change'; help = 'Delete a topic with its messages'
            places = @('-t,--topic=topics Name of a topic.', '-c,--clusterName=clusters The cluster to delete it from.')
            options = @('-t,--topic=topics Name of a topic.', '-c,--clusterName=clusters The cluster to delete it from.'); columns = 'target|role|topic|changes|before|after|result|error|'
        }
        'updatesubgroup' = @{
            name = 'updateSubGroup'; family = 'change'; help = 'Create or change a group'
            places = @('-g,--groupName=groups A consumer group.')
            options = @('-g,--groupName=groups A consumer group.', '-b,--brokerAddr=addresses Address of one master.', '-c,--clusterName=clusters Every master of it.', '-s,--consumeEnable=true|false Whether it may consume.', '-m,--consumeFromMinEnable=true|false Start at the oldest message.', '-d,--consumeBroadcastEnable=true|false Whether it may broadcast.', '-o,--consumeMessageOrderly=true|false In order; 5.0 and later.', '-q,--retryQueueNums= Queues of its retry topic.', '-r,--retryMaxTimes= Retries before a dead letter.', '-p,--groupRetryPolicy= Its waits; 5.0 and later.', '-i,--brokerId= Broker id to consume from.', '-w,--whichBrokerWhenConsumeSlowly= Broker id when it is behind.', '-a,--notifyConsumerIdsChanged=true|false Tell clients of new clients.', '--attributes= As in +key=value,-other; 5.1.3 and later.'); columns = 'target|brokerName|group|changes|before|after|result|error|'
        }
        'deletesubgroup' = @{
            name = 'deleteSubGroup'; family = 'change'; help = 'Delete a group'
            places = @('-g,--groupName=groups A consumer group.')
            options = @('-g,--groupName=groups A consumer group.', '-b,--brokerAddr=addresses Address of one master.', '-c,--clusterName=clusters Every master of it.', '-r,--removeOffset=true|false Forget how far it has consumed, too.', '--keep-topics With -c: leave its retry and dead-letter topics.'); columns = 'target|role|group|topic|changes|before|after|result|error|'
        }
        'resetoffsetbytime' = @{
            name = 'resetOffsetByTime'; family = 'change'; help = 'Move a group to a time or an offset'
            places = @('-g,--group=groups A consumer group.', '-t,--topic=topics Name of a topic.')
            options = @('-g,--group=groups A consumer group.', '-t,--topic=topics Name of a topic.', '-s,--timestamp= -1 for the end, ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, -2h (s, m, h, d, w), or now.', '-f,--force=true|false false: before 5.2, only go back. Else unused.', '-b,--broker=addresses With -q: the master that has the queue.', '-q,--queue= With -b: only this queue.', '-o,--offset= With -b and -q: to this offset, 0 too.', '-c,--cluster=clusters Only the brokers of this cluster.'); columns = 'group|topic|brokerName|brokerAddr|queueId|from|to|skipped|repeated|result|error|'
        }
        'skipaccumulatedmessage' = @{
            name = 'skipAccumulatedMessage'; family = 'change'; help = 'Move a group to the end of a topic'
            places = @('-g,--group=groups A consumer group.', '-t,--topic=topics Name of a topic.')
            options = @('-g,--group=groups A consumer group.', '-t,--topic=topics Name of a topic.', '-f,--force=true|false false: before 5.2, only go back. Else unused.', '-c,--cluster=clusters Only the brokers of this cluster.'); columns = 'group|topic|brokerName|brokerAddr|queueId|from|to|skipped|repeated|result|error|'
        }
        'clonegroupoffset' = @{
            name = 'cloneGroupOffset'; family = 'change'; help = 'Move a group to where another one is'
            places = @('-s,--srcGroup=groups The group whose offsets are taken.', '-d,--destGroup=groups The group that is moved there.', '-t,--topic=topics Name of a topic.')
            options = @('-s,--srcGroup=groups The group whose offsets are taken.', '-d,--destGroup=groups The group that is moved there.', '-t,--topic=topics Name of a topic.', '-o,--offline=true|false true: only if no client of GROUP is connected.'); columns = 'group|topic|brokerName|brokerAddr|queueId|from|to|skipped|repeated|result|error|'
        }
        'sendmessage' = @{
            name = 'sendMessage'; family = 'change'; help = 'Send one text message to a topic'
            places = @('-t,--topic=topics Name of a topic.', '-p,--body= Text of the message.')
            options = @('-t,--topic=topics Name of a topic.', '-p,--body= Text of the message.', '-k,--key= Its keys, separated by blanks.', '-c,--tags= Its tag.', '-b,--broker=brokers Name of the broker to send to.', '-i,--qid= Queue to send to; needs -b.', '-m,--msgTraceEnable=true|false Whether a trace is written; false.', '--property= A property. Repeatable.'); columns = 'topic|brokerName|brokerAddr|queueId|msgId|offsetMsgId|queueOffset|costMs|result|error|'
        }
        'updatekvconfig' = @{
            name = 'updateKvConfig'; family = 'change'; help = 'Write a value of the KV config'
            places = @('-s,--namespace=namespaces For example ORDER_TOPIC_CONFIG, whose keys are topics.', '-k,--key=kv-keys Key within the namespace.', '-v,--value= Text to store; may be empty.')
            options = @('-s,--namespace=namespaces For example ORDER_TOPIC_CONFIG, whose keys are topics.', '-k,--key=kv-keys Key within the namespace.', '-v,--value= Text to store; may be empty.'); columns = 'namesrvAddr|namespace|key|changes|before|after|result|error|'
        }
        'deletekvconfig' = @{
            name = 'deleteKvConfig'; family = 'change'; help = 'Delete a value of the KV config'
            places = @('-s,--namespace=namespaces For example ORDER_TOPIC_CONFIG, whose keys are topics.', '-k,--key=kv-keys Key within the namespace.')
            options = @('-s,--namespace=namespaces For example ORDER_TOPIC_CONFIG, whose keys are topics.', '-k,--key=kv-keys Key within the namespace.'); columns = 'namesrvAddr|namespace|key|changes|before|after|result|error|'
        }
        'updatenamesrvconfig' = @{
            name = 'updateNamesrvConfig'; family = 'change'; help = 'Set one item'
            places = @('-k,--key=namesrv-keys A setting that getNamesrvConfig shows.', '-v,--value= Its new value.')
            options = @('-k,--key=namesrv-keys A setting that getNamesrvConfig shows.', '-v,--value= Its new value.'); columns = 'namesrvAddr|key|changes|before|after|result|error|'
        }
        'updateorderconf' = @{
            name = 'updateOrderConf'; family = 'mixed'; help = 'Show or write a topic''s order configuration'
            places = @('-t,--topic=topics Name of a topic.', '-m,--method=get|put|delete What to do.', '-v,--orderConf= For put: broker-a:4;broker-b:8, queues by broker.')
            options = @('-m,--method=get|put|delete What to do.', '-v,--orderConf= For put: broker-a:4;broker-b:8, queues by broker.'); columns = 'namesrvAddr|topic|orderConf|result|error|changes|before|after|'
        }
        'querymsgbyuniquekey' = @{
            name = 'queryMsgByUniqueKey'; family = 'mixed'; help = 'Messages by the id in a producer''s log'
            places = @('-t,--topic=topics Name of a topic.', '-i,--msgId= The id that a producer has in its log.')
            options = @('-i,--msgId= The id that a producer has in its log.', '-a,--showAll Accepted from mqadmin: all that there are is the rule.', '-s,--startTime= Stored since: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, -2h (s, m, h, d, w), or now.', '-e,--endTime= Stored until, likewise.', '-c,--cluster=topics Ask the brokers of this topic or cluster instead.', '-g,--consumerGroup=groups With -d: hand it to this client of the group.', '-d,--clientId= With -g: an id of consumerConnection.'); columns = 'msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|tracks|brokerAddr|group|clientId|consumeResult|spentMs|result|error|'
        }
        'querymsgbyid' = @{
            name = 'queryMsgById'; family = 'mixed'; help = 'A message by an id of either kind'
            places = @('-t,--topic=topics Name of a topic.', '-i,--msgId= One id of either kind, or several: A,B.')
            options = @('-i,--msgId= One id of either kind, or several: A,B.', '-f,--bodyFormat= Read bodies in this encoding, not in UTF-8.', '-c,--cluster=topics Ask the brokers of this topic or cluster instead.', '-u,--unitName= Accepted from mqadmin, without meaning.', '-g,--consumerGroup=groups With -d: hand it to this client of the group.', '-d,--clientId= With -g: an id of consumerConnection.', '-s,--sendMessage=true|false true: send it once more to its topic.'); columns = 'msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|tracks|brokerAddr|group|clientId|consumeResult|spentMs|result|error|costMs|'
        }
        'contextlist' = @{
            name = 'contextList'; family = 'local'; help = 'Clusters that are known by name'
            places = @()
            options = @(); columns = 'name|current|namesrvAddr|configFile|endpoint|credentials|tls|timeout|retries|concurrency|output|addressMap|journals|readOnly|color|'
        }
        'contextshow' = @{
            name = 'contextShow'; family = 'local'; help = 'One of them'
            places = @('--name=contexts Name of a context.')
            options = @('--name=contexts Name of a context.'); columns = 'name|current|namesrvAddr|configFile|endpoint|credentials|tls|timeout|retries|concurrency|output|addressMap|journals|readOnly|color|'
        }
        'contextuse' = @{
            name = 'contextUse'; family = 'local'; help = 'Choose one for all commands'
            places = @('--name=contexts Name of a context, or "-".')
            options = @('--name=contexts Name of a context, or "-".'); columns = 'name|current|namesrvAddr|configFile|endpoint|credentials|tls|timeout|retries|concurrency|output|addressMap|journals|readOnly|color|'
        }
        'contextset' = @{
            name = 'contextSet'; family = 'local'; help = 'Make or change one'
            places = @('--name=contexts Name of a context.')
            options = @('--name=contexts Name of a context.', '-n,--namesrvAddr=name-servers Its name servers. Repeatable.', '--configFile=files Instead: a properties file that names them.', '--endpoint= Instead: where HTTP tells them.', '--accessKey= Who signs; the secret key is asked for, or piped in.', '--secretKeyStdin Read the secret key from a line of standard input.', '--securityTokenStdin Read a security token from the next line.', '--credentials= Instead: where these are: env, file:PATH, tools:PATH, keyring:NAME.', '--tls,--no-tls Encrypted connections, or plain ones.', '--tlsCa=files Authorities to trust (PEM), not the system''s.', '--tlsCert=files The client''s own certificate (PEM).', '--tlsKey=files Its key (PEM).', '--tlsKeyPasswordFrom= What opens the key: env:NAME or file:PATH.', '--tlsKeyPasswordStdin Or read that from the next line.', '--tlsServerName= What certificates have to name.', '--verify,--insecure Whether certificates are checked.', '--addressMap= Where to reach brokers; added. Repeatable.', '--journal=folders Folder of a name server''s journal. Repeatable.', '--timeout= For each request on each server.', '--retries= Of what got no answer and changes nothing.', '--concurrency= Servers asked at a time.', '--defaultOutput=table|wide|json|jsonl|yaml|csv|tsv|name|value How to write rows.', '--readOnly,--writable Whether every change is refused.', '--color=red|green|yellow|blue|magenta|cyan To show its name in, say red.', '--unset= Forget this, such as timeout or tls.caFile. Repeatable.'); columns = 'name|current|namesrvAddr|configFile|endpoint|credentials|tls|timeout|retries|concurrency|output|addressMap|journals|readOnly|color|'
        }
        'contextlogin' = @{
            name = 'contextLogin'; family = 'local'; help = 'Store its credentials'
            places = @('--name=contexts Name of a context.')
            options = @('--name=contexts Name of a context.', '--file= Store them in this file, for its owner alone.'); columns = 'name|current|namesrvAddr|configFile|endpoint|credentials|tls|timeout|retries|concurrency|output|addressMap|journals|readOnly|color|'
        }
        'contextdelete' = @{
            name = 'contextDelete'; family = 'local'; help = 'Forget one'
            places = @('--name=contexts Name of a context.')
            options = @('--name=contexts Name of a context.'); columns = 'name|current|namesrvAddr|configFile|endpoint|credentials|tls|timeout|retries|concurrency|output|addressMap|journals|readOnly|color|'
        }
        'snapshotshow' = @{
            name = 'snapshotShow'; family = 'local'; help = 'What is in such a file'
            places = @('--file=files The snapshot''s file.')
            options = @('--file=files The snapshot''s file.'); columns = 'what|name|brokerName|summary|value|'
        }
        'snapshotlist' = @{
            name = 'snapshotList'; family = 'local'; help = 'Such files in a folder'
            places = @('--dir=folders Where to look; here if left out.')
            options = @('--dir=folders Where to look; here if left out.'); columns = 'file|time|nameServers|brokers|topics|kvEntries|size|'
        }
        'journalcat' = @{
            name = 'journalCat'; family = 'local'; help = 'What a name server''s journal says'
            places = @('--dir=folders Folder of the journal.')
            options = @('--dir=folders Folder of the journal.', '--since= Only from then on: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, -2h (s, m, h, d, w), or now.', '--until= Only before then.'); columns = 'seq|time|server|type|summary|cause|client|event|'
        }
        'journaltail' = @{
            name = 'journalTail'; family = 'local'; help = 'The end of it, and what comes'
            places = @('--dir=folders Folder of the journal.')
            options = @('--dir=folders Folder of the journal.', '-l,--lines= How many; 10 if left out.', '-f,--follow Go on with what comes, until Ctrl-C.'); columns = 'seq|time|server|type|summary|cause|client|event|'
        }
        'journalstat' = @{
            name = 'journalStat'; family = 'local'; help = 'What is in it, by type of event'
            places = @('--dir=folders Folder of the journal.')
            options = @('--dir=folders Folder of the journal.'); columns = 'type|records|plainSize|firstTime|lastTime|'
        }
        'journalverify' = @{
            name = 'journalVerify'; family = 'local'; help = 'Whether it is whole'
            places = @('--dir=folders Folder of the journal.')
            options = @('--dir=folders Folder of the journal.'); columns = 'file|result|records|firstSeq|lastSeq|firstTime|lastTime|size|plainSize|problems|'
        }
        'auditlist' = @{
            name = 'auditList'; family = 'local'; help = 'Changes that were made from this account'
            places = @()
            options = @('--since= Only from then on: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, -2h (s, m, h, d, w), or now.'); columns = 'time|user|context|nameServers|command|sent|results|exitCode|servers|'
        }
        'mqadminmap' = @{
            name = 'mqadminMap'; family = 'local'; help = 'What to type instead of a command of mqadmin'
            places = @('--command=addBroker|addWritePerm|allocateMQ|brokerConsumeStats|brokerStatus|checkMsgSendRT|checkRocksdbCqWriteProgress|cleanBrokerMetadata|cleanExpiredCQ|cleanUnusedTopic|cloneGroupOffset|clusterAclConfigVersion|clusterList|clusterRT|consumeMessage|consumerConnection|consumerProgress|consumerStatus|copyAcl|copyUser|createAcl|createUser|deleteAcl|deleteAclConfig|deleteExpiredCommitLog|deleteKvConfig|deleteSubGroup|deleteTopic|deleteUser|dumpCompactionLog|electMaster|exportConfigs|exportMetadata|exportMetadataInRocksDB|exportMetrics|exportPopRecord|getAcl|getAclConfig|getBrokerConfig|getBrokerEpoch|getBrokerLiteInfo|getColdDataFlowCtrInfo|getConsumerConfig|getControllerConfig|getControllerMetaData|getLiteClientInfo|getLiteGroupInfo|getLiteTopicInfo|getNamesrvConfig|getParentTopicInfo|getSyncStateSet|getUser|haStatus|listAcl|listUser|printMsg|printMsgByQueue|producer|producerConnection|queryCq|queryMsgById|queryMsgByKey|queryMsgByOffset|queryMsgByUniqueKey|queryMsgTraceById|remappingStaticTopic|removeBroker|removeColdDataFlowCtrGroupConfig|resetMasterFlushOffset|resetOffsetByTime|rocksDBConfigToJson|sendMessage|sendMsgStatus|setCommitLogReadAheadMode|setConsumeMode|skipAccumulatedMessage|startMonitoring|statsAll|switchTimerEngine|topicClusterList|topicList|topicRoute|topicStatus|triggerLiteDispatch|updateAcl|updateAclConfig|updateBrokerConfig|updateColdDataFlowCtrGroupConfig|updateControllerConfig|updateGlobalWhiteAddr|updateKvConfig|updateNamesrvConfig|updateOrderConf|updateStaticTopic|updateSubGroup|updateSubGroupList|updateTopic|updateTopicList|updateTopicPerm|updateUser|wipeWritePerm A command of mqadmin; all if left out.')
            options = @('--command=addBroker|addWritePerm|allocateMQ|brokerConsumeStats|brokerStatus|checkMsgSendRT|checkRocksdbCqWriteProgress|cleanBrokerMetadata|cleanExpiredCQ|cleanUnusedTopic|cloneGroupOffset|clusterAclConfigVersion|clusterList|clusterRT|consumeMessage|consumerConnection|consumerProgress|consumerStatus|copyAcl|copyUser|createAcl|createUser|deleteAcl|deleteAclConfig|deleteExpiredCommitLog|deleteKvConfig|deleteSubGroup|deleteTopic|deleteUser|dumpCompactionLog|electMaster|exportConfigs|exportMetadata|exportMetadataInRocksDB|exportMetrics|exportPopRecord|getAcl|getAclConfig|getBrokerConfig|getBrokerEpoch|getBrokerLiteInfo|getColdDataFlowCtrInfo|getConsumerConfig|getControllerConfig|getControllerMetaData|getLiteClientInfo|getLiteGroupInfo|getLiteTopicInfo|getNamesrvConfig|getParentTopicInfo|getSyncStateSet|getUser|haStatus|listAcl|listUser|printMsg|printMsgByQueue|producer|producerConnection|queryCq|queryMsgById|queryMsgByKey|queryMsgByOffset|queryMsgByUniqueKey|queryMsgTraceById|remappingStaticTopic|removeBroker|removeColdDataFlowCtrGroupConfig|resetMasterFlushOffset|resetOffsetByTime|rocksDBConfigToJson|sendMessage|sendMsgStatus|setCommitLogReadAheadMode|setConsumeMode|skipAccumulatedMessage|startMonitoring|statsAll|switchTimerEngine|topicClusterList|topicList|topicRoute|topicStatus|triggerLiteDispatch|updateAcl|updateAclConfig|updateBrokerConfig|updateColdDataFlowCtrGroupConfig|updateControllerConfig|updateGlobalWhiteAddr|updateKvConfig|updateNamesrvConfig|updateOrderConf|updateStaticTopic|updateSubGroup|updateSubGroupList|updateTopic|updateTopicList|updateTopicPerm|updateUser|wipeWritePerm A command of mqadmin; all if left out.'); columns = 'mqadmin|nsadmin|status|since|note|'
        }
        'batch' = @{
            name = 'batch'; family = 'batch'; help = 'Run many commands, one a line'
            places = @('-f,--file=files A file of command lines; - is stdin.')
            options = @(); columns = ''
        }
        'namesrv' = @{
            name = 'namesrv'; family = 'program'; help = 'Run a name server here'
            places = @()
            options = @('-c,--configFile=files Java properties; also where updates go', '-p,--printConfigItem print all items and exit', '-n,--namesrvAddr= accepted, without effect on a name server', '--port= port to listen on (9876); 0 takes a free one', '--bind= address to listen on (0.0.0.0)', '--home=folders folder of kvConfig.json and namesrv.properties (~/namesrv)', '--journal-dir=folders keep a journal of all that happens there (journal/ in the home)', '--no-journal keep no journal'); columns = ''
        }
        'lab' = @{
            name = 'lab'; family = 'program'; help = 'Run a name server and simulated brokers, to play with'
            places = @('=up|run|list| ')
            options = @('--clusters= clusters (2)', '--groups= broker groups in each cluster (3)', '--replicas= brokers in each group: a master and its slaves (2)', '--topics= topics in each cluster, beside the system''s (40)', '--namesrvs= name servers (1)', '--scenario= play one, built-in or of a YAML file, and stay when it is over', '--namesrv-port= the first name server''s, the others follow; 0 takes free ones (0)', '--broker-port= the first broker''s, the others take every tenth after it; 0 takes free ones (0)', '--no-context do not write a context lab while it runs', '-n,--namesrvAddr= register with these name servers instead of starting some; separated by ; or ,', '--speed= virtual time: so many seconds in one, at most; max: as fast as it goes (up: 1, run: max)', '--dir=folders keep journals and truth.jsonl there (a temporary folder)', '--seed= another fleet (1, or the scenario''s)', '--until= end it earlier or later: 90s, 10m, 2h'); columns = ''
        }
        'completion' = @{
            name = 'completion'; family = 'program'; help = 'Write the completion of a shell'
            places = @('=bash|zsh|fish|powershell| the shell')
            options = @(); columns = ''
        }
        'help' = @{
            name = 'help'; family = 'help'; help = 'More on one command'
            places = @('=commands ')
            options = @(); columns = ''
        }
    }
    $families = @{
        'read' = @('--context=contexts The context to use; NSADMIN_CONTEXT if left out.', '-n,--namesrvAddr=name-servers Name servers, as HOST:PORT;HOST:PORT. Repeatable.', '--configFile=files A properties file that names them: namesrvAddr, rocketmq.namesrv.addr or .domain.', '--endpoint= Where HTTP tells them: a URL, or a domain as Java''s clients.', '--addressMap= Where to reach brokers, such as 10.0.0.0/8=gateway:10911. Repeatable.', '--credentials= Where those are that requests are signed with: env, file:PATH, tools:PATH, keyring:NAME; or none.', '--tls,--no-tls Encrypted connections, or plain ones.', '--tlsCa=files Authorities to trust (PEM), not the system''s.', '--tlsCert=files This client''s own certificate (PEM).', '--tlsKey=files Its key (PEM); NSADMIN_KEY_PASSWORD opens it.', '--tlsServerName= What servers'' certificates have to name.', '--insecure TLS with whoever answers: certificates are not checked.', '--timeout= For each request on each server; 3 if left out.', '--retries= Ask again so often what got no answer and changes nothing: N + 1 times --timeout in all, and pauses of 0.1 s and more, at most N s.', '--concurrency= Servers asked at a time; 64 if left out.', '--output=table|wide|json|jsonl|yaml|csv|tsv|name|value table, wide, json, jsonl, yaml, csv, tsv, name, value; NSADMIN_OUTPUT if left out.', '--json Short for --output json.', '--no-headers No names above tables, CSV and TSV.', '--no-color No colours (nor with NO_COLOR set).', '--watch= Again and again, until Ctrl-C; a table in place.', '--columns=columns Only these columns, in this order.', '--sort=columns By these columns; - turns one round.', '--filter=columns Only rows such as perm!=6, inTps>100 or topic~^order; = != < <= > >= ~ !~. Repeatable.', '--quiet Nothing on stderr but errors.', '--debug Show each request on stderr, and tracebacks.', '-h,--help Show this and exit.')
        'change' = @('--context=contexts The context to use; NSADMIN_CONTEXT if left out.', '-n,--namesrvAddr=name-servers Name servers, as HOST:PORT;HOST:PORT. Repeatable.', '--configFile=files A properties file that names them: namesrvAddr, rocketmq.namesrv.addr or .domain.', '--endpoint= Where HTTP tells them: a URL, or a domain as Java''s clients.', '--addressMap= Where to reach brokers, such as 10.0.0.0/8=gateway:10911. Repeatable.', '--credentials= Where those are that requests are signed with: env, file:PATH, tools:PATH, keyring:NAME; or none.', '--tls,--no-tls Encrypted connections, or plain ones.', '--tlsCa=files Authorities to trust (PEM), not the system''s.', '--tlsCert=files This client''s own certificate (PEM).', '--tlsKey=files Its key (PEM); NSADMIN_KEY_PASSWORD opens it.', '--tlsServerName= What servers'' certificates have to name.', '--insecure TLS with whoever answers: certificates are not checked.', '--timeout= For each request on each server; 3 if left out.', '--retries= Ask again so often what got no answer and changes nothing: N + 1 times --timeout in all, and pauses of 0.1 s and more, at most N s.', '--concurrency= Servers asked at a time; 64 if left out.', '--output=table|wide|json|jsonl|yaml|csv|tsv|name|value table, wide, json, jsonl, yaml, csv, tsv, name, value; NSADMIN_OUTPUT if left out.', '--json Short for --output json.', '--no-headers No names above tables, CSV and TSV.', '--no-color No colours (nor with NO_COLOR set).', '--dry-run Only show what would be done, and where.', '-y,--yes Do not ask.', '--quiet Nothing on stderr but errors.', '--debug Show each request on stderr, and tracebacks.', '-h,--help Show this and exit.')
        'mixed' = @('-t,--topic=topics Name of a topic.', '--context=contexts The context to use; NSADMIN_CONTEXT if left out.', '-n,--namesrvAddr=name-servers Name servers, as HOST:PORT;HOST:PORT. Repeatable.', '--configFile=files A properties file that names them: namesrvAddr, rocketmq.namesrv.addr or .domain.', '--endpoint= Where HTTP tells them: a URL, or a domain as Java''s clients.', '--addressMap= Where to reach brokers, such as 10.0.0.0/8=gateway:10911. Repeatable.', '--credentials= Where those are that requests are signed with: env, file:PATH, tools:PATH, keyring:NAME; or none.', '--tls,--no-tls Encrypted connections, or plain ones.', '--tlsCa=files Authorities to trust (PEM), not the system''s.', '--tlsCert=files This client''s own certificate (PEM).', '--tlsKey=files Its key (PEM); NSADMIN_KEY_PASSWORD opens it.', '--tlsServerName= What servers'' certificates have to name.', '--insecure TLS with whoever answers: certificates are not checked.', '--timeout= For each request on each server; 3 if left out.', '--retries= Ask again so often what got no answer and changes nothing: N + 1 times --timeout in all, and pauses of 0.1 s and more, at most N s.', '--concurrency= Servers asked at a time; 64 if left out.', '--output=table|wide|json|jsonl|yaml|csv|tsv|name|value table, wide, json, jsonl, yaml, csv, tsv, name, value; NSADMIN_OUTPUT if left out.', '--json Short for --output json.', '--no-headers No names above tables, CSV and TSV.', '--no-color No colours (nor with NO_COLOR set).', '--columns=columns Only these columns, in this order.', '--sort=columns By these columns; - turns one round.', '--filter=columns Only rows such as perm!=6, inTps>100 or topic~^order; = != < <= > >= ~ !~. Repeatable.', '--dry-run Only show what would be done, and where.', '-y,--yes Do not ask.', '--quiet Nothing on stderr but errors.', '--debug Show each request on stderr, and tracebacks.', '-h,--help Show this and exit.')
        'local' = @('--output=table|wide|json|jsonl|yaml|csv|tsv|name|value table, wide, json, jsonl, yaml, csv, tsv, name, value; NSADMIN_OUTPUT if left out.', '--json Short for --output json.', '--no-headers No names above tables, CSV and TSV.', '--no-color No colours (nor with NO_COLOR set).', '--watch= Again and again, until Ctrl-C; a table in place.', '--columns=columns Only these columns, in this order.', '--sort=columns By these columns; - turns one round.', '--filter=columns Only rows such as perm!=6, inTps>100 or topic~^order; = != < <= > >= ~ !~. Repeatable.', '--quiet Nothing on stderr but errors.', '--debug Show each request on stderr, and tracebacks.', '-h,--help Show this and exit.')
        'batch' = @('-f,--file=files A file of command lines; - is stdin.', '--stop-on-error End at the first that fails.', '--context=contexts The context to use; NSADMIN_CONTEXT if left out.', '-n,--namesrvAddr=name-servers Name servers, as HOST:PORT;HOST:PORT. Repeatable.', '--configFile=files A properties file that names them: namesrvAddr, rocketmq.namesrv.addr or .domain.', '--endpoint= Where HTTP tells them: a URL, or a domain as Java''s clients.', '--addressMap= Where to reach brokers, such as 10.0.0.0/8=gateway:10911. Repeatable.', '--credentials= Where those are that requests are signed with: env, file:PATH, tools:PATH, keyring:NAME; or none.', '--tls,--no-tls Encrypted connections, or plain ones.', '--tlsCa=files Authorities to trust (PEM), not the system''s.', '--tlsCert=files This client''s own certificate (PEM).', '--tlsKey=files Its key (PEM); NSADMIN_KEY_PASSWORD opens it.', '--tlsServerName= What servers'' certificates have to name.', '--insecure TLS with whoever answers: certificates are not checked.', '--timeout= For each request on each server; 3 if left out.', '--retries= Ask again so often what got no answer and changes nothing: N + 1 times --timeout in all, and pauses of 0.1 s and more, at most N s.', '--concurrency= Servers asked at a time; 64 if left out.', '--output=table|wide|json|jsonl|yaml|csv|tsv|name|value table, wide, json, jsonl, yaml, csv, tsv, name, value; NSADMIN_OUTPUT if left out.', '--json Short for --output json.', '--no-headers No names above tables, CSV and TSV.', '--no-color No colours (nor with NO_COLOR set).', '--dry-run Only show what would be done, and where.', '-y,--yes Do not ask.', '--quiet Nothing on stderr but errors.', '--debug Show each request on stderr, and tracebacks.', '-h,--help Show this and exit.')
        'program' = @('-h,--help show this help message and exit')
        'help' = @()
        'front' = @('--context=contexts The context to use; NSADMIN_CONTEXT if left out.', '-n,--namesrvAddr=name-servers Name servers, as HOST:PORT;HOST:PORT. Repeatable.', '--configFile=files A properties file that names them: namesrvAddr, rocketmq.namesrv.addr or .domain.', '--endpoint= Where HTTP tells them: a URL, or a domain as Java''s clients.', '--addressMap= Where to reach brokers, such as 10.0.0.0/8=gateway:10911. Repeatable.', '--credentials= Where those are that requests are signed with: env, file:PATH, tools:PATH, keyring:NAME; or none.', '--tls,--no-tls Encrypted connections, or plain ones.', '--tlsCa=files Authorities to trust (PEM), not the system''s.', '--tlsCert=files This client''s own certificate (PEM).', '--tlsKey=files Its key (PEM); NSADMIN_KEY_PASSWORD opens it.', '--tlsServerName= What servers'' certificates have to name.', '--insecure TLS with whoever answers: certificates are not checked.', '--timeout= For each request on each server; 3 if left out.', '--retries= Ask again so often what got no answer and changes nothing: N + 1 times --timeout in all, and pauses of 0.1 s and more, at most N s.', '--concurrency= Servers asked at a time; 64 if left out.', '--output=table|wide|json|jsonl|yaml|csv|tsv|name|value table, wide, json, jsonl, yaml, csv, tsv, name, value; NSADMIN_OUTPUT if left out.', '--json Short for --output json.', '--no-headers No names above tables, CSV and TSV.', '--no-color No colours (nor with NO_COLOR set).', '--watch= Again and again, until Ctrl-C; a table in place.', '--columns=columns Only these columns, in this order.', '--sort=columns By these columns; - turns one round.', '--filter=columns Only rows such as perm!=6, inTps>100 or topic~^order; = != < <= > >= ~ !~. Repeatable.', '--quiet Nothing on stderr but errors.', '--debug Show each request on stderr, and tracebacks.', '-h,--help Show this and exit.', '--dry-run Only show what would be done, and where.', '-y,--yes Do not ask.', '--version Show the version and exit.')
    }

    function Offer([string]$value, [string]$text, [string]$head = '') {
        if (-not $text) { $text = $value }
        $full = $head + $value
        # What PowerShell would take for something else is put between quotes.
        if ($full -match '[^\w\-./:=+]') { $full = "'" + $full.Replace("'", "''") + "'" }
        [System.Management.Automation.CompletionResult]::new($full, $value, 'ParameterValue', $text)
    }

    # Letter by letter: a culture may have its own idea of dashes.
    function Test-Start([string]$text, [string]$start) {
        $text.StartsWith($start, [System.StringComparison]::Ordinal)
    }

    # The specification of a flag to which a value belongs, and null for any other.
    function Find-Flag([string]$flag, $options) {
        foreach ($item in $options) {
            $spec = ($item -split ' ', 2)[0]
            $flags, $source = $spec -split '=', 2
            if ($null -ne $source -and ($flags -split ',') -ccontains $flag) { return $spec }
        }
    }

    function Offer-Paths([string]$typed, [string]$head, [string]$kind) {
        [System.Management.Automation.CompletionCompleters]::CompleteFilename($typed) |
            Where-Object { "$($_.ResultType)" -like $kind } |
            ForEach-Object { if ($head) { Offer $_.CompletionText $_.ToolTip $head } else { $_ } }
    }

    # Candidates from a source.
    function Offer-Values([string]$source, [string]$typed, [string]$head) {
        switch -Wildcard -CaseSensitive ($source) {
            '' { return }
            'files' { Offer-Paths $typed $head '*'; return }
            'folders' { Offer-Paths $typed $head 'ProviderContainer'; return }
            'commands' {
                $commands.GetEnumerator() | Where-Object { $_.Key -like ($typed -replace '[-_]') + '*' } |
                    Sort-Object Key | ForEach-Object { Offer $_.Value.name $_.Value.help }
                return
            }
            'columns' {
                # The last of several, such as a,b or a,-b.
                $last = $typed -replace '^.*[,-]'
                $others = $typed.Substring(0, $typed.Length - $last.Length)
                $columns -split '[|]' | Where-Object { $_ -and (Test-Start $_ $last) } |
                    ForEach-Object { Offer $_ $_ "$head$others" }
                return
            }
            '*|*' {
                $source -split '[|]' | Where-Object { $_ -and (Test-Start $_ $typed) } |
                    ForEach-Object { Offer $_ $_ $head }
                return
            }
            default {
                # An argument that is empty would be dropped by PowerShell before 7.3, hence the =.
                & $program complete described $source "=$typed" @before 2>$null | ForEach-Object {
                    $value, $text = $_ -split "`t", 2
                    Offer $value $text $head
                }
            }
        }
    }

    function Offer-Flags([string]$typed, $options) {
        foreach ($item in $options) {
            $spec, $text = $item -split ' ', 2
            foreach ($flag in ($spec -split '=', 2)[0] -split ',') {
                if (Test-Start $flag $typed) {
                    [System.Management.Automation.CompletionResult]::new($flag, $flag, 'ParameterName', $text)
                }
            }
        }
    }

    $typed = $wordToComplete.TrimStart("'", '"')
    $elements = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition })
    $words = @($elements | ForEach-Object {
        # Without its quotes, if it has some.
        if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value }
        else { $_.ToString() }
    })
    if (-not $words) { return }
    $program = if (Get-Command $words[0] -ErrorAction SilentlyContinue) { $words[0] } else { 'nsadmin' }
    $before = @($words | Select-Object -Skip 1)
    $places, $options, $columns, $command = @(), $families['front'], '', $null
    $given, $taken, $waiting = 0, @(), $null
    foreach ($word in $before) {
        if ($waiting) {
            $waiting = $null
        } elseif ($word -like '-?*') {
            $taken += ($word -split '=', 2)[0]
            if (-not $word.Contains('=')) { $waiting = Find-Flag $word $options }
        } elseif ($null -eq $command) {
            $command = $word
            $found = $commands[$word -replace '[-_]']
            if ($found) {
                $places, $columns = $found.places, $found.columns
                $options = @($found.options) + @($families[$found.family])
            } else {
                $places, $options, $columns = @(), @(), ''
            }
        } else {
            $given++
        }
    }

    if ($waiting) {
        Offer-Values ($waiting -split '=', 2)[1] $typed ''
    } elseif ($typed -like '--*=*') {
        $flag, $value = $typed -split '=', 2
        $spec = Find-Flag $flag $options
        if ($spec) { Offer-Values ($spec -split '=', 2)[1] $value "$flag=" }
    } elseif ($typed -like '-*') {
        Offer-Flags $typed $options
    } elseif ($null -eq $command) {
        Offer-Values 'commands' $typed ''
    } else {
        foreach ($item in $places) {
            $flags, $source = ($item -split ' ', 2)[0] -split '=', 2
            if ($flags -split ',' | Where-Object { $_ -and $taken -ccontains $_ }) { continue }
            if ($given -gt 0) { $given--; continue }
            Offer-Values $source $typed ''
            return
        }
        if (-not $typed) { Offer-Flags '' $options }
    }
}
