/*
 * stacks.c - which mappings are stacks, and whose. The JVM's table has those of Java threads; where another thread's
 * stack is, its stack pointer says, while it waits in the kernel (this needs the right to trace it); else stacks are
 * known by their form: a guard of some pages below memory that can be written.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/memory/resident.h"

#define STACK_MAX (64ull << 20)
#define STACK_USUAL (1ull << 20)
#define STACK_LEAST (60ull << 10)
#define GUARD_MAX (1ull << 20)
#define THREADS_MAX 200000

struct collect {
	struct memory_threads *threads;
	bool apart; /* the process counts its threads otherwise than we do */
};

/* Its number as the process knows it. */
static pid_t inner_number(pid_t pid, pid_t tid)
{
	char name[64], text[4096];
	const char *line;

	snprintf(name, sizeof(name), "task/%d/status", (int)tid);
	line = process_read(pid, name, text, sizeof(text)) > 0 ? strstr(text, "\nNSpid:") : NULL;
	if (!line)
		return tid;
	text[(line - text) + 1 + (long)strcspn(line + 1, "\n")] = '\0';
	return atoi(strrchr(line, '\t') + 1);
}

static bool collect_thread(pid_t pid, pid_t tid, const void *arg)
{
	const struct collect *k = arg;
	struct memory_thread *t = k->threads->count < THREADS_MAX ? VECTOR_PUSH(k->threads) : NULL;
	char name[64];

	if (!t)
		return true;
	t->tid = tid;
	t->inner = k->apart ? inner_number(pid, tid) : tid;
	snprintf(name, sizeof(name), "task/%d/comm", (int)tid);
	if (process_read(pid, name, t->name, sizeof(t->name)) < 0)
		t->name[0] = '\0';
	t->name[strcspn(t->name, "\n")] = '\0';
	return false;
}

static int by_inner(const void *a, const void *b)
{
	return ((const struct memory_thread *)a)->inner - ((const struct memory_thread *)b)->inner;
}

/* What the JVM says of the stack of the Java thread at THREAD. */
static void read_java_thread(struct peek *p, const struct vm_tables *t, struct memory_threads *threads, uint64_t thread)
{
	const char *owner = vm_tables_offset(t, "JavaThread", "_stack_base") >= 0 ? "JavaThread" : "Thread";
	const char *has = vm_tables_offset(t, "JavaThread", "_osthread") >= 0 ? "JavaThread" : "Thread";
	uint64_t os = vm_tables_at(t, p, thread, has, "_osthread");
	uint64_t base = vm_tables_at(t, p, thread, owner, "_stack_base");
	uint64_t size = vm_tables_at(t, p, thread, owner, "_stack_size");
	struct memory_thread key = {.inner = (pid_t)vm_tables_at(t, p, os, "OSThread", "_thread_id")}, *found;

	found = threads->count ? bsearch(&key, threads->items, threads->count, sizeof(key), by_inner) : NULL;
	if (!found || !base || size < 4096 || size > 1ull << 32 || !mappings_find(p->maps, base - 1))
		return;
	found->stack_high = base;
	found->stack_low = base - size;
}

/* The JVM's list of Java threads: an array, or, in some JDKs before 12, one leads to the next. */
static void read_java_threads(struct peek *p, const struct vm_tables *t, struct memory_threads *threads)
{
	uint64_t list = vm_tables_value(t, p, "ThreadsSMRSupport", "_java_thread_list"), array, length, thread, i;
	int64_t count = vm_tables_offset(t, "ThreadsList", "_length");

	array = vm_tables_at(t, p, list, "ThreadsList", "_threads");
	if (array && count >= 0 && peek_word(p, list + (uint64_t)count, &length)) {
		length = MIN(length & 0xffffffff, THREADS_MAX);
		for (i = 0; i < length; i++)
			if (peek_word(p, array + i * sizeof(void *), &thread))
				read_java_thread(p, t, threads, thread);
		return;
	}
	thread = vm_tables_value(t, p, "Threads", "_thread_list");
	for (i = 0; thread && i < THREADS_MAX; i++) {
		read_java_thread(p, t, threads, thread);
		thread = vm_tables_at(t, p, thread, "JavaThread", "_next");
	}
}

static bool begins_with_one(const char *name, const char *const *list)
{
	for (; *list; list++)
		if (strncmp(name, *list, strlen(*list)) == 0)
			return true;
	return false;
}

