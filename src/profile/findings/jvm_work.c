/* jvm_work.c - findings about what the JVM does beside the program: it collects, compiles, loads classes, stops. */
#include "common/base/decimal.h"
#include "profile/findings/evidence.h"
#include "profile/model/human.h"

/* Collectors that work at the same time are added. */
static double paused(const struct evidence *e)
{
	return part_of(around(e->around, AROUND_collecting), around(e->around, AROUND_span));
}

void finding_gc(const struct evidence *e, struct profile_finding *f)
{
	struct share share;
	double stop = paused(e);
	uint64_t n = around(e->around, AROUND_collections);
	bool cpu;

	cpu = split_exceeds(&e->split, e->split.gc, LIMIT(gc_cpu), &share);
	if (!cpu && (stop < LIMIT(gc_pause) || n < 2))
		return;
	/* what it costs the program is the larger of the two, and the program cannot do without all of it */
	f->score = 0.25 + (share.part > stop ? share.part : stop) * 0.75;
	if (cpu && stop > 0.01)
		say(f, "Garbage collection uses %s of the CPU time, and stopped the program for %s %% of the time "
		       "(%s in %llu collection%s).", share_text(share).text, decimal(100 * stop, stop < 0.0995 ? 1 :
										     0).text,
		    human_time(around(e->around, AROUND_collecting)).text, (unsigned long long)n, human_plural(n));
	else if (cpu)
		say(f, "Garbage collection uses %s of the CPU time.", share_text(share).text);
	else
		say(f, "Garbage collection stopped the program for %s %% of the time (%s in %llu collections).",
		    decimal(100 * stop, 0).text, human_time(around(e->around, AROUND_collecting)).text,
		    (unsigned long long)n);
	if (!cpu && part_without_cpu(e->around) > 0.5)
		advise(f, "The collector's threads had no CPU, either: collections last longer than their work does.");
	else
		advise(f, "jstrobe record --alloc %d shows who makes the garbage; a larger heap (-Xmx) makes it rarer.",
		       e->any->pid);
}

void finding_full_collections(const struct evidence *e, struct profile_finding *f)
{
	uint64_t span = around(e->around, AROUND_span), n = around(e->around, AROUND_collections_full);
	double rate = span ? (double)n * 60e9 / (double)span : 0;

	if (rate < LIMIT(full_rate) || n < 3)
		return;
	f->score = 0.3 + (paused(e) > 0.4 ? 0.4 : paused(e));
	say(f, "The old generation was collected %llu times in %s: the heap is full, or System.gc() is called.",
	    (unsigned long long)n, human_time(span).text);
	advise(f, "jstrobe record -e live --gc %d shows what stays in the heap; -XX:+DisableExplicitGC ignores "
		  "System.gc().",
	       e->any->pid);
}

void finding_jit(const struct evidence *e, struct profile_finding *f)
{
	struct share share;

	if (!split_exceeds(&e->split, e->split.jit, LIMIT(jit), &share))
		return;
	f->score = share.part * 0.7 * e->relevance;
	say(f, "The JIT compiler uses %s of the CPU time: the program is warming up, or its code is compiled again "
	       "and again.",
	    share_text(share).text);
	advise(f, "Sample it later to see it warm; with much generated code, -XX:TieredStopAtLevel=1 and a larger "
		  "code cache are worth a try.");
}

void finding_interpreted(const struct evidence *e, struct profile_finding *f)
{
	struct share share;

	if (!e->has_split || around(e->around, AROUND_interpreted_only) || e->cpu->kinds_unknown)
		return;
	share = share_of(e->split.interpreted, e->split.java, e->split.java_samples);
	if (!share_is_above(share, LIMIT(interpreted)) || e->split.java * 5 < e->split.whole)
		return;
	f->score = share.part * (double)e->split.java / (double)e->split.whole * 0.6 * e->relevance;
	say(f, "%s of the Java code's CPU time is spent in the interpreter: the program is not warm yet, or its "
	       "methods cannot be compiled.", share_text(share).text);
	advise(f, "Sample it later; where it stays so, look for very large methods (over 8,000 bytes of bytecode) "
		  "and a full code cache.");
}

void finding_class_loading(const struct evidence *e, struct profile_finding *f)
{
	uint64_t span = around(e->around, AROUND_span), loaded = around(e->around, AROUND_classes_loaded);
	struct share share;

	if (!split_exceeds(&e->split, e->split.classes, LIMIT(class_loading), &share))
		return;
	f->score = (0.3 + share.part * 0.7) * e->relevance;
	if (span && loaded)
		say(f, "Loading classes uses %s of the CPU time: %s classes were loaded in %s.", share_text(share).text,
		    human_count(loaded).text, human_time(span).text);
	else
		say(f, "Loading classes uses %s of the CPU time.", share_text(share).text);
	advise(f, "At the start, class data sharing (-XX:SharedArchiveFile) makes it cheaper; later, look for who "
		  "makes classes: proxies, scripts, templates, new class loaders.");
}

void finding_safepoints(const struct evidence *e, struct profile_finding *f)
{
	struct share share;

	if (!split_exceeds(&e->split, e->split.safepoints, LIMIT(safepoints), &share))
		return;
	f->score = (0.2 + share.part) * e->relevance;
	say(f, "Bringing threads to safepoints uses %s of the CPU time.", share_text(share).text);
	advise(f, "jstrobe record --ttsp -t %d shows who is late; thread dumps and System.gc() in a loop cause them.",
	       e->cpu->pid);
}

/* Which method made a thread late is not known from here; a thread that has no CPU is late without one. */
void finding_safepoint_sync(const struct evidence *e, struct profile_finding *f)
{
	const struct surroundings *s = e->around;
	uint64_t sync = around(s, AROUND_safepoint_sync), count = around(s, AROUND_safepoints);
	double part = part_of(sync, around(s, AROUND_span));

	if (!count || !around(s, AROUND_cpu) || part < LIMIT(safepoint_sync) || !around_known(s, AROUND_run_delay) ||
	    part_without_cpu(s) >= LIMIT(run_queue))
		return;
	f->score = 0.4 + 0.6 * part;
	say(f, "For %s %% of the time, threads stood and waited for the last one to come to a safepoint: %s times, %s "
	       "each on average.", decimal(100 * part, 0).text, human_count(count).text, human_time(sync / count).text);
	advise(f, "jstrobe record --ttsp -t %d shows who is late, and in which method: mostly a long loop without a "
		  "poll, or a copy of much memory.", e->any->pid);
}
