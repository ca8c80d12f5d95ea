package frog;

import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The command line. A number of 0 is no bound and no limit; what is left out or empty has the value of section 39. */
record Config(InetSocketAddress listen, String uri, byte[] seed, Timers timers, Bounds bounds, Rates rates, Federation federation) {
    /** In milliseconds. */
    record Timers(int authChallenge, int route, int lookup, int find) {}

    record Bounds(int connections, int connectionsPerIp, int peers, int peersPerNetwork, int challenges, int routes, int queue) {}

    /** Per minute; floods by sister, connections by address, the others by connection. */
    record Rates(int connections, int joins, int failedAuths, int getservers, int finds, int lookups, int signals, int floods) {}

    record Federation(Set<String> sisters, List<Seed> seeds, boolean discover, int redial, int lookupTtl, int findTtl, int lookupFanout, int findFanout) {}

    /** A server to dial from the start on; the id is null where any will do. */
    record Seed(String id, String uri) {
        static Seed parse(String text) {
            int at = text.indexOf('@');
            var seed = at == 26 ? new Seed(text.substring(0, at), text.substring(at + 1)) : new Seed(null, text);
            require(seed.id == null || Field.SERVER_ID.accepts(seed.id), "no server id: " + text);
            require(ServerUri.isCanonical(seed.uri), "no canonical URI: " + text);
            return seed;
        }
    }

    static Config parse(String[] args) {
        var options = new Options(args);
        String[] listen = options.text("listen", "127.0.0.1:8080").split(":(?=[0-9]+$)");
        require(listen.length == 2, "--listen takes HOST:PORT");
        String uri = options.text("uri", "ws://" + String.join(":", listen) + "/");
        require(ServerUri.isCanonical(uri), "no canonical URI: " + uri);
        var config = new Config(
                new InetSocketAddress(listen[0], Integer.parseInt(listen[1])), uri, HexFormat.of().parseHex(options.text("seed", "")),
                new Timers(options.number("auth-challenge-ttl-ms", 30_000), options.number("route-ttl-ms", 180_000),
                        options.number("lookup-timeout-ms", 3_000), options.number("find-timeout-ms", 1_500)),
                new Bounds(options.number("max-connections", 0), options.number("max-connections-per-ip", 0), options.number("max-peers", 0),
                        options.number("max-peers-per-network", 0), options.number("max-challenges", 0), options.number("max-routes", 0),
                        options.number("max-queue", 0)),
                new Rates(options.number("rate-connections", 0), options.number("rate-joins", 0), options.number("rate-failed-auths", 0),
                        options.number("rate-getservers", 0), options.number("rate-finds", 0), options.number("rate-lookups", 0),
                        options.number("rate-signals", 0), options.number("rate-floods", 0)),
                new Federation(Set.copyOf(options.list("sisters")), options.list("seeds").stream().map(Seed::parse).toList(),
                        options.number("discover", 0) == 1, options.number("redial-ms", 500), options.number("lookup-ttl", 5),
                        options.number("find-ttl", 3), options.number("lookup-fanout", 7), options.number("find-fanout", 7)));
        options.requireAllUsed();
        return config;
    }

    private static void require(boolean condition, String otherwise) {
        if (!condition) {
            throw new IllegalArgumentException(otherwise);
        }
    }

    /** {@code --name value} pairs; an empty value counts as left out. */
    private static final class Options {
        private final Map<String, String> values = new HashMap<>();

        Options(String[] args) {
            for (int i = 0; i < args.length; i += 2) {
                require(args[i].startsWith("--") && i + 1 < args.length, "expected --name value at " + args[i]);
                values.put(args[i].substring(2), args[i + 1]);
            }
        }

        String text(String name, String otherwise) {
            String value = values.remove(name);
            return value == null || value.isEmpty() ? otherwise : value;
        }

        int number(String name, int otherwise) {
            return Integer.parseInt(text(name, Integer.toString(otherwise)));
        }

        List<String> list(String name) {
            return Arrays.stream(text(name, "").split(",")).filter(item -> !item.isEmpty()).distinct().toList();
        }

        void requireAllUsed() {
            require(values.isEmpty(), "unknown options: " + values.keySet());
        }
    }
}
