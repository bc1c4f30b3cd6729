/*
 * mcp_rpc.c - messages of JSON-RPC 2.0: taken apart, and made. What comes in is checked whole before anything is done.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/mcp/mcp.h"
#include "common/base/ascii.h"
#include "common/base/json_writer.h"
#include "profile/readers/input/json_pull.h"

/* ---- whether it is JSON ---- */

static size_t digits(const char *p, size_t n)
{
	size_t i = 0;

	while (i < n && ascii_is_digit(p[i]))
		i++;
	return i;
}

static bool is_number(const char *p, size_t n)
{
	size_t i = n && p[0] == '-', k = digits(p + i, n - i);

	if (!k || (k > 1 && p[i] == '0'))
		return false;
	i += k;
	if (i < n && p[i] == '.') {
		k = digits(p + i + 1, n - i - 1);
		i += 1 + k;
		if (!k)
			return false;
	}
	if (i < n && (p[i] == 'e' || p[i] == 'E')) {
		i++;
		i += i < n && (p[i] == '+' || p[i] == '-');
		k = digits(p + i, n - i);
		i += k;
		if (!k)
			return false;
	}
	return i == n;
}

static bool is_word(const char *p, size_t n)
{
	return (n == 4 && (memcmp(p, "true", 4) == 0 || memcmp(p, "null", 4) == 0)) ||
	       (n == 5 && memcmp(p, "false", 5) == 0) || is_number(p, n);
}

/* Words outside of strings, which json_skip passes over unseen, and what may not stand in strings. */
static bool has_good_words(const char *p, const char *end)
{
	while (p < end) {
		const char *from = p;

		if (*p == '"') {
			for (p++; p < end && *p != '"'; p++) {
				if ((unsigned char)*p < 0x20)
					return false;
				p += *p == '\\';
			}
			p++;
			continue;
		}
		while (p < end && !memchr(" \t\r\n,:{}[]\"", *p, 11))
			p++;
		if (p > from && !is_word(from, (size_t)(p - from)))
			return false;
		/* a value stands behind each ':' alone, and none behind another */
		if (p > from && p < end && (*p == ':' || *p == '"' || *p == '{' || *p == '['))
			return false;
		p += p == from;
	}
	return true;
}

static bool is_json(const char *line, size_t n)
{
	struct json j;
	bool good;

	if (!n || memchr(line, '\0', n))
		return false;
	json_init(&j, line, n);
	json_skip(&j);
	good = !j.error && json_peek(&j) == '\0' && j.at == j.end;
	json_free(&j);
	return good && has_good_words(line, line + n);
}

/* ---- members ---- */

const char *rpc_member(const char *object, size_t n, const char *key, size_t *length)
{
	const char *found = NULL, *name;
	struct json j;

	if (!object)
		return NULL;
	json_init(&j, object, n);
	if (json_peek(&j) == '{' && json_open(&j, '{'))
		while ((name = json_key(&j))) {
			bool wanted = strcmp(name, key) == 0;
			const char *from;

			json_peek(&j);
			from = j.at;
			json_skip(&j);
			if (wanted && !j.error) {
				found = from;
				*length = (size_t)(j.at - from);
			}
		}
	json_free(&j);
	return found;
}

/* The string that stands at VALUE, with its length. NULL: it is none. */
static char *string_at(const char *value, size_t n, size_t *length)
{
	struct json j;
	char *text = NULL;
	const char *read;

	json_init(&j, value, n);
	if (json_peek(&j) == '"') {
		read = json_string(&j, length);
		text = j.error ? NULL : strdup(read);
	}
	json_free(&j);
	return text;
}

char *rpc_text(const char *object, size_t n, const char *key)
{
	size_t length, chars = 0;
	const char *value = rpc_member(object, n, key, &length);
	char *text = value ? string_at(value, length, &chars) : NULL;

	if (text && strlen(text) != chars) {
		free(text);
		return NULL;
	}
	return text;
}

