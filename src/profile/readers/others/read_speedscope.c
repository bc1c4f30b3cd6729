/*
 * read_speedscope.c - the file format of speedscope.app, by its JSON schema: profiles of samples with weights, and of
 * functions that are entered and left. All share one table of frames, which may stand behind them: so there are two
 * passes. What the weights are of is not said: an event is called by their unit.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/readers/others/foreign_json.h"
#include "profile/readers/others/others.h"

#define OURS "jstrobe "
#define SEPARATOR ", " /* of our name's parts */
#define TID " tid="

/* Time or bytes at a node. */
struct part {
	uint32_t node;
	long double weight;
};

struct speedscope {
	struct foreign_json f;
	struct numbers frames;
	VECTOR(struct part) parts; /* of the present profile */
	size_t sampled;            /* parts that want a weight */
	uint32_t node;             /* what is entered and not left yet */
	long double at, end;       /* of the last event; where all of them end, if has_end */
	bool has_events, has_end;
	uint64_t crossed;          /* functions that are left before one that they entered */
	struct buffer name, unit, event; /* of the present profile; event: of the file, if it is ours */
	uint32_t profiles;
	bool ours;
};

static bool has_memory(const struct speedscope *s)
{
	return !s->f.no_memory && !s->f.c->aggregate.no_memory;
}

static void keep_text(struct speedscope *s, struct buffer *to)
{
	size_t length;
	const char *text = json_string(&s->f.j, &length);

	to->length = 0;
	to->fd = -1;
	buffer_append(to, text, length);
	buffer_putc(to, '\0');
	to->length -= to->length != 0;
	s->f.no_memory |= to->failed != 0;
}

/* Where PART stands in TEXT for the last time; NULL: nowhere. */
static char *last_of(char *text, const char *part)
{
	char *at = strstr(text, part), *last = NULL;

	for (; at; at = strstr(at + 1, part))
		last = at;
	return last;
}

/* ---- frames ---- */

static void read_frame(struct speedscope *s)
{
	struct buffer name = BUFFER_INIT, file = BUFFER_INIT;
	struct foreign_frame frame = {.name = {"", 0}, .source = {"", 0}, .library = {"", 0}};
	long double line = 0;
	const char *key;

	if (!json_open(&s->f.j, '{'))
		return;
	while (foreign_json_goes_on(&s->f) && (key = json_key(&s->f.j))) {
		if (strcmp(key, "name") == 0)
			keep_text(s, &name);
		else if (strcmp(key, "file") == 0 && json_peek(&s->f.j) == '"')
			keep_text(s, &file);
		else if (strcmp(key, "line") == 0 && json_peek(&s->f.j) != 'n')
			line = json_real(&s->f.j);
		else
			json_skip(&s->f.j);
	}
	frame.name = (struct foreign_text){name.length ? name.data : "", name.length};
	frame.source = (struct foreign_text){file.length ? file.data : "", file.length};
	frame.line = s->f.c->options->lines && line > 0 && line < INT32_MAX ? (uint64_t)line : 0;
	if (foreign_json_goes_on(&s->f))
		foreign_json_push(&s->f, &s->frames, foreign_frame(&s->f.c->aggregate, &frame));
	buffer_free(&name);
	buffer_free(&file);
}

/* READ each item of the list MEMBER of the object that comes next; its other members are left out. */
static void read_each(struct speedscope *s, const char *member, void (*read)(struct speedscope *s))
{
	const char *key;

	if (!json_open(&s->f.j, '{'))
		return;
	while (foreign_json_goes_on(&s->f) && (key = json_key(&s->f.j))) {
		if (strcmp(key, member) != 0) {
			json_skip(&s->f.j);
			continue;
		}
		json_open(&s->f.j, '[');
		while (foreign_json_goes_on(&s->f) && json_item(&s->f.j))
			read(s);
	}
}

/* Frame NUMBER of the table. */
static uint32_t frame_at(struct speedscope *s, long double number)
{
	const struct foreign_frame unknown = {.name = {"", 0}, .source = {"", 0}, .library = {"", 0}};

	if (number >= 0 && number < s->frames.count)
		return s->frames.items[(size_t)number];
	s->f.lost++;
	return foreign_frame(&s->f.c->aggregate, &unknown);
}

/* ---- profiles ---- */

static struct part *push_part(struct speedscope *s, uint32_t node)
{
	struct part *part = VECTOR_PUSH(&s->parts);

	if (part)
		*part = (struct part){node, 0};
	s->f.no_memory |= !part;
	return part;
}

