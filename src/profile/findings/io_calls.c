/* io_calls.c - the finding about calls that read, write and the like: of which file or peer, and what helps. */
#include <stdio.h>
#include <string.h>

#include "profile/findings/evidence.h"

static double seconds_each(const struct profile_io *io)
{
	return (double)io->time / (double)NS_PER_S / (double)MAX(io->calls, 1);
}

/* Whether calls IO are short ones to a peer, none of which waits for it: an answer each, say. */
static bool is_brief(const struct profile_io *io)
{
	return io->kind == IO_KIND_SOCKET && io->operation == IO_WRITE && seconds_each(io) < LIMIT(io_brief);
}

/* Whether it is another program that such calls wait for: neither their number nor their size is what takes time. */
static bool is_of_others(const struct profile_io *io)
{
	return (io->kind == IO_KIND_SOCKET || io->kind == IO_KIND_PIPE) && seconds_each(io) >= LIMIT(io_long);
}

/* Whether such calls are reads that wait for answers of another program, each for a moment. */
static bool is_of_answers(const struct profile_io *io)
{
	return (io->kind == IO_KIND_SOCKET || io->kind == IO_KIND_PIPE) && io->operation == IO_READ &&
	       seconds_each(io) >= LIMIT(io_answer);
}

/* Whether most of TIME is of threads of P that do nothing but read and write. */
static bool has_own_threads(const struct profile *p, uint64_t time)
{
	uint64_t own = 0;
	uint32_t i;

	for (i = 0; i < p->thread_count; i++)
		if ((double)p->threads[i].weight >= LIMIT(io_thread) * (double)p->duration)
			own += p->threads[i].weight;
	return (double)own >= LIMIT(io_thread) * (double)time;
}

/* Whether IO is a thread that wakes another one up, as Selector.wakeup does: 8 bytes that no buffer makes fewer. */
static bool is_wakeup(const struct profile_io *io)
{
	return strcmp(io->target, "anon_inode:[eventfd]") == 0;
}

static void advise_io(struct profile_finding *f, const struct profile *p, const struct profile_io *io)
{
	const struct human each = human_time(io->time / MAX(io->calls, 1));

	if (io->operation == IO_CONNECT)
		advise(f, "Keep connections and use them again (a pool, keep-alive): %s for each on average. The "
			  "tables below name the places.", each.text);
	else if (is_brief(io))
		advise(f, "Each takes little time, they are many: " SMALL_REQUESTS "else fewer and larger calls help. "
			  "The tables below name the places.");
	else if (is_of_others(io))
		advise(f, "Each takes %s on average: so long takes the other side. The tables below name the places "
			  "that wait for it.",
		       each.text);
	else if (is_of_answers(io))
		advise(f, "Each takes %s on average, until the other side has answered: larger calls do not help, "
			  "fewer requests do (several things in one). The tables below name the places.", each.text);
	else
		advise(f, "The tables below name the places. Fewer and larger calls help%s.",
		       has_own_threads(p, io->time) ? "" : ", or a thread of its own");
}

void finding_io(const struct evidence *e, struct profile_finding *f)
{
	const struct profile_io *worst = NULL;
	bool starved = e->io && part_without_cpu(e->around) >= LIMIT(run_queue);
	char calls[48];
	uint32_t i;

	/* where threads have no CPU, short calls take that long because of it: run_queue tells of that */
	for (i = 0; e->io && i < e->io->io_count; i++) {
		const struct profile_io *io = &e->io->io[i];

		if (!is_wakeup(io) && (!worst || io->time > worst->time) && !(starved && is_brief(io)))
			worst = io;
	}
	if (!worst || !e->io->duration || (double)worst->time / (double)e->io->duration < LIMIT(io))
		return;
	f->score = 0.3 + 0.6 * MIN(1.0, (double)worst->time / (double)e->io->duration);
	snprintf(calls, sizeof(calls), worst->calls ? "%s call%s" : "calls that go on",
		 human_count(worst->calls).text, human_plural(worst->calls));
	say(f, "In %s all threads together spent %s in %s (%s) of %.150s.", human_time(e->io->duration).text,
	    human_time(worst->time).text, calls, io_operation_names[worst->operation], worst->target);
	advise_io(f, e->io, worst);
}
