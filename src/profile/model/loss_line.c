/*
 * loss_line.c - the sentences by which a profile vouches for itself.
 *
 * Every output that people read carries them, from here, so that they say the
 * same everywhere.
 */
#include "profile/model/loss_line.h"

#include <stdio.h>
#include <string.h>

#include "common/base/clean.h"
#include "profile/model/human.h"
#include "profile/model/profile_unit.h"

static uint64_t sum(const uint64_t *values, unsigned count)
{
	uint64_t total = 0;

	while (count-- > 0)
		total += values[count];
	return total;
}

/* All lost samples of P. */
static uint64_t lost_samples(const struct profile *p)
{
	return sum(p->lost, LOSS_REASONS);
}

uint64_t loss_weight(const struct profile *p)
{
	return sum(p->lost_weight, LOSS_REASONS);
}

uint64_t format_unsampled(const struct profile *p)
{
	bool cpu = p->weight_kind == WEIGHT_CPU;
	/* bytes are estimated: what is missing to their count is chance */
	bool known = !profile_is_time(p) && p->weight_kind != WEIGHT_BYTES;
	uint64_t all = cpu ? p->cpu_time : known ? p->counted : 0;
	uint64_t accounted = p->weight_stored + loss_weight(p) + (profile_is_time(p) ? p->own_cpu : 0);

	return all > accounted ? all - accounted : 0;
}

/* More than 5 % of the program's CPU time is in no sample, and should be. */
static bool misses_time(const struct profile *p)
{
	uint64_t time = p->cpu_time > p->own_cpu ? p->cpu_time - p->own_cpu : 0;

	return p->weight_kind == WEIGHT_CPU && !p->partial && p->unsampled > time / 20;
}

#define FIRST_INTERVAL (512ull << 10) /* threads may have drawn by it before the session, see object_samples.c */

/*
 * What sampled objects stand for is further from what the JVM has counted than chance explains: five standard errors,
 * each sample adding at most the interval's square to the variance (agent/sources/alloc_weight.h), and 5 %. Objects
 * that are there may be fewer than the heap holds, never more.
 */
static bool beyond_chance(const struct profile *p)
{
	double all = (double)p->counted, off = (double)p->weight_stored - all, variance;
	double each = (double)MAX(p->interval, p->interval_most);

	if (p->weight_kind != WEIGHT_BYTES || !p->objects || !p->counted || !p->interval || p->young)
		return false;
	if (p->survivors) /* each may stand for several samples */
		each = MAX(each, (double)p->weight_stored / (double)p->stored);
	else
		off += (double)loss_weight(p);
	variance = (double)(p->stored + lost_samples(p)) * each * each;
	if (p->interval < FIRST_INTERVAL)
		variance += (double)p->thread_count * (double)(FIRST_INTERVAL * FIRST_INTERVAL);
	off = (off < 0 && !p->survivors ? -off : off) - all / 20;
	return off > 0 && off * off > 25 * variance;
}

/* What is left out because it was not asked for is no loss. */
bool loss_is_bad(const struct profile *p)
{
	if (p->told)
		return false;
	return misses_time(p) || beyond_chance(p) ||
	       (lost_samples(p) - p->lost[LOSS_outside_window]) * 100 > p->taken || p->complete * 100 < p->stored * 99;
}

/* " (queue_full 2: 2.0 ms)" */
static void put_reasons(struct buffer *out, const struct profile *p)
{
	const char *separator = "";
	unsigned i;

	for (i = 0; i < LOSS_REASONS; i++) {
		if (!p->lost[i] || i == LOSS_outside_window)
			continue;
		buffer_printf(out, "%s%s %s: %s", *separator ? separator : " (",
			      loss_names[i].name, human_count(p->lost[i]).text,
			      human_amount(p->lost_weight[i], p->weight_kind).text);
		separator = ", ";
	}
	if (*separator)
		buffer_putc(out, ')');
}

/* "10,012 samples taken, 10,010 stored, 2 lost (queue_full 2: 2.0 ms)" */
static void put_counts(struct buffer *out, const struct profile *p)
{
	uint64_t outside = p->lost[LOSS_outside_window], lost = lost_samples(p) - outside;

	buffer_printf(out, "%s sample%s taken, ", human_count(p->taken).text,
		      human_plural(p->taken));
	if (outside)
		buffer_printf(out, "%s of them outside the window (%s)",
			      outside == p->taken ? "all" : human_count(outside).text,
			      human_amount(p->lost_weight[LOSS_outside_window], p->weight_kind).text);
	if (outside && outside == p->taken)
		return;
	buffer_puts(out, outside ? ", " : "");
	if (!lost && p->stored + outside == p->taken) {
		buffer_puts(out, outside ? "the others stored" : "all stored");
		return;
	}
	buffer_printf(out, "%s stored, %s lost", human_count(p->stored).text,
		      human_count(lost).text);
	put_reasons(out, p);
}

