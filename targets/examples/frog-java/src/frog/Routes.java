package frog;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Live routes, and what travels on them (sections 25, 26 and 37). A route that expires is deleted at once. */
final class Routes {
    private final Server server;
    private final Map<String, Route> routes = new HashMap<>();
    private final Map<String, Long> expiry = new HashMap<>();
    private final Map<ClientSession, Set<String>> bySession = new HashMap<>();

    Routes(Server server) {
        this.server = server;
    }

    String unusedId() {
        String id;
        do {
            id = Crockford.random();
        } while (routes.containsKey(id) || server.floods.knowsLookup(id));
        return id;
    }

    Optional<Route> get(String id) {
        return Optional.ofNullable(routes.get(id));
    }

    Route find(String id) throws Refusal {
        return get(id).orElseThrow(() -> Refusal.of(id, Code.ROUTE_NOT_FOUND));
    }

    /** Refused under the request's id if there are too many. */
    void add(Route route, String requestId) throws Refusal {
        int max = server.config.bounds().routes();
        if (max > 0 && routes.size() >= max) {
            throw Refusal.of(requestId, Code.SERVER_UNAVAILABLE);
        }
        routes.put(route.id(), route);
        refresh(route);
        for (Side side : new Side[] {route.sideA(), route.sideB()}) {
            if (side instanceof Side.Local local) {
                bySession.computeIfAbsent(local.session(), s -> new HashSet<>()).add(route.id());
            }
        }
        expireLater(route, server.config.timers().route());
    }

    private void refresh(Route route) {
        expiry.put(route.id(), server.loop.now() + server.config.timers().route());
    }

    private void expireLater(Route route, long millis) {
        server.loop.after(millis, () -> {
            if (routes.get(route.id()) == route) {
                long left = expiry.get(route.id()) - server.loop.now();
                if (left > 0) {
                    expireLater(route, left);
                } else {
                    drop(route);
                }
            }
        });
    }

    private void drop(Route route) {
        routes.remove(route.id());
        expiry.remove(route.id());
        for (Side side : new Side[] {route.sideA(), route.sideB()}) {
            if (side instanceof Side.Local local) {
                bySession.computeIfPresent(local.session(), (s, ids) -> ids.remove(route.id()) && ids.isEmpty() ? null : ids);
            }
        }
    }

    void dropAllOf(ClientSession session) {
        for (String id : Set.copyOf(bySession.getOrDefault(session, Set.of()))) {
            drop(routes.get(id));
        }
    }

    /** Carries a signal of that peer, which came from the right side, to the other side. */
    void relay(Route route, String source, String kind, byte[] payload) throws Refusal {
        Side to = source.equals(route.peerA()) ? route.sideB() : route.sideA();
        boolean taken;
        if (to instanceof Side.Sister sister) {
            var live = server.sisters.live(sister.serverId()).orElseThrow(() -> Refusal.of(route.id(), Code.SERVER_UNAVAILABLE));
            taken = live.link.offer(Message.withPayload(payload, "@SIGNAL", route.id(), source, kind, payload.length));
        } else {
            taken = ((Side.Local) to).session().link.offer(Message.withPayload(payload, "SIGNAL-FROM", route.id(), source, kind, payload.length));
        }
        if (!taken) { // who sends is told: nothing is dropped in silence (section 39)
            throw Refusal.of(route.id(), Code.RATE_LIMITED);
        }
        refresh(route);
    }

    /** Passes a sister's error about a route on to the other side, if it is one of its sides. */
    void relayError(String fromSister, String routeId, String code) {
        get(routeId).ifPresent(route -> {
            var from = new Side.Sister(fromSister);
            if (route.sideA().equals(from)) {
                tell(route.sideB(), routeId, code);
            } else if (route.sideB().equals(from)) {
                tell(route.sideA(), routeId, code);
            }
        });
    }

    private void tell(Side side, String routeId, String code) {
        if (side instanceof Side.Local local) {
            local.session().offer("ERR", routeId, code);
        } else if (side instanceof Side.Sister sister) {
            server.sisters.live(sister.serverId()).ifPresent(live -> live.offer("@ERR", routeId, code));
        }
    }
}
