/* JSON (RFC 8259) as far as the shim needs it: a reader of bounded depth, and a writer. */
#ifndef BCCN_JSON_H
#define BCCN_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum json_type { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

/* A value. Text is that of a number as it was written, or of a string in UTF-8; it may hold NUL, and one more NUL follows. */
struct json {
    enum json_type type;
    char *text;
    size_t size;
    struct json *key;   /* of a member: a string */
    struct json *child; /* the first element or member */
    struct json *next;  /* the one behind it */
};

/* One value with nothing but whitespace around it, or NULL. Free it with json_free. */
struct json *json_parse(const char *text, size_t size);
void json_free(struct json *v);

/* The last member of that name, or NULL if there is none or v is no object. */
const struct json *json_get(const struct json *v, const char *name);

bool json_is(const struct json *v, const char *text); /* a string of that text? */
bool json_absent(const struct json *v);               /* NULL or null */

/* A string of one character per byte (ISO 8859-1); out has room for v->size. False if there is another character. */
bool json_latin1(const struct json *v, uint8_t *out, size_t *size);

/* A string of hex; out has room for v->size / 2. */
bool json_hex(const struct json *v, uint8_t *out, size_t *size);

/* Strings with their quotes. */
void json_put_text(FILE *f, const char *text, size_t size); /* UTF-8 */
void json_put_latin1(FILE *f, const uint8_t *bytes, size_t size);
void json_put_hex(FILE *f, const uint8_t *bytes, size_t size);

#endif
