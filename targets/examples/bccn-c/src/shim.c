/* The codec and nodes for a test harness: JSON Lines on stdin and stdout, four verbs. One thread, one poll loop. */
#define _DEFAULT_SOURCE

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "json.h"
#include "node.h"

enum { MAX_LINE = 8 << 20, BURST = 64 };

static const char program[] = "bccn-c";

static const char hello[] =
    "{\"name\":\"bccn-c\",\"version\":\"0.1.0\",\"language\":\"c\",\"protocol\":1,\"roles\":{"
    "\"bccn/codec\":[\"algo:crc32\",\"envelope\",\"match\"],"
    "\"bccn/node\":[\"call_key\",\"recv\",\"fd\",\"close\",\"conventions\",\"patterns\",\"reasons\",\"heartbeat\",\"heartbeat_expiry\","
    "\"clock\",\"sanity\",\"duplicate_send\",\"fork\",\"identity\"]}}";

struct instance {
    struct instance *next;
    char *name; /* as the harness wrote it */
    size_t name_size;
    struct bccn *node; /* NULL: a codec */
    bool manual;
};

struct request {
    const struct json *id, *args;
    struct instance *instance;
};

static struct instance *instances;

/* ---- what goes out ---- */

static void end_line(void) {
    putchar('\n');
    if (fflush(stdout) != 0) {
        exit(1); /* nobody listens */
    }
}

static void begin_answer(const struct request *r, const char *kind) { printf("{\"id\":%s,\"%s\":", r->id->text, kind); }

/* For refused, unsupported and failed. */
__attribute__((format(printf, 3, 4))) static void say_no(const struct request *r, const char *kind, const char *format, ...) {
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    begin_answer(r, kind);
    json_put_text(stdout, text, strlen(text));
    putchar('}');
    end_line();
}

static void say_result(const struct request *r, const char *object) {
    begin_answer(r, "result");
    printf("%s}", object);
    end_line();
}

static void say_sent(const struct request *r, bool sent) {
    if (sent) {
        say_result(r, "{}");
    } else {
        say_no(r, "refused", "not sent: %s", strerror(errno));
    }
}

static void begin_event(const struct instance *i, const char *event) {
    printf("{\"event\":\"%s\",\"instance\":", event);
    json_put_text(stdout, i->name, i->name_size);
    printf(",\"data\":");
}

static void put_fields(const struct bccn_message *m) {
    printf("\"src\":");
    json_put_latin1(stdout, m->src.at, m->src.size);
    printf(",\"seq\":\"%" PRIu64 "\",\"chan\":", m->seq);
    json_put_latin1(stdout, m->chan.at, m->chan.size);
    printf(",\"payload\":");
    json_put_hex(stdout, m->payload.at, m->payload.size);
}

static const char *flag(bool b) { return b ? "true" : "false"; }

static void put_message(const struct bccn_message *m, const struct sockaddr_in *peer) {
    static const char *const modes[] = {"plain", "all", "directed"};
    putchar('{');
    put_fields(m);
    printf(",\"mode\":\"%s\",\"authenticated\":%s", modes[m->mode], flag(m->authenticated));
    if (peer != NULL) {
        char ip[INET_ADDRSTRLEN] = "";
        inet_ntop(AF_INET, &peer->sin_addr, ip, sizeof ip);
        printf(",\"peer\":[\"%s\",%u]", ip, ntohs(peer->sin_port));
    }
    putchar('}');
}

static const char *const reasons[] = {
    [BCCN_ENVELOPE] = "envelope", [BCCN_AUTH] = "auth", [BCCN_BODY] = "body", [BCCN_ADDRESS] = "address", [BCCN_DUPLICATE] = "duplicate",
};

static void say_dropped(const struct instance *i, enum bccn_verdict why) {
    begin_event(i, "dropped");
    printf("{\"reason\":\"%s\"}}", reasons[why]);
    end_line();
}

