package frog;

/** Where a route leads on one of its sides (section 25): to one exact connection, or to whichever link a sister has. */
sealed interface Side {
    record Local(ClientSession session) implements Side {}

    record Sister(String serverId) implements Side {}
}
