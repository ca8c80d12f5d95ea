#define _DEFAULT_SOURCE

#include "node.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tracker.h"

enum { MAX_LISTENERS = 4096, MAX_BEATS = 100 };

static const int64_t second = 1000000;

struct listener {
    struct listener *next;
    size_t size;
    uint8_t pattern[];
};

struct bccn {
    int fd;
    struct sockaddr_in to;
    bool twice;
    uint8_t *key;
    size_t key_size;
    uint8_t name[BCCN_MAX_SRC];
    size_t name_size;
    uint64_t seq;
    struct tracker *tracker;
    struct listener *listeners;
    size_t listening;
    int64_t shift;          /* of the clock */
    int64_t beat, interval; /* the next heartbeat; 0 without */
    uint8_t datagram[BCCN_MAX_DATAGRAM + 1];
};

static int64_t now(const struct bccn *n) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * second + t.tv_nsec / 1000 + n->shift;
}

/* From seconds, kept in a range in which sums do not overflow. */
static int64_t micros(double seconds) {
    const double most = 1e12;
    if (!(seconds > 0)) {
        return 0;
    }
    return (int64_t)((seconds < most ? seconds : most) * (double)second);
}

static int open_socket(const struct sockaddr_in *at) {
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -1;
    }
    /* Bound to the broadcast address itself, so that other traffic to the port does not come (TRN-03, TRN-06). */
    int on = 1;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 || setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &on, sizeof on) != 0 ||
        bind(fd, (const struct sockaddr *)at, sizeof *at) != 0) {
        int why = errno;
        close(fd);
        errno = why;
        return -1;
    }
    int room = 1 << 20;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room); /* as much as one may have */
    return fd;
}

struct bccn *bccn_open(const struct bccn_config *config) {
    struct bccn *n = calloc(1, sizeof *n);
    if (n == NULL) {
        return NULL;
    }
    n->fd = -1;
    n->to = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(config->port), .sin_addr = config->broadcast};
    n->twice = config->twice;
    n->seq = (uint64_t)time(NULL) * (uint64_t)second; /* a new start is above the one before (SEQ-05) */
    struct tracker_config tracking = {
        .sanity = config->sanity > 0 ? config->sanity : 10000,
        .ttl = micros(config->ttl > 0 ? config->ttl : 24 * 60 * 60),
        .beat_ttl = micros(config->beat_ttl),
    };
    n->tracker = tracker_new(tracking);
    n->key = malloc(config->key.size + 1);
    if (n->tracker == NULL || n->key == NULL) {
        errno = ENOMEM;
        goto failed;
    }
    if (config->key.size > 0) {
        memcpy(n->key, config->key.at, config->key.size);
        n->key_size = config->key.size;
    }
    if (!bccn_set_name(n, config->name)) {
        errno = EINVAL;
        goto failed;
    }
    n->fd = open_socket(&n->to);
    if (n->fd >= 0) {
        return n;
    }
failed:;
    int why = errno;
    bccn_free(n);
    errno = why;
    return NULL;
}

void bccn_close(struct bccn *n) {
    if (n->fd >= 0) {
        close(n->fd);
    }
    n->fd = -1;
    n->interval = 0;
}

void bccn_free(struct bccn *n) {
    if (n == NULL) {
        return;
    }
    bccn_close(n);
    tracker_free(n->tracker);
    while (n->listeners != NULL) {
        struct listener *next = n->listeners->next;
        free(n->listeners);
        n->listeners = next;
    }
    if (n->key != NULL) {
        explicit_bzero(n->key, n->key_size);
        free(n->key);
    }
    free(n);
}

int bccn_fd(const struct bccn *n) { return n->fd; }

struct bytes bccn_get_name(const struct bccn *n) { return (struct bytes){n->name, n->name_size}; }

bool bccn_set_name(struct bccn *n, struct bytes name) {
    if (name.size == 0) {
        name = bytes_of("?"); /* API-08, API-09 */
    }
    if (!bccn_src_ok(name) || memchr(name.at, '*', name.size) != NULL || name.at[name.size - 1] == '/') { /* SRC-09 */
        return false;
    }
    memmove(n->name, name.at, name.size);
    n->name_size = name.size;
    return true;
}

uint64_t bccn_get_seq(const struct bccn *n) { return n->seq; }
void bccn_set_seq(struct bccn *n, uint64_t seq) { n->seq = seq; }