static void read_samples(struct speedscope *s)
{
	uint32_t node;

	if (!json_open(&s->f.j, '['))
		return;
	while (foreign_json_goes_on(&s->f) && json_item(&s->f.j)) {
		node = FOREIGN_TREE_ROOT;
		json_open(&s->f.j, '[');
		while (foreign_json_goes_on(&s->f) && json_item(&s->f.j))
			node = foreign_tree_child(&s->f.tree, node, frame_at(s, json_real(&s->f.j)));
		push_part(s, node);
		s->sampled++;
	}
}

/* Weights are as many as samples, and may stand before them. */
static void read_weights(struct speedscope *s, struct part **weights, size_t *count)
{
	VECTOR(struct part) list = {.items = *weights};

	if (!json_open(&s->f.j, '['))
		return;
	while (foreign_json_goes_on(&s->f) && json_item(&s->f.j)) {
		struct part *part = VECTOR_PUSH(&list);

		if (part)
			part->weight = json_real(&s->f.j);
		s->f.no_memory |= !part;
	}
	*weights = list.items;
	*count = list.count;
}

/* What passed since the last event belongs to what is entered. */
static void pass_time(struct speedscope *s, long double at)
{
	struct part *part = s->has_events && at != s->at && s->node != FOREIGN_TREE_ROOT ? push_part(s, s->node) : NULL;

	if (part)
		part->weight = at - s->at;
	s->has_events = true;
	s->at = at;
}

/* The innermost function is left; it should be FRAME. */
static void leave(struct speedscope *s, long double frame)
{
	if (frame_at(s, frame) != foreign_tree_frame(&s->f.tree, s->node))
		s->crossed++;
	s->node = foreign_tree_caller(&s->f.tree, s->node);
}

/* One event {type, frame, at}. */
static void read_event(struct speedscope *s)
{
	long double at = s->at, frame = -1;
	char type = '\0';
	const char *key;

	if (!json_open(&s->f.j, '{'))
		return;
	while (foreign_json_goes_on(&s->f) && (key = json_key(&s->f.j))) {
		if (strcmp(key, "type") == 0)
			type = *json_string(&s->f.j, NULL);
		else if (strcmp(key, "at") == 0)
			at = json_real(&s->f.j);
		else if (strcmp(key, "frame") == 0)
			frame = json_real(&s->f.j);
		else
			json_skip(&s->f.j);
	}
	if (!foreign_json_goes_on(&s->f))
		return;
	pass_time(s, at);
	if (type == 'O')
		s->node = foreign_tree_child(&s->f.tree, s->node, frame_at(s, frame));
	else if (type == 'C' && s->node != FOREIGN_TREE_ROOT)
		leave(s, frame);
	else
		s->f.lost++;
}

static void read_events(struct speedscope *s)
{
	if (!json_open(&s->f.j, '['))
		return;
	while (foreign_json_goes_on(&s->f) && json_item(&s->f.j))
		read_event(s);
}

/* "cpu: [main tid=12]" of ours, any text of others: the thread, and the event to NAME. */
static void name_thread(struct speedscope *s, char *event, size_t size)
{
	struct foreign_labels *l = &s->f.labels;
	char *name = s->name.length ? s->name.data : NULL, *colon, *tid, *end;

	foreign_labels_begin(l);
	if (!name || (!s->ours && s->profiles < 2))
		return;
	colon = s->ours && *name != '[' ? strstr(name, ": [") : NULL;
	if (colon) {
		*colon = '\0';
		snprintf(event, size, "%s", name);
		name = colon + 2;
	} else if (s->ours && *name != '[') {
		snprintf(event, size, "%s", name);
		return;
	}
	end = name + strlen(name);
	if (s->ours && end[-1] == ']') {
		*--end = '\0';
		tid = last_of(++name, TID); /* the name may have one, too */
		if (tid) {
			*tid = '\0';
			end = tid;
			l->tid = strtoul(tid + strlen(TID), NULL, 10);
		}
	}
	buffer_append(&l->name, name, (size_t)(end - name));
}

/* What was read of the profile is added up. */
static void end_profile(struct speedscope *s)
{
	struct foreign_text unit = {s->unit.length ? s->unit.data : "none", s->unit.length ? s->unit.length : 4};
	struct foreign_event event;
	uint64_t values[VALUE_ROLES] = {0}, scale;
	char name[64];
	size_t i;

	snprintf(name, sizeof(name), "%s", s->event.length ? s->event.data : foreign_unit_event(&unit));
	name_thread(s, name, sizeof(name));
	if (!foreign_event_of(&s->f.events, name, &unit, s->f.c->selection.families, &event, &scale))
		return;
	for (i = 0; i < s->parts.count && has_memory(s); i++) {
		struct foreign_place at;
		uint32_t stack;

		values[VALUE_WEIGHT] = foreign_json_scaled(&s->f, s->parts.items[i].weight, scale);
		values[VALUE_SAMPLES] = event.kind == WEIGHT_COUNT ? values[VALUE_WEIGHT] : 1;
		if (!values[VALUE_WEIGHT])
			continue;
		stack = foreign_tree_stack(&s->f.tree, s->parts.items[i].node);
		if (stack == LISTS_FAILED)
			return;
		at = foreign_labels_place(&s->f.labels, &event, stack);
		if (has_memory(s))
			foreign_events_add(&s->f.events, &event, values, &at);
	}
}

