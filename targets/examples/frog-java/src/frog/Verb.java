package frog;

import static frog.Field.*;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The closed command set as a server receives it (section 13), one line of grammar each. */
enum Verb {
    HELLO(Family.CLIENT, "HELLO", VERSION),
    JOIN(Family.CLIENT, "JOIN", PEER_KEY),
    AUTH(Family.CLIENT, "AUTH", PROOF, PROOF),
    LEAVE(Family.CLIENT, "LEAVE"),
    GETSERVERS(Family.CLIENT, "GETSERVERS", REQUEST_ID, LIMIT),
    FIND(Family.CLIENT, "FIND", REQUEST_ID, LIMIT),
    LOOKUP(Family.CLIENT, "LOOKUP", REQUEST_ID, PEER_KEY),
    SIGNAL(Family.CLIENT, "SIGNAL", ROUTE_ID, KIND, LENGTH),

    CHAL(Family.ANSWER, "CHAL"),
    OK(Family.ANSWER, "OK"),
    TRY(Family.ANSWER, "TRY"),
    PEERS(Family.ANSWER, "PEERS"),
    FOUND(Family.ANSWER, "FOUND"),
    SIGNAL_FROM(Family.ANSWER, "SIGNAL-FROM"),
    ERR(Family.ANSWER, "ERR"),

    SISTER_HELLO(Family.SISTER, "@HELLO", VERSION, SERVER_ID, URI),
    SISTER_CHAL(Family.SISTER, "@CHAL", NONCE),
    SISTER_AUTH(Family.SISTER, "@AUTH", PROOF, PROOF),
    SISTER_OK(Family.SISTER, "@OK", WORD_AUTH),
    SISTER_ERR(Family.SISTER, "@ERR", ID_OR_DASH, CODE),
    SISTER_LIST(Family.SISTER, "@LIST", REQUEST_ID, LIMIT),
    SISTER_SERVERS(Family.SISTER, List.of(SERVER_ID, URI), "@SERVERS", REQUEST_ID, COUNT),
    SISTER_FIND(Family.SISTER, "@FIND", REQUEST_ID, SERVER_ID, PEER_KEY, LIMIT, TTL),
    SISTER_PEERS(Family.SISTER, List.of(PEER_KEY), "@PEERS", REQUEST_ID, SERVER_ID, COUNT),
    SISTER_LOOKUP(Family.SISTER, "@LOOKUP", ROUTE_ID, SERVER_ID, PEER_KEY, PEER_KEY, TTL),
    SISTER_FOUND(Family.SISTER, "@FOUND", ROUTE_ID, PEER_KEY),
    SISTER_SIGNAL(Family.SISTER, "@SIGNAL", ROUTE_ID, PEER_KEY, KIND, LENGTH);

    /** Who says it: a client, a server to its client (never received here), a sister. */
    enum Family { CLIENT, ANSWER, SISTER }

    private static final Map<String, Verb> BY_WORD = Arrays.stream(values()).collect(Collectors.toMap(v -> v.word, Function.identity()));

    final Family family;
    final String word;
    private final List<Field> fixed;
    private final List<Field> repeated;

    Verb(Family family, String word, Field... fixed) {
        this(family, List.of(), word, fixed);
    }

    Verb(Family family, List<Field> repeated, String word, Field... fixed) {
        this.family = family;
        this.word = word;
        this.fixed = List.of(fixed);
        this.repeated = repeated;
    }

    static Optional<Verb> of(String word) {
        return Optional.ofNullable(BY_WORD.get(word));
    }

    /** The id that an error about this message echoes: its first field if that is a valid id of the right kind, else a dash. */
    String correlation(Message message) {
        boolean echoes = !fixed.isEmpty() && fixed.get(0).correlates() && message.fields().size() > 1 && fixed.get(0).accepts(message.fields().get(1));
        return echoes ? message.fields().get(1) : "-";
    }

    /** The message as a request of this verb, every field checked. */
    Request read(Message message) throws Refusal {
        var fields = message.fields().subList(1, message.fields().size());
        String id = correlation(message);
        if (fields.size() < fixed.size() || !allAccepted(fixed, fields.subList(0, fixed.size()))) {
            throw Refusal.of(id, Code.BAD_REQUEST);
        }
        var rest = fields.subList(fixed.size(), fields.size());
        int expected = repeated.isEmpty() ? 0 : repeated.size() * Integer.parseInt(fields.get(fixed.size() - 1));
        if (rest.size() != expected || !allAccepted(repeated, rest)) {
            throw Refusal.of(id, Code.BAD_REQUEST);
        }
        checkPayload(fields, message.payload().length, id);
        return new Request(this, fields, message.payload());
    }

    private void checkPayload(List<String> fields, int actual, String id) throws Refusal {
        boolean carries = !fixed.isEmpty() && fixed.get(fixed.size() - 1) == LENGTH;
        String declared = carries ? fields.get(fixed.size() - 1) : "0";
        if (declared.length() > 5 || Integer.parseInt(declared) > Message.MAX_PAYLOAD) {
            throw Refusal.closing(id, Code.PAYLOAD_TOO_LARGE);
        }
        if (Integer.parseInt(declared) != actual) {
            throw Refusal.of(id, Code.BAD_REQUEST);
        }
    }

    private static boolean allAccepted(List<Field> kinds, List<String> texts) {
        for (int i = 0; i < texts.size(); i++) {
            if (!kinds.get(i % kinds.size()).accepts(texts.get(i))) {
                return false;
            }
        }
        return true;
    }
}
