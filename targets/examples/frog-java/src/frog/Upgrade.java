package frog;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** The answer to the HTTP request that opens a WebSocket (RFC 6455, section 4.2; the subprotocol is section 4 of FROG/1). */
record Upgrade(boolean accepted, String response) {
    static final int MAX_REQUEST = 8192;
    private static final String GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

    static Upgrade answer(String request) {
        String[] lines = request.split("\r\n");
        if (!lines[0].matches("GET \\S+ HTTP/1\\.1")) {
            return refuse("400 Bad Request");
        }
        Map<String, String> headers = new HashMap<>();
        for (String line : Arrays.asList(lines).subList(1, lines.length)) {
            int colon = line.indexOf(':');
            if (colon < 1) {
                return refuse("400 Bad Request");
            }
            headers.merge(line.substring(0, colon).toLowerCase(Locale.ROOT), line.substring(colon + 1).strip(), (a, b) -> a + "," + b);
        }
        String key = headers.getOrDefault("sec-websocket-key", "");
        if (!lists(headers, "upgrade", "websocket", true) || !lists(headers, "connection", "upgrade", true) || !key.matches("[A-Za-z0-9+/]{22}==")) {
            return refuse("400 Bad Request");
        }
        if (!headers.getOrDefault("sec-websocket-version", "").equals("13")) {
            return refuse("426 Upgrade Required\r\nSec-WebSocket-Version: 13");
        }
        if (!lists(headers, "sec-websocket-protocol", Link.SUBPROTOCOL, false)) {
            return refuse("400 Bad Request");
        }
        return new Upgrade(true, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
                + accept(key) + "\r\nSec-WebSocket-Protocol: " + Link.SUBPROTOCOL + "\r\n\r\n");
    }

    static Upgrade refuse(String status) {
        return new Upgrade(false, "HTTP/1.1 " + status + "\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    }

    private static boolean lists(Map<String, String> headers, String name, String token, boolean anyCase) {
        return Arrays.stream(headers.getOrDefault(name, "").split(",")).map(String::strip)
                .anyMatch(item -> anyCase ? item.equalsIgnoreCase(token) : item.equals(token));
    }

    private static String accept(String key) {
        try {
            var digest = MessageDigest.getInstance("SHA-1").digest((key + GUID).getBytes(StandardCharsets.US_ASCII));
            return Base64.getEncoder().encodeToString(digest);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