char *rpc_scalar(const char *object, size_t n, const char *key)
{
	struct buffer out = BUFFER_INIT;
	size_t length;
	const char *value = rpc_member(object, n, key, &length);
	char *text;

	if (!value)
		return NULL;
	if (is_number(value, length))
		return strndup(value, length);
	text = rpc_text(object, n, key);
	if (!text)
		return NULL;
	json_quote(&out, text);
	free(text);
	buffer_putc(&out, '\0');
	if (out.failed) {
		buffer_free(&out);
		return NULL;
	}
	return out.data;
}

/* ---- in ---- */

static int no_request(struct error *err, const char *why)
{
	error_set(err, EINVAL, "Invalid Request: %s", why);
	return RPC_NO_REQUEST;
}

int rpc_read(struct rpc_message *m, const char *line, size_t n, struct error *err)
{
	size_t length;
	const char *first = line;
	char *version;
	bool good;

	*m = (struct rpc_message){NULL};
	if (!is_json(line, n)) {
		error_set(err, EINVAL, "Parse error: a line is one message in JSON, without NUL bytes");
		return RPC_NOT_JSON;
	}
	first += strspn(line, " \t\r");
	if (*first == '[')
		return no_request(err, "batches are not taken; send one message a line");
	if (*first != '{')
		return no_request(err, "a message is an object");
	m->id = rpc_scalar(line, n, "id");
	version = rpc_text(line, n, "jsonrpc");
	good = version && strcmp(version, "2.0") == 0;
	free(version);
	if (!good)
		return no_request(err, "\"jsonrpc\" must be \"2.0\"");
	if (!rpc_member(line, n, "method", &length))
		return rpc_member(line, n, "result", &length) || rpc_member(line, n, "error", &length) ? 1 :
		       no_request(err, "there is no \"method\"");
	m->method = rpc_text(line, n, "method");
	if (!m->method)
		return no_request(err, "\"method\" must be a string");
	if (!m->id && rpc_member(line, n, "id", &length))
		return no_request(err, "\"id\" must be a string or a number");
	m->params = rpc_member(line, n, "params", &m->params_length);
	if (m->params && *m->params != '{') {
		error_set(err, EINVAL, "Invalid params: \"params\" must be an object");
		return m->id ? RPC_WRONG_PARAMS : 1;
	}
	return 0;
}

void rpc_free(struct rpc_message *m)
{
	free(m->id);
	free(m->method);
}

/* ---- out ---- */

static void begin(struct json_writer *w, const char *id)
{
	json_object(w, NULL);
	json_put_text(w, "jsonrpc", "2.0");
	json_put_value(w, "id", id ? id : "null");
}

void rpc_put_result(struct buffer *out, const char *id, const char *result)
{
	struct json_writer w = JSON_WRITER(out, JSON_LINE);

	begin(&w, id);
	json_put_value(&w, "result", result);
	json_end(&w);
}

void rpc_put_error(struct buffer *out, const char *id, int code, const char *text)
{
	struct json_writer w = JSON_WRITER(out, JSON_LINE);
	char number[16];

	snprintf(number, sizeof(number), "%d", code);
	begin(&w, id);
	json_object(&w, "error");
	json_put_value(&w, "code", number);
	json_put_text(&w, "message", text);
	json_end(&w);
	json_end(&w);
}

void rpc_put_content(struct buffer *out, const char *id, const char *text, bool is_error)
{
	struct json_writer w = JSON_WRITER(out, JSON_LINE);

	begin(&w, id);
	json_object(&w, "result");
	json_array(&w, "content");
	json_object(&w, NULL);
	json_put_texts(&w, {"type", "text"}, {"text", text});
	json_end(&w);
	json_end(&w);
	json_put_bool(&w, "isError", is_error);
	json_end(&w);
	json_end(&w);
}