bool bccn_send(struct bccn *n, struct bytes src, struct bytes chan, struct bytes payload, struct bytes key) {
    if (n->fd < 0) {
        errno = EBADF;
        return false;
    }
    if (src.size == 0) {
        src = bytes_of("?"); /* API-02 */
    }
    if (key.size == 0) {
        key = (struct bytes){n->key, n->key_size};
    }
    uint8_t datagram[BCCN_MAX_DATAGRAM];
    size_t size = bccn_encode(src, n->seq, chan, payload, key.size > 0 ? BCCN_HMAC : BCCN_UNCHECKED, key, datagram);
    if (size == 0) {
        errno = EINVAL;
        return false;
    }
    if (sendto(n->fd, datagram, size, 0, (struct sockaddr *)&n->to, sizeof n->to) < 0) {
        return false; /* API-13: the number is not used up */
    }
    if (n->twice) { /* DUP-13 */
        sendto(n->fd, datagram, size, 0, (struct sockaddr *)&n->to, sizeof n->to);
    }
    n->seq++;
    return true;
}

static const struct bytes no_key = {NULL, 0};

bool bccn_send_all(struct bccn *n, struct bytes payload) {
    return bccn_send(n, bccn_get_name(n), bytes_of("!"), payload, no_key);
}

bool bccn_send_to(struct bccn *n, struct bytes target, struct bytes payload) {
    uint8_t chan[BCCN_MAX_CHAN];
    if (target.size == 0 || target.size >= sizeof chan) { /* A21: to nobody is not to everybody */
        errno = EINVAL;
        return false;
    }
    chan[0] = '!';
    memcpy(chan + 1, target.at, target.size);
    return bccn_send(n, bccn_get_name(n), (struct bytes){chan, target.size + 1}, payload, no_key);
}

bool bccn_send_topic(struct bccn *n, struct bytes topic, struct bytes payload) {
    if (topic.size > 0 && topic.at[0] == '!') { /* CHN-09 */
        errno = EINVAL;
        return false;
    }
    return bccn_send(n, bccn_get_name(n), topic, payload, no_key);
}

static bool is_heartbeat(const struct bccn_message *m) {
    const struct bytes prefix = bytes_of("heartbeat/");
    return bytes_begin(m->chan, prefix) && bytes_equal((struct bytes){m->chan.at + prefix.size, m->chan.size - prefix.size}, m->src);
}

/* An unknown sender is told apart by its address: no src has a "|" in it (DUP-07). */
static struct bytes tracker_key(const struct bccn_message *m, const struct sockaddr_in *peer, char room[TRACKER_KEY]) {
    if (!bytes_equal(m->src, bytes_of("?"))) {
        return m->src;
    }
    char ip[INET_ADDRSTRLEN] = "";
    inet_ntop(AF_INET, &peer->sin_addr, ip, sizeof ip);
    snprintf(room, TRACKER_KEY, "?|%s", ip);
    return bytes_of(room);
}

enum bccn_verdict bccn_recv(struct bccn *n, struct bccn_message *message, struct sockaddr_in *peer) {
    memset(message, 0, sizeof *message);
    memset(peer, 0, sizeof *peer);
    if (n->fd < 0) {
        return BCCN_NOTHING;
    }
    socklen_t peer_size = sizeof *peer;
    /* MSG_TRUNC gives the true size, so that a lie about it does not become true by being cut (ENV-09). */
    ssize_t size = recvfrom(n->fd, n->datagram, sizeof n->datagram, MSG_TRUNC, (struct sockaddr *)peer, &peer_size);
    if (size < 0) {
        return BCCN_NOTHING;
    }
    if ((size_t)size > BCCN_MAX_DATAGRAM) {
        return BCCN_ENVELOPE;
    }
    enum bccn_verdict verdict = bccn_decode((struct bytes){n->datagram, (size_t)size}, (struct bytes){n->key, n->key_size}, message);
    if (verdict != BCCN_OK) {
        return verdict;
    }
    /* What is for somebody else is seen too: the tracker comes before the address. */
    char room[TRACKER_KEY];
    if (!tracker_accept(n->tracker, tracker_key(message, peer, room), message->seq, is_heartbeat(message), now(n))) {
        return BCCN_DUPLICATE;
    }
    if (message->mode == BCCN_DIRECTED) {
        struct bytes target = {message->chan.at + 1, message->chan.size - 1};
        if (!bccn_matches(bccn_get_name(n), target)) {
            return BCCN_ADDRESS;
        }
    }
    return BCCN_OK;
}

