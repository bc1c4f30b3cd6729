/*
 * surroundings_look.h - looks at what goes on around the samples: /proc, the control group, the JVM's performance data.
 * Nothing is done to the process. Two looks make a struct surroundings.
 */
#ifndef JSTROBE_CLI_SURROUNDINGS_LOOK_H
#define JSTROBE_CLI_SURROUNDINGS_LOOK_H

#include <sys/types.h>

#include "common/base/map.h"
#include "profile/model/surroundings.h"

#define LOOK_GROUPS 12 /* control groups above each other; more are not looked at */

/* A control group's quota, and how often it was used up since the group was made. */
struct look_group {
	uint64_t limit; /* thousandths of a CPU; 0: none */
	uint64_t throttled, throttles, periods; /* ns; periods in which it was, and all of them */
};

struct look_groups {
	struct look_group groups[LOOK_GROUPS]; /* from the inside */
	uint32_t count;
};

/* What stood where at a moment. */
struct look {
	uint64_t at;                 /* ns, monotonic; 0: there was no look */
	struct surroundings totals;  /* since the process began, or as it is now */
	struct look_groups groups;
	struct map delays;           /* thread → ns for which it wanted a CPU so far */
	bool with_threads;           /* … of all threads */
};

/*
 * Look at process PID. THREADS: at each of its threads, too, which takes some microseconds for each, and at what does
 * not change: the JVM's options.
 */
void look_take(struct look *l, pid_t pid, bool threads);
void look_free(struct look *l);
/* What passed between the looks BEFORE and AFTER. */
void look_difference(const struct look *before, const struct look *after, struct surroundings *s);

struct error;
/*
 * Append S, which a look AT (ns, monotonic) ended, to the recording in FD, which the agent has finished. 0, also where
 * there is nothing to append, or a negative errno with the reason; the recording is whole in any case.
 */
int look_append(const struct surroundings *s, uint64_t at, int fd, struct error *err);

/* The parts of a look (surroundings_jvm.c, surroundings_cgroup.c). */
void look_at_jvm(struct surroundings *s, pid_t pid, bool options);
/* … which look_take leaves out: it takes some milliseconds, and only the last look is of use. */
void look_at_deadlock(struct surroundings *s, pid_t pid);
void look_at_groups(struct look_groups *g, pid_t pid);
/*
 * What passed between the looks in the group that was stopped for longest, or where none was, in the one with the
 * tightest quota, to *FOUND. False: it is not known.
 */
bool look_group_between(const struct look_groups *before, const struct look_groups *after, struct look_group *found);

#endif