static void say_called(void *context, struct bytes pattern, const struct bccn_message *m) {
    begin_event(context, "called");
    printf("{\"pattern\":");
    json_put_latin1(stdout, pattern.at, pattern.size);
    putchar(',');
    put_fields(m);
    printf("}}");
    end_line();
}

/* ---- arguments ---- */

/* Bytes of an argument, in memory that is the caller's to free. */
struct argument {
    uint8_t *room;
    struct bytes bytes;
    bool given, good;
};

static struct argument argument(const struct request *r, const char *name, bool (*read)(const struct json *, uint8_t *, size_t *)) {
    const struct json *v = json_get(r->args, name);
    struct argument a = {.given = !json_absent(v)};
    if (!a.given) {
        a.good = true;
        return a;
    }
    a.room = malloc(v->size + 1);
    if (a.room != NULL && read(v, a.room, &a.bytes.size)) {
        a.bytes.at = a.room;
        a.good = true;
    }
    return a;
}

/* A count: a decimal string or a JSON number without a fraction. */
static bool count(const struct json *v, uint64_t *out) {
    return v != NULL && (v->type == JSON_STRING || v->type == JSON_NUMBER) &&
           bccn_number((struct bytes){(uint8_t *)v->text, v->size}, out);
}

/* A number of seconds; false for what is none or negative. */
static bool seconds(const struct json *v, double *out) {
    if (v == NULL || v->type != JSON_NUMBER) {
        return false;
    }
    *out = strtod(v->text, NULL);
    return *out >= 0;
}

/* ---- the codec ---- */

static void codec_encode(const struct request *r) {
    struct argument src = argument(r, "src", json_latin1), chan = argument(r, "chan", json_latin1);
    struct argument payload = argument(r, "payload", json_hex), key = argument(r, "key", json_hex);
    const struct json *algo = json_get(r->args, "algo");
    enum bccn_check check = key.given ? BCCN_HMAC : BCCN_UNCHECKED;
    uint64_t seq;
    uint8_t wire[BCCN_MAX_DATAGRAM];
    size_t size = 0;
    bool good = src.good && chan.good && payload.good && key.good && (!key.given || key.bytes.size > 0);
    if (json_is(algo, "crc32")) {
        good = good && !key.given;
        check = BCCN_CRC32;
    } else if (!json_absent(algo)) {
        good = good && json_is(algo, "hmac") && key.given;
    }
    if (good && count(json_get(r->args, "seq"), &seq)) {
        size = bccn_encode(src.bytes, seq, chan.bytes, payload.bytes, check, key.bytes, wire);
    }
    if (size == 0) {
        say_no(r, "refused", "this cannot be sent");
    } else {
        begin_answer(r, "result");
        printf("{\"wire\":");
        json_put_hex(stdout, wire, size);
        printf("}}");
        end_line();
    }
    free(src.room);
    free(chan.room);
    free(payload.room);
    free(key.room);
}

static void codec_decode(const struct request *r) {
    struct argument wire = argument(r, "wire", json_hex), key = argument(r, "key", json_hex);
    struct bccn_message m;
    enum bccn_verdict verdict = BCCN_ENVELOPE;
    if (wire.good && key.good && (!key.given || key.bytes.size > 0)) {
        verdict = bccn_decode(wire.bytes, key.bytes, &m);
    }
    if (verdict != BCCN_OK) {
        say_no(r, "refused", "%s", reasons[verdict]);
    } else {
        begin_answer(r, "result");
        put_message(&m, NULL);
        putchar('}');
        end_line();
    }
    free(wire.room);
    free(key.room);
}

