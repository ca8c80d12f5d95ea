package frog;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The framing of section 5: a header of fields, a line feed, and the bytes behind it. Knows no command. */
record Message(List<String> fields, byte[] payload) {
    static final int MAX_HEADER = 4096;
    static final int MAX_PAYLOAD = 65536;
    /** No message that could be answered is larger; the transport takes none that is. */
    static final int MAX_SIZE = MAX_HEADER + 1 + MAX_PAYLOAD;

    static Message parse(byte[] bytes) throws Refusal {
        int end = 0;
        while (end < bytes.length && bytes[end] != '\n') {
            if (bytes[end] < 0 || end == MAX_HEADER) {
                throw Refusal.silent(); // not ASCII, or too long
            }
            end++;
        }
        if (end == bytes.length) {
            throw Refusal.silent();
        }
        for (int i = 0; i < end; i++) {
            if (bytes[i] < ' ' || bytes[i] == 0x7f) {
                throw Refusal.of("-", Code.BAD_REQUEST);
            }
        }
        var fields = List.of(new String(bytes, 0, end, StandardCharsets.US_ASCII).split(" ", -1));
        if (fields.contains("")) { // leading, trailing or doubled space, or no header at all
            throw Refusal.of("-", Code.BAD_REQUEST);
        }
        return new Message(fields, Arrays.copyOfRange(bytes, end + 1, bytes.length));
    }

    /** The bytes of a message without payload; a collection among the fields stands for each of its elements. */
    static byte[] of(Object... fields) {
        return withPayload(new byte[0], fields);
    }

    static byte[] withPayload(byte[] payload, Object... fields) {
        var header = Arrays.stream(fields).flatMap(field -> field instanceof Collection<?> many ? many.stream() : Stream.of(field))
                .map(Object::toString).collect(Collectors.joining(" ", "", "\n"));
        var bytes = new ByteArrayOutputStream(header.length() + payload.length);
        bytes.writeBytes(header.getBytes(StandardCharsets.US_ASCII));
        bytes.writeBytes(payload);
        return bytes.toByteArray();
    }
}
