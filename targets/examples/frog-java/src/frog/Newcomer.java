package frog;

import frog.Verb.Family;

/** A connection in state NEW (section 14): its first HELLO or @HELLO that is accepted makes it a client or a sister. */
final class Newcomer extends Session {
    private final boolean crowded;

    Newcomer(Server server, Link link, boolean crowded) {
        super(server, link);
        this.crowded = crowded;
        server.loop.after(server.config.timers().authChallenge(), () -> {
            if (crowded) {
                link.close(Link.TRY_ELSEWHERE);
            }
        });
    }

    @Override
    void admit(Verb verb, Message message) throws Refusal {
        if (verb.family == Family.ANSWER) {
            throw Refusal.closing("-", Code.BAD_REQUEST);
        }
        if (verb != Verb.HELLO && verb != Verb.SISTER_HELLO) {
            String id = verb == Verb.SIGNAL ? "-" : verb.correlation(message);
            throw verb.family == Family.SISTER ? Refusal.closing(id, Code.BAD_STATE) : Refusal.of(id, Code.BAD_STATE);
        }
    }

    @Override
    void act(Request request) throws Refusal {
        if (request.verb() == Verb.HELLO) {
            link.attach(new ClientSession(server, link));
            send("HELLO", "FROG/1", server.identity.serverId);
            if (crowded) {
                server.redirect(link);
            }
        } else {
            var sister = SisterSession.accepted(server, link);
            sister.act(request);
            link.attach(sister);
        }
    }

    @Override
    String errorWord(String word) {
        return word.startsWith("@") ? "@ERR" : "ERR";
    }

    @Override
    public void closed() {
        // nothing is known of it yet
    }
}
