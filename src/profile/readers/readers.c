#include "profile/readers/readers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/decimal.h"
#include "profile/model/human.h"
#include "profile/model/profile_unit.h"
#include "profile/readers/conversion.h"
#include "profile/readers/input/progress.h"
#include "profile/readers/reshape.h"
#include "profile/writers/format.h"

/* What a result may have, by the size of the file. */
#define FRAMES_ANYWAY LIMIT_BYTES(64u << 20)
#define FRAMES_A_BYTE 32
#define BYTES_ANYWAY LIMIT_BYTES(256u << 20)
#define BYTES_A_BYTE 64
#define LEAK_TAIL 10000 /* thousandths of a percent, as async-profiler has it */

/* Whether F holds all that the page shows. */
static bool holds_all(const struct format *f)
{
	return format_has_times(f) && !format_is_export(f);
}

static void begin_selection(struct selection *s, const struct options *o)
{
	const struct format *format = format_by_name(o->format);

	s->families = o->families;
	s->states = o->states;
	s->threads = o->filter;
	s->context_filter = (struct context_filter){o->trace_id, o->span, o->label};
	s->by_thread = o->threads;
	s->by_context = format && format_is_export(format) && !o->by_block;
	s->moments = format && format_uses_times(format) && !o->by_block && !o->no_times;
	s->bci = o->bci;
	s->norm = o->norm;
	s->simple = o->simple;
	s->in_range = o->from[0] || o->to[0];
	s->from = s->start = INT64_MIN;
	s->to = INT64_MAX;
}

/* TEXT, kept as long as C; NULL: out of memory. */
static const char *keep(struct conversion *c, struct buffer *text)
{
	char **place;

	buffer_putc(text, '\0');
	place = text->failed ? NULL : VECTOR_PUSH(&c->texts);
	if (!place) {
		buffer_free(text);
		return NULL;
	}
	*place = text->data;
	return *place;
}

static const struct recording_info_counts *counts_of(const struct conversion *c, const char *event)
{
	const struct recording_info_counts *only = NULL;
	size_t i;

	for (i = 0; i < c->info.counts.count; i++) {
		only = &c->info.counts.items[i];
		if (strcmp(strings_get(&c->aggregate.strings, only->event), event) == 0)
			return only;
	}
	return NULL;
}

/* What the recording says of the whole session, if this is the whole. */
static bool put_counts(const struct conversion *c, struct profile *p)
{
	const struct recording_info_counts *n = counts_of(c, p->event);
	unsigned i;

	if (!n || n->told || conversion_is_part(c) || n->stored != p->stored + n->left_out || n->lost_otherwise)
		return false;
	p->stored = n->stored;
	p->weight_stored += n->weight_left_out;
	p->filtered = n->left_out != 0;
	p->left_out = n->left_out;
	p->left_out_weight = n->weight_left_out;
	p->engine = strings_get(&c->aggregate.strings, n->engine);
	p->interval = n->interval;
	p->taken = n->stored;
	for (i = 0; i < LOSS_REASONS; i++) {
		p->lost[i] = n->lost[i];
		p->lost_weight[i] = n->lost_weight[i];
		p->taken += n->lost[i];
	}
	p->complete = n->complete;
	p->ambiguous = n->ambiguous;
	p->cpu_time = n->cpu_time;
	p->own_cpu = n->own_cpu;
	p->children_cpu = n->children_cpu;
	p->gap = n->gap;
	p->counted = p->counted ? p->counted : n->counted;
	p->partial = n->partial;
	p->unsampled = format_unsampled(p);
	return p->taken == n->taken;
}

/* What JSON says of samples that the recording it was made of did not count, if P is all of them; NULL. */
static const char *told_before(const struct conversion *c, struct profile *p)
{
	const struct recording_info_counts *n = counts_of(c, p->event);

	if (!n || !n->told || conversion_is_part(c) || n->stored != p->stored || n->complete > n->stored)
		return NULL;
	p->complete = n->complete;
	return strings_get(&c->aggregate.strings, n->told);
}

static void put_count(struct buffer *out, uint64_t n, const char *what)
{
	if (n)
		buffer_printf(out, " · %llu %s", (unsigned long long)n, what);
}