static struct bytes token(struct bytes *rest) {
    struct bytes t = {rest->at, 0};
    while (t.size < rest->size && rest->at[t.size] != '/') {
        t.size++;
    }
    size_t used = t.size < rest->size ? t.size + 1 : t.size;
    rest->at += used;
    rest->size -= used;
    return t;
}

bool bccn_pattern_matches(struct bytes pattern, struct bytes chan) {
    for (;;) {
        bool last = memchr(pattern.at, '/', pattern.size) == NULL;
        bool chan_last = memchr(chan.at, '/', chan.size) == NULL;
        struct bytes p = token(&pattern), c = token(&chan);
        if (last && bytes_equal(p, bytes_of(">"))) {
            return true; /* the rest, of one token at least */
        }
        if (!bytes_equal(p, bytes_of("*")) && !bytes_equal(p, c)) {
            return false;
        }
        if (last || chan_last) {
            return last && chan_last;
        }
    }
}

bool bccn_listen(struct bccn *n, struct bytes pattern) {
    if (pattern.size == 0 || pattern.size > BCCN_MAX_CHAN || n->listening >= MAX_LISTENERS) {
        return false;
    }
    struct listener **at = &n->listeners;
    for (; *at != NULL; at = &(*at)->next) {
        if (bytes_equal((struct bytes){(*at)->pattern, (*at)->size}, pattern)) {
            return true; /* there already */
        }
    }
    struct listener *l = calloc(1, sizeof *l + pattern.size);
    if (l == NULL) {
        return false;
    }
    memcpy(l->pattern, pattern.at, pattern.size);
    l->size = pattern.size;
    *at = l;
    n->listening++;
    return true;
}

/* What is directed at this process has no topic: it is for all its listeners, as "!" is (A23, DLV-02). */
void bccn_call(const struct bccn *n, const struct bccn_message *message, bccn_callback *call, void *context) {
    for (const struct listener *l = n->listeners; l != NULL; l = l->next) {
        struct bytes pattern = {l->pattern, l->size};
        if (message->mode != BCCN_PLAIN || bccn_pattern_matches(pattern, message->chan)) {
            call(context, pattern, message);
        }
    }
}

bool bccn_heartbeat(struct bccn *n, double interval) {
    int64_t every = micros(interval);
    if (every < second / 100 || n->fd < 0) {
        return false;
    }
    n->interval = every;
    n->beat = now(n) + every;
    return true;
}

int64_t bccn_next_beat(const struct bccn *n) {
    if (n->interval == 0) {
        return -1;
    }
    int64_t wait = n->beat - now(n);
    return wait > 0 ? wait : 0;
}

void bccn_beat(struct bccn *n) {
    static const char prefix[] = "heartbeat/";
    uint8_t chan[sizeof prefix + BCCN_MAX_SRC];
    int64_t at = now(n);
    for (int sent = 0; n->interval > 0 && n->beat <= at; sent++) {
        if (sent == MAX_BEATS) { /* far behind: the rest is no news */
            n->beat = at + n->interval;
            return;
        }
        memcpy(chan, prefix, sizeof prefix - 1);
        memcpy(chan + sizeof prefix - 1, n->name, n->name_size);
        bccn_send(n, bccn_get_name(n), (struct bytes){chan, sizeof prefix - 1 + n->name_size}, bytes_of("up"), no_key);
        n->beat += n->interval;
    }
}

void bccn_advance_clock(struct bccn *n, double seconds) {
    int64_t by = micros(seconds);
    n->shift = n->shift > INT64_MAX / 4 - by ? INT64_MAX / 4 : n->shift + by;
    bccn_beat(n);
}

size_t bccn_own_name(const char *program, char out[BCCN_MAX_SRC + 1]) {
    char host[64] = "";
    if (gethostname(host, sizeof host) != 0 || host[0] == '\0') {
        strcpy(host, "localhost");
    }
    host[sizeof host - 1] = '\0';
    int size = snprintf(out, BCCN_MAX_SRC + 1, "%s/%.40s/%ld", host, program, (long)getpid());
    for (char *c = out; *c != '\0'; c++) {
        if (!bccn_src_ok((struct bytes){(uint8_t *)c, 1}) || *c == '*') {
            *c = '-';
        }
    }
    return (size_t)size;
}
