/* Unit tests, to be built with the sanitizers: make test. */
#define _DEFAULT_SOURCE

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "node.h"
#include "sha256.h"
#include "tracker.h"
#include "wire.h"

static int failures;

#define CHECK(condition) check((condition), #condition, __LINE__)

static void check(bool ok, const char *what, int line) {
    if (!ok) {
        fprintf(stderr, "line %d: %s\n", line, what);
        failures++;
    }
}

static const struct bytes none = {NULL, 0};

static void test_tags(void) {
    static char k64[65], k65[66];
    memset(k64, 'k', 64);
    memset(k65, 'k', 65);
    static const struct {
        const char *key, *body, *tag;
    } known[] = {
        {"secret", "test:1:test/chan|hello", "dda368837299c7cf"},
        {"secret", "?:1:bootstrap/started|pid=unknown", "85fb5d0273ca999a"},
        {"secret", "a:1:c|", "3f97e5073787f5a7"},
        {k64, "a:1:c|x", "8422d0fde81169af"},
        {k65, "a:1:c|x", "c5c2b5926f019255"},
        {"secret", "ops01/admin-tool/4711:42:!|emergency-shutdown", "275dff81704a8c2b"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char wire[256];
        snprintf(wire, sizeof wire, "BCCN1[%zu:hmac=%s]%s", strlen(known[i].body), known[i].tag, known[i].body);
        struct bccn_message m;
        CHECK(bccn_decode(bytes_of(wire), bytes_of(known[i].key), &m) == BCCN_OK && m.authenticated);
        CHECK(bccn_decode(bytes_of(wire), bytes_of("other"), &m) == BCCN_AUTH);
        CHECK(bccn_decode(bytes_of(wire), none, &m) == BCCN_AUTH);
        uint8_t out[BCCN_MAX_DATAGRAM];
        CHECK(bccn_decode(bytes_of(wire), bytes_of(known[i].key), &m) == BCCN_OK);
        size_t size = bccn_encode(m.src, m.seq, m.chan, m.payload, BCCN_HMAC, bytes_of(known[i].key), out);
        CHECK(bytes_equal((struct bytes){out, size}, bytes_of(wire)));
    }
}

static enum bccn_verdict decode(const char *wire, size_t size, struct bytes key) {
    uint8_t *copy = malloc(size + 1); /* so that a read behind the end is seen */
    memcpy(copy, wire, size);
    struct bccn_message m;
    enum bccn_verdict verdict = bccn_decode((struct bytes){copy, size}, key, &m);
    free(copy);
    return verdict;
}

static void test_envelope(void) {
    static const char *const bad[] = {
        "", "B", "BCCN1", "BCCN1[", "BCCN1[]", "BCCN1[0", "bccn1[6]a:1:c|", "xBCCN1[6]a:1:c|", " BCCN1[6]a:1:c|", "BCCN2[6]a:1:c|",
        "BCCN1a[6]a:1:c|", "BCCN01[6]a:1:c|", "BCCN[6]a:1:c|", "BCCN1 [6]a:1:c|", "BCCN1(6)a:1:c|", "BCCN1[ 6]a:1:c|", "BCCN1[6 ]a:1:c|",
        "BCCN1[+6]a:1:c|", "BCCN1[-6]a:1:c|", "BCCN1[06]a:1:c|", "BCCN1[0x6]a:1:c|", "BCCN1[5]a:1:c|", "BCCN1[7]a:1:c|", "BCCN1[6]a:1:c|\n",
        "BCCN1[18446744073709551622]a:1:c|", "BCCN1[6:]a:1:c|", "BCCN1[6:hmac]a:1:c|", "BCCN1[6:hmac=]a:1:c|", "BCCN1[6:=00]a:1:c|",
        "BCCN1[:hmac=3f97e5073787f5a7]a:1:c|", "BCCN1[6:HMAC=3f97e5073787f5a7]a:1:c|", "BCCN1[6: hmac=3f97e5073787f5a7]a:1:c|",
        "BCCN1[6:hmac=3f97e5073787f5a7:x=1]a:1:c|", "BCCN1[6:hmac=3f97=e5073787f5a7]a:1:c|", "BCCN1[6:hmac=zz]a:1:c|",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        check(decode(bad[i], strlen(bad[i]), none) == BCCN_ENVELOPE, bad[i], __LINE__);
    }
    static const char *const forged[] = {
        "BCCN1[6]a:1:c|", "BCCN1[6:hmac=3f97e5073787f5a8]a:1:c|", "BCCN1[6:hmac=3f]a:1:c|", "BCCN1[6:hmac=3F97E5073787F5A7]a:1:c|",
        "BCCN1[6:sig=3f97e5073787f5a7]a:1:c|", "BCCN1[6:hmac=3f97e5073787f5a700]a:1:c|",
    };
    for (size_t i = 0; i < sizeof forged / sizeof *forged; i++) {
        check(decode(forged[i], strlen(forged[i]), bytes_of("secret")) == BCCN_AUTH, forged[i], __LINE__);
    }
    /* CRC-32 of "a:1:c|", and one that is wrong. */
    uint8_t out[BCCN_MAX_DATAGRAM];
    size_t size = bccn_encode(bytes_of("a"), 1, bytes_of("c"), none, BCCN_CRC32, none, out);
    CHECK(decode((char *)out, size, none) == BCCN_OK && decode((char *)out, size, bytes_of("k")) == BCCN_AUTH);
    out[size - 1] = 'x';
    CHECK(decode((char *)out, size, none) == BCCN_AUTH);
    struct bccn_envelope e;
    CHECK(bccn_parse_envelope(bytes_of("BCCN2[3:crc32=00]\x01]["), &e) && e.body.size == 3);
}

static void test_body(void) {
    static const char *const bad[] = {
        "", "|", "a|x", "a:1|x", "a:1:c", "a:1:c:d|x", ":1:c|x", "a::c|x", "a:1:|x", "a:-1:c|x", "a:+1:c|x", "a: 1:c|x", "a:1 :c|x",
        "a:0x1:c|x", "a:1.0:c|x", "a:18446744073709551616:c|x", "a:99999999999999999999:c|x", "a b:1:c|x", "a:1:c\t|x", "a\v:1:c|x",
    };
    struct bccn_message m;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        check(!bccn_parse_body(bytes_of(bad[i]), &m), bad[i], __LINE__);
    }
    CHECK(bccn_parse_body(bytes_of("]s:18446744073709551615:c!|x|y:z"), &m) && m.seq == UINT64_MAX && m.mode == BCCN_PLAIN);
    CHECK(bytes_equal(m.payload, bytes_of("x|y:z")) && bytes_equal(m.src, bytes_of("]s")));
    CHECK(bccn_parse_body(bytes_of("a:007:!|"), &m) && m.seq == 7 && m.mode == BCCN_ALL && m.payload.size == 0);
    CHECK(bccn_parse_body(bytes_of("?:0:!!|"), &m) && m.mode == BCCN_DIRECTED);
    CHECK(bccn_parse_body((struct bytes){(uint8_t *)"a\0b:1:c\x80|", 10}, &m) && m.src.size == 3 && m.chan.size == 2);
}

