// Producers and consumers of two clusters: TransferLoad SOURCE TARGET TOPIC GROUP QUEUES. Each line of input is an order:
// "fill COUNT" sends messages to the source, in batches; "write RATE" sends more, RATE a second, until "stop"; "foreign
// COUNT" sends messages of another producer to the target. "join source" and "join target" start an ordered consumer,
// and "leave" ends it after its last commit. "report FILE" writes lines "KEY SOURCE TARGET": how often each cluster's
// consumer got the message. Each order is answered with a line "done ORDER sent COUNT consumed SOURCE TARGET".

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

public class TransferLoad {
    static final int BATCH = 100;
    static final String PADDING = " ".repeat(100);
    static final AtomicBoolean isWriting = new AtomicBoolean();
    static final AtomicBoolean isLeaving = new AtomicBoolean();
    static final Map<String, int[]> times = new ConcurrentHashMap<>();
    static String topic;
    static int queues;
    static int sent;
    static int foreign;

    public static void main(String[] args) throws Exception {
        topic = args[2];
        queues = Integer.parseInt(args[4]);
        DefaultMQProducer source = producer(args[0], "source");
        DefaultMQProducer target = producer(args[1], "target");
        DefaultMQPushConsumer consumer = null;
        Thread writer = null;
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.out.println("ready");
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split(" ");
            switch (words[0]) {
                case "fill":
                    fill(source, Integer.parseInt(words[1]));
                    break;
                case "write":
                    isWriting.set(true);
                    long pauseNanos = 1_000_000_000L / Integer.parseInt(words[1]);
                    writer = new Thread(() -> write(source, pauseNanos));
                    writer.start();
                    break;
                case "stop":
                    isWriting.set(false);
                    writer.join();
                    break;
                case "foreign":
                    for (int at = 0; at < Integer.parseInt(words[1]); at++) {
                        target.send(message("f" + foreign), queue(target, foreign++));
                    }
                    break;
                case "join":
                    int cluster = words[1].equals("source") ? 0 : 1;
                    consumer = consumer(args[cluster], args[3], words[1], cluster);
                    break;
                case "leave":
                    // Nothing is counted that is not committed.
                    isLeaving.set(true);
                    Thread.sleep(500);
                    consumer.shutdown();
                    isLeaving.set(false);
                    break;
                default:
                    report(Path.of(words[1]));
            }
            System.out.println("done " + line + " sent " + sent + " consumed " + consumed(0) + " " + consumed(1));
        }
        Runtime.getRuntime().halt(0);
    }

    static DefaultMQProducer producer(String namesrv, String instance) throws Exception {
        DefaultMQProducer producer = new DefaultMQProducer("transfer-load");
        producer.setNamesrvAddr(namesrv);
        producer.setInstanceName(instance);
        producer.setSendMsgTimeout(20_000);
        producer.start();
        return producer;
    }

    static DefaultMQPushConsumer consumer(String namesrv, String group, String instance, int cluster)
            throws Exception {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(group);
        consumer.setNamesrvAddr(namesrv);
        consumer.setInstanceName(instance + " consumer");
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.setConsumeMessageBatchMaxSize(32);
        consumer.subscribe(topic, "*");
        consumer.registerMessageListener((MessageListenerOrderly) (messages, context) -> {
            if (isLeaving.get()) {
                return ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT;
            }
            for (MessageExt message : messages) {
                times.computeIfAbsent(message.getKeys(), key -> new int[2])[cluster]++;
            }
            return ConsumeOrderlyStatus.SUCCESS;
        });
        consumer.start();
        return consumer;
    }

    static Message message(String key) {
        String tag = key.hashCode() % 2 == 0 ? "even" : "odd";
        Message message = new Message(topic, tag, key, (key + PADDING).getBytes(StandardCharsets.UTF_8));
        message.putUserProperty("color", "red");
        return message;
    }

    static MessageQueue queue(DefaultMQProducer producer, int number) throws Exception {
        return producer.fetchPublishMessageQueues(topic).stream()
                .filter(queue -> queue.getQueueId() == number % queues).findFirst().orElseThrow();
    }

    static void fill(DefaultMQProducer producer, int count) throws Exception {
        List<MessageQueue> all = producer.fetchPublishMessageQueues(topic);
        for (int at = 0; at < count; at += BATCH) {
            List<Message> batch = new ArrayList<>();
            for (int number = at; number < Math.min(at + BATCH, count); number++) {
                batch.add(message(String.valueOf(sent++)));
            }
            producer.send(batch, all.get(at / BATCH % all.size()));
        }
    }

    static void write(DefaultMQProducer producer, long pauseNanos) {
        long next = System.nanoTime();
        try {
            List<MessageQueue> all = producer.fetchPublishMessageQueues(topic);
            while (isWriting.get()) {
                producer.send(message(String.valueOf(sent)), all.get(sent % all.size()));
                sent++;
                next += pauseNanos;
                Thread.sleep(Math.max(0, (next - System.nanoTime()) / 1_000_000));
            }
        } catch (Exception error) {
            System.out.println("failed " + error);
        }
    }

    static int consumed(int cluster) {
        return times.values().stream().mapToInt(counts -> counts[cluster]).sum();
    }

    static void report(Path file) throws Exception {
        List<String> lines = new ArrayList<>();
        times.forEach((key, counts) -> lines.add(key + " " + counts[0] + " " + counts[1]));
        Files.write(file, lines);
    }
}
