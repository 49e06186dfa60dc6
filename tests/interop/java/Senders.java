// Producers that are new each time, so that they know no route of before. Each line of input is "NAME_SERVERS TOPIC";
// the answer is "sent", or "failed" with the first line of why.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.Message;

public class Senders {
    public static void main(String[] args) throws Exception {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.out.println("ready");
        int number = 0;
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split(" ");
            DefaultMQProducer producer = new DefaultMQProducer("senders");
            producer.setNamesrvAddr(words[0]);
            producer.setInstanceName("sender-" + number++);
            producer.setRetryTimesWhenSendFailed(0);
            producer.start();
            try {
                producer.send(new Message(words[1], new byte[] {'x'}));
                System.out.println("sent");
            } catch (Exception error) {
                System.out.println("failed " + String.valueOf(error.getMessage()).trim().split("\n")[0]);
            } finally {
                producer.shutdown();
            }
        }
    }
}
