package frog;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Pending finds and lookups, our own and those of others, which are the duplicate suppression too (sections 24 and 34 to 36). */
final class Floods {
    private record FindKey(String origin, String fcid) {}

    /** A @FIND that is under way. {@code own} is null where it is somebody else's, {@code toOrigin} where it is ours. */
    private record Find(String requesting, int limit, Own own, String toOrigin, Set<String> askedSisters, Map<List<String>, SisterSession> answers) {}

    /** The client's part of a find that began here. */
    private record Own(ClientSession client, String cid, int limit, Set<String> found) {
        boolean isComplete() {
            return found.size() >= limit;
        }

        void answer() {
            client.peers(cid, found.stream().limit(limit).toList());
        }
    }

    /** A @LOOKUP that is under way; {@code cid} is null where it is somebody else's. */
    private record Lookup(String origin, String source, String target, Side sideA, String cid, Set<String> askedSisters) {
        boolean isOf(String otherOrigin, String otherSource, String otherTarget) {
            return origin.equals(otherOrigin) && source.equals(otherSource) && target.equals(otherTarget);
        }
    }

    private final Server server;
    private final Map<FindKey, Find> finds = new HashMap<>();
    private final Map<String, Lookup> lookups = new HashMap<>();
    private final Set<String> settled = new LinkedHashSet<>(); // ids of lookups that have their route

    Floods(Server server) {
        this.server = server;
    }

    boolean knowsLookup(String routeId) {
        return lookups.containsKey(routeId);
    }

    /** A client's FIND: answered at once if the local peers suffice or there is nobody to ask. */
    void find(ClientSession client, String cid, int limit) {
        var federation = server.config.federation();
        var keys = server.presence.sample(client.peerKey(), limit);
        var own = new Own(client, cid, limit, keys);
        var sisters = own.isComplete() ? List.<SisterSession>of() : server.sisters.choose(federation.findFanout());
        if (sisters.isEmpty()) {
            own.answer();
            return;
        }
        int missing = limit - keys.size();
        var key = new FindKey(server.identity.serverId, Crockford.random());
        var find = new Find(client.peerKey(), missing, own, null, ids(sisters), new HashMap<>());
        finds.put(key, find);
        sisters.forEach(sister -> sister.offer("@FIND", key.fcid, key.origin, find.requesting, missing, federation.findTtl()));
        server.loop.after(server.config.timers().find(), () -> {
            if (finds.remove(key, find)) {
                own.answer();
            }
        });
    }

    /** A sister's @FIND. */
    void find(SisterSession from, Request request) throws Refusal {
        server.sisters.checkFloods(from.id(), request.id());
        var key = new FindKey(request.get(1), request.id());
        String requesting = request.get(2);
        int limit = request.number(3);
        int ttl = request.number(4);
        var known = finds.get(key);
        if (known != null) {
            if (!known.requesting.equals(requesting) || known.limit != limit) {
                throw request.refuse(Code.BAD_STATE);
            }
            return;
        }
        if (key.origin.equals(server.identity.serverId)) {
            return; // a loop
        }
        var keys = server.presence.sample(requesting, limit);
        from.send("@PEERS", key.fcid, key.origin, keys.size(), keys);
        var sisters = ttl == 0 ? List.<SisterSession>of() : server.sisters.choose(server.config.federation().findFanout(), from.id(), key.origin);
        finds.put(key, new Find(requesting, limit, null, from.id(), ids(sisters), new HashMap<>()));
        sisters.forEach(sister -> sister.offer("@FIND", key.fcid, key.origin, requesting, limit, ttl - 1));
        server.loop.after(server.config.timers().find(), () -> finds.remove(key));
    }

    void peers(SisterSession from, Request request) throws Refusal {
        var key = new FindKey(request.get(1), request.id());
        var find = finds.get(key);
        if (find == null) {
            return; // late, or nobody asked
        }
        var keys = request.from(3);
        boolean sameNetwork = keys.stream().allMatch(peer -> Request.network(peer).equals(Request.network(find.requesting)));
        if (!find.askedSisters.contains(from.id()) || keys.size() > find.limit || !sameNetwork) {
            throw request.refuse(Code.BAD_REQUEST);
        }
        var answer = List.of(from.id(), String.join(" ", request.fields()));
        if (find.answers.computeIfAbsent(answer, a -> from) != from) {
            return; // the same over a duplicate connection (section 31)
        }
        if (find.own == null) {
            server.sisters.live(find.toOrigin).ifPresent(sister -> sister.offer("@PEERS", request.fields()));
            return;
        }
        keys.stream().filter(peer -> !peer.equals(find.requesting)).forEach(find.own.found::add);
        if (find.own.isComplete()) {
            finds.remove(key);
            find.own.answer();
        }
    }

