package frog;

import java.io.IOException;
import java.net.InetAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** Accepts connections, within the bounds and rates of section 40. */
final class Listener implements Loop.Ready {
    private static final int BACKLOG = 1024;
    /** So many over the bound are let in, to be told where else to go. */
    private static final int MAX_REDIRECTED = 64;

    /** Makes the session of a connection; {@code crowded} is one over the bound. */
    interface Welcome {
        Link.Receiver welcome(Link link, boolean crowded);
    }

    private final Loop loop;
    private final Config config;
    private final Welcome welcome;
    private final ServerSocketChannel channel = ServerSocketChannel.open();
    private final Map<InetAddress, Integer> openByAddress = new HashMap<>();
    private final Map<InetAddress, RateLimit> rateByAddress = new HashMap<>();
    private int open;
    private int redirected;

    Listener(Loop loop, Config config, Welcome welcome) throws IOException {
        this.loop = loop;
        this.config = config;
        this.welcome = welcome;
        channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
        channel.bind(config.listen(), BACKLOG);
        loop.register(channel, SelectionKey.OP_ACCEPT, this);
    }

    @Override
    public void ready() {
        try {
            for (SocketChannel accepted = channel.accept(); accepted != null; accepted = channel.accept()) {
                admit(accepted);
            }
        } catch (IOException e) {
            System.err.println("accept: " + e.getMessage());
        }
    }

    private void admit(SocketChannel accepted) throws IOException {
        accepted.setOption(StandardSocketOptions.TCP_NODELAY, true);
        var address = accepted.socket().getInetAddress();
        int max = config.bounds().connections();
        boolean crowded = max > 0 && open >= max;
        var refused = refusal(address, crowded);
        if (refused.isPresent()) {
            new AcceptedLink(loop, accepted, 0, refused, () -> { });
            return;
        }
        count(address, crowded, 1);
        var link = new AcceptedLink(loop, accepted, config.bounds().queue(), refused, () -> count(address, crowded, -1));
        link.attach(welcome.welcome(link, crowded));
    }

    private void count(InetAddress address, boolean crowded, int change) {
        if (crowded) {
            redirected += change;
        } else {
            open += change;
        }
        openByAddress.merge(address, change, (a, b) -> a + b == 0 ? null : Integer.valueOf(a + b));
    }

    private Optional<String> refusal(InetAddress address, boolean crowded) {
        int perIp = config.bounds().connectionsPerIp();
        if (perIp > 0 && openByAddress.getOrDefault(address, 0) >= perIp) {
            return Optional.of("429 Too Many Requests");
        }
        if (config.rates().connections() > 0) {
            rateByAddress.values().removeIf(RateLimit::isIdle);
            if (!rateByAddress.computeIfAbsent(address, a -> new RateLimit(loop, config.rates().connections())).permits()) {
                return Optional.of("429 Too Many Requests");
            }
        }
        return crowded && redirected >= MAX_REDIRECTED ? Optional.of("503 Service Unavailable") : Optional.empty();
    }
}
