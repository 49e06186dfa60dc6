// The released proxy, whose two ports listen on 127.0.0.1: LoopbackProxy -pc FILE [-bc FILE] [-pm local|cluster].
// It has no setting for the address, so this takes the steps of its own main() and sets the address between them.

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.List;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.common.utils.StartAndShutdown;
import io.grpc.protobuf.services.ChannelzService;
import io.grpc.protobuf.services.ProtoReflectionService;
import org.apache.rocketmq.proxy.ProxyStartup;
import org.apache.rocketmq.proxy.config.ConfigurationManager;
import org.apache.rocketmq.proxy.grpc.GrpcServerBuilder;
import org.apache.rocketmq.proxy.grpc.v2.GrpcMessagingApplication;
import org.apache.rocketmq.proxy.processor.MessagingProcessor;
import org.apache.rocketmq.proxy.remoting.RemotingProtocolServer;
import org.apache.rocketmq.proxy.service.cert.TlsCertificateManager;
import org.apache.rocketmq.remoting.netty.NettyServerConfig;

public class LoopbackProxy extends ProxyStartup {
    public static void main(String[] args) {
        try {
            run(args);
        } catch (Exception error) {
            error.printStackTrace();
            System.exit(1);
        }
    }

    private static void run(String[] args) throws Exception {
        initConfiguration(parseCommandLineArgument(args));
        initThreadPoolMonitor();
        ThreadPoolExecutor executor = createServerExecutor();
        MessagingProcessor processor = createMessagingProcessor();
        TlsCertificateManager certificates = new TlsCertificateManager();
        append(certificates);

        int grpcPort = ConfigurationManager.getProxyConfig().getGrpcServerPort();
        GrpcServerBuilder grpc = GrpcServerBuilder.newBuilder(executor, grpcPort, certificates);
        setGrpcAddress(grpc, grpcPort);
        GrpcMessagingApplication application = GrpcMessagingApplication.create(processor);
        append(application);
        append(grpc.addService(application)
            .addService(ChannelzService.newInstance(100))
            .addService(ProtoReflectionService.newInstance())
            .configInterceptor()
            .shutdownTime(1, TimeUnit.SECONDS)
            .build());
        RemotingProtocolServer remoting = new RemotingProtocolServer(processor, certificates);
        Object server = read(RemotingProtocolServer.class, "defaultRemotingServer", remoting);
        Class<?> serverClass = Class.forName("org.apache.rocketmq.remoting.netty.NettyRemotingServer");
        ((NettyServerConfig) read(serverClass, "nettyServerConfig", server)).setBindAddress("127.0.0.1");
        append(remoting);
        ((StartAndShutdown) parts()).start();
        System.out.println("rocketmq-proxy startup successfully");
    }

    @SuppressWarnings("unchecked")
    private static void setGrpcAddress(GrpcServerBuilder grpc, int port) throws Exception {
        Object builder = read(GrpcServerBuilder.class, "serverBuilder", grpc);
        List<SocketAddress> addresses =
            (List<SocketAddress>) read(builder.getClass(), "listenAddresses", builder);
        addresses.clear();
        addresses.add(new InetSocketAddress("127.0.0.1", port));
    }

    private static Object parts() throws Exception {
        return read(ProxyStartup.class, "PROXY_START_AND_SHUTDOWN", null);
    }

    private static void append(StartAndShutdown part) throws Exception {
        Method method = parts().getClass().getMethod("appendStartAndShutdown", StartAndShutdown.class);
        method.setAccessible(true);
        method.invoke(parts(), part);
    }

    private static Object read(Class<?> owner, String name, Object holder) throws Exception {
        Field field = owner.getDeclaredField(name);
        field.setAccessible(true);
        return field.get(holder);
    }
}
