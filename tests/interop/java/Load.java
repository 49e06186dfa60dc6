// A producer that sends all the time and a consumer: Load NAME_SERVERS TOPIC. Both look at routes every second;
// nothing is sent twice, so that each failure is seen: a line "failed BEGUN MILLIS BROKER CODE WHY" for each. Each
// line of input is an order, answered with a line "done ORDER, sent N missing N": "count", "stop" (sending),
// "suspend" and "resume" (consuming). What is missing was sent and not consumed.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;

public class Load {
    public static void main(String[] args) throws Exception {
        Set<String> consumed = ConcurrentHashMap.newKeySet();
        Set<String> sent = ConcurrentHashMap.newKeySet();
        AtomicBoolean isSending = new AtomicBoolean(true);

        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(args[1] + "-consumer");
        consumer.setNamesrvAddr(args[0]);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.setPollNameServerInterval(1000);
        consumer.setPersistConsumerOffsetInterval(500);
        consumer.subscribe(args[1], "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            messages.forEach(message -> consumed.add(message.getKeys()));
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        DefaultMQProducer producer = new DefaultMQProducer(args[1] + "-producer");
        producer.setNamesrvAddr(args[0]);
        producer.setPollNameServerInterval(1000);
        producer.setRetryTimesWhenSendFailed(0);
        // A busy machine makes sends slow, but not fail.
        producer.setSendMsgTimeout(30_000);
        producer.start();
        Thread sender = new Thread(() -> {
            for (int number = 0; isSending.get(); number++) {
                long begun = System.currentTimeMillis();
                try {
                    producer.send(new Message(args[1], "A", String.valueOf(number), new byte[] {'x'}));
                    sent.add(String.valueOf(number));
                    Thread.sleep(25);
                } catch (Exception error) {
                    long millis = System.currentTimeMillis() - begun;
                    System.out.println("failed " + begun + " " + millis + " " + why(error));
                }
            }
        });
        sender.start();

        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.out.println("ready");
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            if (line.equals("stop")) {
                isSending.set(false);
                sender.join();
            } else if (line.equals("suspend")) {
                consumer.suspend();
            } else if (line.equals("resume")) {
                consumer.resume();
            }
            long missing = sent.stream().filter(key -> !consumed.contains(key)).count();
            System.out.println("done " + line + ", sent " + sent.size() + " missing " + missing);
        }
        Runtime.getRuntime().halt(0);
    }

    // The broker, or "-" where it came to none, the code, and what each cause says.
    static String why(Throwable error) {
        String text = "";
        int code = -1;
        for (Throwable each = error; each != null; each = each.getCause()) {
            text += " " + each.getClass().getSimpleName() + ": " + String.valueOf(each.getMessage()).split("\n")[0];
            if (each instanceof MQBrokerException) {
                code = ((MQBrokerException) each).getResponseCode();
            } else if (each instanceof MQClientException && code == -1) {
                code = ((MQClientException) each).getResponseCode();
            }
        }
        Matcher broker = Pattern.compile("BrokersSent: \\[([^,\\]]*)").matcher(text);
        return (broker.find() ? broker.group(1) : "-") + " " + code + text;
    }
}
