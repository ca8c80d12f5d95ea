/* An endpoint on a UDP port: the calls of FUNDAMENTAL CALLS and CONVENTION-LAYER CALLS. One thread at a time. */
#ifndef BCCN_NODE_H
#define BCCN_NODE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "wire.h"

struct bccn_config {
    struct in_addr broadcast;
    uint16_t port;
    struct bytes key;  /* size 0: none */
    struct bytes name; /* size 0: unknown */
    uint64_t sanity;   /* 0: 10,000 */
    double ttl;        /* seconds; 0: a day */
    double beat_ttl;   /* seconds without a heartbeat; 0: heartbeats do not count */
    bool twice;        /* send everything twice */
};

struct bccn;

/* NULL, with errno, if it cannot be. */
struct bccn *bccn_open(const struct bccn_config *config);
void bccn_close(struct bccn *n); /* drops the socket; the rest stays */
void bccn_free(struct bccn *n);
int bccn_fd(const struct bccn *n); /* -1 once it is closed */

struct bytes bccn_get_name(const struct bccn *n);
bool bccn_set_name(struct bccn *n, struct bytes name); /* size 0: unknown */
uint64_t bccn_get_seq(const struct bccn *n);
void bccn_set_seq(struct bccn *n, uint64_t seq);

/* False, with errno, if nothing was sent. An empty src is "?". An empty key is that of the node. */
bool bccn_send(struct bccn *n, struct bytes src, struct bytes chan, struct bytes payload, struct bytes key);
bool bccn_send_all(struct bccn *n, struct bytes payload);
bool bccn_send_to(struct bccn *n, struct bytes target, struct bytes payload);
bool bccn_send_topic(struct bccn *n, struct bytes topic, struct bytes payload);

/* Takes one datagram if there is one. The message is good until the next call. */
enum bccn_verdict bccn_recv(struct bccn *n, struct bccn_message *message, struct sockaddr_in *peer);

/* Listeners: exact, with "*" for a token and a last ">" for the rest. */
typedef void bccn_callback(void *context, struct bytes pattern, const struct bccn_message *message);
bool bccn_listen(struct bccn *n, struct bytes pattern);
void bccn_call(const struct bccn *n, const struct bccn_message *message, bccn_callback *call, void *context);
bool bccn_pattern_matches(struct bytes pattern, struct bytes chan);

/* Heartbeats go out in bccn_beat, to be called when bccn_next_beat, in microseconds from now, has passed. */
bool bccn_heartbeat(struct bccn *n, double interval);
int64_t bccn_next_beat(const struct bccn *n); /* -1: none */
void bccn_beat(struct bccn *n);

void bccn_advance_clock(struct bccn *n, double seconds);

/* host/program/pid; returns its size. */
size_t bccn_own_name(const char *program, char out[BCCN_MAX_SRC + 1]);

#endif
