package frog;

import java.util.ArrayDeque;

/** At most so many events in any minute; 0 is no limit. What is refused does not count. */
final class RateLimit {
    private static final long MINUTE = 60_000;

    private final Loop loop;
    private final int perMinute;
    private final ArrayDeque<Long> counted = new ArrayDeque<>();

    RateLimit(Loop loop, int perMinute) {
        this.loop = loop;
        this.perMinute = perMinute;
    }

    boolean permits() {
        if (isExhausted()) {
            return false;
        }
        count();
        return true;
    }

    boolean isExhausted() {
        return perMinute > 0 && recent() >= perMinute;
    }

    boolean isIdle() {
        return recent() == 0;
    }

    void count() {
        if (perMinute > 0) {
            counted.add(loop.now());
        }
    }

    private int recent() {
        while (!counted.isEmpty() && counted.peek() <= loop.now() - MINUTE) {
            counted.remove();
        }
        return counted.size();
    }
}
