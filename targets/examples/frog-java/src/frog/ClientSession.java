package frog;

import static frog.Verb.*;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** A client connection behind its HELLO (sections 15 to 26). */
final class ClientSession extends Session {
    private enum State {
        GREETED(EnumSet.of(JOIN, GETSERVERS, LEAVE)), // CLIENT_HELLO_OK of section 15
        CHALLENGED(EnumSet.of(AUTH, LEAVE)), // CLIENT_AUTH_PENDING
        REGISTERED(EnumSet.of(LEAVE, GETSERVERS, FIND, LOOKUP, SIGNAL)),
        CLOSED(EnumSet.noneOf(Verb.class));

        final Set<Verb> allowed;

        State(Set<Verb> allowed) {
            this.allowed = allowed;
        }
    }

    private final RateLimit joins;
    private final RateLimit failedAuths;
    private final RateLimit getservers;
    private final RateLimit finds;
    private final RateLimit lookups;
    private final RateLimit signals;
    private State state = State.GREETED;
    private String peerKey; // claimed in CHALLENGED, proven in REGISTERED
    private String nonce;

    ClientSession(Server server, Link link) {
        super(server, link);
        var rates = server.config.rates();
        joins = new RateLimit(server.loop, rates.joins());
        failedAuths = new RateLimit(server.loop, rates.failedAuths());
        getservers = new RateLimit(server.loop, rates.getservers());
        finds = new RateLimit(server.loop, rates.finds());
        lookups = new RateLimit(server.loop, rates.lookups());
        signals = new RateLimit(server.loop, rates.signals());
        server.clients.add(this);
    }

    String peerKey() {
        return peerKey;
    }

    boolean isRegistered() {
        return state == State.REGISTERED;
    }

    @Override
    String errorWord(String word) {
        return "ERR";
    }

    @Override
    void admit(Verb verb, Message message) throws Refusal {
        if (verb.family == Family.ANSWER) {
            throw Refusal.closing("-", Code.BAD_REQUEST);
        }
        if (verb.family == Family.SISTER) {
            throw Refusal.closing("-", Code.BAD_STATE);
        }
        if (!state.allowed.contains(verb)) {
            throw Refusal.of(verb == SIGNAL ? "-" : verb.correlation(message), Code.BAD_STATE);
        }
    }

    @Override
    void act(Request request) throws Refusal {
        switch (request.verb()) {
            case JOIN -> join(request.get(0));
            case AUTH -> authenticate(request.get(0), request.get(1));
            case LEAVE -> leave();
            case GETSERVERS -> {
                check(getservers, request.id());
                var uris = server.sisters.verifiedUris(request.number(1));
                send("TRY", request.id(), uris.size(), uris);
            }
            case FIND -> {
                check(finds, request.id());
                server.floods.find(this, request.id(), request.number(1));
            }
            case LOOKUP -> {
                check(lookups, request.id());
                lookUp(request.id(), request.get(1));
            }
            case SIGNAL -> {
                check(signals, request.id());
                signal(request);
            }
            default -> throw new IllegalStateException("not admitted: " + request.verb());
        }
    }

    private void check(RateLimit limit, String id) throws Refusal {
        if (!limit.permits()) {
            throw Refusal.of(id, Code.RATE_LIMITED);
        }
    }

    private void join(String claimed) throws Refusal {
        check(joins, "-");
        int max = server.config.bounds().challenges();
        if (max > 0 && server.challenges >= max) {
            throw Refusal.of("-", Code.RATE_LIMITED);
        }
        server.challenges++;
        state = State.CHALLENGED;
        peerKey = claimed;
        nonce = Crockford.random();
        send("CHAL", nonce);
        String issued = nonce;
        server.loop.after(server.config.timers().authChallenge(), () -> {
            if (state == State.CHALLENGED && nonce.equals(issued)) {
                send("ERR", "-", Code.AUTH_FAILED); // an expired challenge fails by itself
                link.close(Link.POLICY);
            }
        });
    }

    private void authenticate(String publicKey, String signature) throws Refusal {
        if (failedAuths.isExhausted()) {
            throw Refusal.closing("-", Code.RATE_LIMITED);
        }
        boolean proven = Identity.verifies(publicKey, signature, Request.fingerprint(peerKey), server.identity.clientProof(nonce, peerKey));
        dropChallenge(); // a nonce serves once: another try begins with another JOIN
        state = State.GREETED;
        if (!proven) {
            failedAuths.count();
            throw Refusal.of("-", Code.AUTH_FAILED);
        }
        server.presence.checkRoom(peerKey);
        state = State.REGISTERED;
        var replaced = server.presence.put(peerKey, this);
        send("OK", "JOIN");
        replaced.ifPresent(old -> old.link.close(Link.NORMAL));
    }

    private void leave() {
        depart();
        send("OK", "LEAVE");
        link.close(Link.NORMAL);
    }

    private void lookUp(String cid, String target) throws Refusal {
        if (target.equals(peerKey) || !Request.network(target).equals(Request.network(peerKey))) {
            throw Refusal.of(cid, Code.BAD_REQUEST);
        }
        var local = server.presence.get(target);
        if (local.isPresent()) {
            var route = new Route(server.routes.unusedId(), server.identity.serverId, peerKey, target, new Side.Local(this), new Side.Local(local.get()));
            server.routes.add(route, cid);
            send("FOUND", cid, target, route.id());
        } else {
            server.floods.lookUp(this, cid, target);
        }
    }

    private void signal(Request request) throws Refusal {
        var route = server.routes.find(request.id());
        if (!route.sideOf(peerKey).equals(new Side.Local(this))) {
            throw request.refuse(Code.TARGET_MISMATCH);
        }
        server.routes.relay(route, peerKey, request.get(1), request.payload());
    }

    private void dropChallenge() {
        nonce = null;
        server.challenges--;
    }

    /** Nobody can find or reach this client any more. */
    private void depart() {
        if (state == State.CHALLENGED) {
            dropChallenge();
        }
        if (state == State.REGISTERED) {
            server.presence.remove(peerKey, this);
            server.routes.dropAllOf(this);
        }
        state = State.CLOSED;
    }

    @Override
    public void closed() {
        depart();
        server.clients.remove(this);
    }

    /** Answers a FIND. The keys are sorted, so that their order does not tell where they come from. */
    void peers(String cid, List<String> keys) {
        var sorted = new ArrayList<>(keys);
        sorted.sort(null);
        send("PEERS", cid, sorted.size(), sorted);
    }
}
