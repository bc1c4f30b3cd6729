/*
 * probe.h - the Java class that instrumented methods call, and the way from there to the call trees.
 *
 * Attached threads, normal code.
 */
#ifndef JSTROBE_TRACING_PROBE_H
#define JSTROBE_TRACING_PROBE_H

#include <jvmti.h>

#include "agent/tracing/tree.h"
#include "common/base/error.h"
#include "common/bytecode/rewrite.h"

/*
 * Define the class in the JVM, once; it stays. After tree_begin. TI names threads. -ENOTSUP where the JDK
 * has not what the class needs.
 */
int probe_define(JNIEnv *env, jvmtiEnv *ti, struct error *err);
/* What the probes call in JDK number JDK. */
struct rewrite_probes probe_names(enum tree_timing timing, unsigned jdk);
/*
 * Who is told, on its own thread, of each call that was slow, of a method or TREE_OTHER; NULL: no callback. QUICKLY:
 * what that takes is not taken off the times.
 */
void probe_on_slow(void (*tell)(JNIEnv *env, const struct tree_exit *e), bool quickly);
/* True for what the probes use themselves: it must never call them. */
bool probe_uses(const struct text *class_name, const struct text *method);
/* The number of a java.lang.Thread. */
uint64_t probe_thread_id(JNIEnv *env, jthread thread);
/* ns that an entry and an exit cost in code compiled here; METHOD is the number to count them under. 0: unknown. */
double probe_cost(JNIEnv *env, uint32_t method, enum tree_timing timing);
/* The same later, in some ms; what was found BEFORE if that is less. */
double probe_cost_again(JNIEnv *env, uint32_t method, enum tree_timing timing, double before);
/* ns that the clock adds to a timed call's length, which adaptive timing takes off. After probe_cost. */
uint64_t probe_length(JNIEnv *env, uint32_t method);

#endif