static void codec_parse_envelope(const struct request *r) {
    struct argument wire = argument(r, "wire", json_hex), key = argument(r, "key", json_hex);
    struct bccn_envelope e;
    if (!wire.good || !key.good || !bccn_parse_envelope(wire.bytes, &e)) {
        say_no(r, "refused", "no sound envelope");
    } else {
        begin_answer(r, "result");
        printf("{\"magic\":");
        json_put_latin1(stdout, e.magic.at, e.magic.size);
        printf(",\"body\":");
        json_put_hex(stdout, e.body.at, e.body.size);
        if (e.algo.size > 0) {
            printf(",\"algo\":");
            json_put_latin1(stdout, e.algo.at, e.algo.size);
            printf(",\"sum\":");
            json_put_latin1(stdout, e.sum.at, e.sum.size);
        } else {
            printf(",\"algo\":null,\"sum\":null");
        }
        printf(",\"verified\":%s}}", key.given ? flag(bccn_verify(&e, key.bytes)) : "null");
        end_line();
    }
    free(wire.room);
    free(key.room);
}

static void codec_match(const struct request *r) {
    struct argument name = argument(r, "name", json_latin1), target = argument(r, "target", json_latin1);
    if (!name.good || !target.good) {
        say_no(r, "refused", "name and target are strings");
    } else {
        say_result(r, bccn_matches(name.bytes, target.bytes) ? "{\"matches\":true}" : "{\"matches\":false}");
    }
    free(name.room);
    free(target.room);
}

/* ---- a node ---- */

/* Takes one datagram and says what became of it. */
static enum bccn_verdict take(struct instance *i, bool deliver, bool call) {
    struct bccn_message m;
    struct sockaddr_in peer;
    enum bccn_verdict verdict = bccn_recv(i->node, &m, &peer);
    if (verdict == BCCN_OK) {
        if (deliver) {
            begin_event(i, "delivered");
            put_message(&m, &peer);
            putchar('}');
            end_line();
        }
        if (call) {
            bccn_call(i->node, &m, say_called, i);
        }
    } else if (verdict != BCCN_NOTHING) {
        say_dropped(i, verdict);
    }
    return verdict;
}

static void node_send(const struct request *r) {
    struct argument src = argument(r, "src", json_latin1), chan = argument(r, "chan", json_latin1);
    struct argument payload = argument(r, "payload", json_hex), key = argument(r, "key", json_hex);
    if (!src.good || !chan.good || !payload.good || !key.good || (key.given && key.bytes.size == 0)) {
        say_no(r, "refused", "an argument cannot be used");
    } else {
        struct bccn *n = r->instance->node;
        say_sent(r, bccn_send(n, src.given ? src.bytes : bccn_get_name(n), chan.bytes, payload.bytes, key.bytes));
    }
    free(src.room);
    free(chan.room);
    free(payload.room);
    free(key.room);
}

static void node_convention(const struct request *r, const char *name, bool (*send)(struct bccn *, struct bytes, struct bytes)) {
    struct argument to = argument(r, name, json_latin1), payload = argument(r, "payload", json_hex);
    if (!to.good || !payload.good) {
        say_no(r, "refused", "an argument cannot be used");
    } else {
        say_sent(r, send(r->instance->node, to.bytes, payload.bytes));
    }
    free(to.room);
    free(payload.room);
}

static bool to_all(struct bccn *n, struct bytes nothing, struct bytes payload) {
    (void)nothing;
    return bccn_send_all(n, payload);
}

static void node_send_all(const struct request *r) { node_convention(r, "", to_all); }
static void node_send_to(const struct request *r) { node_convention(r, "target", bccn_send_to); }
static void node_send_topic(const struct request *r) { node_convention(r, "topic", bccn_send_topic); }

static void node_set_name(const struct request *r) {
    struct argument name = argument(r, "name", json_latin1);
    if (name.good && bccn_set_name(r->instance->node, name.bytes)) {
        say_result(r, "{}");
    } else {
        say_no(r, "refused", "not a name");
    }
    free(name.room);
}

static void node_get_name(const struct request *r) {
    struct bytes name = bccn_get_name(r->instance->node);
    begin_answer(r, "result");
    printf("{\"name\":");
    json_put_latin1(stdout, name.at, name.size);
    printf("}}");
    end_line();
}

