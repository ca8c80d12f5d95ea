package frog;

import static frog.Verb.*;

import java.util.EnumSet;
import java.util.HashSet;
import java.util.Set;

/** A sister connection behind its first @HELLO, dialled or accepted (sections 28 to 33). */
final class SisterSession extends Session {
    /** Of the handshake: the one command that is due. Either side goes through all four, the dialler beginning at DUE_HELLO. */
    private enum Phase {
        DUE_HELLO(EnumSet.of(SISTER_HELLO)),
        DUE_CHAL(EnumSet.of(SISTER_CHAL)),
        DUE_AUTH(EnumSet.of(SISTER_AUTH)),
        DUE_OK(EnumSet.of(SISTER_OK)),
        LIVE(EnumSet.of(SISTER_LIST, SISTER_SERVERS, SISTER_FIND, SISTER_PEERS, SISTER_LOOKUP, SISTER_FOUND, SISTER_SIGNAL)),
        CLOSED(EnumSet.noneOf(Verb.class));

        final Set<Verb> allowed;

        Phase(Set<Verb> allowed) {
            this.allowed = allowed;
        }
    }

    private final Dial dial; // null if it was accepted
    private final Set<String> asked = new HashSet<>(); // fcids of our @LIST
    private Phase phase = Phase.DUE_HELLO;
    private String id;
    private String uri;
    private String nonce; // of our @CHAL

    private SisterSession(Server server, Link link, Dial dial) {
        super(server, link);
        this.dial = dial;
    }

    static SisterSession accepted(Server server, Link link) {
        return new SisterSession(server, link, null);
    }

    static void dialled(Server server, Link link, Dial dial) {
        var session = new SisterSession(server, link, dial);
        link.attach(session);
        session.limitHandshake();
        session.send("@HELLO", "FROG/1", server.identity.serverId, server.identity.uri);
    }

    String id() {
        return id;
    }

    boolean isDialled() {
        return dial != null;
    }

    @Override
    String errorWord(String word) {
        return "@ERR";
    }

    @Override
    void admit(Verb verb, Message message) throws Refusal {
        if (verb.family != Family.SISTER) {
            throw Refusal.closing("-", Code.BAD_STATE);
        }
        if (verb != SISTER_ERR && !phase.allowed.contains(verb)) {
            String echoed = verb.correlation(message);
            throw phase == Phase.LIVE ? Refusal.of(echoed, Code.BAD_STATE) : Refusal.closing(echoed, Code.BAD_STATE);
        }
    }

    @Override
    void act(Request request) throws Refusal {
        switch (request.verb()) {
            case SISTER_HELLO -> greeted(request.get(1), request.get(2));
            case SISTER_CHAL -> {
                send("@AUTH", server.identity.publicKey, server.identity.sign(server.identity.ownProof(request.get(0), id, uri)));
                phase = Phase.DUE_OK;
            }
            case SISTER_AUTH -> authenticated(request.get(0), request.get(1));
            case SISTER_OK -> acknowledged();
            case SISTER_LIST -> list(request);
            case SISTER_SERVERS -> {
                if (asked.remove(request.id())) {
                    server.sisters.learn(request.from(2));
                }
            }
            case SISTER_FIND -> server.floods.find(this, request);
            case SISTER_PEERS -> server.floods.peers(this, request);
            case SISTER_LOOKUP -> server.floods.lookUp(this, request);
            case SISTER_FOUND -> server.floods.found(this, request);
            case SISTER_SIGNAL -> signal(request);
            case SISTER_ERR -> failed(request);
            default -> throw new IllegalStateException("not admitted: " + request.verb());
        }
    }

    private void greeted(String claimedId, String claimedUri) throws Refusal {
        if (claimedId.equals(server.identity.serverId)) {
            throw Refusal.closing("-", Code.BAD_REQUEST);
        }
        if (dial != null && !dial.expects(claimedId)) {
            throw Refusal.closing("-", Code.AUTH_FAILED);
        }
        id = claimedId;
        uri = claimedUri;
        if (dial != null) {
            phase = Phase.DUE_CHAL;
        } else {
            limitHandshake();
            send("@HELLO", "FROG/1", server.identity.serverId, server.identity.uri);
            challenge();
        }
    }

    private void challenge() {
        nonce = Crockford.random();
        send("@CHAL", nonce);
        phase = Phase.DUE_AUTH;
    }

    private void authenticated(String publicKey, String signature) throws Refusal {
        if (!Identity.verifies(publicKey, signature, id, server.identity.sisterProof(nonce, id, uri))) {
            throw Refusal.closing("-", Code.AUTH_FAILED);
        }
        if (dial == null && !server.sisters.authorises(id)) {
            throw Refusal.closing("-", Code.AUTH_REQUIRED);
        }
        send("@OK", "AUTH");
        if (dial == null) {
            phase = Phase.DUE_CHAL;
        } else {
            dial.proved(id, uri);
            live();
        }
    }

    private void acknowledged() {
        if (dial == null) {
            live();
        } else {
            challenge();
        }
    }

    private void live() {
        phase = Phase.LIVE;
        server.sisters.joined(this);
    }

    /** One limit for the whole handshake, and so for the challenges in it. */
    private void limitHandshake() {
        server.loop.after(server.config.timers().authChallenge(), () -> {
            if (phase != Phase.LIVE && phase != Phase.CLOSED) {
                send("@ERR", "-", Code.AUTH_FAILED);
                link.close(Link.POLICY);
            }
        });
    }

    private void list(Request request) {
        var records = server.sisters.verified(request.number(1), id);
        send("@SERVERS", request.id(), records.size() / 2, records);
    }

    /** Asks for the servers that the sister knows. */
    void ask() {
        if (phase == Phase.LIVE) {
            String fcid = Crockford.random();
            asked.add(fcid);
            send("@LIST", fcid, 7);
        }
    }

    private void signal(Request request) throws Refusal {
        var route = server.routes.find(request.id());
        String source = request.get(1);
        if (!route.sideOf(source).equals(new Side.Sister(id))) {
            throw request.refuse(Code.TARGET_MISMATCH);
        }
        server.routes.relay(route, source, request.get(2), request.payload());
    }

    private void failed(Request request) {
        if (phase == Phase.LIVE) {
            server.routes.relayError(id, request.id(), request.get(1));
        } else {
            link.close(Link.NORMAL);
        }
    }

    @Override
    public void closed() {
        phase = Phase.CLOSED;
        server.sisters.left(this);
        if (dial != null) {
            dial.ended();
        }
    }
}