/* "155 samples taken, 3 of blocks not freed, 1 lost (queue_full 1: 512 KB)" */
static void put_left(const struct profile *p, const char *of, struct buffer *out)
{
	uint64_t lost = lost_samples(p);

	buffer_printf(out, "%s sample%s taken, %s of %s", human_count(p->taken).text, human_plural(p->taken),
		      human_count(p->stored).text, of);
	if (lost) {
		buffer_printf(out, ", %s lost", human_count(lost).text);
		put_reasons(out, p);
	}
	buffer_printf(out, " · they stand for %s", human_bytes(p->weight_stored).text);
}

static bool is_of_mappings(const struct profile *p)
{
	return strcmp(p->event, "nativemap") == 0;
}

static void put_reserved(const struct profile *p, struct buffer *out)
{
	if (p->reserved)
		buffer_printf(out, " · %s of addresses reserved besides", human_bytes(p->reserved).text);
}

/* Blocks of native memory that were not freed, mappings that are there. */
static void put_unfreed(const struct profile *p, struct buffer *out)
{
	const char *what = is_of_mappings(p) ? "mapping" : "block";
	char of[112];

	if (p->peak_after)
		snprintf(of, sizeof(of), "%ss there at the highest point, %s after the start", what,
			 human_time(p->peak_after).text);
	else
		snprintf(of, sizeof(of), "%ss not %s", what, is_of_mappings(p) ? "unmapped" : "freed");
	if (p->stored || lost_samples(p))
		put_left(p, of, out);
	else if (p->taken)
		buffer_printf(out, "No samples: all %s sampled %s%s were %s", human_count(p->taken).text, what,
			      human_plural(p->taken), is_of_mappings(p) ? "unmapped" : "freed");
	else if (is_of_mappings(p))
		buffer_printf(out, "No samples: nothing was mapped in %s", human_time(p->duration).text);
	else
		buffer_printf(out, "No samples: no block was sampled in %s; a block is a sample once in %s",
			      human_time(p->duration).text, human_bytes(p->interval).text);
	put_reserved(p, out);
}

/* What a rate has made of the interval. */
static void put_intervals(struct buffer *out, const struct profile *p)
{
	if (p->interval_most)
		buffer_printf(out, " · an object was a sample once in %s to %s", human_bytes(p->interval).text,
			      human_bytes(p->interval_most).text);
}

/* Bytes of objects: what the samples stand for, beside what the JVM itself has counted. */
static void put_bytes(const struct profile *p, bool brief, struct buffer *out)
{
	uint64_t outside = brief ? 0 : p->outside;

	if (p->taken == 0 && is_of_mappings(p)) {
		buffer_printf(out, "No samples: nothing was mapped in %s", human_time(p->duration).text);
		return;
	}
	if (p->taken == 0) {
		buffer_printf(out, "No samples: %s allocated in %s; %s is a sample once in %s",
			      p->counted ? human_bytes(p->counted).text : "nothing", human_time(p->duration).text,
			      strcmp(p->event, "nativemem") ? "an object" : "a block", human_bytes(p->interval).text);
		return;
	}
	put_counts(out, p);
	buffer_printf(out, " · they stand for %s", human_bytes(p->weight_stored).text);
	if (p->objects)
		buffer_printf(out, " in %s object%s", human_count(p->objects).text, human_plural(p->objects));
	if (outside)
		buffer_printf(out, ", %s outside TLABs", human_percent(outside, p->weight_stored).text);
	if (p->counted)
		buffer_printf(out, "%s of %s allocated (%s)", outside ? "," : "",
			      human_bytes(p->counted).text, p->weight_stored > p->counted ? "about all" :
			      human_percent(p->weight_stored, p->counted).text);
	put_intervals(out, p);
}

