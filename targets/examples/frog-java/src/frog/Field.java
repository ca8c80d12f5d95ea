package frog;

import java.util.Arrays;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/** The kinds of header fields (sections 6 to 8, 13), each with its syntax. */
enum Field {
    VERSION("FROG/1"),
    WORD_AUTH("AUTH"),
    PEER_KEY("[A-Z0-9_]{1,16}:[0-9A-HJKMNP-TV-Z]{26}"),
    SERVER_ID("[0-9A-HJKMNP-TV-Z]{26}"),
    ROUTE_ID("[0-9A-HJKMNP-TV-Z]{26}"),
    NONCE("[0-9A-HJKMNP-TV-Z]{26}"),
    /** A cid or an fcid. */
    REQUEST_ID("(?!-$)[A-Z0-9_-]{1,32}"),
    ID_OR_DASH("[A-Z0-9_-]{1,32}"),
    LIMIT("[1-7]"),
    TTL("[0-7]"),
    COUNT("[0-7]"),
    LENGTH("0|[1-9][0-9]*"),
    KIND("OFFER|ANSWER|ICE"),
    CODE(text -> Arrays.stream(Code.values()).anyMatch(code -> code.name().equals(text))),
    /** A key or signature: judged with the proof it belongs to, not as syntax. */
    PROOF(".+"),
    URI(ServerUri::isCanonical);

    private final Predicate<String> syntax;

    Field(String pattern) {
        this(Pattern.compile(pattern).asMatchPredicate());
    }

    Field(Predicate<String> syntax) {
        this.syntax = syntax;
    }

    boolean accepts(String text) {
        return syntax.test(text);
    }

    /** Whether an error echoes it (section 38). */
    boolean correlates() {
        return this == REQUEST_ID || this == ROUTE_ID;
    }
}
