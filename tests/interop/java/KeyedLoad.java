// Producers and consumers of a plain and of an ordered topic: KeyedLoad NAME_SERVERS PLAIN ORDERED PAUSE_MS. All look
// at routes every second. Each message has a key, the key's sequence number and a hash. Nothing is sent twice, so that
// each failure is seen: a line "failed TOPIC BROKER WHY". Each line of input is an order, "count", "missing" (a line
// "missing TOPIC KEY:NUMBER" for each) or "stop" (sending),
// answered with a line "done ORDER sent N missing N broken N" for each topic: "missing" was sent and not consumed,
// "broken" came out of sequence or with a wrong hash. Every 40th plain message fails at first.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

public class KeyedLoad {
    static final int KEYS = 12;
    static final int SENDERS = 3;
    static final AtomicBoolean isSending = new AtomicBoolean(true);
    static final Map<String, Integer> sent = new ConcurrentHashMap<>();
    static final Set<String> consumed = ConcurrentHashMap.newKeySet();
    static final Set<String> failedOnce = ConcurrentHashMap.newKeySet();
    static final Map<String, Integer> last = new ConcurrentHashMap<>();
    static final Map<String, AtomicInteger> broken = new ConcurrentHashMap<>();

    public static void main(String[] args) throws Exception {
        String plain = args[1];
        String ordered = args[2];
        int pauseMillis = Integer.parseInt(args[3]);
        broken.put(plain, new AtomicInteger());
        broken.put(ordered, new AtomicInteger());
        start(consumer(args[0], plain, "plain"), (MessageListenerConcurrently) (messages, context) -> {
            for (MessageExt message : messages) {
                String text = check(plain, message);
                if (number(text) % 40 == 7 && failedOnce.add(text)) {
                    context.setDelayLevelWhenNextConsume(1);
                    return ConsumeConcurrentlyStatus.RECONSUME_LATER;
                }
                consumed.add(plain + text);
            }
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        for (String instance : new String[] {"first", "second"}) {
            start(consumer(args[0], ordered, instance), (MessageListenerOrderly) (messages, context) -> {
                for (MessageExt message : messages) {
                    follow(ordered, check(ordered, message), message);
                    // Queues with more keys lag behind, so that a wrong order shows.
                    pause(Math.max(12, pauseMillis * 3 / 5));
                }
                return ConsumeOrderlyStatus.SUCCESS;
            });
        }
        List<Thread> senders = new ArrayList<>();
        for (int at = 0; at < SENDERS; at++) {
            senders.add(sender(args[0], at, plain, ordered, pauseMillis));
        }
        senders.forEach(Thread::start);

        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.out.println("ready");
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            if (line.equals("stop")) {
                isSending.set(false);
                for (Thread sender : senders) {
                    sender.join();
                }
            }
            if (line.equals("missing")) {
                sent.forEach((key, count) -> {
                    for (int number = 0; number < count; number++) {
                        if (!consumed.contains(key + ":" + number)) {
                            System.out.println("missing " + key + ":" + number);
                        }
                    }
                });
            }
            System.out.println("done " + line + told(plain) + told(ordered));
        }
        Runtime.getRuntime().halt(0);
    }

    static DefaultMQPushConsumer consumer(String servers, String topic, String instance) throws Exception {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(topic + "-consumer");
        consumer.setNamesrvAddr(servers);
        consumer.setInstanceName(instance);
        consumer.setPollNameServerInterval(1000);
        consumer.setPersistConsumerOffsetInterval(300);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET);
        consumer.subscribe(topic, "*");
        return consumer;
    }

    static void start(DefaultMQPushConsumer consumer, Object listener) throws Exception {
        if (listener instanceof MessageListenerOrderly) {
            consumer.registerMessageListener((MessageListenerOrderly) listener);
        } else {
            consumer.registerMessageListener((MessageListenerConcurrently) listener);
        }
        consumer.start();
    }

    // Each sender has keys and a client of its own, which looks at routes at its own time.
    static Thread sender(String servers, int at, String plain, String ordered, int pauseMillis) throws Exception {
        DefaultMQProducer producer = new DefaultMQProducer(plain + "-producer-" + at);
        producer.setNamesrvAddr(servers);
        producer.setInstanceName("sender-" + at);
        producer.setPollNameServerInterval(1000);
        producer.setRetryTimesWhenSendFailed(0);
        producer.setSendMsgTimeout(30_000);
        producer.start();
        return new Thread(() -> {
            for (int round = 0; isSending.get(); round++) {
                String key = "key-" + (at + SENDERS * (round % (KEYS / SENDERS)));
                send(producer, plain, key, false);
                send(producer, ordered, key, true);
                pause(pauseMillis);
            }
        });
    }

    static void send(DefaultMQProducer producer, String topic, String key, boolean inOrder) {
        int number = sent.getOrDefault(topic + key, 0);
        String text = key + ":" + number;
        byte[] body = (text + ":" + text.hashCode()).getBytes(StandardCharsets.UTF_8);
        try {
            Message message = new Message(topic, "A", text, body);
            if (inOrder) {
                producer.send(message, (queues, each, arg) ->
                    queues.get(Math.floorMod(arg.hashCode(), queues.size())), key);
            } else {
                producer.send(message);
            }
            sent.put(topic + key, number + 1);
        } catch (Exception error) {
            System.out.println("failed " + topic + " " + why(error));
        }
    }

    static String check(String topic, MessageExt message) {
        String body = new String(message.getBody(), StandardCharsets.UTF_8);
        String text = body.substring(0, body.lastIndexOf(':'));
        if (!body.endsWith(":" + text.hashCode()) || !text.equals(message.getKeys())) {
            broken.get(topic).incrementAndGet();
        }
        return text;
    }

    // A message may come again, when its queue gets another owner; it must not come before an earlier one.
    static synchronized void follow(String topic, String text, MessageExt message) {
        String key = text.substring(0, text.indexOf(':'));
        int number = number(text);
        int expected = last.getOrDefault(key, -1) + 1;
        if (number > expected) {
            broken.get(topic).incrementAndGet();
            System.out.println("broken " + text + " expected " + expected + " at " + message.getBrokerName()
                + " " + message.getQueueId() + " " + message.getQueueOffset());
        }
        last.put(key, Math.max(number, expected - 1));
        consumed.add(topic + text);
    }

    static void pause(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException error) {
            throw new IllegalStateException(error);
        }
    }

    static int number(String text) {
        return Integer.parseInt(text.substring(text.indexOf(':') + 1));
    }

    static String told(String topic) {
        int count = 0;
        int missing = 0;
        for (Map.Entry<String, Integer> entry : sent.entrySet()) {
            if (!entry.getKey().startsWith(topic + "key-")) {
                continue;
            }
            count += entry.getValue();
            for (int number = 0; number < entry.getValue(); number++) {
                missing += consumed.contains(entry.getKey() + ":" + number) ? 0 : 1;
            }
        }
        return " sent " + count + " missing " + missing + " broken " + broken.get(topic).get();
    }

    // The broker, or "-" where it came to none, and what each cause says.
    static String why(Throwable error) {
        String text = "";
        for (Throwable each = error; each != null; each = each.getCause()) {
            text += " " + each.getClass().getSimpleName() + ": " + String.valueOf(each.getMessage()).split("\n")[0];
        }
        Matcher broker = Pattern.compile("BrokersSent: \\[([^,\\]]*)").matcher(text);
        return (broker.find() ? broker.group(1) : "-") + text;
    }
}
