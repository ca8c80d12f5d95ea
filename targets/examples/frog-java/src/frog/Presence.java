package frog;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;

/** Who is registered here, by network (sections 17.1, 18 and 22). */
final class Presence {
    private final Config.Bounds bounds;
    private final Map<String, Map<String, ClientSession>> networks = new HashMap<>();
    private final Random random = new Random();
    private int size;

    Presence(Config.Bounds bounds) {
        this.bounds = bounds;
    }

    Optional<ClientSession> get(String peerKey) {
        return Optional.ofNullable(members(peerKey).get(peerKey));
    }

    /** A replacement always has room. */
    void checkRoom(String peerKey) throws Refusal {
        var members = members(peerKey);
        if (members.containsKey(peerKey)) {
            return;
        }
        if (bounds.peers() > 0 && size >= bounds.peers()) {
            throw Refusal.of("-", Code.SERVER_UNAVAILABLE);
        }
        if (bounds.peersPerNetwork() > 0 && members.size() >= bounds.peersPerNetwork()) {
            throw Refusal.of("-", Code.RATE_LIMITED);
        }
    }

    /** Registers; the answer is the session that was registered before under the key. */
    Optional<ClientSession> put(String peerKey, ClientSession session) {
        var replaced = networks.computeIfAbsent(Request.network(peerKey), n -> new LinkedHashMap<>()).put(peerKey, session);
        if (replaced == null) {
            size++;
        }
        return Optional.ofNullable(replaced);
    }

    /** Only the session that is registered is removed, never its successor. */
    void remove(String peerKey, ClientSession session) {
        if (members(peerKey).get(peerKey) == session) {
            size--;
            networks.computeIfPresent(Request.network(peerKey), (network, members) -> {
                members.remove(peerKey);
                return members.isEmpty() ? null : members;
            });
        }
    }

    /** A random choice of others in the network of the requesting key. */
    Set<String> sample(String requesting, int limit) {
        var others = new ArrayList<>(members(requesting).keySet());
        others.remove(requesting);
        int chosen = Math.min(limit, others.size());
        for (int i = 0; i < chosen; i++) { // the beginning of a shuffle is enough
            Collections.swap(others, i, i + random.nextInt(others.size() - i));
        }
        return new LinkedHashSet<>(others.subList(0, chosen));
    }

    private Map<String, ClientSession> members(String peerKey) {
        return networks.getOrDefault(Request.network(peerKey), Map.of());
    }
}