static void test_size(void) {
    uint8_t out[BCCN_MAX_DATAGRAM];
    static uint8_t payload[BCCN_MAX_DATAGRAM + 1], field[BCCN_MAX_CHAN + 1];
    memset(field, 'f', sizeof field);
    for (size_t n = 0; n <= sizeof payload; n++) {
        size_t size = bccn_encode(bytes_of("a"), 1, bytes_of("c"), (struct bytes){payload, n}, BCCN_UNCHECKED, none, out);
        CHECK((size > 0) == (n + 6 <= 1389));
        size_t with = bccn_encode(bytes_of("a"), 1, bytes_of("c"), (struct bytes){payload, n}, BCCN_HMAC, bytes_of("k"), out);
        CHECK((with > 0) == (n + 6 <= 1367));
        if (with > 0) {
            CHECK(decode((char *)out, with, bytes_of("k")) == BCCN_OK);
        }
    }
    struct bytes longest = {field, BCCN_MAX_SRC}, chan = {field, BCCN_MAX_CHAN};
    CHECK(bccn_encode(longest, UINT64_MAX, chan, (struct bytes){payload, 214}, BCCN_UNCHECKED, none, out) == 1400);
    CHECK(bccn_encode(longest, UINT64_MAX, chan, (struct bytes){payload, 215}, BCCN_UNCHECKED, none, out) == 0);
    longest.size++;
    CHECK(bccn_encode(longest, 1, chan, none, BCCN_UNCHECKED, none, out) == 0);
    chan.size++;
    CHECK(bccn_encode(bytes_of("a"), 1, chan, none, BCCN_UNCHECKED, none, out) == 0);
    static const char *const bad[] = {"", " ", "a b", "a|", "a:", "a\n", "\x80"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK(bccn_encode(bytes_of(bad[i]), 1, bytes_of("c"), none, BCCN_UNCHECKED, none, out) == 0);
        CHECK(bccn_encode(bytes_of("a"), 1, bytes_of(bad[i]), none, BCCN_UNCHECKED, none, out) == 0);
    }
}

