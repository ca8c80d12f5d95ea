package frog;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Which servers are authorised, verified and live, and whom to dial (sections 27 and 30 to 33). */
final class Sisters {
    private static final int ASK_MILLIS = 30_000;
    private static final int MAX_LEARNED = 32;
    /** Floods per minute and sister where none is configured: section 34 wants some limit. */
    private static final int DEFAULT_FLOODS = 6_000;

    private final Server server;
    private final Config.Federation config;
    private final Set<String> authorised = new HashSet<>();
    private final Map<String, String> verified = new LinkedHashMap<>(); // id to URI, the latest verified last
    private final Map<String, SisterSession> live = new HashMap<>();
    private final Map<String, RateLimit> floods = new HashMap<>();
    private final Set<String> dialledUris = new HashSet<>();

    Sisters(Server server) {
        this.server = server;
        config = server.config.federation();
        authorised.addAll(config.sisters());
        config.seeds().stream().map(Config.Seed::id).filter(id -> id != null).forEach(authorised::add);
    }

    void dialSeeds() {
        for (var seed : config.seeds()) {
            dialledUris.add(seed.uri());
            new Dial(server, seed.id(), seed.uri(), true).start();
        }
    }

    boolean authorises(String id) {
        return authorised.contains(id) || config.discover() && verified.containsKey(id);
    }

    Optional<SisterSession> live(String id) {
        return Optional.ofNullable(live.get(id));
    }

    /** Takes a session into the live set. Of two for one server the preferred stays (section 31), of two equals the newer. */
    void joined(SisterSession session) {
        var other = live.get(session.id());
        if (other != null && isPreferred(other) && !isPreferred(session)) {
            session.link.close(Link.NORMAL);
            return;
        }
        live.put(session.id(), session);
        if (other != null) {
            other.link.close(Link.NORMAL);
        }
        if (config.discover()) {
            gossip(session);
        }
    }

    private void gossip(SisterSession session) {
        if (live.get(session.id()) == session) {
            session.ask();
            server.loop.after(ASK_MILLIS, () -> gossip(session));
        }
    }

    void left(SisterSession session) {
        live.remove(session.id(), session);
    }

    /** Whether the connection was begun by the server with the smaller id. */
    private boolean isPreferred(SisterSession session) {
        return session.isDialled() == server.identity.serverId.compareTo(session.id()) < 0;
    }

    /** Whether dialling that server would bring nothing better. */
    boolean hasPreferred(String id) {
        return live(id).map(session -> session.isDialled() || isPreferred(session)).orElse(false);
    }

    /** So many live sisters at most, chosen at random, none of the excluded. */
    List<SisterSession> choose(int fanout, String... excluded) {
        var chosen = new ArrayList<>(live.values());
        chosen.removeIf(session -> List.of(excluded).contains(session.id()));
        Collections.shuffle(chosen);
        return chosen.subList(0, Math.min(fanout, chosen.size()));
    }

    void checkFloods(String id, String requestId) throws Refusal {
        int rate = server.config.rates().floods();
        if (!floods.computeIfAbsent(id, i -> new RateLimit(server.loop, rate > 0 ? rate : DEFAULT_FLOODS)).permits()) {
            throw Refusal.of(requestId, Code.RATE_LIMITED);
        }
    }

    /** The server was met at exactly this URI. It has no other, and no other server has this one. */
    void verify(String id, String uri, boolean atSeed) {
        verified.values().remove(uri);
        verified.remove(id);
        verified.put(id, uri);
        if (atSeed) {
            authorised.add(id);
        }
    }

    /** The latest verified first. */
    List<String> verifiedUris(int limit) {
        var uris = new ArrayList<>(verified.values());
        Collections.reverse(uris);
        return uris.subList(0, Math.min(limit, uris.size()));
    }

    /** Ids and URIs in turn, the latest verified first, without the one who asks. */
    List<String> verified(int limit, String asking) {
        var ids = new ArrayList<>(verified.keySet());
        ids.remove(asking);
        Collections.reverse(ids);
        return ids.stream().limit(limit).flatMap(id -> List.of(id, verified.get(id)).stream()).toList();
    }

    /** Dials the unknown ones among the ids and URIs in turn that a sister named. */
    void learn(List<String> records) {
        for (int i = 0; config.discover() && i < records.size(); i += 2) {
            String id = records.get(i);
            String uri = records.get(i + 1);
            boolean own = id.equals(server.identity.serverId) || uri.equals(server.identity.uri);
            if (!own && dialledUris.size() < MAX_LEARNED + config.seeds().size() && dialledUris.add(uri)) {
                new Dial(server, id, uri, false).start();
            }
        }
    }

    /** That URI has proved nothing; it may be named again. */
    void forget(String uri) {
        dialledUris.remove(uri);
    }
}
