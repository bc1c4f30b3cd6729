/*
 * selftest.h - programs of known truth, profiled on this machine with this JVM. Inner header of selftest/.
 *
 * One JVM runs one small program (java/selftest/, carried in this command). For each session of selftest.def the
 * command calls itself, as a user would: `start`, then the program does what it measures itself, then `stop`. All that
 * is measured lies between the two, so truth and result are of the same time.
 */
#ifndef JSTROBE_CLI_SELFTEST_SELFTEST_H
#define JSTROBE_CLI_SELFTEST_SELFTEST_H

#include <limits.h>
#include <sys/types.h>

#include "cli/cli.h"
#include "common/base/buffer.h"
#include "common/base/error.h"
#include "common/base/vector.h"

/* What a session's result is about. */
enum selftest_group {
	SHARES = 1,
	WAITS = 2,
	VIRTUAL = 4,
	LOCKS = 8,
	CALLS = 16,
	TIMES = 32,
	BRIEF = 64,   /* short threads, as they are sampled */
	MISSED = 128, /* as what is not sampled of them is said */
	RHYTHM = 256,
};

/* ---- interruptible.c: waits that are never deaf to Ctrl-C ---------------------------------- */

struct patience {
	int signals;      /* signals_open */
	bool interrupted;
};

/* Until FD (-1: none) can be read: 0. -ETIMEDOUT; -EINTR: the user wants the end; -ECHILD: a child may have ended. */
int patience_wait(struct patience *p, int fd, uint64_t deadline);
/* Wait for child PID; its status as waitpid has it. Past DEADLINE, and when the user wants the end, it is ended. */
int patience_child(struct patience *p, pid_t pid, uint64_t deadline, int *status);
/* End child PID, asked first, then at once. */
void patience_end(pid_t pid, unsigned ask_ms);

/* ---- itself.c: this command once more ------------------------------------------------- */

/*
 * Run it with WORDS, ended by NULL. OUT gets what it prints, SAID the last line on stderr. 0: exit status 0; -EINTR, or
 * another negative errno with the reason, which is SAID where there is one.
 */
int itself_run(struct patience *p, const char *const words[], struct buffer *out, char said[400], struct error *err);

/* ---- program.c: the JVM with the program ---------------------------------------------- */

/* Sum NAME, made of PARTS; ns, or a number. For DELAY of it the thread was ready and had no CPU. */
struct truth {
	char name[32];
	uint64_t value, parts, delay;
};

struct program {
	pid_t pid;               /* 0: none */
	int in, out, err;        /* -1: none; err: all that the JVM has said there */
	char java[PATH_MAX];
	char jdk[48], vm[80];    /* "17.0.15", "OpenJDK 64-Bit Server VM" */
	int feature;             /* 17 */
	unsigned cpus;
	struct buffer lines;     /* read and not taken yet */
	struct truth truths[48];
	unsigned truth_count;
};

/* Find a JVM (GIVEN, JAVA_HOME, PATH) and start the program in it. */
int program_begin(struct program *g, const char *given, struct patience *p, struct error *err);
/* Let it do SCENARIO for MS; then `truths` are those of this time. */
int program_run(struct program *g, const char *scenario, unsigned ms, struct patience *p, struct error *err);
/* NULL: it has not told of NAME. */
const struct truth *program_truth(const struct program *g, const char *name);
/* Safe if it has not begun. Nothing of it is left. */
void program_end(struct program *g);

/* ---- measured.c: what a result says of the program ------------------------------------ */

struct measured_sum {
	char method[48]; /* "Shares.first", without the package */
	char state[12];
	uint64_t samples, weight;
};

struct measured_owner {
	char name[32];
	uint64_t time;
};

struct measured_call {
	char method[48];
	uint64_t calls, stamps, self_wall, self_cpu, total_wall, sleep, error;
};

struct measured_profile {
	char event[32], engine[48];
	uint64_t taken, stored, lost, total, lost_weight; /* samples and weights */
	uint64_t unsampled, cpu_time, own_cpu;
	bool warns;
	VECTOR(struct measured_sum) sums;
	VECTOR(struct measured_owner) owners;
};

struct measured {
	struct measured_profile profiles[4];
	unsigned count;
	char timing[12];         /* of a trace; "" = it is none */
	uint64_t uncounted;
	uint64_t held;           /* ns that the program's clock saw and the trace left out: in probes */
	VECTOR(struct measured_call) calls;
	bool no_memory;
};

/* Read the SIZE bytes of a result in JSON. */
int measured_read(struct measured *m, const char *json, size_t size, struct error *err);
void measured_free(struct measured *m);
/* The sum of METHOD in STATE ("" = any). */
struct measured_sum measured_of(const struct measured_profile *p, const char *method, const char *state);
const struct measured_call *measured_call(const struct measured *m, const char *method);

/* ---- judge.c: how far apart they may be ------------------------------------------------ */

enum check_verdict { CHECK_HOLDS, CHECK_FAILS };

/*
 * `allowed` = four standard errors of what is random + what is systematic; less than that by what the result itself
 * says that it has lost, or that the thread was without a CPU (`short_by`).
 */
struct check {
	const char *name, *about;
	enum { CHECK_NS, CHECK_SHARE, CHECK_CALLS } unit;
	double known, measured, error, systematic, short_by;
	uint64_t samples;        /* that `error` is of; 0 = nothing is random */
	enum check_verdict verdict;
};
#define CHECK_ERRORS 4

/* What a session came to. */
struct session {
	const char *name, *about, *options;
	char engine[96];
	char reason[400];        /* skipped, or failed before there was a result */
	bool skipped, failed;
	struct check checks[40];
	unsigned count;
};

/* The time of the host's other guests meanwhile, which a perf event counts and CPU clocks do not. */
struct circumstances {
	unsigned groups;
	int feature;
	uint64_t stolen;
};

/* Fill in the checks of S. */
void judge(struct session *s, const struct measured *m, const struct program *g, const struct circumstances *c);

/* ---- selftest_table.c: for people, and for programs --------------------------------------------- */

void table_head(struct buffer *out, const struct program *g);
void table_session(struct buffer *out, const struct session *s);
void table_end(struct buffer *out, const struct session *all, unsigned count, uint64_t took);
void table_json(struct buffer *out, const struct program *g, const struct session *all, unsigned count, uint64_t took);

#endif
