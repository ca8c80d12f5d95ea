package frog;

import java.nio.ByteBuffer;
import java.util.Optional;

/** One WebSocket frame (RFC 6455, section 5) as a client sends it, and as a server does. */
record Frame(boolean last, int opcode, byte[] payload) {
    static final int CONTINUATION = 0;
    static final int TEXT = 1;
    static final int BINARY = 2;
    static final int CLOSE = 8;
    static final int PING = 9;
    static final int PONG = 10;

    /** The connection has to be failed with this close status. */
    static final class Violation extends Exception {
        private static final long serialVersionUID = 1L;
        final int status;

        Violation(int status) {
            super(null, null, false, false);
            this.status = status;
        }
    }

    boolean isControl() {
        return opcode >= CLOSE;
    }

    /** Takes one whole masked frame out of the buffer; leaves the buffer alone if it is not all there yet. */
    static Optional<Frame> read(ByteBuffer in) throws Violation {
        if (in.remaining() < 2) {
            return Optional.empty();
        }
        int start = in.position();
        int first = in.get(start) & 0xff;
        int second = in.get(start + 1) & 0xff;
        int opcode = first & 0x0f;
        boolean known = opcode <= BINARY || opcode >= CLOSE && opcode <= PONG;
        boolean badControl = opcode >= CLOSE && (first < 0x80 || (second & 0x7f) > 125);
        if ((first & 0x70) != 0 || second < 0x80 || !known || badControl) {
            throw new Violation(Link.PROTOCOL_ERROR);
        }
        int width = switch (second & 0x7f) {
            case 126 -> 2;
            case 127 -> 8;
            default -> 0;
        };
        int header = 2 + width + 4;
        if (in.remaining() < header) {
            return Optional.empty();
        }
        long length = switch (width) {
            case 2 -> in.getShort(start + 2) & 0xffff;
            case 8 -> in.getLong(start + 2);
            default -> second & 0x7f;
        };
        if (length < 0 || length > Message.MAX_SIZE) {
            throw new Violation(Link.TOO_BIG);
        }
        if (in.remaining() < header + length) {
            return Optional.empty();
        }
        var payload = new byte[(int) length];
        in.position(start + header).get(payload);
        for (int i = 0; i < payload.length; i++) {
            payload[i] ^= in.get(start + header - 4 + (i & 3));
        }
        return Optional.of(new Frame(first >= 0x80, opcode, payload));
    }

    /** A whole unmasked frame. */
    static ByteBuffer write(int opcode, byte[] payload) {
        var frame = ByteBuffer.allocate(payload.length + 10).put((byte) (0x80 | opcode));
        if (payload.length < 126) {
            frame.put((byte) payload.length);
        } else if (payload.length < 65536) {
            frame.put((byte) 126).putShort((short) payload.length);
        } else {
            frame.put((byte) 127).putLong(payload.length);
        }
        return frame.put(payload).flip();
    }
}