/* Objects that are there: what they stand for, beside what the heap held at its last collection. */
static void put_survivors(const struct profile *p, struct buffer *out)
{
	if (p->stored == 0 && p->gone == 0 && p->taken) {
		put_counts(out, p);
		return;
	}
	if (p->stored == 0) {
		buffer_printf(out, "No samples: of %s sampled object%s none is ", human_count(p->gone).text,
			      human_plural(p->gone));
		buffer_puts(out, p->young ? "there any more" : "known to be there after a collection of the heap; "
							       "--gc asks for one, and --live-min-gcs 0 shows "
							       "young objects, too");
		return;
	}
	put_left(p, "objects still there", out);
	buffer_printf(out, " in %s object%s", human_count(p->objects).text, human_plural(p->objects));
	if (p->counted)
		buffer_printf(out, "; the heap held %s at its last collection", human_bytes(p->counted).text);
	put_intervals(out, p);
}

/* Events: the kernel's own count beside what the samples stand for. */
static void put_events(const struct profile *p, struct buffer *out)
{
	if (p->taken == 0 && !p->counted && p->threads_refused) {
		buffer_printf(out, "No samples: %s could not be counted", p->event);
		return;
	}
	if (p->taken == 0) {
		buffer_printf(out, "No samples: %s %s in %s; a thread's sample is taken when it has had %s",
			      p->counted ? human_count(p->counted).text : "no", p->event,
			      human_time(p->duration).text, human_count(p->interval).text);
		return;
	}
	put_counts(out, p);
	buffer_printf(out, " · %s", human_count(p->weight_stored).text);
	if (p->counted)
		buffer_printf(out, " of %s", human_count(p->counted).text);
	buffer_printf(out, " %s sampled", p->event);
	/* a recording does not say how many there were */
	if (p->counted)
		buffer_printf(out, ", %s unsampled", human_count(p->unsampled).text);
}

/* Whose time it is. All virtual threads may be one in the list; how many there were is not known then. */
static void put_threads(const struct profile *p, struct buffer *out)
{
	uint32_t others = p->thread_count - (p->virtual_as_one && p->thread_count);

	if (!p->virtual_as_one)
		buffer_printf(out, "%u thread%s", p->thread_count, human_plural(p->thread_count));
	else if (others)
		buffer_printf(out, p->per_thread ? "%u thread%s and further virtual threads" :
			      "%u platform thread%s and virtual threads", others, human_plural(others));
	else
		buffer_puts(out, "virtual threads");
}

static void put_wall(const struct profile *p, struct buffer *out)
{
	bool waits = p->weight_kind == WEIGHT_WAIT, io = p->weight_kind == WEIGHT_IO;

	if (p->taken == 0) {
		buffer_printf(out, "No samples: no thread %s in %s",
			      io ? "has begun to read or write for long enough" :
			      waits ? "has begun to wait for a lock for long enough" : "had a tick",
			      human_time(p->duration).text);
		return;
	}
	put_counts(out, p);
	buffer_printf(out, " · %s %s ", human_time(p->weight_stored).text,
		      io ? "of reading, writing and the like by" : waits ? "waited by" : "wall time of");
	put_threads(p, out);
	if (io && !p->recorded)
		buffer_puts(out, "; calls that began before are in none");
}

static void put_time(const struct profile *p, bool brief, struct buffer *out)
{
	if (p->taken == 0) {
		buffer_printf(out, "No samples: the process used %s of CPU time in %s", human_time(p->cpu_time).text,
			      human_time(p->duration).text);
		if (p->own_cpu > p->cpu_time / 100)
			buffer_printf(out, " (%s of it for jstrobe)", human_time(p->own_cpu).text);
		buffer_printf(out, "; a sample is taken each %s of CPU time", human_time(p->interval).text);
		return;
	}
	put_counts(out, p);
	buffer_printf(out, " · %s", human_time(p->weight_stored).text);
	if (p->cpu_time)
		buffer_printf(out, " of %s", human_time(p->cpu_time).text);
	buffer_puts(out, " CPU time sampled");
	if (!brief)
		buffer_printf(out, ", %s unsampled", human_time(p->unsampled).text);
	if (p->own_cpu > p->cpu_time / 100) /* else the sum is the whole without it, as far as is shown */
		buffer_printf(out, ", %s used by jstrobe", human_time(p->own_cpu).text);
	if (p->children_cpu)
		buffer_printf(out, ", and %s of child processes", human_time(p->children_cpu).text);
}

