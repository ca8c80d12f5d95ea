#include "wire.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sha256.h"

enum { TAG_BYTES = 8, TAG_DIGITS = 2 * TAG_BYTES, CRC_DIGITS = 8, MAX_ALGO = 32 };

struct bytes bytes_of(const char *text) { return (struct bytes){(const uint8_t *)text, strlen(text)}; }

bool bytes_equal(struct bytes a, struct bytes b) {
    return a.size == b.size && (a.size == 0 || memcmp(a.at, b.at, a.size) == 0);
}

bool bytes_begin(struct bytes whole, struct bytes prefix) {
    return whole.size >= prefix.size && bytes_equal((struct bytes){whole.at, prefix.size}, prefix);
}

static bool is_digit(uint8_t c) { return c >= '0' && c <= '9'; }

/* find cuts at the first c: head is what is before it, tail what is behind it. */
static bool find(struct bytes whole, uint8_t c, struct bytes *head, struct bytes *tail) {
    const uint8_t *at = whole.size > 0 ? memchr(whole.at, c, whole.size) : NULL;
    if (at == NULL) {
        return false;
    }
    size_t before = (size_t)(at - whole.at);
    *head = (struct bytes){whole.at, before};
    *tail = (struct bytes){at + 1, whole.size - before - 1};
    return true;
}

bool bccn_number(struct bytes digits, uint64_t *out) {
    uint64_t n = 0;
    for (size_t i = 0; i < digits.size; i++) {
        uint8_t c = digits.at[i];
        if (!is_digit(c) || n > (UINT64_MAX - (uint64_t)(c - '0')) / 10) {
            return false; /* SEQ-02: neither wrapped nor clamped */
        }
        n = 10 * n + (uint64_t)(c - '0');
    }
    *out = n;
    return digits.size > 0;
}

/* A magic is "BCCN", a digit and what else names the version. */
static bool magic_ok(struct bytes magic) {
    if (!bytes_begin(magic, bytes_of("BCCN")) || magic.size < 5 || magic.size > 16 || !is_digit(magic.at[4])) {
        return false;
    }
    for (size_t i = 5; i < magic.size; i++) {
        uint8_t c = magic.at[i];
        if (!is_digit(c) && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z')) {
            return false;
        }
    }
    return true;
}

static bool algo_ok(struct bytes algo) {
    for (size_t i = 0; i < algo.size; i++) {
        uint8_t c = algo.at[i];
        if (!(c >= 'a' && c <= 'z') && !is_digit(c) && c != '-' && c != '_') {
            return false;
        }
    }
    return algo.size > 0 && algo.size <= MAX_ALGO;
}

static bool hex_ok(struct bytes sum) {
    for (size_t i = 0; i < sum.size; i++) {
        uint8_t c = sum.at[i];
        if (!is_digit(c) && !(c >= 'a' && c <= 'f') && !(c >= 'A' && c <= 'F')) {
            return false;
        }
    }
    return sum.size > 0;
}

bool bccn_parse_envelope(struct bytes datagram, struct bccn_envelope *out) {
    memset(out, 0, sizeof *out);
    struct bytes rest, inside, length;
    if (!find(datagram, '[', &out->magic, &rest) || !magic_ok(out->magic) || !find(rest, ']', &inside, &out->body)) {
        return false;
    }
    struct bytes check;
    if (!find(inside, ':', &length, &check)) {
        length = inside; /* ENV-16 */
    } else if (!find(check, '=', &out->algo, &out->sum) || !algo_ok(out->algo) || !hex_ok(out->sum)) {
        return false; /* ENV-13, ENV-21 */
    }
    uint64_t n;
    return bccn_number(length, &n) && (length.at[0] != '0' || length.size == 1) && n == out->body.size; /* ENV-08 */
}

/* Hex in lower case, as it is on the wire (INT-07). */
static void tag(struct bytes body, struct bytes key, char out[TAG_DIGITS + 1]) {
    uint8_t sum[SHA256_SIZE];
    hmac_sha256(key.at, key.size, body.at, body.size, sum);
    for (int i = 0; i < TAG_BYTES; i++) {
        snprintf(out + 2 * i, 3, "%02x", sum[i]);
    }
}

/* The CRC-32 of IEEE 802.3, most significant digit first. */
static void crc32(struct bytes body, char out[CRC_DIGITS + 1]) {
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < body.size; i++) {
        crc ^= body.at[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
        }
    }
    snprintf(out, CRC_DIGITS + 1, "%08" PRIx32, ~crc);
}

/* In constant time for values of one size (INT-15). */
static bool same(struct bytes given, const char *good, size_t size) {
    unsigned differ = given.size != size;
    for (size_t i = 0; i < given.size && i < size; i++) {
        differ |= given.at[i] ^ (uint8_t)good[i];
    }
    return differ == 0;
}

bool bccn_verify(const struct bccn_envelope *e, struct bytes key) {
    if (!bytes_equal(e->algo, bytes_of("hmac"))) {
        return false;
    }
    char good[TAG_DIGITS + 1];
    tag(e->body, key, good);
    return same(e->sum, good, TAG_DIGITS);
}

/* With a key, only its tag counts (INT-10, INT-11). Without one, a check has to be one that can be made, and has to hold:
   a tag by a key that is not known here is dropped, not passed on unverified. */
