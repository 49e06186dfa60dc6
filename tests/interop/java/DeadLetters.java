// Two push consumer groups on one topic: DeadLetters NAME_SERVER TOPIC GROUP OTHER_GROUP [pop]. GROUP never retries:
// what it fails to consume is a dead letter at once. With "pop" the broker shares out the queues, and GROUP pops if
// it is set to that. Each line of input is an order, answered with a line "done ORDER":
// "send N FROM" sends N messages with the keys FROM, FROM + 1 and so on, "fail" makes GROUP fail, "mend" ends that,
// "join pull|broadcast GROUP" starts a consumer of another kind, "report FILE" writes a line "GROUP KEY TOPIC TIMES" for each message that a group consumed.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;

public class DeadLetters {
    static final AtomicBoolean FAILS = new AtomicBoolean();
    static final Map<String, Integer> CONSUMED = new ConcurrentHashMap<>();

    public static void main(String[] args) throws Exception {
        List<DefaultMQPushConsumer> consumers = new ArrayList<>();
        for (String group : new String[] {args[2], args[3]}) {
            boolean isFirst = group.equals(args[2]);
            consumers.add(consumer(args[0], args[1], group, isFirst, isFirst && args.length > 4));
        }
        DefaultMQProducer producer = new DefaultMQProducer(args[1] + "-producer");
        producer.setNamesrvAddr(args[0]);
        producer.setSendMsgTimeout(30_000);
        producer.start();

        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.out.println("ready");
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split(" ");
            if (words[0].equals("send")) {
                send(producer, args[1], Integer.parseInt(words[1]), Integer.parseInt(words[2]));
            } else if (words[0].equals("join")) {
                join(args[0], args[1], words[1], words[2]);
            } else if (words[0].equals("report")) {
                List<String> lines = new ArrayList<>();
                CONSUMED.forEach((what, times) -> lines.add(what + " " + times));
                Files.write(Paths.get(words[1]), lines, StandardCharsets.UTF_8);
            } else {
                FAILS.set(words[0].equals("fail"));
            }
            System.out.println("done " + line);
        }
        Runtime.getRuntime().halt(0);
    }

    static DefaultMQPushConsumer consumer(String address, String topic, String group, boolean mayFail, boolean pops)
            throws Exception {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(group);
        consumer.setInstanceName(group);
        consumer.setNamesrvAddr(address);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.setMaxReconsumeTimes(0);
        consumer.setPollNameServerInterval(1000);
        if (pops) {
            // Clients of 4.9 do not have this method.
            DefaultMQPushConsumer.class.getMethod("setClientRebalance", boolean.class).invoke(consumer, false);
        }
        consumer.subscribe(topic, "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            if (mayFail && FAILS.get()) {
                return ConsumeConcurrentlyStatus.RECONSUME_LATER;
            }
            messages.forEach(message ->
                CONSUMED.merge(group + " " + message.getKeys() + " " + message.getTopic(), 1, Integer::sum));
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        return consumer;
    }

    static void join(String address, String topic, String kind, String group) throws Exception {
        if (kind.equals("pull")) {
            DefaultLitePullConsumer puller = new DefaultLitePullConsumer(group);
            puller.setInstanceName(group);
            puller.setNamesrvAddr(address);
            puller.subscribe(topic, "*");
            puller.start();
            return;
        }
        DefaultMQPushConsumer broadcaster = new DefaultMQPushConsumer(group);
        broadcaster.setInstanceName(group);
        broadcaster.setNamesrvAddr(address);
        for (Method method : DefaultMQPushConsumer.class.getMethods()) {
            // The package of MessageModel differs between 4.9 and 5.x.
            if (method.getName().equals("setMessageModel")) {
                method.invoke(broadcaster, method.getParameterTypes()[0].getField("BROADCASTING").get(null));
            }
        }
        broadcaster.subscribe(topic, "*");
        broadcaster.registerMessageListener((MessageListenerConcurrently) (messages, context) ->
            ConsumeConcurrentlyStatus.CONSUME_SUCCESS);
        broadcaster.start();
    }

    static void send(DefaultMQProducer producer, String topic, int count, int from) throws Exception {
        for (int number = from; number < from + count; number++) {
            String tag = number % 2 == 0 ? "even" : "odd";
            String body = "body of " + number;
            producer.send(new Message(topic, tag, String.valueOf(number), body.getBytes(StandardCharsets.UTF_8)));
        }
    }
}
