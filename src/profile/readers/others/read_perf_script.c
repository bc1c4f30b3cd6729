/*
 * read_perf_script.c - what `perf script` prints: a line for each sample, its stack in the lines below, the leaf first.
 *
 *	java 4711/4725 [001] 1234.567890:   10101010 cycles:u:
 *		    7f1a2b3c4d5e Ljava/util/HashMap;::put+0x1e (/tmp/perf-4711.map)
 *		ffffffff81000000 do_syscall_64+0x3d ([kernel.kallsyms])
 *
 * Which fields there are depends on its options; a program's name may have blanks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/ascii.h"
#include "profile/readers/others/foreign_labels.h"
#include "profile/readers/others/others.h"
#include "profile/readers/input/progress.h"

#define LINE_MOST LIMIT_BYTES(1u << 20) /* bytes */
#define TOKENS 24                       /* of a sample's line that are looked at */
#define FIRST_LINES 200                 /* that may be comments */
#define BEFORE (NS_PER_MS << 27)        /* ns that a sample may be before the first one: CPUs are in no order */
#define MODIFIERS "ukhHGpPIDSWeb"       /* behind an event: cycles:ukH */
#define KERNEL_DIGITS "ffff"            /* how an address of the kernel begins */

struct line {
	const char *at, *end;
};

/* The first line of a sample. */
struct head {
	struct foreign_text comm, event, rest;
	uint64_t tid, time, period; /* ns; period 0: not said */
};

struct perf_script {
	struct conversion *c;
	struct foreign_events events;
	struct foreign_labels labels;
	struct numbers frames; /* of the present sample, leaf first */
	struct head head;
	struct foreign_event event;
	struct buffer name;
	uint64_t begin, first_time, last_time, odd, samples; /* begin: time of the file's first sample */
	bool open, no_memory;
};

/* ---- lines ---- */

/* The line at AT, without its end; false: there is none, or it is too long. */
static bool next_line(const char **at, const char *end, struct line *line)
{
	size_t most = MIN((size_t)(end - *at), (size_t)LINE_MOST);
	const char *newline = most ? memchr(*at, '\n', most) : NULL;

	if (!most || (!newline && *at + most < end))
		return false;
	*line = (struct line){*at, newline ? newline : *at + most};
	*at = newline ? newline + 1 : end;
	if (line->end > line->at && line->end[-1] == '\r')
		line->end--;
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && is_blank(*at))
		at++;
	return at;
}

/* The words of LINE, at most TOKENS. */
static unsigned split(const struct line *line, struct foreign_text words[TOKENS])
{
	const char *at = skip_blanks(line->at, line->end), *from;
	unsigned n = 0;

	for (; at < line->end && n < TOKENS; at = skip_blanks(at, line->end)) {
		for (from = at; at < line->end && !is_blank(*at);)
			at++;
		words[n++] = (struct foreign_text){from, (size_t)(at - from)};
	}
	return n;
}

/* The number that TEXT begins with; where it ends. */
static const char *number_at(const char *text, const char *end, uint64_t *number)
{
	for (*number = 0; text < end && ascii_is_digit(*text); text++)
		if (__builtin_mul_overflow(*number, 10, number) ||
		    __builtin_add_overflow(*number, (uint64_t)(*text - '0'), number))
			*number = UINT64_MAX;
	return text;
}

/* "4711" or "4711/4725": the thread. */
static bool is_thread(const struct foreign_text *word, uint64_t *tid)
{
	const char *end = word->bytes + word->length, *at = number_at(word->bytes, end, tid);

	if (at > word->bytes && at < end && *at == '/')
		at = number_at(at + 1, end, tid);
	return at == end && word->length && word->bytes[word->length - 1] != '/' && ascii_is_digit(word->bytes[0]);
}

/* "1234.567890:" in ns. */
static bool is_time(const struct foreign_text *word, uint64_t *time)
{
	const char *end = word->bytes + word->length, *at = number_at(word->bytes, end, time), *point = at;
	uint64_t place = NS_PER_S;

	if (at == word->bytes || at == end || *at != '.' || end[-1] != ':' || *time > UINT64_MAX / NS_PER_S / 2)
		return false;
	*time *= NS_PER_S;
	for (at = point + 1; at < end - 1; at++) {
		if (!ascii_is_digit(*at))
			return false;
		place /= 10;
		*time += place * (uint64_t)(*at - '0');
	}
	return true;
}

static bool is_cpu(const struct foreign_text *word)
{
	return word->length > 2 && word->bytes[0] == '[' && ascii_is_digit(word->bytes[1]) &&
	       word->bytes[word->length - 1] == ']';
}

