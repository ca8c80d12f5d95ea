#include "json.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 32 };

struct reader {
    const char *at, *end;
};

static void skip(struct reader *r) {
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r')) {
        r->at++;
    }
}

static bool take(struct reader *r, char c) {
    if (r->at < r->end && *r->at == c) {
        r->at++;
        return true;
    }
    return false;
}

static struct json *new_value(enum json_type type) {
    struct json *v = calloc(1, sizeof *v);
    if (v != NULL) {
        v->type = type;
    }
    return v;
}

/* Depth is bounded by MAX_DEPTH, and siblings are freed in a loop. */
void json_free(struct json *v) {
    while (v != NULL) {
        struct json *next = v->next;
        json_free(v->key);
        json_free(v->child);
        free(v->text);
        free(v);
        v = next;
    }
}

static int digit(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool unit(struct reader *r, uint32_t *out) {
    if (r->end - r->at < 4) {
        return false;
    }
    *out = 0;
    for (int i = 0; i < 4; i++) {
        int d = digit(*r->at++);
        if (d < 0) {
            return false;
        }
        *out = *out << 4 | (uint32_t)d;
    }
    return true;
}

static size_t put_utf8(char *out, uint32_t c) {
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const uint8_t lead[] = {0, 0xc0, 0xe0, 0xf0};
    out[0] = (char)(lead[more] | c >> (6 * more));
    for (size_t i = 1; i <= more; i++) {
        out[i] = (char)(0x80 | (c >> (6 * (more - i)) & 0x3f));
    }
    return more + 1;
}

/* Behind "\u". A surrogate without its other half becomes U+FFFD. */
static bool escape(struct reader *r, uint32_t *c) {
    if (!unit(r, c)) {
        return false;
    }
    if (*c >= 0xd800 && *c < 0xdc00 && r->end - r->at >= 6 && r->at[0] == '\\' && r->at[1] == 'u') {
        struct reader ahead = {r->at + 2, r->end};
        uint32_t low;
        if (!unit(&ahead, &low)) {
            return false;
        }
        if (low >= 0xdc00 && low < 0xe000) {
            *c = 0x10000 + ((*c - 0xd800) << 10) + (low - 0xdc00);
            r->at = ahead.at;
        }
    }
    if (*c >= 0xd800 && *c < 0xe000) {
        *c = 0xfffd;
    }
    return true;
}

/* Behind the quote. */
static struct json *string(struct reader *r) {
    const char *close = r->at; /* an upper bound of the text: no escape is shorter than what it stands for */
    while (close < r->end && *close != '"') {
        close += *close == '\\' ? 2 : 1;
    }
    if (close >= r->end) {
        return NULL;
    }
    struct json *v = new_value(JSON_STRING);
    if (v == NULL || (v->text = malloc((size_t)(close - r->at) + 1)) == NULL) {
        json_free(v);
        return NULL;
    }
    bool good = true;
    while (good && r->at < close) {
        char c = *r->at++;
        if (c != '\\') {
            good = (unsigned char)c >= 0x20;
            v->text[v->size++] = c;
            continue;
        }
        static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
        c = *r->at++;
        const char *simple = c != '\0' ? strchr(from, c) : NULL;
        uint32_t code;
        if (simple != NULL) {
            v->text[v->size++] = to[simple - from];
        } else if (c == 'u' && escape(r, &code)) {
            v->size += put_utf8(v->text + v->size, code);
        } else {
            good = false;
        }
    }
    if (!good) {
        json_free(v);
        return NULL;
    }
    r->at++;
    v->text[v->size] = '\0';
    return v;
}

static bool digits(struct reader *r) {
    const char *start = r->at;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9') {
        r->at++;
    }
    return r->at > start;
}

static struct json *number(struct reader *r) {
    const char *start = r->at;
    take(r, '-');
    if (!take(r, '0') && !digits(r)) {
        return NULL;
    }
    if (take(r, '.') && !digits(r)) {
        return NULL;
    }
    if (take(r, 'e') || take(r, 'E')) {
        if (!take(r, '+')) {
            take(r, '-');
        }
        if (!digits(r)) {
            return NULL;
        }
    }
    struct json *v = new_value(JSON_NUMBER);
    size_t size = (size_t)(r->at - start);
    if (v == NULL || (v->text = malloc(size + 1)) == NULL) {
        json_free(v);
        return NULL;
    }
    memcpy(v->text, start, size);
    v->text[size] = '\0';
    v->size = size;
    return v;
}

static struct json *word(struct reader *r, const char *text, enum json_type type) {
    size_t size = strlen(text);
    if ((size_t)(r->end - r->at) < size || memcmp(r->at, text, size) != 0) {
        return NULL;
    }
    r->at += size;
    return new_value(type);
}

