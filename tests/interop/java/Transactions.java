// A transactional producer that stays: Transactions NAME_SERVERS TOPIC GROUP. Each line of input is an order:
// "send COUNT STATE" (UNKNOW leaves half messages), "answer STATE" (to the checks of brokers).

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.rocketmq.client.producer.LocalTransactionState;
import org.apache.rocketmq.client.producer.TransactionListener;
import org.apache.rocketmq.client.producer.TransactionMQProducer;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

public class Transactions {
    static volatile LocalTransactionState answer = LocalTransactionState.UNKNOW;

    public static void main(String[] args) throws Exception {
        AtomicInteger checked = new AtomicInteger();
        TransactionMQProducer producer = new TransactionMQProducer(args[2]);
        producer.setNamesrvAddr(args[0]);
        producer.setTransactionListener(new TransactionListener() {
            @Override
            public LocalTransactionState executeLocalTransaction(Message message, Object state) {
                return (LocalTransactionState) state;
            }

            @Override
            public LocalTransactionState checkLocalTransaction(MessageExt message) {
                checked.incrementAndGet();
                return answer;
            }
        });
        producer.start();

        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.out.println("ready");
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split(" ");
            if (words[0].equals("answer")) {
                answer = LocalTransactionState.valueOf(words[1]);
            } else {
                LocalTransactionState state = LocalTransactionState.valueOf(words[2]);
                for (int number = 0; number < Integer.parseInt(words[1]); number++) {
                    Message message = new Message(args[1], "TagA", "key-" + number, new byte[] {'x'});
                    System.out.println("sent " + producer.sendMessageInTransaction(message, state).getMsgId());
                }
            }
            System.out.println("done " + line + ", checked " + checked.get());
        }
        Runtime.getRuntime().halt(0);
    }
}