/* "cycles:u:", "sched:sched_switch:", without what is no part of the name. */
static bool is_event(struct foreign_text *word)
{
	const char *colon;
	size_t i;

	if (word->length < 2 || word->bytes[word->length - 1] != ':')
		return false;
	word->length--;
	while (word->length && word->bytes[word->length - 1] == ':')
		word->length--;
	colon = word->length ? memrchr(word->bytes, ':', word->length) : NULL;
	if (!colon)
		return word->length > 0;
	for (i = (size_t)(colon + 1 - word->bytes); i < word->length && strchr(MODIFIERS, word->bytes[i]); i++)
		;
	if (i == word->length)
		word->length = (size_t)(colon - word->bytes);
	return word->length > 0;
}

/* Where the thread stands: behind the name, and before CPU or time, if these are said. 0: nowhere. */
static unsigned find_thread(const struct foreign_text *words, unsigned n)
{
	uint64_t number;
	unsigned i, any = 0;

	for (i = 1; i + 1 < n; i++) {
		if (!is_thread(&words[i], &number))
			continue;
		if (is_cpu(&words[i + 1]) || is_time(&words[i + 1], &number))
			return i;
		any = any ? any : i;
	}
	return any;
}

static bool parse_head(const struct line *line, struct head *h)
{
	struct foreign_text words[TOKENS];
	unsigned n = split(line, words), i = find_thread(words, n);
	bool timed;

	*h = (struct head){.event = {"samples", 7}, .rest = {"", 0}};
	if (!i)
		return false;
	h->comm = (struct foreign_text){words[0].bytes,
					(size_t)(words[i - 1].bytes + words[i - 1].length - words[0].bytes)};
	is_thread(&words[i++], &h->tid);
	i += i < n && is_cpu(&words[i]);
	timed = i < n && is_time(&words[i], &h->time);
	i += timed;
	if (i < n && number_at(words[i].bytes, words[i].bytes + words[i].length, &h->period) ==
			     words[i].bytes + words[i].length)
		i++;
	else
		h->period = 0;
	if (i < n && is_event(&words[i])) {
		h->event = words[i++];
		timed = true;
	}
	if (i < n)
		h->rest = (struct foreign_text){words[i].bytes, (size_t)(line->end - words[i].bytes)};
	return timed;
}

/* ---- frames ---- */

/* "7f1a2b3c4d5e name+0x1e (image)", from its first digit on: its parts. False: it is no frame. */
static bool parse_frame(const char *at, const char *end, struct foreign_text *address, struct foreign_frame *f)
{
	const char *from = at, *open, *name, *plus;

	while (at < end && (ascii_is_digit(*at) || (*at >= 'a' && *at <= 'f')))
		at++;
	if (at == from || at == end || !is_blank(*at))
		return false;
	*address = (struct foreign_text){from, (size_t)(at - from)};
	name = skip_blanks(at, end);
	while (end > name && is_blank(end[-1]))
		end--;
	if (end == name || end[-1] != ')')
		return false;
	for (open = end - 1; open > name && !(*open == '(' && is_blank(open[-1]));)
		open--;
	if (*open != '(')
		return false;
	f->library = (struct foreign_text){open + 1, (size_t)(end - 1 - (open + 1))};
	for (; open > name && is_blank(open[-1]);)
		open--;
	f->name = (struct foreign_text){name, (size_t)(open - name)};
	plus = f->name.length ? memrchr(name, '+', f->name.length) : NULL;
	if (plus && open - plus > 3 && plus[1] == '0' && plus[2] == 'x')
		f->name.length = (size_t)(plus - name);
	return true;
}

static bool is(const struct foreign_text *t, const char *word)
{
	return t->length == strlen(word) && memcmp(t->bytes, word, t->length) == 0;
}

static bool begins(const struct foreign_text *t, const char *word)
{
	return t->length >= strlen(word) && memcmp(t->bytes, word, strlen(word)) == 0;
}

/*
 * A method as agents that write maps for perf spell it: "Ljava/util/HashMap;::put", and the JDK itself,
 * "int java.util.HashMap.hash(java.lang.Object)". Others are left as they are.
 */
