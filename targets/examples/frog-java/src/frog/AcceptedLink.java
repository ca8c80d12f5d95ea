package frog;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Optional;

/** The server's end of a WebSocket, on a non-blocking channel. */
final class AcceptedLink implements Link, Loop.Ready {
    private static final int HANDSHAKE_MILLIS = 10_000;
    private static final int LINGER_MILLIS = 2_000;
    private static final int PING_MILLIS = 20_000;
    private static final long MAX_QUEUED_BYTES = 256L << 20;
    private static final ByteBuffer SCRATCH = ByteBuffer.allocateDirect(1 << 16); // the loop is one thread

    private enum Phase { UPGRADE, OPEN, CLOSING, CLOSED }

    private final Loop loop;
    private final SocketChannel channel;
    private final SelectionKey key;
    private final int maxQueue;
    private final Optional<String> refused;
    private final Runnable gone;
    private final ArrayDeque<ByteBuffer> queue = new ArrayDeque<>();
    private long queuedBytes;
    private ByteBuffer in = ByteBuffer.allocate(1024);
    private ByteArrayOutputStream fragments; // of the message that is being received
    private Receiver receiver;
    private Phase phase = Phase.UPGRADE;
    private long lastHeard;

    /** {@code refused} is the HTTP status for a connection that is not admitted; {@code gone} is run once, at the very end. */
    AcceptedLink(Loop loop, SocketChannel channel, int maxQueue, Optional<String> refused, Runnable gone) throws IOException {
        this.loop = loop;
        this.channel = channel;
        this.maxQueue = maxQueue;
        this.refused = refused;
        this.gone = gone;
        lastHeard = loop.now();
        key = loop.register(channel, SelectionKey.OP_READ, this);
        loop.after(HANDSHAKE_MILLIS, () -> {
            if (phase == Phase.UPGRADE) {
                end();
            }
        });
    }

    @Override
    public void attach(Receiver receiver) {
        this.receiver = receiver;
    }

    @Override
    public void send(byte[] message) {
        if (phase == Phase.OPEN && !offer(message)) {
            abandon();
        }
    }

    @Override
    public boolean offer(byte[] message) {
        if (phase != Phase.OPEN || maxQueue > 0 && queue.size() >= maxQueue || queuedBytes > MAX_QUEUED_BYTES) {
            return false;
        }
        enqueue(Frame.write(Frame.BINARY, message));
        return true;
    }

    @Override
    public void close(int status) {
        if (phase == Phase.OPEN) {
            enqueue(Frame.write(Frame.CLOSE, new byte[] {(byte) (status >> 8), (byte) status}));
            finish();
            receiver.closed();
        }
    }

    /** Closes without a word, because nobody reads it. */
    private void abandon() {
        queue.clear();
        finish();
        receiver.closed();
        loop.execute(this::end);
    }

    /** Nothing is sent behind what is queued now; what still comes in is thrown away. */
    private void finish() {
        phase = Phase.CLOSING;
        loop.after(LINGER_MILLIS, this::end);
        flush();
    }

    private void end() {
        if (phase == Phase.CLOSED) {
            return;
        }
        boolean tell = phase == Phase.OPEN;
        phase = Phase.CLOSED;
        queue.clear();
        try {
            channel.close();
        } catch (IOException e) {
            // it is gone either way
        }
        if (tell) {
            receiver.closed();
        }
        gone.run();
    }

    @Override
    public void ready() {
        if (key.isValid() && key.isWritable()) {
            flush();
        }
        if (key.isValid() && key.isReadable()) {
            read();
        }
    }

    private void enqueue(ByteBuffer frame) {
        queue.add(frame);
        queuedBytes += frame.remaining();
        if (queue.size() == 1) {
            flush();
        }
    }

