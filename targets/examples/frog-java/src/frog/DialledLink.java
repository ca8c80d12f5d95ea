package frog;

import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/** A WebSocket that this server opened, on the JDK's client. Its callbacks come on other threads and hop onto the loop. */
final class DialledLink implements Link {
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
    private static final int LINGER_MILLIS = 2_000;
    private static final int PING_MILLIS = 20_000;
    private static HttpClient client; // made for the first dial: many a server never dials

    private final Loop loop;
    private final int maxQueue;
    private final ArrayDeque<byte[]> queue = new ArrayDeque<>();
    private final ByteArrayOutputStream fragments = new ByteArrayOutputStream();
    private WebSocket socket;
    private Receiver receiver;
    private boolean sending;
    private boolean closed;
    private int closeStatus;
    private long lastHeard;

    private DialledLink(Loop loop, int maxQueue) {
        this.loop = loop;
        this.maxQueue = maxQueue;
    }

    /** Exactly one of the two is run, on the loop: {@code opened} with a link that speaks frog.v1, or {@code failed}. */
    static void dial(Loop loop, String uri, int maxQueue, Consumer<DialledLink> opened, Runnable failed) {
        if (client == null) {
            client = HttpClient.newBuilder().connectTimeout(CONNECT_TIMEOUT).build();
        }
        var link = new DialledLink(loop, maxQueue);
        CompletableFuture.completedFuture(client.newWebSocketBuilder().subprotocols(SUBPROTOCOL).connectTimeout(CONNECT_TIMEOUT))
                .thenCompose(builder -> builder.buildAsync(URI.create(uri), link.new Events())) // composed: it may throw as well as fail
                .whenComplete((socket, problem) -> loop.execute(() -> {
                    if (problem != null) {
                        failed.run();
                    } else if (!socket.getSubprotocol().equals(SUBPROTOCOL)) {
                        socket.abort();
                        failed.run();
                    } else {
                        link.open(socket, opened);
                    }
                }));
    }

    private void open(WebSocket opened, Consumer<DialledLink> use) {
        socket = opened;
        lastHeard = loop.now();
        loop.after(PING_MILLIS, this::keepAlive);
        use.accept(this);
        socket.request(1); // nothing is received before there is somebody to receive it
    }

    @Override
    public void attach(Receiver receiver) {
        this.receiver = receiver;
    }

    @Override
    public void send(byte[] message) {
        if (!closed && !offer(message)) {
            close(POLICY);
        }
    }

    @Override
    public boolean offer(byte[] message) {
        if (closed || maxQueue > 0 && queue.size() >= maxQueue) {
            return false;
        }
        queue.add(message);
        pump();
        return true;
    }

    @Override
    public void close(int status) {
        if (!closed) {
            closed = true;
            closeStatus = status;
            loop.after(LINGER_MILLIS, socket::abort);
            pump();
            receiver.closed();
        }
    }

    /** The JDK takes one message at a time. */
    private void pump() {
        if (sending) {
            return;
        }
        byte[] next = queue.poll();
        if (next != null) {
            sending = true;
            socket.sendBinary(ByteBuffer.wrap(next), true).whenComplete((done, problem) -> loop.execute(() -> {
                sending = false;
                if (problem != null) {
                    lost();
                } else {
                    pump();
                }
            }));
        } else if (closed) {
            sending = true; // for good
            socket.sendClose(closeStatus, "");
        }
    }

    private void lost() {
        queue.clear();
        socket.abort();
        if (!closed) {
            closed = true;
            receiver.closed();
        }
    }

    private void keepAlive() {
        if (!closed) {
            if (loop.now() - lastHeard > 3 * PING_MILLIS) {
                lost();
                return;
            }
            socket.sendPing(ByteBuffer.allocate(0));
            loop.after(PING_MILLIS, this::keepAlive);
        }
    }

    private final class Events implements WebSocket.Listener {
        @Override
        public void onOpen(WebSocket opened) {
            // the first request for messages is made on the loop, see open
        }

        @Override
        public CompletionStage<?> onBinary(WebSocket from, ByteBuffer data, boolean last) {
            var bytes = new byte[data.remaining()];
            data.get(bytes);
            loop.execute(() -> {
                lastHeard = loop.now();
                if (!closed) {
                    collect(bytes, last);
                }
                from.request(1); // also when closed, to get at the other side's close frame
            });
            return null;
        }

        @Override
        public CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
            loop.execute(() -> close(NOT_BINARY));
            return null;
        }

        @Override
        public CompletionStage<?> onPing(WebSocket from, ByteBuffer data) {
            return onPong(from, data);
        }

        @Override
        public CompletionStage<?> onPong(WebSocket from, ByteBuffer data) {
            loop.execute(() -> lastHeard = loop.now());
            from.request(1);
            return null;
        }

        @Override
        public CompletionStage<?> onClose(WebSocket from, int status, String reason) {
            loop.execute(() -> close(NORMAL)); // the JDK echoes the close frame by itself
            return null;
        }

        @Override
        public void onError(WebSocket from, Throwable error) {
            loop.execute(DialledLink.this::lost);
        }
    }

    private void collect(byte[] bytes, boolean last) {
        fragments.writeBytes(bytes);
        if (fragments.size() > Message.MAX_SIZE) {
            close(TOO_BIG);
        } else if (last) {
            byte[] message = fragments.toByteArray();
            fragments.reset();
            receiver.received(message);
        }
    }
}
