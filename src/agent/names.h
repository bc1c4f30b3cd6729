/*
 * names.h - a thread that notices when threads get other names, while somebody hears of samples one by one.
 *
 * The JVM tells nobody of Thread.setName. So a daemon thread of the JVM, "jstrobe names", reads the names of all Java
 * threads again and again, as often as NAMES_SHARE of a core allows and not more than each NAMES_OFTEN; the names of
 * all others, from the kernel, less often. What it finds goes to the collector. Session's lock held.
 */
#ifndef JSTROBE_AGENT_NAMES_H
#define JSTROBE_AGENT_NAMES_H

#include "base/error.h"

#define NAMES_SHARE 200              /* of the time: 0.5 % */
#define NAMES_OFTEN (20 * NS_PER_MS)
#define NAMES_EVERY (5 * NS_PER_S)   /* the default of ALL_EVERY below */

/* From now on; names of all threads each ALL_EVERY ns. It may be running. */
int names_begin(uint64_t all_every, struct error *err);
/* No longer; the thread is gone afterwards (or, if it is held up for two seconds, soon). */
void names_end(void);

#endif
