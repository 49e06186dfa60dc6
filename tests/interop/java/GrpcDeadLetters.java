// Two push consumer groups behind a proxy, and a producer: GrpcDeadLetters ENDPOINTS TOPIC GROUP OTHER_GROUP [fifo].
// With "fifo" all messages are of one message group. Its orders are those of DeadLetters.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.rocketmq.client.apis.ClientConfiguration;
import org.apache.rocketmq.client.apis.ClientServiceProvider;
import org.apache.rocketmq.client.apis.consumer.ConsumeResult;
import org.apache.rocketmq.client.apis.consumer.FilterExpression;
import org.apache.rocketmq.client.apis.message.MessageBuilder;
import org.apache.rocketmq.client.apis.producer.Producer;

public class GrpcDeadLetters {
    static final ClientServiceProvider PROVIDER = ClientServiceProvider.loadService();
    static final AtomicBoolean FAILS = new AtomicBoolean();
    static final Map<String, Integer> CONSUMED = new ConcurrentHashMap<>();

    public static void main(String[] args) throws Exception {
        ClientConfiguration configuration = ClientConfiguration.newBuilder()
            .setEndpoints(args[0]).enableSsl(false).setRequestTimeout(Duration.ofSeconds(5)).build();
        startConsumer(configuration, args[1], args[2], true);
        startConsumer(configuration, args[1], args[3], false);
        Producer producer =
            PROVIDER.newProducerBuilder().setClientConfiguration(configuration).setTopics(args[1]).build();

        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.out.println("ready");
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split(" ");
            if (words[0].equals("send")) {
                send(producer, args[1], Integer.parseInt(words[1]), Integer.parseInt(words[2]), args.length > 4);
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

    static void startConsumer(ClientConfiguration configuration, String topic, String group, boolean mayFail)
            throws Exception {
        PROVIDER.newPushConsumerBuilder().setClientConfiguration(configuration).setConsumerGroup(group)
            .setSubscriptionExpressions(Collections.singletonMap(topic, FilterExpression.SUB_ALL))
            .setMessageListener(message -> {
                if (mayFail && FAILS.get()) {
                    return ConsumeResult.FAILURE;
                }
                String key = message.getKeys().iterator().next();
                CONSUMED.merge(group + " " + key + " " + message.getTopic(), 1, Integer::sum);
                return ConsumeResult.SUCCESS;
            }).build();
    }

    static void send(Producer producer, String topic, int count, int from, boolean isOrdered) throws Exception {
        for (int number = from; number < from + count; number++) {
            MessageBuilder builder = PROVIDER.newMessageBuilder().setTopic(topic)
                .setTag(number % 2 == 0 ? "even" : "odd").setKeys(String.valueOf(number))
                .setBody(("body of " + number).getBytes(StandardCharsets.UTF_8));
            if (isOrdered) {
                builder.setMessageGroup("one");
            }
            producer.send(builder.build());
        }
    }
}