static void name_method(struct perf_script *p, struct foreign_frame *f)
{
	const char *end = f->name.bytes + f->name.length, *at, *blank = NULL, *open;

	at = f->name.length > 4 && *f->name.bytes == 'L' ? memmem(f->name.bytes, f->name.length, ";::", 3) : NULL;
	p->name.length = 0;
	p->name.fd = -1;
	if (at) {
		buffer_append(&p->name, f->name.bytes + 1, (size_t)(at - f->name.bytes - 1));
		buffer_putc(&p->name, '.');
		buffer_append(&p->name, at + 3, (size_t)(end - at - 3));
	} else if (f->name.length && end[-1] == ')' && (open = memchr(f->name.bytes, '(', f->name.length))) {
		blank = memrchr(f->name.bytes, ' ', (size_t)(open - f->name.bytes));
		if (!blank || memmem(f->name.bytes, f->name.length, "::", 2))
			return;
		buffer_append(&p->name, blank + 1, (size_t)(open - blank - 1));
	}
	if (!p->name.length)
		return;
	p->no_memory |= p->name.failed != 0;
	f->name = (struct foreign_text){p->name.data, p->name.length};
	f->code = FOREIGN_JAVA;
}

/* Code without a name is called after its image, or by its address. */
static void name_unknown(struct perf_script *p, struct foreign_frame *f, const struct foreign_text *address)
{
	const char *slash = f->library.length ? memrchr(f->library.bytes, '/', f->library.length) : NULL;
	size_t folders = slash ? (size_t)(slash + 1 - f->library.bytes) : 0;
	bool named = f->library.length && f->library.bytes[0] != '[';

	p->name.length = 0;
	p->name.fd = -1;
	buffer_puts(&p->name, named ? "[" : "0x");
	if (named)
		buffer_append(&p->name, f->library.bytes + folders, f->library.length - folders);
	else
		buffer_append(&p->name, address->bytes, address->length);
	buffer_puts(&p->name, named ? "]" : "");
	p->no_memory |= p->name.failed != 0;
	f->name = (struct foreign_text){p->name.length ? p->name.data : "", p->name.length};
}

static bool add_frame(struct perf_script *p, const char *at, const char *end)
{
	struct foreign_frame f = {.name = {"", 0}, .source = {"", 0}, .library = {"", 0}};
	struct foreign_text address;
	uint32_t *frame, number;

	if (!parse_frame(at, end, &address, &f))
		return false;
	f.inlined = is(&f.library, "inlined");
	f.mapped = !f.inlined && f.library.length && f.library.bytes[0] != '[';
	if (f.inlined || is(&f.library, "[unknown]"))
		f.library.length = 0;
	if (address.length == 16 && begins(&address, KERNEL_DIGITS))
		f.code = FOREIGN_KERNEL;
	else if (f.mapped && f.library.length > 4 &&
		 memcmp(f.library.bytes + f.library.length - 4, ".map", 4) == 0)
		name_method(p, &f);
	if (!f.name.length || is(&f.name, "[unknown]"))
		name_unknown(p, &f, &address);
	number = foreign_frame(&p->c->aggregate, &f);
	frame = number == LISTS_FAILED ? NULL : VECTOR_PUSH(&p->frames);
	if (frame)
		*frame = number;
	p->no_memory |= !frame;
	return true;
}

/* ---- samples ---- */

/* The event of the present sample. False: it is not wanted. */
static bool find_event(struct perf_script *p)
{
	const struct foreign_text *said = &p->head.event;
	bool clock = is(said, "cpu-clock") || is(said, "task-clock");
	const struct foreign_text unit = {clock && p->head.period ? "ns" : "count", clock && p->head.period ? 2 : 5};
	char name[sizeof(p->event.name)];
	size_t n = MIN(said->length, sizeof(name) - 1);
	uint64_t scale;

	memcpy(name, said->bytes, n);
	name[n] = '\0';
	if (clock)
		memcpy(name, "cpu", sizeof("cpu"));
	if (strcmp(name, p->event.name) == 0 && p->event.family != UINT32_MAX)
		return true;
	return foreign_event_of(&p->events, name, &unit, p->c->selection.families, &p->event, &scale);
}

static void end_sample(struct perf_script *p)
{
	struct read_aggregate *to = &p->c->aggregate;
	uint64_t values[VALUE_ROLES] = {0};
	struct foreign_place at;
	uint32_t stack, first;
	size_t i;

	if (!p->open)
		return;
	p->open = false;
	p->samples++;
	if (!find_event(p) || p->no_memory || to->no_memory)
		return;
	for (i = 0; i < p->frames.count / 2; i++) { /* the root first */
		first = p->frames.items[i];
		p->frames.items[i] = p->frames.items[p->frames.count - 1 - i];
		p->frames.items[p->frames.count - 1 - i] = first;
	}
	stack = lists_add(&to->stacks, p->frames.items, (uint32_t)p->frames.count);
	p->no_memory |= stack == LISTS_FAILED;
	if (p->no_memory)
		return;
	foreign_labels_begin(&p->labels);
	buffer_append(&p->labels.name, p->head.comm.bytes, p->head.comm.length);
	p->labels.tid = p->head.tid;
	values[VALUE_SAMPLES] = 1;
	values[VALUE_WEIGHT] = p->head.period ? p->head.period : 1;
	at = foreign_labels_place(&p->labels, &p->event, stack);
	at.timed = p->head.time != 0;
	at.time = (int64_t)(p->head.time - p->begin + BEFORE);
	if (!to->no_memory)
		foreign_events_add(&p->events, &p->event, values, &at);
}

