package frog;

/** One WebSocket connection with subprotocol frog.v1, whichever side opened it. Used on the loop only. */
sealed interface Link permits AcceptedLink, DialledLink {
    String SUBPROTOCOL = "frog.v1";
    int NORMAL = 1000;
    int PROTOCOL_ERROR = 1002;
    int NOT_BINARY = 1003;
    int POLICY = 1008;
    int TOO_BIG = 1009;
    int TRY_ELSEWHERE = 1013;

    /** What a link tells its session. After {@code closed}, which comes once, nothing more is told. */
    interface Receiver {
        void received(byte[] message);

        void closed();
    }

    /** From now on, who is told. */
    void attach(Receiver receiver);

    /** Sends an answer. A connection that does not read its answers, so that its queue is full, is closed. */
    void send(byte[] message);

    /** Sends what somebody else sent, unless the queue is full: then false, and the message is not taken. */
    boolean offer(byte[] message);

    /** Says what is queued, then closes. The receiver is told before this returns. */
    void close(int status);
}