/* What is told apart no more: the sums are right all the same. */
static void put_merged(const struct profile *p, struct buffer *out)
{
	const struct profile_merged *m = &p->merged;

	if (m->threads)
		buffer_printf(out, " · %s threads that ended stand under what their names have in common",
			      human_count(m->threads).text);
	if (m->classes)
		buffer_printf(out, " · %s frames of hidden classes stand under what their names have in common",
			      human_count(m->classes).text);
	if (m->samples)
		buffer_printf(out, " · %s samples of the rarest stacks are [earlier_stacks]",
			      human_count(m->samples).text);
}

static void put_line(const struct profile *p, bool brief, struct buffer *out)
{
	if (p->told) {
		buffer_puts(out, p->told);
		return;
	}
	if (p->taken == 0 && p->filter_none)
		buffer_puts(out, "No samples: no thread matched the filter (ids of the system, name:PATTERN and "
				 "group:PATTERN; `jstrobe top` shows names)");
	else if (p->weight_kind == WEIGHT_BYTES)
		p->survivors ? put_survivors(p, out) : p->unfreed ? put_unfreed(p, out) : put_bytes(p, brief, out);
	else if (!profile_is_time(p))
		put_events(p, out);
	else if (p->weight_kind == WEIGHT_CPU)
		put_time(p, brief, out);
	else
		put_wall(p, out);
	if (beyond_chance(p))
		buffer_puts(out, p->survivors ? " · that is more than the heap held, and no estimate of what is there "
						"(docs/use/live.md says why)" :
			    " · that is further apart than chance explains: HotSpot does not sample threads that live "
			    "for a short time at random, and before JDK 25 large objects disturb it "
			    "(docs/use/alloc.md)");
	if (p->threads_refused)
		buffer_printf(out, " · %u threads could not be armed%s", p->threads_refused,
			      profile_is_time(p) ? "" : ", so theirs are not counted");
	if (p->raised)
		buffer_printf(out, " · intervals doubled %u time%s in a storm of events", p->raised,
			      human_plural(p->raised));
	if (p->stretched)
		buffer_printf(out, " · signals to so many threads would cost too much: each got one every "
			      "%u intervals",
			      p->stretched);
	if (p->gap)
		buffer_printf(out, " · %s before it, since the last round, are in no result", human_time(p->gap).text);
	put_merged(p, out);
	if (p->stored)
		buffer_printf(out, " · %s complete stacks",
			      human_percent(p->complete, p->stored).text);
	/* Code compiled before the session says where it stands only here and there. */
	if (p->ambiguous * 100 >= p->stored && p->ambiguous)
		buffer_printf(out, " · %s may belong to the method before or behind it in inlined code%s",
			      human_percent(p->ambiguous, p->stored).text, brief ? "" :
			      " (-XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints tells more)");
}

void format_loss_line(const struct profile *p, struct buffer *out)
{
	put_line(p, false, out);
}

void loss_line_brief(const struct profile *p, struct buffer *out)
{
	put_line(p, !loss_is_bad(p), out);
}

static void put_walks(struct buffer *out, const struct profile *p)
{
	uint64_t total = sum(p->ended_early, WALK_ENDS);
	const char *separator = " (";
	unsigned i;

	buffer_printf(out, "Walks ended early   : %s", human_count(total).text);
	for (i = 0; i < WALK_ENDS; i++) {
		if (!p->ended_early[i])
			continue;
		buffer_printf(out, "%s%s %s", separator, walk_end_names[i].name,
			      human_count(p->ended_early[i]).text);
		separator = ", ";
	}
	buffer_puts(out, total ? ")\n" : "\n");
}

static void put_timing(struct buffer *out, const char *what, const struct profile_timing *t,
		       const char *note)
{
	buffer_printf(out, "%-20s: ", what);
	if (t->count == 0)
		buffer_puts(out, "nothing measured\n");
	else
		buffer_printf(out, "mean %s, p99 %s, p99.9 %s, max %s%s\n",
			      human_time(t->mean).text, human_time(t->p99).text,
			      human_time(t->p999).text, human_time(t->max).text, note);
}

void loss_line_hint(const struct profile *p, const struct format_options *options, struct buffer *out)
{
	if (p->weight_kind == WEIGHT_CPU && !p->taken && !p->told && !p->filter_none && !options->event)
		buffer_puts(out, "; for what it waits for, record -e wall");
}

