package frog;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CountDownLatch;

/** The parts of one rendezvous server. All of it lives on the loop. */
final class Server {
    final Config config;
    final Loop loop;
    final Identity identity;
    final Presence presence;
    final Routes routes;
    final Floods floods;
    final Sisters sisters;
    final Set<ClientSession> clients = new HashSet<>();
    int challenges; // pending ones, of clients

    Server(Config config) throws IOException {
        this.config = config;
        loop = new Loop();
        identity = new Identity(config.seed(), config.uri());
        presence = new Presence(config.bounds());
        routes = new Routes(this);
        floods = new Floods(this);
        sisters = new Sisters(this);
    }

    void run() throws IOException {
        new Listener(loop, config, (link, crowded) -> new Newcomer(this, link, crowded));
        System.err.println("server " + identity.serverId + " listens on " + config.listen() + " as " + identity.uri);
        sisters.dialSeeds();
        loop.run();
    }

    /** Tells a client where else to go, and closes (section 15). */
    void redirect(Link link) {
        var uris = sisters.verifiedUris(7);
        link.send(Message.of("TRY", "-", uris.size(), uris));
        link.close(Link.TRY_ELSEWHERE);
    }

    /** Sends every client elsewhere. For another thread than the loop's; the latch is down when all is on its way. */
    CountDownLatch drain() {
        var done = new CountDownLatch(1);
        loop.execute(() -> {
            new ArrayList<>(clients).forEach(client -> redirect(client.link));
            done.countDown();
        });
        return done;
    }
}
