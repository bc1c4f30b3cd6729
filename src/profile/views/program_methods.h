/*
 * program_methods.h - the table of methods of a profile of waits, by methods of the program. Nearly all of its
 * samples are in a handful of methods of the JDK (Unsafe.park, Object.wait0), which say nothing; what helps is who
 * called those.
 */
#ifndef JSTROBE_VIEWS_PROGRAM_METHODS_H
#define JSTROBE_VIEWS_PROGRAM_METHODS_H

#include "profile/model/methods.h"

struct json_writer;
struct work;

/*
 * Make the rows of M, of P, by the innermost method of the program and what that called of the JDK, the most time
 * first; stacks without one stay as they are. Nothing changes where P is none of wall time or waits. 0 or -ENOMEM; M is
 * to be freed in all cases, and is valid as long as P.
 */
int program_methods(struct methods *m, const struct profile *p);

/*
 * Append NAME, and what it CALLED (NULL: nothing) without its package: "shop.Cart.pay  (FutureTask.get)"; packages of
 * NAME are shortened to fit COLUMNS, 0: any number.
 */
void program_methods_name(struct buffer *out, const char *name, const char *called, unsigned columns);

/* The array `program_methods` of what W has besides idle waits, in the object that is open. 0 or -ENOMEM. */
int program_methods_json(struct json_writer *to, const struct work *w, unsigned style);

#endif
