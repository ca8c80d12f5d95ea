#include "sha256.h"

#include <string.h>

static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotr(uint32_t x, unsigned n) { return x >> n | x << (32 - n); }

static void compress(struct sha256 *s) {
    uint32_t w[64];
    for (int i = 0; i < 16; i++) {
        const uint8_t *p = s->block + 4 * i;
        w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    }
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (rotr(a, 7) ^ rotr(a, 18) ^ a >> 3) + w[i - 7] + (rotr(b, 17) ^ rotr(b, 19) ^ b >> 10);
    }
    uint32_t v[8];
    memcpy(v, s->state, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t t1 = v[7] + (rotr(v[4], 6) ^ rotr(v[4], 11) ^ rotr(v[4], 25)) + ((v[4] & v[5]) ^ (~v[4] & v[6])) + K[i] + w[i];
        uint32_t t2 = (rotr(v[0], 2) ^ rotr(v[0], 13) ^ rotr(v[0], 22)) + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[0] = t1 + t2;
        v[4] += t1;
    }
    for (int i = 0; i < 8; i++) {
        s->state[i] += v[i];
    }
}

void sha256_init(struct sha256 *s) {
    static const uint32_t start[8] = {
        0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
    };
    memset(s, 0, sizeof *s);
    memcpy(s->state, start, sizeof start);
}

void sha256_add(struct sha256 *s, const void *data, size_t size) {
    const uint8_t *p = data;
    while (size > 0) {
        size_t used = s->length % SHA256_BLOCK;
        size_t part = SHA256_BLOCK - used < size ? SHA256_BLOCK - used : size;
        memcpy(s->block + used, p, part);
        s->length += part;
        p += part;
        size -= part;
        if (s->length % SHA256_BLOCK == 0) {
            compress(s);
        }
    }
}

void sha256_end(struct sha256 *s, uint8_t out[SHA256_SIZE]) {
    uint64_t bits = s->length * 8;
    uint8_t tail[8];
    for (int i = 0; i < 8; i++) {
        tail[i] = (uint8_t)(bits >> (56 - 8 * i));
    }
    sha256_add(s, "\x80", 1);
    while (s->length % SHA256_BLOCK != SHA256_BLOCK - sizeof tail) {
        sha256_add(s, "", 1);
    }
    sha256_add(s, tail, sizeof tail);
    for (int i = 0; i < SHA256_SIZE; i++) {
        out[i] = (uint8_t)(s->state[i / 4] >> (24 - 8 * (i % 4)));
    }
}

void hmac_sha256(const void *key, size_t key_size, const void *data, size_t size, uint8_t out[SHA256_SIZE]) {
    uint8_t pad[SHA256_BLOCK] = {0};
    struct sha256 s;
    if (key_size > sizeof pad) {
        sha256_init(&s);
        sha256_add(&s, key, key_size);
        sha256_end(&s, pad);
    } else if (key_size > 0) {
        memcpy(pad, key, key_size);
    }
    for (size_t i = 0; i < sizeof pad; i++) {
        pad[i] ^= 0x36;
    }
    sha256_init(&s);
    sha256_add(&s, pad, sizeof pad);
    sha256_add(&s, data, size);
    sha256_end(&s, out);
    for (size_t i = 0; i < sizeof pad; i++) {
        pad[i] ^= 0x36 ^ 0x5c;
    }
    sha256_init(&s);
    sha256_add(&s, pad, sizeof pad);
    sha256_add(&s, out, SHA256_SIZE);
    sha256_end(&s, out);
}
