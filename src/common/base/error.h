/*
 * error.h - how a function says why it failed.
 *
 * A function that can fail for a reason a person must read takes a
 * `struct error *` (never NULL) as its last argument and returns 0 or a
 * negative errno. The text names the object, the cause and the remedy and is
 * written once, where the failure is seen; callers pass it on unchanged.
 */
#ifndef JSTROBE_BASE_ERROR_H
#define JSTROBE_BASE_ERROR_H

#include "common/base/base.h"

struct error {
	int code;       /* positive errno of the failure, 0 = none */
	char text[496]; /* one line without newline, cut if too long */
};

/*
 * Store CODE (a positive errno) and the formatted text in ERR.
 * Returns -CODE, so that `return error_set(err, ENOENT, ...)` reads well.
 * Normal code only (formats).
 */
int error_set(struct error *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * What errno CODE means, in English whatever locale the program's process has: these texts are read by those who search
 * for them, and strerror follows the process. Normal code.
 */
const char *error_text(int code);

#endif
