/* against.c - findings about the profile itself: what spoils it, or makes it say little. */
#include "common/base/decimal.h"
#include "profile/findings/evidence.h"
#include "profile/model/human.h"
#include "profile/model/loss_line.h"

#define SPOILT 1.0 /* scores from here on stand in front of all others */

void finding_interpreted_only(const struct evidence *e, struct profile_finding *f)
{
	if (!around(e->around, AROUND_interpreted_only))
		return;
	f->score = SPOILT + 0.9;
	say(f, "The JVM runs with -Xint: nothing is compiled, and all of it is many times slower than it could be.");
	advise(f, "Start it without -Xint.");
}

void finding_debug_build(const struct evidence *e, struct profile_finding *f)
{
	if (!around(e->around, AROUND_debug_build))
		return;
	f->score = SPOILT + 0.8;
	say(f, "The JVM is a debug build: it checks itself all the time, and its times say nothing about a product "
	       "build.");
	advise(f, "Use a product build of the same version.");
}

void finding_debugger(const struct evidence *e, struct profile_finding *f)
{
	if (!around(e->around, AROUND_debugger))
		return;
	f->score = 0.02;
	say(f, "A debugger's agent (jdwp) is loaded: breakpoints and watches in it would slow the program down.");
	advise(f, "Compare with a run without it if the figures are to be exact.");
}

void finding_unsampled(const struct evidence *e, struct profile_finding *f)
{
	uint64_t missing, all;
	double part;

	if (!e->cpu || e->cpu->partial || e->cpu->filter_none || !e->cpu->cpu_time || e->cpu->told)
		return;
	missing = e->cpu->unsampled + loss_weight(e->cpu);
	all = e->cpu->weight_stored + missing;
	part = all ? (double)missing / (double)all : 0;
	/* a few intervals of each thread's end are nothing to speak of */
	if (part < LIMIT(unsampled) || missing < NS_PER_S / 10 || missing < 20 * e->cpu->interval)
		return;
	f->score = part;
	say(f, "%s %% of the CPU time (%s) is in no sample: shares of CPU time are of the rest.", decimal(100 * part,
													0).text,
	    human_time(missing).text);
	advise(f, "The line below the table of CPU time says why; --verbose says more.");
}

/* Whether the program used so little of a CPU that it waits; *USED: so much. */
static bool program_waits(const struct evidence *e, double *used)
{
	uint64_t time;

	if (e->wanted < 0 || e->seconds < 0.5)
		return false;
	time = program_cpu_time(e->cpu);
	*used = (double)time / (double)e->cpu->duration;
	if (*used < LIMIT(run_queue_used) && e->wanted < LIMIT(run_queue_all))
		return true; /* as finding_run_queue */
	/* one that wanted to run, and could not, does not wait */
	return *used < LIMIT(idle_cpu) && e->wanted < 5 * LIMIT(idle_cpu) &&
	       (around(e->around, AROUND_run_delay) <= time || e->wanted < 2 * LIMIT(idle_cpu));
}

/* Whether wall time has nothing to show: all threads waited for work. That such a program uses no CPU is no news. */
static bool nothing_waits(const struct evidence *e)
{
	uint64_t waited = 0;
	unsigned a;

	for (a = 0; e->wall_work && a < ACTIVITIES; a++)
		if (a != ACTIVITY_RUNNING && a != ACTIVITY_RUNNABLE && a != ACTIVITY_HELD && a != ACTIVITY_IDLE)
			waited += e->wall_work->groups.by_activity[a];
	return e->wall_work && (double)waited < LIMIT(waits_shown) * (double)e->wall->duration;
}

void finding_not_the_cpu(const struct evidence *e, struct profile_finding *f)
{
	double used;

	if (!program_waits(e, &used) || nothing_waits(e))
		return;
	f->score = 0.95;
	say(f, "The program used %s %% of one CPU: it waits, and what the table shows is not why it is slow.",
	    decimal(100 * used, used < 0.0995 ? 1 : 0).text);
	if (e->wall)
		advise(f, "The profile of wall time shows what its threads wait for.");
	else
		advise(f, "jstrobe record -e wall %d shows what its threads wait for.", e->cpu->pid);
}

void finding_few_samples(const struct evidence *e, struct profile_finding *f)
{
	double used;

	if (!e->has_split || e->cpu->stored >= (uint64_t)LIMIT(few_samples) || evidence_is_hot(&e->split))
		return;
	if (program_waits(e, &used) && nothing_waits(e))
		return;
	f->score = 0.15;
	say(f, "There %s only %llu sample%s of CPU time: too few to say what is hot.", e->cpu->stored == 1 ?
	    "is" : "are", (unsigned long long)e->cpu->stored, human_plural(e->cpu->stored));
	if (program_waits(e, &used))
		return; /* that sentence has the advice */
	if (e->wanted >= 0 && e->wanted < LIMIT(few_cpus) && e->wall)
		advise(f, "It used little CPU time: the profile of wall time shows what its threads wait for.");
	else if (e->wanted >= 0 && e->wanted < LIMIT(few_cpus))
		advise(f, "It used little CPU time: jstrobe record -e wall %d shows what its threads wait for.",
		       e->cpu->pid);
	else
		advise(f, "Sample for longer (-d 60), or more often (-i 1ms).");
}
