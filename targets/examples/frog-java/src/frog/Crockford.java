package frog;

import java.security.SecureRandom;
import java.util.Optional;

/** Strict Crockford Base32 of byte strings (sections 7.2 and 7.3), and random identifiers in it. */
final class Crockford {
    private static final String ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    private static final SecureRandom RANDOM = new SecureRandom();

    private Crockford() {}

    static String encode(byte[] bytes) {
        var text = new StringBuilder((bytes.length * 8 + 4) / 5);
        int held = 0;
        int bits = 0;
        for (byte b : bytes) {
            held = (held << 8 | b & 0xff) & 0xfff; // never more than four bits are held over
            for (bits += 8; bits >= 5; bits -= 5) {
                text.append(ALPHABET.charAt(held >> bits - 5 & 31));
            }
        }
        if (bits > 0) {
            text.append(ALPHABET.charAt(held << 5 - bits & 31));
        }
        return text.toString();
    }

    /** The bytes of the one canonical text for them; empty for any other text. */
    static Optional<byte[]> decode(String text, int size) {
        if (text.length() != (size * 8 + 4) / 5) {
            return Optional.empty();
        }
        var bytes = new byte[size];
        int held = 0;
        int bits = 0;
        int filled = 0;
        for (char c : text.toCharArray()) {
            int value = ALPHABET.indexOf(c);
            if (value < 0) {
                return Optional.empty();
            }
            held = (held << 5 | value) & 0xfff;
            bits += 5;
            if (bits >= 8 && filled < size) {
                bits -= 8;
                bytes[filled++] = (byte) (held >> bits);
            }
        }
        return encode(bytes).equals(text) ? Optional.of(bytes) : Optional.empty(); // refuses non-zero pad bits
    }

    /** 130 random bits as 26 symbols: a route id, a nonce or an fcid. */
    static String random() {
        var bytes = new byte[26];
        RANDOM.nextBytes(bytes);
        var text = new char[26];
        for (int i = 0; i < text.length; i++) {
            text[i] = ALPHABET.charAt(bytes[i] & 31);
        }
        return new String(text);
    }
}
