/*
 * context_otel.c - trace and span of threads whose library tells them as OpenTelemetry's "thread context" (OTEP 4947):
 * a thread variable otel_thread_ctx_v1, exported by some library, that points to a record or is NULL.
 *
 * A handler may not ask the dynamic linker for the variable's address (it may allocate). So it is found here, once, for
 * the running thread, and from that how any thread's is found: at a fixed distance from the thread pointer, where the
 * library got room in the static block, or by its module's entry in the thread's dtv.
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/context/context_table.h"
#include "agent/zone/zone.h"
#include "common/base/vector.h"
#include "common/os/os.h"

#define VARIABLE "otel_thread_ctx_v1"
/* A thread's static block lies right below its thread pointer, and its stack below that: nothing else so near. */
#define STATIC_REACH (64u * 1024)

/* Where thread pointers and blocks are as said here. */
#if defined(__x86_64__) && defined(__GLIBC__)
#define IS_KNOWN true
#else
#define IS_KNOWN false
#endif

static void *library; /* that has the variable; kept open */

/* ---- libraries with thread variables ---- */

struct names {
	VECTOR(char *) list;
};

static int add_name(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct names *names = arg;
	char **slot, *name;

	if (size < offsetof(struct dl_phdr_info, dlpi_tls_data) + sizeof(info->dlpi_tls_data) || !info->dlpi_tls_modid)
		return 0;
	name = strdup(info->dlpi_name);
	slot = name ? VECTOR_PUSH(&names->list) : NULL;
	if (slot)
		*slot = name;
	else
		free(name);
	return 0;
}

/* The module whose block of this thread has ADDRESS in it. */
struct owner {
	uintptr_t address;
	size_t module;
	uintptr_t block;
};

static int find_owner(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct owner *o = arg;
	uintptr_t block = (uintptr_t)info->dlpi_tls_data;
	int i;

	for (i = 0; block && i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_TLS && o->address - block < info->dlpi_phdr[i].p_memsz) {
			o->module = info->dlpi_tls_modid;
			o->block = block;
			return 1;
		}
	return 0;
}

static bool publish(void *variable)
{
	struct otel_place *p = &zone.trace_contexts.otel;
	struct owner o = {.address = (uintptr_t)variable};
	uintptr_t tcb = (uintptr_t)pthread_self(); /* on x86_64 they are the same */

	if (tcb - o.address < STATIC_REACH) {
		p->at = (intptr_t)(o.address - tcb);
		atomic_store(&p->way, OTEL_STATIC);
		return true;
	}
	if (!dl_iterate_phdr(find_owner, &o))
		return false;
	p->module = o.module;
	p->at = (intptr_t)(o.address - o.block);
	atomic_store(&p->way, OTEL_DYNAMIC);
	return true;
}

void trace_contexts_otel_find(void)
{
	struct names names = {.list = {0}};
	size_t i;

	trace_contexts_otel_forget();
	if (!IS_KNOWN || os_gettid() == getpid())
		return; /* the first thread's stack is elsewhere, so a block near by proves nothing */
	dl_iterate_phdr(add_name, &names);
	for (i = 0; i < names.list.count; i++) {
		const char *name = names.list.items[i];
		void *handle = library ? NULL : dlopen(*name ? name : NULL, RTLD_LAZY | RTLD_NOLOAD);
		void *variable = handle ? dlsym(handle, VARIABLE) : NULL;

		if (variable && publish(variable))
			library = handle;
		else if (handle)
			dlclose(handle);
	}
	while (names.list.count)
		free(names.list.items[--names.list.count]);
	free(names.list.items);
}

void trace_contexts_otel_forget(void)
{
	atomic_store(&zone.trace_contexts.otel.way, OTEL_NONE);
	if (library)
		dlclose(library);
	library = NULL;
}