static void node_set_seq(const struct request *r) {
    uint64_t seq;
    if (count(json_get(r->args, "seq"), &seq)) {
        bccn_set_seq(r->instance->node, seq);
        say_result(r, "{}");
    } else {
        say_no(r, "refused", "not a sequence number");
    }
}

static void node_get_seq(const struct request *r) {
    begin_answer(r, "result");
    printf("{\"seq\":\"%" PRIu64 "\"}}", bccn_get_seq(r->instance->node));
    end_line();
}

static void node_recv(const struct request *r) {
    if (!r->instance->manual) {
        say_no(r, "refused", "this node reads by itself");
        return;
    }
    struct bccn_message m;
    struct sockaddr_in peer;
    enum bccn_verdict verdict = bccn_recv(r->instance->node, &m, &peer);
    if (verdict != BCCN_OK && verdict != BCCN_NOTHING) {
        say_dropped(r->instance, verdict);
    }
    begin_answer(r, "result");
    printf("{\"message\":");
    if (verdict == BCCN_OK) {
        put_message(&m, &peer);
    } else {
        printf("null");
    }
    printf("}}");
    end_line();
}

/* CNV-11: all that is pending. What comes meanwhile can wait for the next call. */
static void node_dispatch(const struct request *r) {
    for (int i = 0; i < 65536 && take(r->instance, false, true) != BCCN_NOTHING; i++) {
    }
    say_result(r, "{}");
}

static void node_readable(const struct request *r) {
    struct pollfd p = {.fd = bccn_fd(r->instance->node), .events = POLLIN};
    bool readable = p.fd >= 0 && poll(&p, 1, 0) == 1 && (p.revents & POLLIN) != 0;
    say_result(r, readable ? "{\"readable\":true}" : "{\"readable\":false}");
}

static void node_close(const struct request *r) {
    bccn_close(r->instance->node);
    say_result(r, "{}");
}

static void node_listen(const struct request *r) {
    struct argument pattern = argument(r, "pattern", json_latin1);
    if (pattern.good && bccn_listen(r->instance->node, pattern.bytes)) {
        say_result(r, "{}");
    } else {
        say_no(r, "refused", "not a pattern");
    }
    free(pattern.room);
}

static void node_heartbeat(const struct request *r) {
    double interval;
    if (seconds(json_get(r->args, "interval"), &interval) && bccn_heartbeat(r->instance->node, interval)) {
        say_result(r, "{}");
    } else {
        say_no(r, "refused", "not an interval");
    }
}

static void node_advance_clock(const struct request *r) {
    double by;
    if (seconds(json_get(r->args, "seconds"), &by)) {
        bccn_advance_clock(r->instance->node, by);
        say_result(r, "{}");
    } else {
        say_no(r, "refused", "not a time");
    }
}

static void node_own_name(const struct request *r) {
    char name[BCCN_MAX_SRC + 1];
    size_t size = bccn_own_name(program, name);
    begin_answer(r, "result");
    printf("{\"name\":");
    json_put_text(stdout, name, size);
    printf("}}");
    end_line();
}

/* The name with "{pid}" replaced. */
static struct bytes with_pid(struct bytes name, uint8_t out[2 * BCCN_MAX_SRC]) {
    static const char hole[] = "{pid}";
    size_t size = 0;
    for (size_t i = 0; i < name.size && size < BCCN_MAX_SRC + 1;) {
        if (bytes_begin((struct bytes){name.at + i, name.size - i}, bytes_of(hole))) {
            size += (size_t)snprintf((char *)out + size, 32, "%ld", (long)getpid());
            i += sizeof hole - 1;
        } else {
            out[size++] = name.at[i++];
        }
    }
    return (struct bytes){out, size};
}

struct report {
    uint8_t name[BCCN_MAX_SRC];
    size_t name_size;
    uint64_t seq;
    long pid;
};

