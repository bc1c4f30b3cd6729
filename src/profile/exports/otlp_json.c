/*
 * otlp_json.c - what otlp.c makes, as JSON: protobuf's mapping as OpenTelemetry has it, whose ids are hexadecimal.
 *
 * The messages are read back and spelled by the tables below, so both files say the same. Items of a list stand behind
 * each other in them. Numbers of 64 bits are texts there.
 */
#include <errno.h>
#include <string.h>

#include "common/base/json_writer.h"
#include "profile/exports/export.h"
#include "profile/writers/protobuf.h"
#include "profile/readers/others/otlp_schema.h"

/* What is left of a message, which otlp.c has made. */
struct part {
	const unsigned char *at, *end;
};

struct spelling {
	struct json_writer json;
	struct buffer text;
};

static uint64_t varint_of(struct part *m)
{
	uint64_t value = 0;
	unsigned shift;

	for (shift = 0; m->at < m->end; shift += 7) {
		value |= (uint64_t)(*m->at & 0x7f) << shift;
		if (!(*m->at++ & 0x80))
			break;
	}
	return value;
}

static uint64_t fixed_of(struct part *m)
{
	uint64_t value = 0;
	unsigned i;

	for (i = 0; i < 8 && m->at < m->end; i++)
		value |= (uint64_t)*m->at++ << 8 * i;
	return value;
}

static void put_number(struct spelling *s, const char *key, bool is_long, uint64_t value)
{
	if (!is_long) {
		json_put_number(&s->json, key, value);
		return;
	}
	json_begin_text(&s->json, key);
	buffer_printf(s->json.out, "%lld", (long long)value);
	json_end_text(&s->json);
}

static void put_list(struct spelling *s, const struct otlp_field *f, struct part *m)
{
	json_array(&s->json, f->name);
	while (m->at < m->end)
		put_number(s, NULL, f->what != OTLP_LIST_OF_NUMBERS,
			   f->what == OTLP_LIST_OF_TIMES ? fixed_of(m) : varint_of(m));
	json_end(&s->json);
}

static void put_bytes(struct spelling *s, const struct otlp_field *f, const struct part *m)
{
	const unsigned char *p;

	if (f->what != OTLP_ID) {
		s->text.length = 0;
		buffer_append(&s->text, m->at, (size_t)(m->end - m->at));
		json_put_text(&s->json, f->what == OTLP_TEXT ? f->name : NULL, buffer_text(&s->text, s->json.out));
		return;
	}
	json_begin_text(&s->json, f->name);
	for (p = m->at; p < m->end; p++)
		buffer_printf(s->json.out, "%02x", *p);
	json_end_text(&s->json);
}

/* Begin the list of F, after that of OPEN has ended; each NULL if there is none. */
static const struct otlp_field *change_list(struct spelling *s, const struct otlp_field *open,
						 const struct otlp_field *f)
{
	if (f && f->what != OTLP_LIST_OF_MESSAGES && f->what != OTLP_LIST_OF_TEXTS)
		f = NULL;
	if (f == open)
		return open;
	if (open)
		json_end(&s->json);
	if (f)
		json_array(&s->json, f->name);
	return f;
}

/* Members of message M, which has FIELDS. */
static void put_message(struct spelling *s, const char *key, const struct otlp_field *fields, struct part m)
{
	const struct otlp_field *open = NULL, *f;

	json_object(&s->json, key);
	while (m.at < m.end && !s->json.out->failed) {
		uint64_t head = varint_of(&m), value = 0;
		struct part inner = m;

		for (f = fields; f->number && f->number != head >> 3;)
			f++;
		open = change_list(s, open, f);
		if ((head & 7) == PROTO_LENGTH) {
			value = varint_of(&m);
			inner = (struct part){m.at, m.at + value};
			m.at += value;
		} else {
			value = (head & 7) == PROTO_FIXED64 ? fixed_of(&m) : varint_of(&m);
		}
		if (f->what == OTLP_MESSAGE || f->what == OTLP_LIST_OF_MESSAGES)
			put_message(s, open ? NULL : f->name, f->of, inner);
		else if (f->what == OTLP_NUMBER || f->what == OTLP_LONG)
			put_number(s, f->name, f->what == OTLP_LONG, value);
		else if (f->what == OTLP_LIST_OF_NUMBERS || f->what == OTLP_LIST_OF_LONGS ||
			 f->what == OTLP_LIST_OF_TIMES)
			put_list(s, f, &inner);
		else if (f->what == OTLP_END)
			s->json.out->failed = EINVAL; /* otlp.c writes what is not told of here */
		else
			put_bytes(s, f, &inner);
	}
	change_list(s, open, NULL);
	json_end(&s->json);
}

void export_otlpjson(const struct profile *const *profiles, uint32_t count, const struct format_options *options,
		     struct buffer *out)
{
	struct spelling s = {.json = JSON_WRITER(out, JSON_LINE), .text = BUFFER_INIT};
	struct buffer messages = BUFFER_INIT;
	struct part all;

	export_otlp(profiles, count, options, &messages);
	all.at = (const unsigned char *)messages.data;
	all.end = all.at + messages.length;
	if (!messages.failed)
		put_message(&s, NULL, otlp_data, all);
	else if (!out->failed)
		out->failed = messages.failed;
	buffer_free(&messages);
	buffer_free(&s.text);
}
