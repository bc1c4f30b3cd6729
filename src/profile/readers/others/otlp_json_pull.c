/*
 * otlp_json_pull.c - OTLP's profiles in JSON, turned into the messages that they stand for, so that one reader reads
 * both. Members that the schema does not have are left out; names may be spelled as in messages (stack_index).
 */
#include <string.h>

#include "profile/readers/input/json_pull.h"
#include "profile/readers/others/otlp_reader.h"
#include "profile/writers/protobuf.h"

/* What is inside of what is at most as deep as the schema. */
static void put_members(struct json *j, const struct otlp_field *fields, struct buffer *out);

/* "stack_index" is "stackIndex". */
static bool is_called(const char *key, const char *name)
{
	for (; *name; name++, key++) {
		if (*key == '_' && key[1]) {
			key++;
			if (*name != *key - 'a' + 'A')
				return false;
		} else if (*key != *name) {
			return false;
		}
	}
	return !*key;
}

/* The number that TEXT of J is; what begins with none is 0. */
static uint64_t number_in(struct json *j, const char *text, size_t length, bool *minus)
{
	struct json inner;
	uint64_t value;
	char c;

	json_init(&inner, text, length);
	c = json_peek(&inner);
	*minus = false;
	value = c == '-' || (c >= '0' && c <= '9') ? json_signed(&inner, minus) : 0;
	if (inner.error)
		json_fail(j, inner.error);
	json_free(&inner);
	return value;
}

/* A number, which may be a text, as messages have it: below 0 by its complement. What is none is 0. */
static uint64_t number(struct json *j, bool is_signed)
{
	uint64_t value = 0;
	bool minus = false;
	char c = json_peek(j);
	const char *text;
	size_t length;

	if (c == '"') {
		text = json_string(j, &length);
		value = number_in(j, text, length, &minus);
	} else if (c == '-' || (c >= '0' && c <= '9')) {
		value = json_signed(j, &minus);
	} else {
		json_skip(j);
	}
	if ((is_signed || minus) && value > INT64_MAX)
		json_fail(j, "a number of 63 bits");
	return j->error ? 0 : minus ? -value : value;
}

static unsigned digit(char c)
{
	return c >= '0' && c <= '9' ? (unsigned)(c - '0') : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10) :
	       c >= 'A' && c <= 'F' ? (unsigned)(c - 'A' + 10) : 0;
}

/* Hexadecimal digits as bytes. */
static void put_id(struct json *j, unsigned field, struct buffer *out)
{
	unsigned char bytes[16];
	size_t length, i, n;
	const char *text;

	if (json_peek(j) != '"') {
		json_skip(j);
		return;
	}
	text = json_string(j, &length);
	n = MIN(length / 2, sizeof(bytes));
	for (i = 0; i < n; i++)
		bytes[i] = (unsigned char)(digit(text[2 * i]) << 4 | digit(text[2 * i + 1]));
	proto_bytes(out, field, bytes, n);
}

static void put_text(struct json *j, unsigned field, struct buffer *out)
{
	size_t length;
	const char *text;

	if (json_peek(j) != '"') {
		json_skip(j);
		return;
	}
	text = json_string(j, &length);
	proto_bytes(out, field, text, length);
}

static void put_message(struct json *j, const struct otlp_field *f, struct buffer *out)
{
	struct buffer inner = BUFFER_INIT;

	put_members(j, f->of, &inner);
	proto_bytes(out, f->number, inner.length ? inner.data : "", inner.length);
	out->failed = out->failed ? out->failed : inner.failed;
	buffer_free(&inner);
}

/* A list, each item of it as a field of its own but for numbers. */
static void put_list(struct json *j, const struct otlp_field *f, struct buffer *out)
{
	struct buffer packed = BUFFER_INIT;

	if (json_peek(j) != '[') {
		json_skip(j);
		return;
	}
	json_open(j, '[');
	while (!j->error && !out->failed && json_item(j)) {
		if (f->what == OTLP_LIST_OF_MESSAGES)
			put_message(j, f, out);
		else if (f->what == OTLP_LIST_OF_TEXTS)
			put_text(j, f->number, out);
		else if (f->what == OTLP_LIST_OF_TIMES)
			proto_put64(&packed, number(j, false));
		else
			proto_varint(&packed, number(j, f->what == OTLP_LIST_OF_LONGS));
	}
	if (packed.length)
		proto_bytes(out, f->number, packed.data, packed.length);
	out->failed = out->failed ? out->failed : packed.failed;
	buffer_free(&packed);
}

static void put_member(struct json *j, const struct otlp_field *f, struct buffer *out)
{
	switch (f->what) {
	case OTLP_NUMBER:
	case OTLP_LONG:
		proto_varint(out, (uint64_t)f->number << 3 | PULL_VARINT);
		proto_varint(out, number(j, false));
		break;
	case OTLP_TEXT:
		put_text(j, f->number, out);
		break;
	case OTLP_ID:
		put_id(j, f->number, out);
		break;
	case OTLP_MESSAGE:
		put_message(j, f, out);
		break;
	case OTLP_END:
		json_skip(j);
		break;
	default:
		put_list(j, f, out);
	}
}

static void put_members(struct json *j, const struct otlp_field *fields, struct buffer *out)
{
	const struct otlp_field *f;
	const char *key;

	if (json_peek(j) != '{') {
		json_skip(j);
		return;
	}
	json_open(j, '{');
	while (!j->error && !out->failed && (key = json_key(j))) {
		for (f = fields; f->what != OTLP_END && !is_called(key, f->name); f++)
			;
		put_member(j, f, out);
	}
}

const char *otlp_of_json(const struct input *in, struct buffer *out, uint64_t *at)
{
	const char *error;
	struct json j;

	json_init(&j, in->bytes, in->size);
	put_members(&j, otlp_data, out);
	error = j.error;
	*at = (uint64_t)(j.at - j.begin);
	json_free(&j);
	return error;
}
