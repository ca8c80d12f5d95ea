package frog;

/** The state of section 25, and who began the lookup, so that a conflicting one is told apart. */
record Route(String id, String origin, String peerA, String peerB, Side sideA, Side sideB) {
    /** The side from which messages of that peer have to come. */
    Side sideOf(String peerKey) throws Refusal {
        if (peerKey.equals(peerA)) {
            return sideA;
        }
        if (peerKey.equals(peerB)) {
            return sideB;
        }
        throw Refusal.of(id, Code.TARGET_MISMATCH);
    }

    boolean isOf(String otherOrigin, String source, String target) {
        return origin.equals(otherOrigin) && peerA.equals(source) && peerB.equals(target);
    }
}