/* The sentence that stands where a session of our own would vouch for its samples. */
static const char *sentence(struct conversion *c, const struct read_aggregate_family *f, const struct profile *p)
{
	struct buffer text = BUFFER_INIT;
	const char *slash = strrchr(c->in.name, '/');

	if (strcmp(f->name, FORMAT_UNKNOWN_UNIT) == 0)
		buffer_printf(&text, "%llu units, of what is not said, in ", (unsigned long long)f->samples);
	else
		buffer_printf(&text, "%s %s%s in ", human_count(f->samples).text,
			      profile_sample_word(p), human_plural(f->samples));
	buffer_puts(&text, slash ? slash + 1 : c->in.name);
	if (conversion_is_part(c))
		buffer_puts(&text, " (a part of them, as asked for)");
	if (strcmp(f->name, "cputime") == 0)
		put_count(&text, c->info.jdk_lost, "lost, as the recording says");
	put_count(&text, f->failed, "without a stack, since the walk failed");
	if (f->no_stack > f->failed)
		put_count(&text, f->no_stack - f->failed, "without a stack");
	put_count(&text, f->truncated, "with a truncated one");
	if (strcmp(f->name, "alloc") == 0 && c->info.cuts)
		buffer_printf(&text, " · left out are %s that %llu thread%s had allocated before the recording began: "
			      "the JDK adds it to a thread's first sample", human_bytes(c->info.cut).text,
			      (unsigned long long)c->info.cuts, human_plural(c->info.cuts));
	if (p->objects)
		buffer_printf(&text, " · they stand for %s in %s object%s", human_bytes(p->weight_stored).text,
			      human_count(p->objects).text, human_plural(p->objects));
	if (p->objects && p->survivors && p->counted)
		buffer_printf(&text, "; the heap held %s at its last collection", human_bytes(p->counted).text);
	return keep(c, &text);
}

/* Whether the stacks, each as often as it is told apart, have more frames than the size of the file accounts for. */
static bool is_too_large(const struct conversion *c, const struct profile *p)
{
	uint64_t most = FRAMES_ANYWAY + FRAMES_A_BYTE * c->in.size, frames = 0;
	uint32_t i;

	for (i = 0; i < p->stack_count; i++)
		frames += p->stacks[i].depth;
	return frames > most;
}

uint64_t readers_most_bytes(const struct conversion *c)
{
	return BYTES_ANYWAY + BYTES_A_BYTE * c->in.size;
}

/* The reason that each frame of P names, + 1; 0: it is an ordinary one. NULL: out of memory. */
static uint8_t *find_reasons(const struct profile *p)
{
	uint8_t *reasons = calloc((size_t)p->frame_count + 1, 1);
	uint32_t i;
	uint8_t end;

	for (i = 0; reasons && i < p->frame_count; i++)
		for (end = 0; p->frames[i].name[0] == '[' && end < WALK_ENDS; end++)
			if (strcmp(p->frames[i].name, walk_end_names[end].frame) == 0)
				reasons[i] = end + 1;
	return reasons;
}

/* Why walks ended early, as their stacks say: that is known if it accounts for all that are not complete. */
static bool count_ends(struct profile *p)
{
	uint8_t *reasons = find_reasons(p);
	uint64_t early = 0;
	uint32_t i, level;

	for (i = 0; reasons && i < p->stack_count; i++) {
		const struct profile_stack *s = &p->stacks[i];

		for (level = 0; level < s->depth && !reasons[s->frames[level]]; level++)
			;
		if (level == s->depth)
			continue;
		p->ended_early[reasons[s->frames[level]] - 1] += s->samples;
		early += s->samples;
	}
	/* of a file that does not say which are whole only this is known */
	if (p->told && p->complete == p->stored)
		p->complete -= early;
	p->ends_unknown = early != p->stored - p->complete;
	free(reasons);
	return reasons;
}

/* As the settings say, 0: they do not. Weights divided by samples tell something else. */
static uint64_t known_interval(const struct conversion *c, const struct profile *p)
{
	const struct recording_info_counts *n = counts_of(c, p->event);

	if (n && n->interval)
		return n->interval;
	if (strcmp(p->event, "wall") == 0)
		return c->info.wall_interval;
	return strcmp(p->event, "cpu") != 0 ? 0 : c->info.interval ? c->info.interval : c->info.period;
}