    /** A client's LOOKUP of a peer that is not here. */
    void lookUp(ClientSession client, String cid, String target) {
        var federation = server.config.federation();
        String routeId = server.routes.unusedId();
        var sisters = server.sisters.choose(federation.lookupFanout());
        var lookup = new Lookup(server.identity.serverId, client.peerKey(), target, new Side.Local(client), cid, ids(sisters));
        lookups.put(routeId, lookup);
        sisters.forEach(sister -> sister.offer("@LOOKUP", routeId, lookup.origin, lookup.source, target, federation.lookupTtl()));
        forgetLater(routeId, () -> client.send("ERR", cid, Code.LOOKUP_TIMEOUT));
    }

    /** A sister's @LOOKUP. */
    void lookUp(SisterSession from, Request request) throws Refusal {
        server.sisters.checkFloods(from.id(), request.id());
        String routeId = request.id();
        String origin = request.get(1);
        String source = request.get(2);
        String target = request.get(3);
        int ttl = request.number(4);
        if (source.equals(target) || !Request.network(source).equals(Request.network(target))) {
            throw request.refuse(Code.BAD_REQUEST);
        }
        var pending = lookups.get(routeId);
        var route = server.routes.get(routeId);
        if (pending != null || route.isPresent()) {
            if (pending != null ? !pending.isOf(origin, source, target) : !route.get().isOf(origin, source, target)) {
                throw request.refuse(Code.BAD_STATE);
            }
            return;
        }
        if (origin.equals(server.identity.serverId)) {
            return; // a loop
        }
        var local = server.presence.get(target);
        boolean ends = local.isPresent() || ttl == 0;
        var sisters = ends ? List.<SisterSession>of() : server.sisters.choose(server.config.federation().lookupFanout(), from.id(), origin);
        var lookup = new Lookup(origin, source, target, new Side.Sister(from.id()), null, ids(sisters));
        lookups.put(routeId, lookup);
        forgetLater(routeId, () -> { }); // nobody is told that nothing was found
        sisters.forEach(sister -> sister.offer("@LOOKUP", routeId, origin, source, target, ttl - 1));
        if (local.isPresent()) {
            settle(routeId, lookup, new Side.Local(local.get()), routeId);
            from.send("@FOUND", routeId, target);
        }
    }

    void found(SisterSession from, Request request) {
        String routeId = request.id();
        var lookup = lookups.get(routeId);
        if (lookup == null || settled.contains(routeId) || !lookup.target.equals(request.get(1)) || !lookup.askedSisters.contains(from.id())) {
            return;
        }
        var towardTarget = new Side.Sister(from.id());
        if (lookup.sideA instanceof Side.Local local) {
            if (local.session().isRegistered()) {
                try {
                    settle(routeId, lookup, towardTarget, lookup.cid);
                    local.session().send("FOUND", lookup.cid, lookup.target, routeId);
                } catch (Refusal full) {
                    local.session().send("ERR", full.id, full.code);
                }
            }
        } else if (lookup.sideA instanceof Side.Sister sister) {
            try {
                settle(routeId, lookup, towardTarget, routeId);
                server.sisters.live(sister.serverId()).ifPresent(live -> live.send("@FOUND", routeId, lookup.target));
            } catch (Refusal full) {
                server.sisters.live(sister.serverId()).ifPresent(live -> live.send("@ERR", full.id, full.code));
            }
        }
    }

    private void settle(String routeId, Lookup lookup, Side sideB, String requestId) throws Refusal {
        settled.add(routeId);
        server.routes.add(new Route(routeId, lookup.origin, lookup.source, lookup.target, lookup.sideA, sideB), requestId);
    }

    private void forgetLater(String routeId, Runnable unlessSettled) {
        server.loop.after(server.config.timers().lookup(), () -> {
            lookups.remove(routeId);
            if (!settled.remove(routeId)) {
                unlessSettled.run();
            }
        });
    }

    private static Set<String> ids(List<SisterSession> sisters) {
        return sisters.stream().map(SisterSession::id).collect(Collectors.toUnmodifiableSet());
    }
}
