package frog;

/**
 * Why a received message is not acted upon. It becomes {@code ERR id code} or {@code @ERR id code}, and the end of the
 * connection if it {@code closes}. Without a code nothing is said before the close.
 */
final class Refusal extends Exception {
    private static final long serialVersionUID = 1L;

    final String id;
    final Code code;
    final boolean closes;

    private Refusal(String id, Code code, boolean closes) {
        super(code + " " + id, null, false, false); // no stack trace: refusals are everyday business
        this.id = id;
        this.code = code;
        this.closes = closes;
    }

    static Refusal of(String id, Code code) {
        return new Refusal(id, code, false);
    }

    static Refusal closing(String id, Code code) {
        return new Refusal(id, code, true);
    }

    /** A severe framing error (section 15): the connection ends without a word. */
    static Refusal silent() {
        return new Refusal("-", null, true);
    }
}
