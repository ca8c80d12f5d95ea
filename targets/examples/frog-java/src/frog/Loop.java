package frog;

import java.io.IOException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** The one thread that owns every piece of state: sockets, timers and what other threads hand over. */
final class Loop {
    /** What is attached to a selection key. */
    interface Ready {
        void ready();
    }

    private record Timer(long due, long order, Runnable task) {}

    private final Selector selector;
    private final Queue<Runnable> handedOver = new ConcurrentLinkedQueue<>();
    private final PriorityQueue<Timer> timers = new PriorityQueue<>(Comparator.comparingLong(Timer::due).thenComparingLong(Timer::order));
    private long order;

    Loop() throws IOException {
        selector = Selector.open();
    }

    /** Milliseconds of a clock that is never set. */
    long now() {
        return System.nanoTime() / 1_000_000;
    }

    /** Runs the task later; who may want it cancelled checks in the task whether it still applies. */
    void after(long millis, Runnable task) {
        timers.add(new Timer(now() + millis, order++, task));
    }

    /** Runs the task on the loop, soon. The only method for other threads. */
    void execute(Runnable task) {
        handedOver.add(task);
        selector.wakeup();
    }

    SelectionKey register(SelectableChannel channel, int operations, Ready ready) throws IOException {
        channel.configureBlocking(false);
        return channel.register(selector, operations, ready);
    }

    void run() throws IOException {
        while (true) {
            selector.select(key -> safely(((Ready) key.attachment())::ready), untilNextTimer());
            for (Runnable task = handedOver.poll(); task != null; task = handedOver.poll()) {
                safely(task);
            }
            while (!timers.isEmpty() && timers.peek().due <= now()) {
                safely(timers.poll().task);
            }
        }
    }

    /** One connection's trouble is not that of the others. */
    private static void safely(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException e) {
            e.printStackTrace();
        }
    }

    private long untilNextTimer() {
        return timers.isEmpty() ? 0 : Math.max(1, timers.peek().due - now()); // 0 would be for ever
    }
}
