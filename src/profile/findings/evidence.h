/*
 * evidence.h - what findings are drawn from: the profiles of a session by what they sampled, shares with the error that
 * chance makes, and the CPU time by who is responsible for it. Inner header of the findings room.
 */
#ifndef JSTROBE_FINDINGS_EVIDENCE_H
#define JSTROBE_FINDINGS_EVIDENCE_H

#include "profile/findings/findings.h"
#include "profile/model/askers.h"
#include "profile/model/human.h"
#include "profile/model/name_table.h"
#include "profile/model/work/contention.h"

enum family {
#define FAMILY(id, words, advice) FAMILY_##id,
#define MATCH(pattern)
#include "profile/findings/families.def"
	FAMILIES
};

enum threshold {
#define THRESHOLD(id, value, unit, meaning) LIMIT_##id,
#include "profile/findings/thresholds.def"
	THRESHOLDS
};
extern const double thresholds[THRESHOLDS];
#define LIMIT(id) (thresholds[LIMIT_##id])

/* A part of a whole of samples. */
struct share {
	double part;  /* 0 to 1 */
	double error; /* half of its 95 % interval, by chance */
	double low;   /* where that begins */
};
/* WEIGHT of WHOLE, by so many SAMPLES in all. */
struct share share_of(uint64_t weight, uint64_t whole, uint64_t samples);
/*
 * The same of samples of wall time: a thread that waits once for long has many of them, so how far chance goes is not
 * known, and not said.
 */
struct share share_of_time(uint64_t weight, uint64_t whole, uint64_t samples);
/* Whether S is at least LIMIT, whatever chance did. */
static inline bool share_is_above(struct share s, double limit)
{
	return s.low >= limit && s.part > 0;
}
/* "43 % (± 4)"; "43 %" where chance has no part in it. */
struct human share_text(struct share s);

/* A method of the program (none of the JDK or of a library that is a family), with all that it had done by those. */
struct site {
	uint32_t name;      /* of split.names */
	uint64_t weight;    /* CPU time with this the innermost method of the program */
	uint64_t self;      /* of it, in its own code */
	uint64_t classes;   /* of it, while classes are loaded */
	uint64_t family[FAMILIES];
};

/* A profile's weight by who is responsible. */
struct split {
	const struct profile *profile;
	struct name_table names;
	uint64_t whole, samples;    /* that are looked at */
	struct site *sites;         /* the heaviest first */
	uint32_t site_count;
	uint32_t *site_of;          /* stack → name of its site; UINT32_MAX: none */
	uint64_t family[FAMILIES];
	uint64_t family_unsure[FAMILIES]; /* of it, in what may have a method of the program compiled into it */
	uint32_t family_site[FAMILIES]; /* place in `sites` of the one that has most of it; UINT32_MAX: none */
	uint64_t java_samples;
	uint64_t java, interpreted; /* with a Java method on top; of these, interpreted */
	uint64_t kernel;            /* with the kernel on top */
	uint64_t faults;            /* in the kernel, because of a page fault */
	uint64_t gc, jit;           /* of the JVM's threads that collect, and compile */
	uint64_t classes;           /* while a class is loaded, linked or initialized */
	uint64_t safepoints;        /* of the VM thread that brings the others to a safepoint */
};

struct evidence {
	const struct profile *cpu, *wall, *lock, *alloc, *live, *io, *exceptions, *native; /* NULL: there is none */
	const struct profile *any;       /* the first one */
	const struct surroundings *around; /* NULL: not known */
	struct surroundings brief;         /* … of less than a moment: what is as it is, and no rates */
	/* of cpu, else of wall's running threads; names of it are valid if `has_split` */
	struct split split;
	bool has_split;
	struct work *lock_work, *wall_work; /* of lock and wall; NULL: what their threads did is not known */
	const struct profile *contended; /* of which `contention` is: lock, else wall; NULL: not known */
	struct contention contention;
	double seconds;                  /* that it took */
	double wanted;                   /* CPUs that the program used or had wanted to use; below 0: not known */
	double relevance;                /* how much it matters what the CPU did: less where the program waits */
};

int evidence_gather(struct evidence *e, const struct profile *const *profiles, uint32_t count,
		    const struct surroundings *around);
void evidence_free(struct evidence *e);

int split_build(struct split *s, const struct profile *p);
void split_free(struct split *s);
/* The method that is on top for most of the CPU time of SITE, and how much that is. UINT32_MAX: out of memory. */
uint32_t split_top_of(const struct split *s, const struct site *site, uint64_t *weight);
static inline struct share split_share(const struct split *s, uint64_t weight)
{
	return share_of(weight, s->whole, s->samples);
}

/* Whether WEIGHT is at least LIMIT of what is looked at, whatever chance did; *SHARE is its share. */
static inline bool split_exceeds(const struct split *s, uint64_t weight, double limit, struct share *share)
{
	*share = split_share(s, weight);
	return share_is_above(*share, limit);
}

/* PART of WHOLE, 0 to 1: a file can say anything. */
static inline double part_of(uint64_t part, uint64_t whole)
{
	return whole ? MIN(1.0, (double)part / (double)whole) : 0;
}

/* CPU time that P's program used, but for jstrobe. */
static inline uint64_t program_cpu_time(const struct profile *p)
{
	return p->cpu_time - MIN(p->own_cpu, p->cpu_time);
}

/* The part of the time in which threads wanted to run for which they had no CPU; 0 where it is not known. */
static inline double part_without_cpu(const struct surroundings *s)
{
	uint64_t delay = around(s, AROUND_run_delay);

	return part_of(delay, delay + around(s, AROUND_cpu));
}

/* The place of the largest of COUNT weights; 0 if there is none. */
uint32_t heaviest(const uint64_t *weights, uint32_t count);
/* Append the name of P's frame with the largest of WEIGHTS, one for each, and a NUL; of none if all are 0. */
void put_heaviest(struct buffer *out, const struct profile *p, const uint64_t *weights);

/* Whether a method or a kind of work stands out (hot_code.c). */
bool evidence_is_hot(const struct split *s);

/* Fill in parts of a finding. */
void say(struct profile_finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void advise(struct profile_finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Of very many short calls: what more than one finding says of them. */
#define SMALL_REQUESTS "for a server of small requests that is how it works, "

/*
 * Append to F's advice which group, but for BESIDES, slept for much of P, of wall time, in methods of CLASS_NAME that
 * others have gone through as well, who wait: WAITS says it of stack I of P.
 */
void advise_sleepers(struct profile_finding *f, const struct profile *p, const struct thread_groups *g,
		     const char *class_name, bool (*waits)(uint32_t i, const void *arg), const void *arg,
		     uint32_t besides);

/* A row's test: fills in F with a score above 0 if it is so. */
/*
 * To NOTE (untouched: nothing) what those threads did by wall time that were not idle, where finding_waits is silent
 * as the program used next to no CPU time: whether they had work, that does not show.
 */
void note_waits(const struct evidence *e, char *note, size_t size);

#define FINDING(id, needs, meaning) void finding_##id(const struct evidence *e, struct profile_finding *f);
#include "profile/findings/findings.def"

#endif
