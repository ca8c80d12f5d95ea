package frog;

import java.util.Arrays;
import java.util.regex.Pattern;

/** The canonical server URI of section 8: one spelling or none, nothing is ever normalised. */
final class ServerUri {
    private static final int MAX_LENGTH = 200;
    /** What is left of RFC 3986 when user information, query, fragment and lower-case escapes are gone. */
    private static final Pattern SHAPE = Pattern.compile(
            "(?<scheme>wss?)://(?:\\[(?<six>[0-9a-f:.]+)]|(?<host>[a-z0-9.-]+))(?::(?<port>[1-9][0-9]{0,4}))?"
                    + "(?<path>/(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-F]{2})*)");
    private static final Pattern LABEL = Pattern.compile("[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?");
    private static final Pattern OCTET = Pattern.compile("0|[1-9][0-9]?|1[0-9]{2}|2[0-4][0-9]|25[0-5]");
    private static final Pattern ESCAPED_UNRESERVED = Pattern.compile("%(?:2D|2E|3[0-9]|4[1-9A-F]|5[0-9A]|5F|6[1-9A-F]|7[0-9A]|7E)");
    private static final Pattern DOT_SEGMENT = Pattern.compile("/\\.\\.?(?:/|$)");

    private ServerUri() {}

    static boolean isCanonical(String uri) {
        var parts = SHAPE.matcher(uri);
        if (uri.length() > MAX_LENGTH || !parts.matches()) {
            return false;
        }
        boolean host = parts.group("six") != null ? isCanonicalIpv6(parts.group("six")) : isHost(parts.group("host"));
        return host && isPort(parts.group("port"), parts.group("scheme")) && isPath(parts.group("path"));
    }

    private static boolean isPort(String port, String scheme) {
        return port == null || Integer.parseInt(port) <= 65535 && !port.equals(scheme.equals("ws") ? "80" : "443");
    }

    private static boolean isPath(String path) {
        return !DOT_SEGMENT.matcher(path).find() && !ESCAPED_UNRESERVED.matcher(path).find();
    }

    /** A DNS name or an IPv4 literal. A name whose last label is a number would be read as an address by some, so it is neither. */
    private static boolean isHost(String host) {
        var labels = host.split("\\.", -1);
        if (labels[labels.length - 1].matches("[0-9]+")) {
            return labels.length == 4 && Arrays.stream(labels).allMatch(label -> OCTET.matcher(label).matches());
        }
        return Arrays.stream(labels).allMatch(label -> LABEL.matcher(label).matches());
    }

    private static boolean isCanonicalIpv6(String text) {
        int[] groups = ipv6Groups(text);
        return groups != null && rfc5952(groups).equals(text);
    }

    /** Eight groups of 16 bits, or null. */
    private static int[] ipv6Groups(String text) {
        int lastColon = text.lastIndexOf(':');
        if (text.indexOf('.') > lastColon && lastColon >= 0) { // a dotted tail is two groups
            var octets = text.substring(lastColon + 1).split("\\.", -1);
            if (octets.length != 4 || !Arrays.stream(octets).allMatch(octet -> OCTET.matcher(octet).matches())) {
                return null;
            }
            int[] o = Arrays.stream(octets).mapToInt(Integer::parseInt).toArray();
            text = text.substring(0, lastColon + 1) + Integer.toHexString(o[0] << 8 | o[1]) + ":" + Integer.toHexString(o[2] << 8 | o[3]);
        }
        int gap = text.indexOf("::");
        String[] head = words(gap < 0 ? text : text.substring(0, gap));
        String[] tail = words(gap < 0 ? "" : text.substring(gap + 2));
        int written = head.length + tail.length;
        if (gap < 0 ? written != 8 : written > 7) {
            return null;
        }
        var groups = new int[8];
        for (int i = 0; i < written; i++) {
            String word = i < head.length ? head[i] : tail[i - head.length];
            if (!word.matches("[0-9a-f]{1,4}")) {
                return null;
            }
            groups[i < head.length ? i : 8 - written + i] = Integer.parseInt(word, 16);
        }
        return groups;
    }

    private static String[] words(String text) {
        return text.isEmpty() ? new String[0] : text.split(":", -1);
    }

    /** RFC 5952: the first longest run of zero groups, of two at least, is "::"; IPv4-mapped addresses end dotted. */
    private static String rfc5952(int[] groups) {
        if (Arrays.equals(groups, 0, 6, new int[] {0, 0, 0, 0, 0, 0xffff}, 0, 6)) {
            return "::ffff:%d.%d.%d.%d".formatted(groups[6] >> 8, groups[6] & 255, groups[7] >> 8, groups[7] & 255);
        }
        int start = -1;
        int length = 1;
        for (int i = 0; i < 8; i++) {
            int end = i;
            while (end < 8 && groups[end] == 0) {
                end++;
            }
            if (end - i > length) {
                start = i;
                length = end - i;
            }
        }
        return start < 0 ? hex(groups, 0, 8) : hex(groups, 0, start) + "::" + hex(groups, start + length, 8);
    }

    private static String hex(int[] groups, int from, int to) {
        var text = new StringBuilder();
        for (int i = from; i < to; i++) {
            text.append(i > from ? ":" : "").append(Integer.toHexString(groups[i]));
        }
        return text.toString();
    }
}