/* In the child: says what it inherited (CNV-17), then becomes what the arguments ask for, and sends. */
static void child(struct bccn *n, int out, struct argument *name, const uint64_t *seq, struct bytes chan, struct bytes payload) {
    struct report report = {.seq = bccn_get_seq(n), .pid = (long)getpid()};
    struct bytes inherited = bccn_get_name(n);
    memcpy(report.name, inherited.at, inherited.size);
    report.name_size = inherited.size;
    bool good = write(out, &report, sizeof report) == (ssize_t)sizeof report;
    uint8_t room[2 * BCCN_MAX_SRC];
    if (name->given) {
        good = good && bccn_set_name(n, with_pid(name->bytes, room));
    }
    if (seq != NULL) {
        bccn_set_seq(n, *seq);
    }
    good = good && bccn_send(n, bccn_get_name(n), chan, payload, (struct bytes){NULL, 0});
    _exit(good ? 0 : 1);
}

static void node_fork(const struct request *r) {
    struct argument name = argument(r, "name", json_latin1), chan = argument(r, "chan", json_latin1);
    struct argument payload = argument(r, "payload", json_hex);
    const struct json *seq_arg = json_get(r->args, "seq");
    uint64_t seq = 0;
    int ends[2] = {-1, -1};
    struct report report;
    pid_t pid = -1;
    if (!name.good || !chan.good || !payload.good || (!json_absent(seq_arg) && !count(seq_arg, &seq))) {
        say_no(r, "refused", "an argument cannot be used");
        goto done;
    }
    fflush(stdout);
    if (pipe(ends) == 0) {
        pid = fork();
    }
    if (pid == 0) {
        child(r->instance->node, ends[1], &name, json_absent(seq_arg) ? NULL : &seq, chan.bytes, payload.bytes);
    }
    if (ends[1] >= 0) {
        close(ends[1]);
    }
    bool told = pid > 0 && read(ends[0], &report, sizeof report) == (ssize_t)sizeof report && report.name_size <= sizeof report.name;
    if (ends[0] >= 0) {
        close(ends[0]);
    }
    int status = 0;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (!told) {
        say_no(r, "failed", "no child");
    } else if (status != 0) {
        say_no(r, "refused", "the child could not send");
    } else {
        begin_answer(r, "result");
        printf("{\"name\":");
        json_put_latin1(stdout, report.name, report.name_size);
        printf(",\"seq\":\"%" PRIu64 "\",\"pid\":%ld}}", report.seq, report.pid);
        end_line();
    }
done:
    free(name.room);
    free(chan.room);
    free(payload.room);
}

/* ---- the four verbs ---- */

static const struct operation {
    const char *name;
    bool of_node;
    void (*run)(const struct request *);
} operations[] = {
    {"encode", false, codec_encode},
    {"decode", false, codec_decode},
    {"parse_envelope", false, codec_parse_envelope},
    {"match", false, codec_match},
    {"send", true, node_send},
    {"set_name", true, node_set_name},
    {"get_name", true, node_get_name},
    {"set_seq", true, node_set_seq},
    {"get_seq", true, node_get_seq},
    {"recv", true, node_recv},
    {"readable", true, node_readable},
    {"close", true, node_close},
    {"listen", true, node_listen},
    {"dispatch", true, node_dispatch},
    {"send_all", true, node_send_all},
    {"send_to", true, node_send_to},
    {"send_topic", true, node_send_topic},
    {"heartbeat", true, node_heartbeat},
    {"advance_clock", true, node_advance_clock},
    {"fork", true, node_fork},
    {"own_name", true, node_own_name},
};

static void perform(const struct request *r, const struct json *op) {
    if (r->instance == NULL) {
        say_no(r, "failed", "no such instance");
        return;
    }
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        if (json_is(op, operations[i].name) && operations[i].of_node == (r->instance->node != NULL)) {
            operations[i].run(r);
            return;
        }
    }
    say_no(r, "unsupported", "no such operation");
}