/* Where objects that are there are shown without what grows, why. */
static void note_growth(struct conversion *c, const struct read_aggregate_family *f, const struct profile *p)
{
	const struct event_fields fields = event_fields_of(f->name);
	bool objects = event_field_of_kind(&fields, EVENT_FIELD_ID) < fields.count;

	if (p->growth || (!objects && !f->is_live))
		return;
	buffer_printf(&c->notes, "%s: what grows is not shown: %s\n", f->name, f->lives_twice ?
		      "the objects are of several sessions" : "the file does not say since when objects were sampled");
}

static int make_profile(struct conversion *c, uint32_t family, struct error *err)
{
	const struct read_aggregate_family *f = &c->aggregate.families.items[family];
	struct profile *p = VECTOR_PUSH(&c->profiles);
	int64_t from = (int64_t)c->info.start_ns, to = (int64_t)c->info.end_ns;

	if (!p || read_aggregate_profile(&c->aggregate, family, p))
		return conversion_no_memory(c, err);
	if (is_too_large(c, p)) {
		read_aggregate_refuse(&c->aggregate, "deep stacks, each told of many threads or states");
		return conversion_no_memory(c, err);
	}
	note_growth(c, f, p);
	p->engine = "recording";
	p->recorded = true;
	p->kinds_unknown = c->aggregate.kinds_unknown;
	p->main_class = strings_get(&c->aggregate.strings, c->info.main_class);
	p->jdk = strings_get(&c->aggregate.strings, c->info.jdk);
	p->title = c->title;
	p->pid = c->info.pid;
	if (c->selection.in_range) {
		from = MAX(from, c->selection.from);
		to = MIN(to, c->selection.to);
	}
	p->started_at = (uint64_t)MAX(from, 0);
	p->duration = to > from ? (uint64_t)to - (uint64_t)from : 0;
	p->interval = known_interval(c, p);
	p->complete = f->samples - f->truncated - f->no_stack;
	if (!put_counts(c, p)) {
		p->taken = p->stored;
		p->told = told_before(c, p);
		if (!p->told)
			p->told = sentence(c, f, p);
		if (!p->told)
			return conversion_no_memory(c, err);
	}
	if (f->calls.items.count && !io_lines_view(&f->calls, &c->aggregate.strings, p))
		return conversion_no_memory(c, err);
	return count_ends(p) ? 0 : conversion_no_memory(c, err);
}

/* What was asked for beside what is read. */
static int reshape_profile(struct conversion *c, struct profile *p, struct error *err)
{
	uint32_t **lists = VECTOR_PUSH(&c->lists);

	if (!lists)
		return conversion_no_memory(c, err);
	return reshape(p, c->options, lists, err);
}

/* Families in the order of importance, then those that are called by the recording. */
static uint32_t rank(const char *name)
{
	uint32_t i = 0;

	while (convert_families[i].name && strcmp(convert_families[i].name, name) != 0)
		i++;
	/* CPU-time samples know more than the sampled ones of the same file */
	return strcmp(name, "cputime") == 0 ? 0 : i + 1;
}

/* Whether what is made of F shows it: without samples, as the file itself, if that has others. */
static bool is_shown(const struct conversion *c, const struct read_aggregate_family *f, bool any)
{
	const struct format *format = format_by_name(c->options->format);

	return f->samples || (any && f->said && !conversion_is_part(c) && format && holds_all(format));
}

static uint32_t next_family(const struct conversion *c, const bool *done)
{
	uint32_t i, best = UINT32_MAX;
	bool any = false;

	for (i = 0; i < c->aggregate.families.count; i++)
		any |= c->aggregate.families.items[i].samples != 0;
	for (i = 0; i < c->aggregate.families.count; i++)
		if (!done[i] && is_shown(c, &c->aggregate.families.items[i], any) &&
		    (best == UINT32_MAX || rank(c->aggregate.families.items[i].name) <
						   rank(c->aggregate.families.items[best].name)))
			best = i;
	return best;
}