static enum memory_line line_of(const struct memory_thread *t)
{
	static const char *const jit[] = {"C1 Compiler", "C2 Compiler", "JVMCI", "Sweeper thread", NULL};
	static const char *const gc[] = {"GC Thread", "G1 ", "Gang worker", "ParGC", "Concurrent Mark", "CMS",
					 "ZWorker", "ZDriver", "ZDirector", "ZStat", "ZUncommit", "ZUnmapper",
					 "XWorker", "XDriver", "XDirector", "XStat", "XUncommit", "XUnmapper",
					 "RuntimeWorker", "Shenandoah", NULL};

	return begins_with_one(t->name, jit) ? MEMORY_stacks_jit : begins_with_one(t->name, gc) ? MEMORY_stacks_gc :
	       t->stack_high ? MEMORY_stacks_java : MEMORY_stacks_other;
}

/* Where thread TID's stack is; 0: it runs, or the kernel does not tell. */
static uint64_t stack_pointer(pid_t pid, pid_t tid)
{
	unsigned long long sp = 0;
	char name[64], text[256];
	const char *p;

	snprintf(name, sizeof(name), "task/%d/syscall", (int)tid);
	if (process_read(pid, name, text, sizeof(text)) <= 0)
		return 0;
	/* the last two are the stack pointer and the program counter */
	p = strrchr(text, ' ');
	while (p && p > text && p[-1] != ' ')
		p--;
	return p && sscanf(p, "%llx", &sp) == 1 ? sp : 0;
}

static bool is_guard(const struct mapping *m)
{
	return mapping_is_anonymous(m) && strncmp(m->perms, "---", 3) == 0 && m->end - m->start <= GUARD_MAX;
}

/* Claim the stack that holds ADDRESS. */
static bool claim_at(struct peek *p, struct ranges *c, uint64_t address, uint64_t most, enum memory_line line)
{
	const struct mapping *m = mappings_find(p->maps, address);
	uint64_t low, high;

	if (!m || !mapping_is_anonymous(m) || m->perms[1] != 'w')
		return false;
	low = m->start;
	if (m > p->maps->items && is_guard(m - 1) && (m - 1)->end == low)
		low = (m - 1)->start;
	high = MIN(m->end, MAX(low + most, address + 1));
	ranges_add(c, m->start, high, line, NULL);
	return true;
}

/* What has the form of a stack, and no known owner, as long as threads are left. */
static void claim_by_form(struct peek *p, struct ranges *c, struct memory_reading *r, size_t left, uint64_t most)
{
	size_t i, k;

	ranges_settle(c);
	for (i = 1; i < p->maps->count && left; i++) {
		const struct mapping *m = &p->maps->items[i];
		uint64_t size = m->end - m->start;

		if (!mapping_is_anonymous(m) || strncmp(m->perms, "rw-", 3) != 0 || !m->rss || !is_guard(m - 1) ||
		    (m - 1)->end != m->start || size < STACK_LEAST || size > most)
			continue;
		k = ranges_after(c, m->start);
		if (k < c->count && c->items[k].start < m->end)
			continue;
		ranges_add(c, m->start, m->end, MEMORY_stacks_other, NULL);
		r->stacks[MEMORY_stacks_other]++;
		left--;
	}
}

static size_t claim_known(struct peek *p, struct ranges *c, struct memory_reading *r, struct memory_threads *threads)
{
	uint64_t most = STACK_MAX;
	size_t i, left = 0;

	if (r->vm == PROCESS_HOTSPOT)
		most = STACK_USUAL;
	for (i = 0; i < threads->count; i++) {
		const struct memory_thread *t = &threads->items[i];

		if (t->stack_high) {
			ranges_add(c, t->stack_low, t->stack_high, line_of(t), NULL);
			r->stacks[line_of(t)]++;
		}
	}
	for (i = 0; i < threads->count; i++) {
		struct memory_thread *t = &threads->items[i];
		uint64_t sp = t->stack_high || t->tid == p->pid ? 0 : stack_pointer(p->pid, t->tid);

		if (t->stack_high)
			continue;
		/* the kernel names the first thread's stack */
		if (t->tid == p->pid || (sp && claim_at(p, c, sp, most, line_of(t))))
			r->stacks[line_of(t)]++;
		else
			left++;
	}
	return left;
}

void memory_claim_stacks(struct peek *p, const struct vm_tables *t, struct ranges *c, struct memory_reading *r)
{
	struct memory_threads threads = {0};
	struct collect k = {&threads, r->status.nspid != p->pid};
	size_t left;

	process_find_thread(p->pid, collect_thread, &k);
	if (threads.count)
		qsort(threads.items, threads.count, sizeof(*threads.items), by_inner);
	if (t)
		read_java_threads(p, t, &threads);
	left = claim_known(p, c, r, &threads);
	claim_by_form(p, c, r, left, STACK_MAX);
	free(threads.items);
}