/* The configuration of a node, or why it cannot be. */
static const char *configure(const struct request *r, struct bccn_config *c, bool *manual) {
    uint64_t port;
    const struct json *broadcast = json_get(r->args, "broadcast"), *v;
    if (broadcast == NULL || broadcast->type != JSON_STRING || inet_pton(AF_INET, broadcast->text, &c->broadcast) != 1) {
        return "broadcast is not an IPv4 address";
    }
    if (!count(json_get(r->args, "port"), &port) || port == 0 || port > UINT16_MAX) {
        return "port is not a port";
    }
    c->port = (uint16_t)port;
    if (!json_absent(v = json_get(r->args, "sanity")) && (!count(v, &c->sanity) || c->sanity == 0)) {
        return "sanity is not a count";
    }
    if (!json_absent(v = json_get(r->args, "ttl")) && (!seconds(v, &c->ttl) || c->ttl == 0)) {
        return "ttl is not a time";
    }
    double interval = 0, missed = 0;
    v = json_get(r->args, "heartbeat_interval");
    if (!json_absent(v)) {
        if (!seconds(v, &interval) || !seconds(json_get(r->args, "heartbeats_missed"), &missed) || interval * missed == 0) {
            return "heartbeat_interval needs heartbeats_missed";
        }
        c->beat_ttl = interval * missed;
    }
    v = json_get(r->args, "duplicate_send");
    c->twice = v != NULL && v->type == JSON_TRUE;
    v = json_get(r->args, "manual");
    *manual = v != NULL && v->type == JSON_TRUE;
    return NULL;
}

static void start(const struct request *r, const struct json *role, const struct json *name) {
    if (r->instance != NULL) {
        say_no(r, "failed", "there is such an instance");
        return;
    }
    bool node = json_is(role, "bccn/node");
    if (!node && !json_is(role, "bccn/codec")) {
        say_no(r, "unsupported", "no such role");
        return;
    }
    struct instance *i = calloc(1, sizeof *i);
    size_t size = name != NULL && name->type == JSON_STRING ? name->size : 0;
    if (i == NULL || (i->name = malloc(size + 1)) == NULL) {
        free(i);
        say_no(r, "failed", "no memory");
        return;
    }
    if (size > 0) {
        memcpy(i->name, name->text, size);
    }
    i->name_size = size;

    if (node) {
        struct bccn_config c = {0};
        struct argument key = argument(r, "key", json_hex), own = argument(r, "name", json_latin1);
        const char *why = configure(r, &c, &i->manual);
        if (why == NULL && (!key.good || !own.good || (key.given && key.bytes.size == 0))) {
            why = "key or name cannot be used";
        }
        if (why == NULL) {
            c.key = key.bytes;
            c.name = own.bytes;
            i->node = bccn_open(&c);
            why = i->node == NULL ? strerror(errno) : NULL;
        }
        free(key.room);
        free(own.room);
        if (why != NULL) {
            free(i->name);
            free(i);
            say_no(r, "refused", "%s", why);
            return;
        }
    }
    i->next = instances;
    instances = i;
    say_result(r, "{}");
}

static void stop(const struct request *r) {
    for (struct instance **at = &instances; *at != NULL; at = &(*at)->next) {
        if (*at == r->instance) {
            *at = r->instance->next;
            bccn_free(r->instance->node);
            free(r->instance->name);
            free(r->instance);
            break;
        }
    }
    say_result(r, "{}");
}

static struct instance *find_instance(const struct json *name) {
    size_t size = name != NULL && name->type == JSON_STRING ? name->size : 0;
    for (struct instance *i = instances; i != NULL; i = i->next) {
        if (i->name_size == size && (size == 0 || memcmp(i->name, name->text, size) == 0)) {
            return i;
        }
    }
    return NULL;
}