static int make_profiles(struct conversion *c, bool main_only, struct error *err)
{
	bool *done = calloc(c->aggregate.families.count + 1, sizeof(*done));
	const char *separator = "";
	uint32_t family;
	int rc = done ? 0 : conversion_no_memory(c, err);

	while (rc == 0 && (family = next_family(c, done)) != UINT32_MAX) {
		done[family] = true;
		if (!main_only || !c->profiles.count) {
			rc = make_profile(c, family, err);
			if (rc == 0 && reshape_is_wanted(c->options))
				rc = reshape_profile(c, &c->profiles.items[c->profiles.count - 1], err);
			continue;
		}
		buffer_printf(&c->notes, "%s%s", *separator ? separator : "also in the recording: ",
			      c->aggregate.families.items[family].name);
		separator = ", ";
	}
	if (*separator)
		buffer_puts(&c->notes, "; choose with --event\n");
	free(done);
	return rc;
}

static int show(struct conversion *c, struct error *err)
{
	uint64_t left_out;
	uint32_t i;

	c->shown = calloc(c->profiles.count + 1, sizeof(*c->shown));
	if (!c->shown)
		return conversion_no_memory(c, err);
	for (i = 0; i < c->profiles.count; i++)
		c->shown[c->shown_count++] = &c->profiles.items[i];
	for (i = 0; i < c->profiles.count; i++) {
		c->profiles.items[i].session = c->shown;
		c->profiles.items[i].session_count = c->shown_count;
	}
	if (!c->aggregate.marks.wanted)
		return 0;
	c->marks = kept_marks_view(&c->aggregate.marks, &c->aggregate.strings, &c->aggregate.threads,
				   c->aggregate.marks.from);
	if (c->aggregate.marks.failed)
		return conversion_no_memory(c, err);
	left_out = c->aggregate.marks.types_left_out;
	left_out += c->aggregate.marks.events.count - MIN(c->aggregate.marks.events.count, (size_t)OTHER_EVENTS_MOST);
	if (left_out && !format_is_export(format_by_name(c->options->format)))
		buffer_printf(&c->notes, "%s: it has more than %u types of events; %llu of them are not shown\n",
			      c->in.name, OTHER_EVENTS_MOST, (unsigned long long)left_out);
	if (c->aggregate.marks.types_cut && !format_is_export(format_by_name(c->options->format)))
		buffer_printf(&c->notes, "%s: of %llu types of events it has sums of more than the part that was asked "
			      "for; they are not shown\n", c->in.name,
			      (unsigned long long)c->aggregate.marks.types_cut);
	c->profiles.items[0].marks = c->marks;
	return 0;
}

static int nothing(const struct conversion *c, struct error *err)
{
	const char *wanted = c->selection.families;

	if (c->selection.left)
		return error_set(err, ENODATA, "%s: nothing of native memory is left at its end that came before the "
				 "last %s %% of its time (--tail), or none was recorded (jstrobe record --nativemem)",
				 c->in.name, decimal(c->left.tail / 1000.0, 1).text);
	if (conversion_is_part(c))
		return error_set(err, ENODATA, "%s: no sample%s%s is left by --filter, --state, --from, "
				 "--to, --latency, --tag, --trace-id, --span and --label", c->in.name,
				 *wanted ? " of " : "", wanted);
	if (*wanted)
		return error_set(err, ENODATA, "%s: there are no samples of %s; 'jstrobe help families' lists what "
				 "can be asked for", c->in.name, wanted);
	return error_set(err, ENODATA, "%s: there are no samples in this recording", c->in.name);
}

/* Expressions leave nothing of any profile. */
static bool all_left_out(const struct conversion *c)
{
	size_t i;

	if (!c->options->jfrconv || !(c->options->include[0] || c->options->exclude[0]))
		return false;
	for (i = 0; i < c->profiles.count; i++)
		if (c->profiles.items[i].stack_count)
			return false;
	return true;
}

/* Whether files in F have pauses and spans beside the samples. */
static bool shows_marks(const struct format *f)
{
	return holds_all(f) || strcmp(f->name, "perfetto") == 0;
}

int readers_read(const char *name, const struct options *o, bool main_only, struct conversion **result,
		 struct error *err)
{
	const struct format *format = format_by_name(o->format);
	struct conversion *c = calloc(1, sizeof(*c));
	int rc;