    private void flush() {
        try {
            while (!queue.isEmpty()) {
                queuedBytes -= channel.write(queue.peek());
                if (queue.peek().hasRemaining()) {
                    break;
                }
                queue.remove();
            }
            key.interestOps(queue.isEmpty() ? SelectionKey.OP_READ : SelectionKey.OP_READ | SelectionKey.OP_WRITE);
            if (queue.isEmpty() && phase == Phase.CLOSING) {
                channel.shutdownOutput();
            }
        } catch (IOException e) {
            loop.execute(this::end); // later: whoever sends does not expect its own end
        }
    }

    private void read() {
        try {
            SCRATCH.clear();
            if (channel.read(SCRATCH) < 0) {
                end();
                return;
            }
            lastHeard = loop.now();
            if (phase == Phase.CLOSING) {
                return;
            }
            append(SCRATCH.flip());
            in.flip();
            boolean more = true;
            while (more && phase == Phase.UPGRADE) {
                more = upgrade();
            }
            while (more && phase == Phase.OPEN) {
                var frame = Frame.read(in);
                more = frame.isPresent();
                if (more) {
                    take(frame.get());
                }
            }
            in.compact();
        } catch (Frame.Violation e) {
            close(e.status);
        } catch (IOException e) {
            end();
        }
    }

    private void append(ByteBuffer bytes) {
        if (in.remaining() < bytes.remaining()) {
            var larger = ByteBuffer.allocate(Math.max(in.capacity() * 2, in.position() + bytes.remaining()));
            in = larger.put(in.flip());
        }
        in.put(bytes);
    }

    /** Answers the HTTP request, if it is all there. */
    private boolean upgrade() {
        var text = new String(in.array(), in.position(), in.remaining(), StandardCharsets.ISO_8859_1);
        int end = text.indexOf("\r\n\r\n");
        if (end < 0 && text.length() <= Upgrade.MAX_REQUEST) {
            return false;
        }
        in.position(in.position() + (end < 0 ? text.length() : end + 4));
        var answer = refused.map(Upgrade::refuse).orElseGet(() -> Upgrade.answer(text.substring(0, Math.max(end, 0))));
        enqueue(ByteBuffer.wrap(answer.response().getBytes(StandardCharsets.ISO_8859_1)));
        if (answer.accepted()) {
            phase = Phase.OPEN;
            loop.after(PING_MILLIS, this::keepAlive);
        } else {
            finish();
        }
        return true;
    }

    private void take(Frame frame) throws Frame.Violation {
        switch (frame.opcode()) {
            case Frame.PING -> {
                if (queuedBytes < MAX_QUEUED_BYTES) {
                    enqueue(Frame.write(Frame.PONG, frame.payload()));
                }
            }
            case Frame.PONG -> { }
            case Frame.CLOSE -> close(NORMAL);
            case Frame.TEXT -> throw new Frame.Violation(NOT_BINARY);
            default -> collect(frame);
        }
    }

    private void collect(Frame frame) throws Frame.Violation {
        if (frame.opcode() == Frame.BINARY == (fragments != null)) {
            throw new Frame.Violation(PROTOCOL_ERROR);
        }
        if (fragments == null) {
            fragments = new ByteArrayOutputStream(frame.payload().length);
        }
        fragments.writeBytes(frame.payload());
        if (fragments.size() > Message.MAX_SIZE) {
            throw new Frame.Violation(TOO_BIG);
        }
        if (frame.last()) {
            byte[] message = fragments.toByteArray();
            fragments = null;
            receiver.received(message);
        }
    }

    /** Pings who was silent for a while, and gives up on who was for three of them (section 18). */
    private void keepAlive() {
        if (phase == Phase.OPEN) {
            long silent = loop.now() - lastHeard;
            if (silent > 3 * PING_MILLIS) {
                abandon();
                return;
            }
            if (silent >= PING_MILLIS) {
                enqueue(Frame.write(Frame.PING, new byte[0]));
            }
            loop.after(PING_MILLIS, this::keepAlive);
        }
    }
}