static void put_source(struct buffer *out, const struct profile *p, const struct format_options *options)
{
	if (p->pid || *p->main_class || *p->jdk) {
		buffer_printf(out, "Process             : %d%s", p->pid, *p->main_class ? " " : "");
		clean_name(out, p->main_class);
		buffer_puts(out, *p->jdk ? ", JDK " : "");
		clean_name(out, p->jdk);
		buffer_putc(out, '\n');
	}
	if (p->started_at)
		buffer_printf(out, "Recorded            : %s from %s\n", human_time(p->duration).text,
			      human_date(p->started_at).text);
	buffer_printf(out, "Event               : %s (engine %s)", p->event, p->engine);
	if (p->interval)
		buffer_printf(out, ", interval %s", human_amount(p->interval, p->weight_kind).text);
	/* what samples of objects stand for is of their sizes */
	if (p->interval && p->effective_interval && p->weight_kind != WEIGHT_BYTES)
		buffer_printf(out, ", effective %s", human_amount(p->effective_interval, p->weight_kind).text);
	buffer_putc(out, '\n');
	buffer_puts(out, "Samples             : ");
	format_loss_line(p, out);
	loss_line_hint(p, options, out);
	buffer_putc(out, '\n');
}

/* "begin=f end=g: 3 times, 1.2 ms in all, longest 800 µs, open still" */
static void put_window(struct buffer *out, const struct profile_window *w)
{
	buffer_printf(out, "Window              : %s%s%s%s%s: ", *w->begin ? "begin=" : "", w->begin,
		      *w->begin && *w->end ? " " : "", *w->end ? "end=" : "", w->end);
	if (!w->count)
		buffer_puts(out, "never open");
	else
		buffer_printf(out, "%s time%s, %s in all, longest %s%s", human_count(w->count).text,
			      human_plural(w->count), human_time(w->total).text,
			      human_time(w->longest).text, w->open ? ", the last one had not ended" : "");
	if (w->watched)
		buffer_puts(out, "; samples outside are kept, too");
	if (w->pauses)
		buffer_printf(out, "; calls came too often: %u pauses in which some may have been missed", w->pauses);
	buffer_putc(out, '\n');
}

static void put_own_cpu(struct buffer *out, const struct profile *p)
{
	buffer_printf(out, "Own CPU time        : %s (%s of the process)\n",
		      human_time(p->own_cpu).text, human_percent(p->own_cpu, p->cpu_time).text);
}

void loss_details_part(struct buffer *out, const struct profile *p)
{
	if (p->filtered)
		buffer_printf(out, "Filter              : %s of %s samples shown, %s of %s\n",
			      human_count(p->stored - p->left_out).text,
			      human_count(p->stored).text,
			      human_amount(p->weight_stored - p->left_out_weight, p->weight_kind).text,
			      human_amount(p->weight_stored, p->weight_kind).text);
	if (p->window.begin)
		put_window(out, &p->window);
}

void loss_details_cost(struct buffer *out, const struct profile *p)
{
	loss_details_part(out, p);
	if (p->recorded && p->cpu_time)
		put_own_cpu(out, p);
	if (p->recorded || p->told)
		return; /* the rest is not known */
	put_walks(out, p);
	buffer_printf(out, "Queues              : %s, %s increment%s, ",
		      human_bytes(p->queues.bytes).text, human_count(p->queues.increments).text,
		      human_plural(p->queues.increments));
	buffer_printf(out, "capacity up to %s, fill up to %s\n",
		      human_count(p->queues.max_capacity).text,
		      human_count(p->queues.max_fill).text);
	put_timing(out, "Handler", &p->handler, " (without the kernel's delivery)");
	if (p->walk.count)
		put_timing(out, "Walk alone", &p->walk, "");
	put_timing(out, "Collector's drain", &p->drain, "");
	put_own_cpu(out, p);
	buffer_printf(out, "Threads armed       : %u by perf events, %u by timers",
		      p->threads_perf, p->threads_timer);
	if (p->threads_refused)
		buffer_printf(out, ", %u could not be", p->threads_refused);
	buffer_putc(out, '\n');
}

void loss_details(struct buffer *out, const struct profile *p, const struct format_options *options)
{
	put_source(out, p, options);
	loss_details_cost(out, p);
}

/* -o loss: the command shows it beside files that have no room for it. */
void format_loss(const struct profile *p, const struct format_options *options, struct buffer *out)
{
	/* of several events each says which it is */
	if (options->event)
		buffer_printf(out, "%s: ", p->event);
	format_loss_line(p, out);
	loss_line_hint(p, options, out);
	buffer_putc(out, '\n');
}
