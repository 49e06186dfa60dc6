// gRPC clients that stay: each line of input is an order, "done LINE" its answer; clients are known by a name.
// "push|simple|producer NAME ENDPOINTS TOPIC GROUP" starts one ("-" for a producer's group) and answers
// "id NAME CLIENT_ID"; "send NAME COUNT", "receive NAME" (a simple consumer receives and acknowledges once),
// "keep NAME" (it receives, and acknowledges nothing), "leave NAME".

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import org.apache.rocketmq.client.apis.ClientConfiguration;
import org.apache.rocketmq.client.apis.ClientServiceProvider;
import org.apache.rocketmq.client.apis.consumer.ConsumeResult;
import org.apache.rocketmq.client.apis.consumer.FilterExpression;
import org.apache.rocketmq.client.apis.consumer.SimpleConsumer;
import org.apache.rocketmq.client.apis.message.MessageView;
import org.apache.rocketmq.client.apis.producer.Producer;

public class GrpcClients {
    private static final ClientServiceProvider PROVIDER = ClientServiceProvider.loadService();
    private static final Map<String, AutoCloseable> CLIENTS = new HashMap<>();
    private static final Map<String, String> TOPICS = new HashMap<>();

    public static void main(String[] args) throws Exception {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.out.println("ready");
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            obey(line.split(" "));
            System.out.println("done " + line);
        }
        Runtime.getRuntime().halt(0);
    }

    private static void obey(String[] words) throws Exception {
        String name = words[1];
        switch (words[0]) {
            case "send":
                for (int number = 0; number < Integer.parseInt(words[2]); number++) {
                    ((Producer) CLIENTS.get(name)).send(PROVIDER.newMessageBuilder()
                        .setTopic(TOPICS.get(name)).setTag("TagA").setBody(new byte[] {'x'}).build());
                }
                break;
            case "receive":
                SimpleConsumer simple = (SimpleConsumer) CLIENTS.get(name);
                for (MessageView message : simple.receive(16, Duration.ofSeconds(20))) {
                    simple.ack(message);
                }
                break;
            case "keep":
                while (((SimpleConsumer) CLIENTS.get(name)).receive(16, Duration.ofSeconds(60)).isEmpty()) {
                }
                break;
            case "leave":
                CLIENTS.remove(name).close();
                break;
            default:
                AutoCloseable client = start(words[0], words[2], words[3], words[4]);
                CLIENTS.put(name, client);
                TOPICS.put(name, words[3]);
                System.out.println("id " + name + " " + idOf(client));
        }
    }

    private static AutoCloseable start(String kind, String endpoints, String topic, String group) throws Exception {
        ClientConfiguration configuration = ClientConfiguration.newBuilder()
            .setEndpoints(endpoints).enableSsl(false).setRequestTimeout(Duration.ofSeconds(5)).build();
        if (kind.equals("producer")) {
            return PROVIDER.newProducerBuilder().setClientConfiguration(configuration).setTopics(topic).build();
        }
        Map<String, FilterExpression> subscriptions =
            Collections.singletonMap(topic, new FilterExpression("TagA || TagB"));
        if (kind.equals("simple")) {
            return PROVIDER.newSimpleConsumerBuilder().setClientConfiguration(configuration)
                .setConsumerGroup(group).setSubscriptionExpressions(subscriptions)
                .setAwaitDuration(Duration.ofSeconds(2)).build();
        }
        return PROVIDER.newPushConsumerBuilder().setClientConfiguration(configuration)
            .setConsumerGroup(group).setSubscriptionExpressions(subscriptions)
            .setMessageListener(message -> ConsumeResult.SUCCESS).build();
    }

    private static String idOf(AutoCloseable client) throws Exception {
        // The interfaces do not have the id.
        for (Class<?> type = client.getClass(); type != null; type = type.getSuperclass()) {
            for (java.lang.reflect.Field field : type.getDeclaredFields()) {
                if (field.getName().equals("clientId")) {
                    field.setAccessible(true);
                    return String.valueOf(field.get(client));
                }
            }
        }
        return "-";
    }
}
