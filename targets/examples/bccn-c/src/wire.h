/* The wire format of BCCN1: envelope, integrity check, body, directed matching. Nothing here keeps state. */
#ifndef BCCN_WIRE_H
#define BCCN_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    BCCN_MAX_DATAGRAM = 1400, /* a hard ceiling (SIZ-01) */
    BCCN_MAX_SRC = 128,
    BCCN_MAX_CHAN = 1024,
};

/* Bytes that belong to somebody else. They may hold NUL. */
struct bytes {
    const uint8_t *at;
    size_t size;
};

struct bytes bytes_of(const char *text);
bool bytes_equal(struct bytes a, struct bytes b);
bool bytes_begin(struct bytes whole, struct bytes prefix);

enum bccn_verdict {
    BCCN_OK,
    BCCN_NOTHING,   /* there was no datagram */
    BCCN_ENVELOPE,  /* dropped: no sound envelope, or of another version */
    BCCN_AUTH,      /* dropped: the integrity check fails, is missing, or cannot be made */
    BCCN_BODY,      /* dropped: not a body of BCCN1 */
    BCCN_ADDRESS,   /* dropped: directed to somebody else */
    BCCN_DUPLICATE, /* dropped: duplicate or stale */
};

struct bccn_envelope {
    struct bytes magic;
    struct bytes algo, sum; /* of size 0 without a check */
    struct bytes body;
};

enum bccn_mode { BCCN_PLAIN, BCCN_ALL, BCCN_DIRECTED };

struct bccn_message {
    struct bytes src, chan, payload;
    uint64_t seq;
    enum bccn_mode mode;
    bool authenticated;
};

/* A datagram of any version. The parts point into it. */
bool bccn_parse_envelope(struct bytes datagram, struct bccn_envelope *out);

/* Does the tag "hmac" hold under this key? */
bool bccn_verify(const struct bccn_envelope *e, struct bytes key);

/* The body of BCCN1. */
bool bccn_parse_body(struct bytes body, struct bccn_message *out);

/* A whole datagram of BCCN1; key.size is 0 without a key. */
enum bccn_verdict bccn_decode(struct bytes datagram, struct bytes key, struct bccn_message *out);

enum bccn_check { BCCN_UNCHECKED, BCCN_HMAC, BCCN_CRC32 };

/* Writes a datagram and returns its size, or 0 for what cannot be sent. */
size_t bccn_encode(struct bytes src, uint64_t seq, struct bytes chan, struct bytes payload, enum bccn_check check,
                   struct bytes key, uint8_t out[BCCN_MAX_DATAGRAM]);

/* May a src be sent? */
bool bccn_src_ok(struct bytes src);

/* Does a directed message to target, which is behind the "!", reach the process with this name? */
bool bccn_matches(struct bytes name, struct bytes target);

/* Decimal digits and nothing else, of a value that fits. */
bool bccn_number(struct bytes digits, uint64_t *out);

#endif
