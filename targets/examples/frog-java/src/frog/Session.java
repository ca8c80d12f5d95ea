package frog;

/** What every connection has in common: a message is framed, known, allowed now, well-formed, and then acted upon, in this order. */
abstract class Session implements Link.Receiver {
    final Server server;
    final Link link;

    Session(Server server, Link link) {
        this.server = server;
        this.link = link;
    }

    /** Whether the connection may say this in its state; throws what it is refused with if not. */
    abstract void admit(Verb verb, Message message) throws Refusal;

    abstract void act(Request request) throws Refusal;

    /** {@code ERR} or {@code @ERR}; the word is that of the message, or empty if it could not be framed. */
    abstract String errorWord(String word);

    @Override
    public final void received(byte[] bytes) {
        String word = "";
        try {
            var message = Message.parse(bytes);
            word = message.fields().get(0);
            var verb = Verb.of(word).orElseThrow(() -> Refusal.of("-", Code.BAD_REQUEST));
            admit(verb, message);
            act(verb.read(message));
        } catch (Refusal refusal) {
            refuse(refusal, word);
        } catch (RuntimeException e) {
            e.printStackTrace();
            refuse(Refusal.of("-", Code.INTERNAL), word);
        }
    }

    private void refuse(Refusal refusal, String word) {
        boolean echo = word.equals("@ERR") && errorWord(word).equals("@ERR"); // between sisters that might never end
        if (refusal.code != null && !echo) {
            send(errorWord(word), refusal.id, refusal.code);
        }
        if (refusal.closes) {
            link.close(refusal.code == null ? Link.PROTOCOL_ERROR : Link.POLICY);
        }
    }

    final void send(Object... fields) {
        link.send(Message.of(fields));
    }

    /** Sends what may as well be lost, such as a flood: not at all if the queue is full. */
    final void offer(Object... fields) {
        link.offer(Message.of(fields));
    }
}