	if (!c)
		return error_set(err, ENOMEM, "out of memory");
	buffer_init(&c->notes, -1);
	c->options = o;
	c->title = o->title[0] ? o->title : NULL;
	c->aggregate.per_thread = o->threads;
	begin_selection(&c->selection, o);
	c->aggregate.by_context = c->selection.by_context;
	c->aggregate.marks.wanted = c->selection.moments && format && shows_marks(format);
	if (o->latency || o->tag[0]) {
		c->spans.tag = o->tag;
		c->spans.least = o->latency;
		c->selection.spans = &c->spans;
	}
	if (o->leak) {
		c->left.tail = o->tail ? o->tail - 1 : LEAK_TAIL;
		c->selection.left = &c->left;
		if (!*c->selection.families)
			c->selection.families = "nativemem,nativemap";
	}
	if (family_wanted(c->selection.families, "alloc"))
		c->selection.allocs = &c->allocs;
	progress_begin();
	rc = input_open(&c->in, name, err);
	if (rc == 0)
		rc = conversion_read(c, err);
	read_aggregate_close(&c->aggregate);
	if (rc == 0)
		rc = make_profiles(c, main_only && !o->families[0], err);
	if (rc == 0 && !c->profiles.count)
		rc = nothing(c, err);
	if (rc == 0 && all_left_out(c))
		rc = error_set(err, ENODATA, "%s: no stack is left by --include and --exclude, which are regular "
			       "expressions of whole names here", c->in.name);
	if (rc == 0)
		rc = show(c, err);
	if (rc && c->aggregate.too_much)
		rc = conversion_no_memory(c, err);
	input_note(&c->in, &c->notes);
	progress_note(c->in.name, c->in.size, &c->notes);
	buffer_putc(&c->notes, '\0');
	if (rc) {
		readers_free(c);
		return rc;
	}
	*result = c;
	return 0;
}

const struct profile *const *convert_profiles(const struct conversion *c, uint32_t *count)
{
	*count = c->shown_count;
	return c->shown;
}

const struct surroundings *readers_around(const struct conversion *c)
{
	return c->info.around_twice ? NULL : &c->info.around;
}

const char *readers_notes(const struct conversion *c)
{
	return c->notes.failed ? "" : c->notes.data;
}

void readers_free(struct conversion *c)
{
	size_t i;

	for (i = 0; i < c->profiles.count; i++)
		read_aggregate_profile_free(&c->profiles.items[i]);
	for (i = 0; i < c->texts.count; i++)
		free(c->texts.items[i]);
	kept_marks_view_free(c->marks);
	for (i = 0; i < c->lists.count; i++)
		free(c->lists.items[i]);
	free(c->lists.items);
	free(c->profiles.items);
	free(c->texts.items);
	free(c->shown);
	free(c->info.counts.items);
	left_blocks_free(&c->left);
	first_allocs_free(&c->allocs);
	spans_free(&c->spans);
	buffer_free(&c->notes);
	read_aggregate_free(&c->aggregate);
	input_close(&c->in);
	free(c);
}

int readers_repair(const char *name, int fd, struct buffer *notes, struct error *err)
{
	struct recording_info info = {.chunks = 0};
	struct buffer out;
	struct input in;
	int rc = input_open(&in, name, err);

	buffer_init(&out, fd);
	progress_begin();
	if (rc)
		return rc;
	if (!chunk_is_recording(&in)) {
		rc = error_set(err, EINVAL, "%s: this is no JFR recording; only one can become a .jfr file", name);
		goto out;
	}
	rc = recording_repair(&in, &out, &info);
	if (rc == -ENOMEM)
		rc = error_set(err, ENOMEM, "%s: out of memory", name);
	else if (rc)
		rc = error_set(err, -rc, "%s: no chunk of this recording can be read", name);
	else if (buffer_flush(&out))
		rc = error_set(err, out.failed, "the result cannot be written: %s", error_text(out.failed));
	recording_info_notes(&info, name, notes);
	input_note(&in, notes);
	progress_note(name, in.size, notes);
out:
	buffer_free(&out);
	input_close(&in);
	return rc;
}
