/*
 * java_context.h - the way from the program's Java code to the table in which it says what threads work for.
 *
 * The class jstrobe.context.SampleContext belongs to the program (jstrobe-context.jar), and may be there several
 * times, by several class loaders. One that is loaded after the agent finds its native methods by their names: the JVM
 * looks in the libraries of its agents, too. One that was there before is told.
 */
#ifndef JSTROBE_CONTEXT_JAVA_CONTEXT_H
#define JSTROBE_CONTEXT_JAVA_CONTEXT_H

/* Tell classes that are there already. Java code runs: attached threads, normal code, no lock held. */
void agent_trace_contexts_begin(void);

#endif