static bool read_end(struct speedscope *s)
{
	s->end = json_real(&s->f.j);
	return true;
}

static void read_profile(struct speedscope *s)
{
	struct part *weights = NULL;
	size_t count = 0, i;
	const char *key;

	s->parts.count = s->sampled = 0;
	s->name.length = s->unit.length = 0;
	s->node = FOREIGN_TREE_ROOT;
	s->has_events = s->has_end = false;
	s->at = 0;
	if (!json_open(&s->f.j, '{'))
		return;
	while (foreign_json_goes_on(&s->f) && (key = json_key(&s->f.j))) {
		if (strcmp(key, "name") == 0)
			keep_text(s, &s->name);
		else if (strcmp(key, "unit") == 0)
			keep_text(s, &s->unit);
		else if (strcmp(key, "samples") == 0)
			read_samples(s);
		else if (strcmp(key, "weights") == 0 && !weights)
			read_weights(s, &weights, &count);
		else if (strcmp(key, "events") == 0)
			read_events(s);
		else if (strcmp(key, "endValue") == 0 && json_peek(&s->f.j) != 'n')
			s->has_end = read_end(s);
		else
			json_skip(&s->f.j);
	}
	for (i = 0; i < s->parts.count && i < count; i++)
		s->parts.items[i].weight = weights[i].weight;
	free(weights);
	if (foreign_json_goes_on(&s->f))
		s->f.alone += s->sampled > count ? s->sampled - count : count - s->sampled;
	if (foreign_json_goes_on(&s->f) && s->has_end && s->end > s->at)
		pass_time(s, s->end); /* what nothing leaves lasts until then */
	if (has_memory(s))
		end_profile(s);
}

/* ---- the whole ---- */

/* Our own name is "MAIN CLASS, EVENT". */
static void read_name(struct speedscope *s)
{
	char *comma;

	keep_text(s, &s->name);
	comma = s->name.length ? last_of(s->name.data, SEPARATOR) : NULL;
	s->event.fd = -1;
	s->event.length = 0;
	buffer_puts(&s->event, comma ? comma + strlen(SEPARATOR) : s->name.length ? s->name.data : "");
	buffer_putc(&s->event, '\0');
	s->event.length -= s->event.length != 0;
	if (comma)
		s->f.c->info.main_class = strings_add(&s->f.c->aggregate.strings, s->name.data,
						      (size_t)(comma - s->name.data));
}

static void count_profiles(struct speedscope *s)
{
	if (!json_open(&s->f.j, '['))
		return;
	for (; foreign_json_goes_on(&s->f) && json_item(&s->f.j); s->profiles++)
		json_skip(&s->f.j);
}

static void first_pass(struct speedscope *s)
{
	const char *key;

	if (!json_open(&s->f.j, '{'))
		return;
	while (foreign_json_goes_on(&s->f) && (key = json_key(&s->f.j))) {
		if (strcmp(key, "shared") == 0) {
			read_each(s, "frames", read_frame);
		} else if (strcmp(key, "exporter") == 0 && json_peek(&s->f.j) == '"') {
			keep_text(s, &s->unit);
			s->ours = s->unit.length && strncmp(s->unit.data, OURS, strlen(OURS)) == 0;
		} else if (strcmp(key, "name") == 0 && json_peek(&s->f.j) == '"') {
			read_name(s);
		} else if (strcmp(key, "profiles") == 0) {
			count_profiles(s);
		} else {
			json_skip(&s->f.j);
		}
	}
	if (!s->ours) {
		s->event.length = 0;
		s->f.c->info.main_class = 0;
	}
}

int speedscope_read(struct conversion *c, struct error *err)
{
	struct speedscope s = {.profiles = 0};
	int rc;

	foreign_json_begin(&s.f, c);
	first_pass(&s);
	if (has_memory(&s)) {
		foreign_json_again(&s.f);
		read_each(&s, "profiles", read_profile);
	}
	if (s.crossed)
		buffer_printf(&c->notes, "%s: %llu times a function is left before one that it entered; the innermost "
			      "is taken to be left\n", c->in.name, (unsigned long long)s.crossed);
	rc = foreign_json_end(&s.f, "speedscope", err);
	free(s.frames.items);
	free(s.parts.items);
	buffer_free(&s.name);
	buffer_free(&s.unit);
	buffer_free(&s.event);
	return rc;
}
