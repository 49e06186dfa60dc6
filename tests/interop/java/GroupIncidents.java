// Push consumers of many groups that fail on purpose: GroupIncidents NAME_SERVERS. Each line of input is an order, answered
// with a line "done ORDER": "join NAME GROUP TOPIC EXPRESSION", "order NAME GROUP TOPIC EXPRESSION" (in order) and "pop ..." start a
// consumer, "leave NAME", "suspend NAME", "resume NAME", "send TOPIC TAG QUEUE BODY", "await GROUP BODY" (until it consumed that).
// A listener never returns for the body "hang", and fails for "poison" until the order "mend".

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

public class GroupIncidents {
    static final Set<String> CONSUMED = ConcurrentHashMap.newKeySet();
    static final Map<String, DefaultMQPushConsumer> CONSUMERS = new HashMap<>();
    static volatile boolean mended;

    public static void main(String[] args) throws Exception {
        DefaultMQProducer producer = new DefaultMQProducer("incidents-producer");
        producer.setNamesrvAddr(args[0]);
        producer.setSendMsgTimeout(30_000);
        producer.start();
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.out.println("ready");
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split(" ");
            switch (words[0]) {
                case "join":
                case "order":
                case "pop":
                    CONSUMERS.put(words[1], start(args[0], words));
                    break;
                case "leave":
                    CONSUMERS.remove(words[1]).shutdown();
                    break;
                case "suspend":
                    CONSUMERS.get(words[1]).suspend();
                    break;
                case "resume":
                    CONSUMERS.get(words[1]).resume();
                    break;
                case "send":
                    send(producer, words);
                    break;
                case "await":
                    while (!CONSUMED.contains(words[1] + " " + words[2])) {
                        Thread.sleep(20);
                    }
                    break;
                default:
                    mended = true;
            }
            System.out.println("done " + line);
        }
        Runtime.getRuntime().halt(0);
    }

    static void send(DefaultMQProducer producer, String[] words) throws Exception {
        Message message = new Message(words[1], words[2], words[4], words[4].getBytes(StandardCharsets.UTF_8));
        for (MessageQueue queue : producer.fetchPublishMessageQueues(words[1])) {
            if (queue.getQueueId() == Integer.parseInt(words[3])) {
                producer.send(message, queue);
            }
        }
    }

    static DefaultMQPushConsumer start(String servers, String[] words) throws Exception {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(words[2]);
        consumer.setInstanceName(words[1]);
        consumer.setNamesrvAddr(servers);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.setMaxReconsumeTimes(0);
        consumer.setPersistConsumerOffsetInterval(500);
        consumer.setHeartbeatBrokerInterval(2000);
        consumer.setPollNameServerInterval(2000);
        consumer.subscribe(words[3], words[4]);
        if (words[0].equals("order")) {
            consumer.registerMessageListener((MessageListenerOrderly) (messages, context) ->
                consume(words[2], messages) ? ConsumeOrderlyStatus.SUCCESS : ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT);
        } else {
            consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) ->
                consume(words[2], messages) ? ConsumeConcurrentlyStatus.CONSUME_SUCCESS : ConsumeConcurrentlyStatus.RECONSUME_LATER);
        }
        if (words[0].equals("pop")) {
            // Clients of 4.9 have no such method.
            DefaultMQPushConsumer.class.getMethod("setClientRebalance", boolean.class).invoke(consumer, false);
        }
        consumer.start();
        return consumer;
    }

    static boolean consume(String group, List<MessageExt> messages) {
        for (MessageExt message : messages) {
            String body = new String(message.getBody(), StandardCharsets.UTF_8);
            if (body.equals("hang")) {
                waitForDatabase();
            }
            if (body.equals("poison") && !mended) {
                return false;
            }
            CONSUMED.add(group + " " + body);
        }
        return true;
    }

    static void waitForDatabase() {
        try {
            Thread.sleep(Long.MAX_VALUE);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }
}
