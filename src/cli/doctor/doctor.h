/*
 * doctor.h - what `jstrobe doctor` looks at, and what it says. Inner header of doctor/.
 *
 * Nothing is done to the process: all of it is read from /proc and the process's files.
 */
#ifndef JSTROBE_CLI_DOCTOR_DOCTOR_H
#define JSTROBE_CLI_DOCTOR_DOCTOR_H

#include <limits.h>

#include "cli/attach/attach.h"
#include "cli/attach/process.h"
#include "common/options/options.h"

/* What a precondition came to. PROBLEM: no attaching. NOTE: it works, but something is lost or worth knowing. */
enum verdict { DOCTOR_OK, DOCTOR_NOTE, DOCTOR_PROBLEM };

struct finding {
	enum verdict verdict;
	char text[600];
	char remedy[400]; /* "" = there is nothing to do */
};

/* The process, as far as it can be seen. */
struct patient {
	pid_t pid;
	struct process_status status;
	struct process_java java;
	char libjvm[PATH_MAX];
	char jdk[48];          /* "17.0.15", "?" */
	int feature;           /* 17; 0 = not known */
	struct attach_target target; /* as attaching takes it; pid 0: it does not get that far */
	const struct options *options;
	int root_error;        /* negative errno: its root folder is out of reach */
};

/* One function for each row of doctor.def: fills in *F, which says DOCTOR_OK and nothing before. */
#define DOCTOR(name, asks) void doctor_##name(const struct patient *p, struct finding *f);
#include "cli/doctor/doctor.def"

/* Say V with a text, or a remedy. */
void finding_say(struct finding *f, enum verdict v, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void finding_remedy(struct finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