static void read_line(struct perf_script *p, const struct line *line)
{
	const char *at = skip_blanks(line->at, line->end);

	if (at == line->end) {
		end_sample(p);
		return;
	}
	if (*line->at == '#' || (p->open && at > line->at && add_frame(p, at, line->end)))
		return;
	if (p->open && *line->at == '\t') /* places in the source and the like */
		return;
	end_sample(p);
	if (!parse_head(line, &p->head)) {
		p->odd++;
		return;
	}
	p->open = true;
	p->frames.count = 0;
	p->begin = p->begin ? p->begin : p->head.time;
	if (p->head.time && (!p->first_time || p->head.time < p->first_time))
		p->first_time = p->head.time;
	p->last_time = MAX(p->last_time, p->head.time);
	if (p->head.rest.length) /* a sample without -g has its place in the same line */
		add_frame(p, p->head.rest.bytes, p->head.rest.bytes + p->head.rest.length);
}

/* ---- the whole ---- */

/* Times count from the earliest sample on, which is known only now. */
static void begin_at_first(struct perf_script *p)
{
	uint64_t earlier = MIN(p->begin - p->first_time, (uint64_t)BEFORE);
	size_t i;

	for (i = 0; i < p->c->aggregate.families.count; i++)
		moments_earlier(&p->c->aggregate.families.items[i].moments, BEFORE - earlier);
}

static int judge(struct perf_script *p, const char *at, struct error *err)
{
	struct input *in = &p->c->in;
	unsigned long long place = (unsigned long long)(at - (const char *)in->bytes);

	if (p->no_memory || p->c->aggregate.no_memory)
		return conversion_no_memory(p->c, err);
	if (!p->samples)
		return error_set(err, EINVAL, "%s: text as of perf script, but without a sample that can be read",
				 in->name);
	if (p->odd)
		buffer_printf(&p->c->notes, "%s: %llu lines are none of perf script's and left out\n", in->name,
			      (unsigned long long)p->odd);
	if (place < in->size && in->size - place > LINE_MOST)
		buffer_printf(&p->c->notes, "%s: the line at byte %llu is too long for perf script; what stands "
			      "before is read\n", in->name, place);
	return 0;
}

int perf_script_read(struct conversion *c, struct error *err)
{
	struct perf_script p = {.c = c, .event = {.family = UINT32_MAX}};
	const char *at = (const char *)c->in.bytes, *end = at + c->in.size, *told = at;
	struct line line;
	int rc;

	p.events.to = p.labels.to = &c->aggregate;
	p.events.moments = c->selection.moments;
	read_aggregate_limit(&c->aggregate, c->in.size, 1);
	while (!p.no_memory && !c->aggregate.no_memory && next_line(&at, end, &line)) {
		read_line(&p, &line);
		if ((uint64_t)(at - told) > PROGRESS_EVERY) {
			input_forget(&c->in, (uint64_t)(told - (const char *)c->in.bytes),
				     (uint64_t)(at - (const char *)c->in.bytes));
			told = at;
			if (!progress_goes_on((uint64_t)(at - (const char *)c->in.bytes), c->in.size))
				break;
		}
	}
	end_sample(&p);
	begin_at_first(&p);
	c->info.end_ns = p.last_time - p.first_time;
	rc = judge(&p, at, err);
	free(p.frames.items);
	buffer_free(&p.name);
	foreign_events_free(&p.events);
	foreign_labels_free(&p.labels);
	return rc;
}

bool perf_script_is(const struct input *in)
{
	const char *at = (const char *)in->bytes, *end = at + in->size;
	struct foreign_text address;
	struct foreign_frame frame;
	struct line line, below;
	struct head head;
	bool there = false;
	unsigned i;

	for (i = 0; i < FIRST_LINES && !there; i++) {
		if (!next_line(&at, end, &line))
			return false;
		there = line.at < line.end && *line.at != '#';
	}
	if (!there || memchr(line.at, '\0', (size_t)(line.end - line.at)) || !parse_head(&line, &head))
		return false;
	/* without a time other texts have such lines, too */
	return head.time || (next_line(&at, end, &below) &&
			     parse_frame(skip_blanks(below.at, below.end), below.end, &address, &frame));
}