static struct json *value(struct reader *r, int depth);

static struct json *several(struct reader *r, enum json_type type, char close, int depth) {
    struct json *v = new_value(type);
    if (v == NULL || depth >= MAX_DEPTH) {
        json_free(v);
        return NULL;
    }
    skip(r);
    if (take(r, close)) {
        return v;
    }
    struct json **end = &v->child;
    do {
        struct json *key = NULL;
        if (type == JSON_OBJECT) {
            skip(r);
            key = take(r, '"') ? string(r) : NULL;
            skip(r);
            if (key == NULL || !take(r, ':')) {
                json_free(key);
                json_free(v);
                return NULL;
            }
        }
        struct json *item = value(r, depth + 1);
        if (item == NULL) {
            json_free(key);
            json_free(v);
            return NULL;
        }
        item->key = key;
        *end = item;
        end = &item->next;
        skip(r);
    } while (take(r, ','));
    if (!take(r, close)) {
        json_free(v);
        return NULL;
    }
    return v;
}

static struct json *value(struct reader *r, int depth) {
    skip(r);
    if (r->at == r->end) {
        return NULL;
    }
    switch (*r->at) {
    case '"':
        r->at++;
        return string(r);
    case '{':
        r->at++;
        return several(r, JSON_OBJECT, '}', depth);
    case '[':
        r->at++;
        return several(r, JSON_ARRAY, ']', depth);
    case 't':
        return word(r, "true", JSON_TRUE);
    case 'f':
        return word(r, "false", JSON_FALSE);
    case 'n':
        return word(r, "null", JSON_NULL);
    default:
        return number(r);
    }
}

struct json *json_parse(const char *text, size_t size) {
    struct reader r = {text, text + size};
    struct json *v = value(&r, 0);
    skip(&r);
    if (v != NULL && r.at != r.end) {
        json_free(v);
        return NULL;
    }
    return v;
}

const struct json *json_get(const struct json *v, const char *name) {
    const struct json *found = NULL;
    if (v != NULL && v->type == JSON_OBJECT) {
        for (const struct json *m = v->child; m != NULL; m = m->next) {
            if (json_is(m->key, name)) {
                found = m;
            }
        }
    }
    return found;
}

bool json_is(const struct json *v, const char *text) {
    return v != NULL && v->type == JSON_STRING && v->size == strlen(text) && memcmp(v->text, text, v->size) == 0;
}

bool json_absent(const struct json *v) { return v == NULL || v->type == JSON_NULL; }

bool json_latin1(const struct json *v, uint8_t *out, size_t *size) {
    *size = 0;
    if (v == NULL || v->type != JSON_STRING) {
        return false;
    }
    for (size_t i = 0; i < v->size; i++) {
        uint8_t c = (uint8_t)v->text[i];
        if (c >= 0x80) { /* U+0080 to U+00FF are two bytes, the first of them C2 or C3 */
            if ((c != 0xc2 && c != 0xc3) || i + 1 == v->size || ((uint8_t)v->text[i + 1] & 0xc0) != 0x80) {
                return false;
            }
            c = (uint8_t)(c << 6 | ((uint8_t)v->text[++i] & 0x3f));
        }
        out[(*size)++] = c;
    }
    return true;
}

bool json_hex(const struct json *v, uint8_t *out, size_t *size) {
    *size = 0;
    if (v == NULL || v->type != JSON_STRING || v->size % 2 != 0) {
        return false;
    }
    for (size_t i = 0; i < v->size; i += 2) {
        int high = digit(v->text[i]), low = digit(v->text[i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        out[(*size)++] = (uint8_t)(high << 4 | low);
    }
    return true;
}

static void put_unit(FILE *f, uint8_t c) {
    if (c == '"' || c == '\\') {
        fprintf(f, "\\%c", c);
    } else if (c < 0x20 || c == 0x7f) {
        fprintf(f, "\\u%04x", c);
    } else {
        putc(c, f);
    }
}

void json_put_text(FILE *f, const char *text, size_t size) {
    putc('"', f);
    for (size_t i = 0; i < size; i++) {
        put_unit(f, (uint8_t)text[i]);
    }
    putc('"', f);
}

void json_put_latin1(FILE *f, const uint8_t *bytes, size_t size) {
    putc('"', f);
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] >= 0x80) {
            fprintf(f, "\\u%04x", bytes[i]);
        } else {
            put_unit(f, bytes[i]);
        }
    }
    putc('"', f);
}

void json_put_hex(FILE *f, const uint8_t *bytes, size_t size) {
    putc('"', f);
    for (size_t i = 0; i < size; i++) {
        fprintf(f, "%02x", bytes[i]);
    }
    putc('"', f);
}
