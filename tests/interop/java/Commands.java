// Runs unmodified mqadmin commands, one for each line of input with its words between tabs, in one JVM.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.apache.rocketmq.tools.command.MQAdminStartup;

public class Commands {
    public static void main(String[] args) throws Exception {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            try {
                MQAdminStartup.main0(line.split("\t"), null);
            } catch (Throwable failure) {
                failure.printStackTrace(System.out);
            }
            System.err.flush();
            System.out.println("\n### end of command");
            System.out.flush();
        }
    }
}