static bool intact(const struct bccn_envelope *e, struct bytes key) {
    if (key.size > 0) {
        return bccn_verify(e, key);
    }
    if (e->algo.size == 0) {
        return true;
    }
    char good[CRC_DIGITS + 1];
    crc32(e->body, good);
    return bytes_equal(e->algo, bytes_of("crc32")) && same(e->sum, good, CRC_DIGITS);
}

/* A src or chan that is received: any bytes but whitespace and those that delimit. */
static bool field_ok(struct bytes field, size_t max) {
    for (size_t i = 0; i < field.size; i++) {
        uint8_t c = field.at[i];
        if (c == ' ' || (c >= '\t' && c <= '\r') || c == '|' || c == ':') {
            return false;
        }
    }
    return field.size > 0 && field.size <= max;
}

/* One that is sent is ASCII besides. */
static bool sendable(struct bytes field, size_t max) {
    for (size_t i = 0; i < field.size; i++) {
        if (field.at[i] > 0x7f) {
            return false;
        }
    }
    return field_ok(field, max);
}

bool bccn_src_ok(struct bytes src) { return sendable(src, BCCN_MAX_SRC); }

bool bccn_parse_body(struct bytes body, struct bccn_message *out) {
    memset(out, 0, sizeof *out);
    struct bytes header, rest, seq;
    if (!find(body, '|', &header, &out->payload) || !find(header, ':', &out->src, &rest) || !find(rest, ':', &seq, &out->chan)) {
        return false;
    }
    if (!field_ok(out->src, BCCN_MAX_SRC) || !bccn_number(seq, &out->seq) || !field_ok(out->chan, BCCN_MAX_CHAN)) {
        return false; /* a fourth field would be a ":" in chan (BODY-03) */
    }
    if (out->chan.at[0] == '!') {
        out->mode = out->chan.size == 1 ? BCCN_ALL : BCCN_DIRECTED;
    }
    return true;
}

enum bccn_verdict bccn_decode(struct bytes datagram, struct bytes key, struct bccn_message *out) {
    struct bccn_envelope e;
    memset(out, 0, sizeof *out);
    if (datagram.size > BCCN_MAX_DATAGRAM || !bccn_parse_envelope(datagram, &e) || !bytes_equal(e.magic, bytes_of("BCCN1"))) {
        return BCCN_ENVELOPE;
    }
    if (!intact(&e, key)) { /* INT-12: before anything in the body counts */
        return BCCN_AUTH;
    }
    if (!bccn_parse_body(e.body, out)) {
        return BCCN_BODY;
    }
    out->authenticated = key.size > 0;
    return BCCN_OK;
}

size_t bccn_encode(struct bytes src, uint64_t seq, struct bytes chan, struct bytes payload, enum bccn_check check,
                   struct bytes key, uint8_t out[BCCN_MAX_DATAGRAM]) {
    if (!sendable(src, BCCN_MAX_SRC) || !sendable(chan, BCCN_MAX_CHAN) || payload.size > BCCN_MAX_DATAGRAM) {
        return 0;
    }
    uint8_t body[BCCN_MAX_DATAGRAM + BCCN_MAX_SRC + BCCN_MAX_CHAN + 32];
    char number[32];
    int digits = snprintf(number, sizeof number, ":%" PRIu64 ":", seq);
    size_t size = 0;
    const struct bytes parts[] = {src, {(uint8_t *)number, (size_t)digits}, chan, bytes_of("|"), payload};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].size > 0) {
            memcpy(body + size, parts[i].at, parts[i].size);
        }
        size += parts[i].size;
    }

    char head[64], sum[TAG_DIGITS + 1];
    struct bytes whole = {body, size};
    int used;
    if (check == BCCN_HMAC) {
        tag(whole, key, sum);
        used = snprintf(head, sizeof head, "BCCN1[%zu:hmac=%s]", size, sum);
    } else if (check == BCCN_CRC32) {
        crc32(whole, sum);
        used = snprintf(head, sizeof head, "BCCN1[%zu:crc32=%s]", size, sum);
    } else {
        used = snprintf(head, sizeof head, "BCCN1[%zu]", size);
    }
    if ((size_t)used + size > BCCN_MAX_DATAGRAM) { /* SIZ-01, SIZ-03 */
        return 0;
    }
    memcpy(out, head, (size_t)used);
    memcpy(out + used, body, size);
    return (size_t)used + size;
}

bool bccn_matches(struct bytes name, struct bytes target) {
    if (name.size == 0 || target.size == 0 || bytes_equal(name, bytes_of("?")) || target.at[0] == '?') {
        return false; /* DIR-14, DIR-15 */
    }
    struct bytes prefix = target;
    if (target.size >= 2 && target.at[target.size - 2] == '/' && target.at[target.size - 1] == '*') {
        prefix.size -= 2; /* DIR-02: before the rule of digits, and once */
    } else {
        size_t digits = 0;
        while (digits < target.size && is_digit(target.at[target.size - 1 - digits])) {
            digits++;
        }
        bool whole_token = digits == target.size || target.at[target.size - 1 - digits] == '/';
        if (digits > 0 && whole_token) {
            return bytes_equal(name, target); /* exact (DIR-08) */
        }
    }
    return bytes_equal(name, prefix) || (name.size > prefix.size && bytes_begin(name, prefix) && name.at[prefix.size] == '/');
}
