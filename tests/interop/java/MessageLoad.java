// What the Java client sends to and reads from a topic: MessageLoad NAME_SERVER TOPIC COUNT BYTES LATENCY_TOPIC. It
// keeps 64 sends under way, then reads all messages with a lite pull consumer. It prints "produced RATE" and "consumed
// RATE", in messages per second. A quarter as many messages come first, to warm the JVM up.
// Then it sends 700 messages to the other topic, 100 a second, one after another, to a push consumer. It prints "ack
// MEDIAN P99" and "end MEDIAN P99" of the last 500, in ms: the time to the answer, and to the consumer.

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendCallback;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

public class MessageLoad {
    static final int UNDER_WAY = 64;
    static final int UNMEASURED = 200;
    static final int MEASURED = 500;

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[2]);
        byte[] body = new byte[Integer.parseInt(args[3])];
        DefaultMQProducer producer = new DefaultMQProducer("message-load");
        producer.setNamesrvAddr(args[0]);
        producer.setSendMsgTimeout(30_000);
        producer.setCompressMsgBodyOverHowmuch(Integer.MAX_VALUE);
        producer.start();
        send(producer, args[1], count / 4, body);
        long begun = System.nanoTime();
        send(producer, args[1], count, body);
        System.out.println("produced " + count * 1e9 / (System.nanoTime() - begun));

        DefaultLitePullConsumer consumer = new DefaultLitePullConsumer("message-load-reader");
        consumer.setNamesrvAddr(args[0]);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.setPullBatchSize(32);
        consumer.subscribe(args[1], "*");
        consumer.start();
        int read = 0;
        long first = 0;
        while (read < count + count / 4) {
            List<MessageExt> messages = consumer.poll(5000);
            if (first == 0 && !messages.isEmpty()) {
                first = System.nanoTime();
            }
            read += messages.size();
        }
        System.out.println("consumed " + read * 1e9 / (System.nanoTime() - first));
        measureLatency(producer, args[0], args[4], body);
        Runtime.getRuntime().halt(0);
    }

    static void measureLatency(DefaultMQProducer producer, String address, String topic, byte[] body)
            throws Exception {
        Map<String, Long> received = new ConcurrentHashMap<>();
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer("message-load-listener");
        consumer.setNamesrvAddr(address);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe(topic, "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            long now = System.nanoTime();
            messages.forEach(message -> received.put(message.getKeys(), now));
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        producer.send(new Message(topic, "", "first", body));
        while (!received.containsKey("first")) {
            Thread.sleep(10);
        }
        List<Double> acks = new ArrayList<>();
        Map<String, Long> sent = new HashMap<>();
        long begun = System.nanoTime();
        for (int number = 0; number < UNMEASURED + MEASURED; number++) {
            long due = begun + number * 10_000_000L - System.nanoTime();
            if (due > 0) {
                Thread.sleep(due / 1_000_000, (int) (due % 1_000_000));
            }
            Message message = new Message(topic, "", String.valueOf(number), body);
            long now = System.nanoTime();
            producer.send(message);
            if (number >= UNMEASURED) {
                acks.add((System.nanoTime() - now) / 1e6);
                sent.put(message.getKeys(), now);
            }
        }
        Thread.sleep(1000);
        List<Double> ends = new ArrayList<>();
        sent.forEach((key, now) -> ends.add((received.get(key) - now) / 1e6));
        print("ack", acks);
        print("end", ends);
    }

    static void print(String kind, List<Double> latencies) {
        Collections.sort(latencies);
        System.out.println(kind + " " + latencies.get(MEASURED / 2) + " " + latencies.get(MEASURED * 99 / 100));
    }

    static void send(DefaultMQProducer producer, String topic, int count, byte[] body) throws Exception {
        Semaphore free = new Semaphore(UNDER_WAY);
        AtomicInteger failed = new AtomicInteger();
        for (int number = 0; number < count; number++) {
            free.acquire();
            producer.send(new Message(topic, body), new SendCallback() {
                public void onSuccess(SendResult result) {
                    free.release();
                }

                public void onException(Throwable error) {
                    failed.incrementAndGet();
                    free.release();
                }
            });
        }
        free.acquire(UNDER_WAY);
        if (failed.get() > 0) {
            System.out.println("failed " + failed.get());
        }
    }
}