static void handle(const char *line, size_t size) {
    struct json *v = json_parse(line, size);
    struct request r = {.id = json_get(v, "id"), .args = json_get(v, "args")};
    if (r.id == NULL || r.id->type != JSON_NUMBER) {
        fprintf(stderr, "shim: not a request\n");
        json_free(v);
        return;
    }
    const struct json *verb = json_get(v, "verb"), *name = json_get(v, "instance");
    r.instance = find_instance(name);
    if (json_is(verb, "hello")) {
        say_result(&r, hello);
    } else if (json_is(verb, "start")) {
        start(&r, json_get(v, "role"), name);
    } else if (json_is(verb, "do")) {
        perform(&r, json_get(v, "op"));
    } else if (json_is(verb, "stop")) {
        stop(&r);
    } else {
        say_no(&r, "unsupported", "no such verb");
    }
    json_free(v);
}

/* ---- the loop ---- */

static char *input;
static size_t input_size, input_room;
static bool skipping; /* a line that is too long */

/* Reads once, and handles the lines that are complete. False at the end. */
static bool read_input(void) {
    if (input_room - input_size < 65536) {
        size_t room = input_room == 0 ? 131072 : 2 * input_room;
        char *grown = realloc(input, room);
        if (grown == NULL) {
            return false;
        }
        input = grown;
        input_room = room;
    }
    ssize_t got = read(STDIN_FILENO, input + input_size, input_room - input_size);
    if (got <= 0) {
        return got < 0 && (errno == EINTR || errno == EAGAIN);
    }
    size_t start = 0, scan = input_size;
    input_size += (size_t)got;
    for (char *end; (end = memchr(input + scan, '\n', input_size - scan)) != NULL;) {
        size_t at = (size_t)(end - input);
        if (!skipping && at > start) {
            handle(input + start, at - start);
        }
        skipping = false;
        start = scan = at + 1;
    }
    input_size -= start;
    memmove(input, input + start, input_size);
    if (input_size > MAX_LINE) {
        fprintf(stderr, "shim: a line is too long\n");
        skipping = true;
    }
    if (skipping) {
        input_size = 0;
    }
    return true;
}

/* Waits for requests, datagrams and heartbeats. */
int main(void) {
    struct pollfd *fds = NULL;
    size_t room = 0;
    bool open = true;
    while (open) {
        size_t count_fds = 1;
        int64_t wait = -1;
        for (struct instance *i = instances; i != NULL; i = i->next) {
            count_fds++;
            int64_t beat = i->node != NULL ? bccn_next_beat(i->node) : -1;
            if (beat >= 0 && (wait < 0 || beat < wait)) {
                wait = beat;
            }
        }
        if (count_fds > room) {
            struct pollfd *grown = realloc(fds, 2 * count_fds * sizeof *fds);
            if (grown == NULL) {
                return 1;
            }
            fds = grown;
            room = 2 * count_fds;
        }
        fds[0] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
        size_t at = 1;
        for (struct instance *i = instances; i != NULL; i = i->next) {
            int fd = i->node != NULL && !i->manual ? bccn_fd(i->node) : -1;
            fds[at++] = (struct pollfd){.fd = fd, .events = POLLIN};
        }
        int timeout = wait < 0 ? -1 : wait > 1000000000 ? 1000000 : (int)((wait + 999) / 1000);
        if (poll(fds, (nfds_t)count_fds, timeout) < 0 && errno != EINTR) {
            return 1;
        }
        at = 1;
        for (struct instance *i = instances; i != NULL; i = i->next, at++) {
            if (i->node == NULL) {
                continue;
            }
            bccn_beat(i->node);
            for (int n = 0; fds[at].revents != 0 && n < BURST && take(i, true, true) != BCCN_NOTHING; n++) {
            }
        }
        if (fds[0].revents != 0) {
            open = read_input();
        }
    }
    while (instances != NULL) {
        struct instance *next = instances->next;
        bccn_free(instances->node);
        free(instances->name);
        free(instances);
        instances = next;
    }
    free(fds);
    free(input);
    return 0;
}
