package frog;

import java.util.concurrent.ThreadLocalRandom;

/** A server that is dialled: a seed, again and again; one that gossip named, once, and as a seed from when it has proved itself. */
final class Dial {
    private static final int MAX_BACKOFF = 50;

    private final Server server;
    private final String uri;
    private final boolean seed;
    private String id; // that it has to have, or had the last time; null if unknown
    private final boolean pinned;
    private boolean kept;
    private long wait;

    Dial(Server server, String id, String uri, boolean seed) {
        this.server = server;
        this.id = id;
        this.uri = uri;
        this.seed = seed;
        pinned = id != null;
        kept = seed;
        wait = server.config.federation().redial();
    }

    boolean expects(String claimedId) {
        return !pinned || claimedId.equals(id);
    }

    void start() {
        DialledLink.dial(server.loop, uri, server.config.bounds().queue(), link -> SisterSession.dialled(server, link, this), this::ended);
    }

    /** A server with this id has authenticated itself on the connection. Verified is only a server that calls itself by the dialled URI. */
    void proved(String provenId, String claimedUri) {
        id = provenId;
        kept = true;
        wait = server.config.federation().redial();
        if (claimedUri.equals(uri)) {
            server.sisters.verify(provenId, uri, seed);
        }
    }

    /** The connection was refused, failed or is over. */
    void ended() {
        if (!kept) {
            server.sisters.forget(uri);
            return;
        }
        server.loop.after(wait + ThreadLocalRandom.current().nextLong(wait / 2 + 1), this::again);
        wait = Math.min(wait * 2, (long) MAX_BACKOFF * server.config.federation().redial());
    }

    private void again() {
        if (id != null && server.sisters.hasPreferred(id)) {
            wait = server.config.federation().redial();
            ended(); // look again later
        } else {
            start();
        }
    }
}
