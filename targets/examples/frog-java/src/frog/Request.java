package frog;

import java.util.List;

/** A received command whose fields are known to be valid. */
record Request(Verb verb, List<String> fields, byte[] payload) {
    String get(int index) {
        return fields.get(index);
    }

    int number(int index) {
        return Integer.parseInt(fields.get(index));
    }

    /** The first field: of most commands their correlation id. */
    String id() {
        return fields.get(0);
    }

    List<String> from(int index) {
        return fields.subList(index, fields.size());
    }

    Refusal refuse(Code code) {
        return Refusal.of(id(), code);
    }

    static String network(String peerKey) {
        return peerKey.substring(0, peerKey.indexOf(':'));
    }

    static String fingerprint(String peerKey) {
        return peerKey.substring(peerKey.indexOf(':') + 1);
    }
}
