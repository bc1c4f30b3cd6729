#include "profile/readers/others/foreign_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/readers/others/others.h"

/* The first key that only one kind of file has. */
static const struct {
	const char *key;
	enum foreign_kind kind;
} deciding[] = {
	{"schema", FOREIGN_NONE},       {"event", FOREIGN_NONE},  {"stacks", FOREIGN_NONE},  {"tree", FOREIGN_NONE},
	{"$schema", FOREIGN_SPEEDSCOPE}, {"meta", FOREIGN_FIREFOX}, {"libs", FOREIGN_FIREFOX},
	{"resourceProfiles", FOREIGN_OTLP}, {"resource_profiles", FOREIGN_OTLP}, {"dictionary", FOREIGN_OTLP},
};

enum foreign_kind foreign_json_kind(const struct input *in)
{
	enum foreign_kind kind = FOREIGN_NONE;
	bool decided = false;
	const char *key;
	struct json j;
	size_t i;

	json_init(&j, in->bytes, in->size);
	if (json_open(&j, '{'))
		while (!decided && (key = json_key(&j))) {
			for (i = 0; !decided && i < ARRAY_LEN(deciding); i++)
				if (strcmp(key, deciding[i].key) == 0) {
					kind = deciding[i].kind;
					decided = true;
				}
			if (!decided)
				json_skip(&j);
		}
	json_free(&j);
	return kind;
}

void foreign_json_begin(struct foreign_json *f, struct conversion *c)
{
	memset(f, 0, sizeof(*f));
	f->c = c;
	f->events.to = f->labels.to = f->tree.to = &c->aggregate;
	f->events.moments = c->selection.moments;
	read_aggregate_limit(&c->aggregate, c->in.size, 1);
	json_init(&f->j, c->in.bytes, c->in.size);
}

void foreign_json_again(struct foreign_json *f)
{
	json_free(&f->j);
	json_init(&f->j, f->c->in.bytes, f->c->in.size);
}

bool foreign_json_goes_on(const struct foreign_json *f)
{
	return !f->no_memory && !f->c->aggregate.no_memory && !f->j.error;
}

void foreign_json_push(struct foreign_json *f, struct numbers *to, uint32_t number)
{
	uint32_t *item = VECTOR_PUSH(to);

	if (item)
		*item = number;
	f->no_memory |= !item;
}

void foreign_json_column(struct foreign_json *f, struct numbers *to)
{
	long double value;

	to->count = 0;
	if (json_peek(&f->j) != '[') { /* null: there is no such column */
		json_skip(&f->j);
		return;
	}
	json_open(&f->j, '[');
	while (foreign_json_goes_on(f) && json_item(&f->j)) {
		char c = json_peek(&f->j);

		if (c != '-' && (c < '0' || c > '9')) {
			json_skip(&f->j);
			foreign_json_push(f, to, FOREIGN_JSON_NULL);
			continue;
		}
		value = json_real(&f->j);
		foreign_json_push(f, to, value >= 0 && value < FOREIGN_JSON_NULL ? (uint32_t)value : FOREIGN_JSON_NULL);
	}
}

void foreign_json_texts(struct foreign_json *f, struct numbers *to)
{
	struct read_aggregate *aggregate = &f->c->aggregate;

	to->count = 0;
	if (!json_open(&f->j, '['))
		return;
	while (foreign_json_goes_on(f) && json_item(&f->j)) {
		size_t length;
		const char *text = json_string(&f->j, &length);

		foreign_json_push(f, to, strings_add(&aggregate->strings, text, length));
		f->no_memory |= aggregate->strings.failed;
	}
}

struct foreign_text foreign_json_text(const struct foreign_json *f, uint32_t number)
{
	const char *text = strings_get(&f->c->aggregate.strings, number);

	return (struct foreign_text){text, strlen(text)};
}

static struct foreign_text copy(struct foreign_json *f, struct buffer *to, const struct foreign_text *text)
{
	to->fd = -1;
	to->length = 0;
	buffer_append(to, text->bytes, text->length);
	f->no_memory |= to->failed != 0;
	return (struct foreign_text){to->length ? to->data : "", to->length};
}

uint32_t foreign_json_frame(struct foreign_json *f, const struct foreign_frame *frame)
{
	struct foreign_frame own = *frame;

	own.name = copy(f, &f->copies[0], &frame->name);
	own.source = copy(f, &f->copies[1], &frame->source);
	own.library = copy(f, &f->copies[2], &frame->library);
	return foreign_frame(&f->c->aggregate, &own);
}

uint64_t foreign_json_id(struct foreign_json *f)
{
	char c = json_peek(&f->j);
	long double number;

	if (c == '"')
		return strtoull(json_string(&f->j, NULL), NULL, 10);
	if (c < '0' || c > '9') {
		json_skip(&f->j);
		return 0;
	}
	number = json_real(&f->j);
	return number < UINT32_MAX ? (uint64_t)number : 0;
}

uint64_t foreign_json_scaled(struct foreign_json *f, long double value, uint64_t scale)
{
	value *= (long double)scale;
	if (value < 0) {
		f->events.negative++;
		return 0;
	}
	if (value >= (long double)INT64_MAX) {
		read_aggregate_refuse(&f->c->aggregate, READ_AGGREGATE_SUMS);
		return 0;
	}
	return (uint64_t)(value + 0.5L);
}

/* What is odd about the file is said, unless it makes all of it useless. */
static int judge(struct foreign_json *f, const char *kind, struct error *err)
{
	struct conversion *c = f->c;
	unsigned long long at = (unsigned long long)(f->j.at - f->j.begin);
	size_t i;
	bool any = false;

	if (f->no_memory || c->aggregate.no_memory)
		return conversion_no_memory(c, err);
	for (i = 0; i < c->aggregate.families.count; i++)
		any |= c->aggregate.families.items[i].samples != 0;
	if (f->j.error && !any)
		return error_set(err, EINVAL, "%s: a file of %s that is cut or damaged: byte %llu should be %s; make "
				 "it anew", c->in.name, kind, at, f->j.error);
	if (f->alone && !any)
		return error_set(err, ENODATA, "%s: none of the %llu samples of this file of %s has a weight",
				 c->in.name, (unsigned long long)f->alone, kind);
	if (f->j.error)
		buffer_printf(&c->notes, "%s: from byte %llu on, which should be %s, this file of %s is cut "
			      "or damaged; what stands before is read\n", c->in.name, at, f->j.error, kind);
	if (f->lost)
		buffer_printf(&c->notes, "%s: %llu of its numbers lead to no frame or text: it is cut or damaged; "
			      "such frames are [unknown], or left out\n", c->in.name, (unsigned long long)f->lost);
	if (f->alone)
		buffer_printf(&c->notes, "%s: %llu samples have no weight, or weights no sample; they are left out\n",
			      c->in.name, (unsigned long long)f->alone);
	if (f->events.negative)
		buffer_printf(&c->notes, "%s: %llu weights are below 0, and count as 0\n", c->in.name,
			      (unsigned long long)f->events.negative);
	return 0;
}

int foreign_json_end(struct foreign_json *f, const char *kind, struct error *err)
{
	int rc = judge(f, kind, err);
	size_t i;

	json_free(&f->j);
	foreign_events_free(&f->events);
	foreign_labels_free(&f->labels);
	foreign_tree_free(&f->tree);
	for (i = 0; i < ARRAY_LEN(f->copies); i++)
		buffer_free(&f->copies[i]);
	return rc;
}
