/* machine.c - findings about what keeps a program from running: quotas, other programs, the hypervisor, the kernel. */
#include <stdio.h>

#include "common/base/ascii.h"
#include "common/base/decimal.h"
#include "profile/findings/evidence.h"
#include "profile/model/human.h"

static double ratio(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

static double per_second(const struct evidence *e, enum surrounding which)
{
	uint64_t span = around(e->around, AROUND_span);

	/* a file can say anything */
	return span ? MIN((double)around(e->around, which) * 1e9 / (double)span, 1e15) : 0;
}

void finding_throttled(const struct evidence *e, struct profile_finding *f)
{
	const struct surroundings *s = e->around;
	double part = part_of(around(s, AROUND_throttles), around(s, AROUND_quota_periods));
	char of[48] = "";

	if (part < LIMIT(throttled) || around(s, AROUND_throttles) < 5)
		return;
	f->score = 0.5 + part / 2;
	if (around(s, AROUND_cpu_limit)) /* it may have been lifted meanwhile */
		snprintf(of, sizeof(of), " of %s CPUs",
			 decimal_short((double)around(s, AROUND_cpu_limit) / 1000).text);
	say(f, "The control group's quota%s was used up in %s %% of its periods; threads were stopped for %s in %s.",
	    of, decimal(100 * part, 0).text,
	    human_time(around(s, AROUND_throttled)).text, human_time(around(s, AROUND_span)).text);
	advise(f, "Raise the container's CPU limit, or let it do less at a time: fewer GC and compiler threads "
		  "(-XX:ActiveProcessorCount), fewer workers.");
}

#define BUSY 0.8 /* from there on, a machine has no CPU to spare */

/*
 * Why threads that wanted to run had no CPU, and what helps: OWN of what the machine's BUSY CPUs did was this program,
 * which wanted so many.
 */
static void say_why(const struct evidence *e, struct profile_finding *f, double part, double busy, double own,
		    double wanted)
{
	uint64_t cpus = around(e->around, AROUND_cpus);
	char first[128], percent[12], of[32];

	snprintf(first, sizeof(first), "For %s %% of the time in which threads wanted to run, they had no CPU",
		 decimal(100 * part, 0).text);
	snprintf(percent, sizeof(percent), "%.8s", decimal(100 * busy, 0).text);
	if (own > 0.7 && (!cpus || wanted > (double)cpus)) {
		snprintf(of, sizeof(of), cpus ? "%llu CPU%s" : "CPUs", (unsigned long long)cpus, human_plural(cpus));
		say(f, "%s: the program has more of them than its %s can run.", first, of);
		advise(f, "Fewer busy threads, or more CPUs.");
	} else if (busy >= BUSY) {
		say(f, "%s: the machine's CPUs were %s %% busy, %s %% of it by this program.", first, percent,
		    decimal(100 * own, 0).text);
		advise(f, own < 0.3 ? "Other programs use them (the system's own `top` says which): stop those, or "
				      "give this one CPUs of its own." :
				      "Fewer busy threads, more CPUs, or less beside it on this machine (the system's "
				      "own `top` says what).");
	} else {
		say(f, "%s, though the machine's CPUs were only %s %% busy: threads run for moments and often, and "
		       "wait a little each time.", first, percent);
		advise(f, "More work for each time that a thread wakes up: larger pieces, fewer threads that hand "
			  "them on.");
	}
}

void finding_run_queue(const struct evidence *e, struct profile_finding *f)
{
	const struct surroundings *s = e->around;
	uint64_t delay = around(s, AROUND_run_delay), cpu = around(s, AROUND_cpu);
	double part = part_without_cpu(s);
	double busy = part_of(around(s, AROUND_machine_busy), around(s, AROUND_machine_all));
	double own = part_of(cpu, around(s, AROUND_machine_busy));
	double wanted = ratio(delay + cpu, around(s, AROUND_span));
	double used = ratio(cpu - MIN(cpu, e->any->own_cpu), around(s, AROUND_span));

	if (!around_known(s, AROUND_run_delay) || part < LIMIT(run_queue) || wanted < LIMIT(run_queue_cpus))
		return;
	/* threads that wake up for moments are late each time, and that is not what they wait for */
	if (used < LIMIT(run_queue_used) && wanted < LIMIT(run_queue_all))
		return;
	/* a quota's stops are waiting for a CPU, too, and are told as what they are */
	if (part_of(around(s, AROUND_throttles), around(s, AROUND_quota_periods)) >= LIMIT(throttled))
		return;
	/* a program that hardly wants to run is not slow because of this */
	f->score = (0.3 + part / 2) * MIN(1.0, wanted);
	/* where it is others that use the CPUs, what the program itself does comes first */
	if (own <= 0.7)
		f->score *= 0.3 + own;
	say_why(e, f, part, busy, own, wanted);
}

void finding_steal(const struct evidence *e, struct profile_finding *f)
{
	double part = part_of(around(e->around, AROUND_steal), around(e->around, AROUND_machine_all));

	if (part < LIMIT(steal))
		return;
	f->score = 0.2 + part;
	say(f, "The hypervisor gave %s %% of this machine's CPU time to others (steal).", decimal(100 * part, 0).text);
	advise(f, "Move the virtual machine, or give it CPUs of its own.");
}

void finding_kernel(const struct evidence *e, struct profile_finding *f)
{
	struct share share;
	double reads, writes;

	if (!split_exceeds(&e->split, e->split.kernel - MIN(e->split.kernel, e->split.faults), LIMIT(kernel), &share))
		return;
	f->score = share.part * 0.8 * e->relevance;
	reads = per_second(e, AROUND_read_calls);
	writes = per_second(e, AROUND_write_calls);
	if (reads + writes > 1000)
		say(f, "%s of the CPU time is spent in the kernel; the program makes %s reads and %s writes a second.",
		    share_text(share).text, human_count((uint64_t)reads).text, human_count((uint64_t)writes).text);
	else
		say(f, "%s of the CPU time is spent in the kernel.", share_text(share).text);
	if (e->io)
		advise(f, "The tables of reads and writes name files and peers; the flame graph shows the rest.");
	else
		advise(f, "jstrobe record -e io %d shows reads and writes by file and peer; the flame graph shows the "
			  "rest.", e->cpu->pid);
}

void finding_page_faults(const struct evidence *e, struct profile_finding *f)
{
	double major = per_second(e, AROUND_major_faults);
	struct share share;

	share = split_share(&e->split, e->split.faults);
	if (major >= LIMIT(major_faults)) {
		f->score = 0.4;
		say(f, "%s page faults a second wait for a disk: the machine has too little memory, or files are "
		       "read by mapping.",
		    human_count((uint64_t)major).text);
		advise(f, "jstrobe memory %d says where the memory is.", e->any->pid);
	} else if (share_is_above(share, LIMIT(page_faults))) {
		f->score = share.part * 0.8 * e->relevance;
		say(f, "%s of the CPU time is spent on page faults (%s a second): memory is touched for the first "
		       "time.",
		    share_text(share).text, human_count((uint64_t)per_second(e, AROUND_minor_faults)).text);
		advise(f, "-Xms as large as -Xmx with -XX:+AlwaysPreTouch touches the heap once; mapped files and "
			  "new buffers fault, too.");
	}
}

/* Whether a good part of the CPU time is in calls of CLASSES, which ends with NULL. */
static bool is_spent_in(const struct evidence *e, const char *const *classes)
{
	const struct profile *p = e->cpu;
	uint64_t weight = 0;
	uint32_t i, d;
	size_t c;

	for (i = 0; e->has_split && p && i < p->stack_count; i++) {
		const struct profile_stack *s = &p->stacks[i];
		bool is = false;

		for (d = 0; d < s->depth && !is; d++) {
			const char *name = p->frames[s->frames[d]].class_name;

			for (c = 0; name && classes[c] && !is; c++)
				is = text_begins(name, classes[c]);
		}
		weight += is ? s->weight : 0;
	}
	return e->has_split && share_is_above(split_share(&e->split, weight), LIMIT(small_io_cpu));
}

/* Whether a buffer helps: in streams and files, and of a connection unless each call is a whole request or answer. */
static bool wants_a_buffer(const struct evidence *e, double size)
{
	static const char *const files[] = {
		"java/io/FileInputStream", "java/io/FileOutputStream", "java/io/RandomAccessFile",
		"sun/nio/ch/FileChannelImpl", "sun/nio/ch/ChannelInputStream", "sun/nio/ch/ChannelOutputStream", NULL,
	}, *const connections[] = {
		"java/net/Socket$Socket", "java/net/SocketInputStream", "java/net/SocketOutputStream",
		"sun/nio/ch/NioSocketImpl", NULL,
	};
	uint64_t reads = around(e->around, AROUND_read_calls), writes = around(e->around, AROUND_write_calls);
	bool answers = size >= LIMIT(exchange_bytes) &&
		       ratio(MIN(reads, writes), MAX(reads, writes)) >= LIMIT(exchange_answers);

	return is_spent_in(e, files) || (!answers && is_spent_in(e, connections));
}

void finding_small_io(const struct evidence *e, struct profile_finding *f)
{
	double reads = per_second(e, AROUND_read_calls), writes = per_second(e, AROUND_write_calls);
	double size_r = ratio(around(e->around, AROUND_read_bytes), around(e->around, AROUND_read_calls));
	double size_w = ratio(around(e->around, AROUND_written_bytes), around(e->around, AROUND_write_calls));
	bool reading = reads >= LIMIT(small_calls) && size_r <= LIMIT(small_bytes);
	bool writing = writes >= LIMIT(small_calls) && size_w <= LIMIT(small_bytes);
	char where[96];

	if (!reading && !writing)
		return;
	if (reading && writing)
		reading = reads > writes;
	say(f, "%s calls a second %s %s bytes each on average: each is a call of the system.",
	    human_count((uint64_t)(reading ? reads : writes)).text, reading ? "read" : "write",
	    decimal(reading ? size_r : size_w, 0).text);
	if (e->io)
		snprintf(where, sizeof(where), "The tables of reads and writes name files, peers and places");
	else
		snprintf(where, sizeof(where), "jstrobe record -e io %d names files, peers and places", e->any->pid);
	if (wants_a_buffer(e, reading ? size_r : size_w)) {
		f->score = 1.05; /* the method that makes these calls is hot because of them */
		advise(f, "Put a buffer in between (%s), and flush less often. %s.",
		       reading ? "BufferedInputStream" : "BufferedOutputStream", where);
	} else {
		f->score = 0.2;
		advise(f, "%s; " SMALL_REQUESTS "else a buffer helps.", where);
	}
}

void finding_thread_churn(const struct evidence *e, struct profile_finding *f)
{
	double rate = per_second(e, AROUND_threads_started);

	if (rate < LIMIT(thread_churn) || around(e->around, AROUND_span) < NS_PER_S)
		return;
	f->score = MIN(0.9, 0.5 + rate / 5000);
	say(f, "The program starts %s threads a second.", human_count((uint64_t)rate).text);
	advise(f, "Use a pool (or virtual threads): a thread costs some 50 to 100 us and its stack's pages.");
}