static void test_match(void) {
    static const struct {
        const char *name, *target;
        bool match;
    } cases[] = {
        {"!", "!", true}, {"x", "!x", false}, {"h/n/12/3", "h/n/12/*", true}, {"a/b/c", "a/*/*", false}, {"h/n/12/3", "h/n/12", false},
        {"h/p/w-3/9", "h/p/w-3", true}, {"12345/1", "12345", false}, {"12345", "12345", true}, {"h/n/-1/5", "h/n/-1", true},
        {"h/n/12", "h/n", true}, {"h/n/12", "h", true}, {"h/n/12", "h/n/12", true}, {"h/n/123", "h/n/12", false}, {"h/n", "h/n/12", false},
        {"h/n/12", "h/n/12/*", true}, {"h", "h", true}, {"hostX/n/1", "host", false}, {"h/n/123", "h/n/12/*", false},
        {"host1/p/1", "host*", false}, {"a/x/b", "a/*/b", false}, {"a/b", "a/", false}, {"a/b", "a//b", false}, {"a/b", "/a/b", false},
        {"?", "?", false}, {"?", "?/*", false}, {"?", "x", false}, {"?abc", "?abc", false}, {"h/n/1", "*", false}, {"h/n/1", "/*", false},
        {"/n/1", "/*", true}, {"Host/n/1", "host", false}, {"a//x", "a/", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check(bccn_matches(bytes_of(cases[i].name), bytes_of(cases[i].target)) == cases[i].match, cases[i].target, __LINE__);
    }
    CHECK(bccn_pattern_matches(bytes_of("a/b"), bytes_of("a/b")) && !bccn_pattern_matches(bytes_of("a/b"), bytes_of("a/b/c")));
    CHECK(bccn_pattern_matches(bytes_of("a/*/e"), bytes_of("a/x/e")) && !bccn_pattern_matches(bytes_of("a/*/e"), bytes_of("a/x/y/e")));
    CHECK(!bccn_pattern_matches(bytes_of("a/*/e"), bytes_of("a/e")) && !bccn_pattern_matches(bytes_of("a/x*"), bytes_of("a/xy")));
    CHECK(bccn_pattern_matches(bytes_of("a/>"), bytes_of("a/b/c")) && !bccn_pattern_matches(bytes_of("a/>"), bytes_of("a")));
    CHECK(bccn_pattern_matches(bytes_of(">"), bytes_of("a")) && !bccn_pattern_matches(bytes_of("a/>"), bytes_of("b/c")));
}

/* Sends a row of numbers; the pattern says which are delivered. */
static void trace(const char *expected, const uint64_t *seqs) {
    struct tracker *t = tracker_new((struct tracker_config){.sanity = 1000, .ttl = 1000});
    for (size_t i = 0; expected[i] != '\0'; i++) {
        check(tracker_accept(t, bytes_of("a"), seqs[i], false, 0) == (expected[i] == 'D'), expected, (int)i);
    }
    tracker_free(t);
}

static void test_tracker(void) {
    trace("DD-D", (uint64_t[]){5, 7, 6, 8});
    trace("D-DD-", (uint64_t[]){2000, 1001, 1000, 1001, 1000});
    trace("D-D", (uint64_t[]){100, 1, 101});
    trace("DDDD", (uint64_t[]){1700000000, 1, 2, 1700000000});
    trace("DDD", (uint64_t[]){UINT64_MAX, 0, 1});
    trace("D--", (uint64_t[]){10, 5, 6});

    struct tracker *t = tracker_new((struct tracker_config){.sanity = 1000, .ttl = 100, .beat_ttl = 30});
    CHECK(tracker_accept(t, bytes_of("a"), 5, true, 0) && !tracker_accept(t, bytes_of("a"), 5, false, 29));
    CHECK(tracker_accept(t, bytes_of("A"), 5, false, 29));
    CHECK(tracker_accept(t, bytes_of("a"), 5, false, 30));
    char name[16];
    for (int i = 0; i < TRACKER_SENDERS + 1000; i++) {
        snprintf(name, sizeof name, "n%d", i);
        CHECK(tracker_accept(t, bytes_of(name), 1, false, 31));
    }
    CHECK(!tracker_accept(t, bytes_of(name), 1, false, 31)); /* the newest is known, the oldest is not */
    CHECK(tracker_accept(t, bytes_of("n0"), 1, false, 31));
    tracker_free(t);
}

static struct json *parse(const char *text) {
    size_t size = strlen(text);
    char *copy = malloc(size + 1);
    memcpy(copy, text, size);
    struct json *v = json_parse(copy, size);
    free(copy);
    return v;
}

static void test_json(void) {
    static const char *const bad[] = {
        "", " ", "{", "[", "[1", "[1,", "[1,]", "{\"a\"", "{\"a\":", "{\"a\":1,}", "{a:1}", "\"", "\"\\", "\"\\u12\"", "\"\\u123\"", "\"\\x\"",
        "\"a\nb\"", "\"a\n\"", "01", "-", "1.", "1e", "+1", ".5", "tru", "nul", "1 2", "{} x", "[1 2]", "\"\\ud800\\u12\"",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct json *v = parse(bad[i]);
        check(v == NULL, bad[i], __LINE__);
        json_free(v);
    }
    struct json *v = parse(" { \"a\" : \"\\u00e9\\u0000\xc3\xa9\\n\" , \"b\" : [ 1 , -2.5e+3 , true , null , { } ] , \"a\\u0062\" : \"\\ud83d\\ude00\\udc00\" , \"n\":1,\"n\":2} ");
    uint8_t room[64];
    size_t size;
    CHECK(json_latin1(json_get(v, "a"), room, &size) && size == 4 && memcmp(room, "\xe9\0\xe9\n", 4) == 0);
    CHECK(json_is(json_get(v, "ab"), "\xf0\x9f\x98\x80\xef\xbf\xbd") && !json_latin1(json_get(v, "ab"), room, &size));
    CHECK(strcmp(json_get(v, "n")->text, "2") == 0 && json_get(v, "zz") == NULL && json_get(json_get(v, "n"), "a") == NULL);
    json_free(v);
    char deep[200];
    memset(deep, '[', 100);
    memset(deep + 100, ']', 100);
    CHECK(json_parse(deep, sizeof deep) == NULL);
    memset(deep, '[', sizeof deep);
    CHECK(json_parse(deep, sizeof deep) == NULL);
    v = parse("[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]");
    CHECK(v != NULL);
    json_free(v);
    v = parse("\"00fF1\"");
    CHECK(!json_hex(v, room, &size));
    json_free(v);
    v = parse("\"00fF\"");
    CHECK(json_hex(v, room, &size) && size == 2 && room[1] == 0xff);
    json_free(v);
}

static void count_calls(void *context, struct bytes pattern, const struct bccn_message *m) {
    (void)pattern;
    (void)m;
    ++*(int *)context;
}

static enum bccn_verdict take(struct bccn *n, struct bccn_message *m) {
    struct sockaddr_in peer;
    enum bccn_verdict v = BCCN_NOTHING;
    for (int i = 0; i < 1000 && (v = bccn_recv(n, m, &peer)) == BCCN_NOTHING; i++) {
        usleep(1000);
    }
    return v;
}

static void test_nodes(void) {
    struct bccn_config c = {.port = (uint16_t)(20000 + getpid() % 20000), .key = bytes_of("secret"), .name = bytes_of("h/a/1")};
    inet_pton(AF_INET, "127.255.255.255", &c.broadcast);
    struct bccn *a = bccn_open(&c);
    c.name = bytes_of("h/b/2");
    c.twice = true;
    struct bccn *b = bccn_open(&c);
    c.name = bytes_of("x y");
    CHECK(bccn_open(&c) == NULL);
    if (a == NULL || b == NULL) {
        CHECK(!"no nodes: is there a loopback interface?");
        bccn_free(a);
        bccn_free(b);
        return;
    }
    struct bccn_message m;
    bccn_set_seq(b, 41);
    CHECK(bccn_send_topic(b, bytes_of("t/x"), bytes_of("p")) && bccn_get_seq(b) == 42);
    CHECK(!bccn_send_topic(b, bytes_of("!"), none) && !bccn_send_to(b, none, none) && !bccn_send_topic(b, none, none) && bccn_get_seq(b) == 42);
    CHECK(take(a, &m) == BCCN_OK && m.seq == 41 && m.authenticated && bytes_equal(m.src, bytes_of("h/b/2")));
    int calls = 0;
    bccn_listen(a, bytes_of("t/*"));
    bccn_listen(a, bytes_of("t/*"));
    bccn_listen(a, bytes_of("u"));
    bccn_call(a, &m, count_calls, &calls);
    CHECK(calls == 1);
    CHECK(take(a, &m) == BCCN_DUPLICATE);
    CHECK(bccn_send_to(b, bytes_of("h/b"), none) && take(a, &m) == BCCN_ADDRESS && take(a, &m) == BCCN_DUPLICATE);
    CHECK(bccn_send_to(b, bytes_of("h/a/*"), none) && take(a, &m) == BCCN_OK && m.mode == BCCN_DIRECTED && take(a, &m) == BCCN_DUPLICATE);
    bccn_call(a, &m, count_calls, &calls);
    CHECK(bccn_send(b, none, bytes_of("!"), none, bytes_of("other")) && take(a, &m) == BCCN_AUTH && take(a, &m) == BCCN_AUTH);
    CHECK(bccn_send(b, none, bytes_of("!"), none, none) && take(a, &m) == BCCN_OK && bytes_equal(m.src, bytes_of("?")));
    CHECK(take(a, &m) == BCCN_DUPLICATE);
    CHECK(!bccn_heartbeat(b, 0) && bccn_heartbeat(b, 5) && bccn_next_beat(b) > 0);
    bccn_advance_clock(b, 10.5);
    for (int i = 0; i < 2; i++) {
        CHECK(take(a, &m) == BCCN_OK && bytes_equal(m.chan, bytes_of("heartbeat/h/b/2")) && take(a, &m) == BCCN_DUPLICATE);
    }
    CHECK(bccn_set_name(b, none) && bytes_equal(bccn_get_name(b), bytes_of("?")) && !bccn_set_name(b, bytes_of("a/*")));
    char own[BCCN_MAX_SRC + 1];
    CHECK(bccn_own_name("test", own) == strlen(own) && bccn_set_name(b, bytes_of(own)));
    bccn_close(b);
    CHECK(!bccn_send_all(b, none) && bccn_recv(b, &m, &(struct sockaddr_in){0}) == BCCN_NOTHING);
    bccn_free(a);
    bccn_free(b);
}

/* Datagrams made of pieces that matter: nothing may crash, and what is taken is written again the same. */
static void test_noise(void) {
    static const char *const pieces[] = {"BCCN1", "[", "]", ":", "=", "hmac", "|", "!", "6", "a:1:c|", "1", "\xff", "BCCN1[6]a:1:c|"};
    srand(1);
    for (int i = 0; i < 200000; i++) {
        char wire[256];
        size_t size = 0;
        for (int n = rand() % 12; n > 0; n--) {
            const char *p = pieces[(size_t)rand() % (sizeof pieces / sizeof *pieces)];
            size += (size_t)snprintf(wire + size, sizeof wire - size, "%s", p);
        }
        decode(wire, size, rand() % 2 == 0 ? none : bytes_of("k"));
        json_free(json_parse(wire, size));
    }
}

int main(void) {
    test_tags();
    test_envelope();
    test_body();
    test_size();
    test_match();
    test_tracker();
    test_json();
    test_nodes();
    test_noise();
    printf("%s\n", failures == 0 ? "ok" : "FAILED");
    return failures != 0;
}
