#include "tracker.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "sha256.h"

enum { BUCKETS = 16384 };

struct sender {
    struct sender *chain;         /* of the same bucket */
    struct sender *older, *newer; /* by when it was seen */
    size_t bucket;
    uint64_t last;
    int64_t seen, beat;
    size_t size;
    uint8_t key[];
};

struct tracker {
    struct tracker_config config;
    uint8_t seed[16]; /* so that nobody can choose names that share a bucket */
    size_t count;
    struct sender *oldest, *newest;
    struct sender *buckets[BUCKETS];
};

struct tracker *tracker_new(struct tracker_config config) {
    struct tracker *t = calloc(1, sizeof *t);
    if (t != NULL) {
        t->config = config;
        if (getrandom(t->seed, sizeof t->seed, 0) != (ssize_t)sizeof t->seed) {
            free(t);
            return NULL;
        }
    }
    return t;
}

static size_t bucket_of(const struct tracker *t, struct bytes key) {
    uint8_t sum[SHA256_SIZE];
    struct sha256 s;
    sha256_init(&s);
    sha256_add(&s, t->seed, sizeof t->seed);
    sha256_add(&s, key.at, key.size);
    sha256_end(&s, sum);
    return ((size_t)sum[0] << 8 | sum[1]) % BUCKETS;
}

static void leave_order(struct tracker *t, struct sender *s) {
    *(s->older != NULL ? &s->older->newer : &t->oldest) = s->newer;
    *(s->newer != NULL ? &s->newer->older : &t->newest) = s->older;
}

static void enter_order(struct tracker *t, struct sender *s) {
    s->older = t->newest;
    s->newer = NULL;
    *(t->newest != NULL ? &t->newest->newer : &t->oldest) = s;
    t->newest = s;
}

static void forget(struct tracker *t, struct sender *s) {
    struct sender **at = &t->buckets[s->bucket];
    while (*at != s) {
        at = &(*at)->chain;
    }
    *at = s->chain;
    leave_order(t, s);
    t->count--;
    free(s);
}

void tracker_free(struct tracker *t) {
    if (t != NULL) {
        while (t->oldest != NULL) {
            forget(t, t->oldest);
        }
        free(t);
    }
}

static bool expired(const struct tracker *t, const struct sender *s, int64_t now) {
    return now - s->seen >= t->config.ttl || (t->config.beat_ttl > 0 && now - s->beat >= t->config.beat_ttl);
}

static struct sender *insert(struct tracker *t, struct bytes key, size_t bucket, int64_t now) {
    while (t->oldest != NULL && (t->count >= TRACKER_SENDERS || expired(t, t->oldest, now))) {
        forget(t, t->oldest);
    }
    struct sender *s = calloc(1, sizeof *s + key.size);
    if (s == NULL) {
        return NULL;
    }
    memcpy(s->key, key.at, key.size);
    s->size = key.size;
    s->bucket = bucket;
    s->beat = now;
    s->chain = t->buckets[bucket];
    t->buckets[bucket] = s;
    t->count++;
    enter_order(t, s);
    return s;
}

bool tracker_accept(struct tracker *t, struct bytes key, uint64_t seq, bool heartbeat, int64_t now) {
    size_t bucket = bucket_of(t, key);
    struct sender *s = t->buckets[bucket];
    while (s != NULL && !bytes_equal((struct bytes){s->key, s->size}, key)) {
        s = s->chain;
    }
    if (s != NULL && expired(t, s, now)) { /* DUP-11, DUP-12: when it matters, not before */
        forget(t, s);
        s = NULL;
    }
    bool fresh = s == NULL;
    if (fresh) {
        s = insert(t, key, bucket, now);
        if (s == NULL) {
            return true; /* without memory there is no dedup */
        }
    } else {
        leave_order(t, s);
        enter_order(t, s);
    }
    s->seen = now;
    if (!fresh && seq <= s->last && s->last - seq < t->config.sanity) { /* DUP-02, DUP-03 */
        return false;
    }
    s->last = seq; /* DUP-04: also downwards */
    if (heartbeat) {
        s->beat = now;
    }
    return true;
}
