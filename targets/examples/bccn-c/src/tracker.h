/* What was last seen of each sender (SEQUENCE NUMBERS AND DEDUP). */
#ifndef BCCN_TRACKER_H
#define BCCN_TRACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire.h"

enum { TRACKER_KEY = 192, TRACKER_SENDERS = 65536 };

struct tracker_config {
    uint64_t sanity;  /* a drop by this much or more is a restart */
    int64_t ttl;      /* microseconds after which a silent sender is forgotten */
    int64_t beat_ttl; /* the same without a heartbeat; 0 if heartbeats do not count */
};

struct tracker;

struct tracker *tracker_new(struct tracker_config config);
void tracker_free(struct tracker *t);

/* Is this message new? Keys are at most TRACKER_KEY bytes. */
bool tracker_accept(struct tracker *t, struct bytes key, uint64_t seq, bool heartbeat, int64_t now);

#endif
