package frog;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** {@code java -cp build frog.Main --listen HOST:PORT --seed HEX ...}: a FROG/1 rendezvous server. */
public final class Main {
    private Main() {}

    public static void main(String[] args) throws IOException {
        Config config;
        try {
            config = Config.parse(args);
        } catch (IllegalArgumentException e) {
            System.err.println(e.getMessage());
            System.exit(2);
            return;
        }
        var server = new Server(config);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                server.drain().await(500, TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }));
        server.run();
    }
}
