/* A Touchstone shim for @ROLE@ in C: JSON Lines on stdin and stdout, four verbs.
 * stdout is the protocol: log to stderr. Fill in start, perform and stop; OPERATIONS.md says what is asked.
 * It needs no library: a request is cut into its fields, each as the JSON text that came. Give `args` to the one you use. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROLE "@ROLE@"

typedef struct { const char *at; int size; } Text; /* a part of the line: print it with "%.*s", size, at */
typedef enum { RESULT, REFUSED, UNSUPPORTED, FAILED } Kind;
/* REFUSED: your implementation rejected the input, often just what a case wants. UNSUPPORTED: you do not offer this.
 * FAILED: you tried and could not. */

static char said[1 << 20]; /* the JSON of the answer: an object for RESULT, else a string */

static int is(Text text, const char *word) {
    return text.size == (int)strlen(word) && !strncmp(text.at, word, text.size);
}

static Text field(const char *line, const char *key);

/* Start an instance of the role; the harness gives it its name. A server answers {"address": "ws://127.0.0.1:1234"}. */
static Kind start(Text instance, Text role, Text config) {
    (void)instance, (void)config;
    if (!is(role, ROLE)) {
        snprintf(said, sizeof said, "\"role %.*s\"", role.size, role.at);
        return UNSUPPORTED;
    }
    snprintf(said, sizeof said, "{}");
    return RESULT;
}

/* One operation on an instance. */
static Kind perform(Text instance, Text op, Text args) {
    (void)instance, (void)args;
    snprintf(said, sizeof said, "\"operation %.*s\"", op.size, op.at);
    return UNSUPPORTED;
}

static Kind stop(Text instance) {
    (void)instance;
    snprintf(said, sizeof said, "{}");
    return RESULT;
}

static Kind hello(void) {
    snprintf(said, sizeof said, "{\"name\":\"@NAME@\",\"version\":\"0.1.0\",\"language\":\"c\",\"protocol\":1,"
                                "\"roles\":{\"" ROLE "\":[]}}");
    return RESULT;
}

/* Tell the harness that something happened at an instance, with
 * printf("{\"event\":\"...\",\"instance\":\"%.*s\",\"data\":{}}\n", instance.size, instance.at), then fflush(stdout). */

/* A field of the object on a line, of a string what is between the quotes; what lies deeper is passed over. */
static Text field(const char *line, const char *key) {
    Text name = {"", 0}, value;
    const char *began = line;
    int depth = 0, quoted = 0;
    for (const char *at = line; *at; at++) {
        if (quoted && *at == '\\' && at[1]) at++;
        else if (*at == '"') quoted = !quoted;
        else if (quoted || strchr(" \t\r\n", *at)) continue;
        else if (depth == 1 && strchr(":,}", *at)) {
            value.at = began + strspn(began, " \t\r\n\"");
            for (value.size = (int)(at - value.at); value.size && strchr(" \"", value.at[value.size - 1]);) value.size--;
            if (*at == ':') name = value;
            else if (is(name, key)) return value;
            else if (*at == '}') break;
            began = at + 1;
        } else if (*at == '{' || *at == '[') {
            if (!depth++) began = at + 1;
        } else if (*at == '}' || *at == ']') depth--;
    }
    return (Text){"", 0};
}

static void answer(const char *line) {
    static const char *kinds[] = {"result", "refused", "unsupported", "failed"};
    Text verb = field(line, "verb"), id = field(line, "id"), instance = field(line, "instance"), args = field(line, "args");
    Kind kind = is(verb, "hello")   ? hello()
                : is(verb, "start") ? start(instance, field(line, "role"), args)
                : is(verb, "do")    ? perform(instance, field(line, "op"), args)
                                    : stop(instance);
    printf("{\"id\":%.*s,\"%s\":%s}\n", id.size, id.at, kinds[kind], said);
    fflush(stdout);
}

int main(void) {
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) answer(line);
    return 0;
}
