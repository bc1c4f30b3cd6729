/*
 * faults.c - SIGSEGV and SIGBUS: put our handler before the JVM's, keep it there, and back.
 *
 * Libraries put handlers of their own before what is there, and later put back what was there then: perhaps what was
 * before us, and then faults of our loads would end the program. So each sample looks whom the kernel calls (fault.h),
 * and each drain looks, too:
 *
 *  - The JVM's own handler, or none, stands there again: ours goes before it.
 *  - A library's handler stands there: it is left alone. To put ours before it again would make a circle, if it passes
 *    on to ours. Loads may fault again when a fault of the JVM's has come to us by it. Profilers that pass on to whom
 *    they found, and never put that back, are known by name: they came while ours was in front.
 *
 * In doubt the kernel makes the loads, and for a while longer: what has changed once changes again. So it does at first
 * where a library is behind us.
 *
 * Copies of this library lead to each other (signal_chain.h), so whatever the order, the JVM's own is there in the end.
 */
#include "agent/hooks/faults.h"

#include <errno.h>
#include <link.h>
#include <string.h>

#include "agent/hooks/copies.h"
#include "agent/hooks/signal_chain.h"
#include "agent/walk/fault.h"
#include "common/base/error.h"
#include "common/hotspot/layout.h"
#include "common/os/os.h"

#define LIMIT_MS 1000 /* another copy changes actions for microseconds */
#define STEADY NS_PER_S

static struct signal_chain chains[] = {
#define CHAIN(signo_, i) {.signo = (signo_), .handler = fault_handler, .former = &fault_former[i], \
			  .link = offsetof(struct copy, faults[i])}
	CHAIN(SIGSEGV, 0), CHAIN(SIGBUS, 1),
};
static uintptr_t jvm;  /* an address in libjvm.so; 0: there is none */
static uint64_t since; /* what the kernel calls for SIGSEGV has led to us, os_monotonic; 0: it does not */

static bool is_none(const struct sigaction *a)
{
	return !(a->sa_flags & SA_SIGINFO) && (a->sa_handler == SIG_DFL || a->sa_handler == SIG_IGN);
}

struct both {
	uintptr_t a, b;
};

static int has_both(struct dl_phdr_info *image, size_t size, void *arg)
{
	const struct both *look = arg;
	unsigned found = 0;
	int i;

	(void)size;
	for (i = 0; i < image->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &image->dlpi_phdr[i];
		uintptr_t start = image->dlpi_addr + h->p_vaddr;

		if (h->p_type != PT_LOAD)
			continue;
		found |= look->a - start < h->p_memsz ? 1 : 0;
		found |= look->b - start < h->p_memsz ? 2 : 0;
	}
	return found == 3;
}

/* Whether A is the JVM's own. Not by dladdr(), which waits while another thread loads a library. */
static bool is_jvms(const struct sigaction *a)
{
	struct both look = {(uintptr_t)a->sa_sigaction, jvm};

	return jvm && a->sa_flags & SA_SIGINFO && dl_iterate_phdr(has_both, &look);
}

struct profiler {
	uintptr_t handler;
	bool known;
};

static int is_known(struct dl_phdr_info *image, size_t size, void *arg)
{
	/* async-profiler, and what is made of it: segvHandler() of their profiler.cpp, installed once at the load */
	static const char *const names[] = {"libasyncProfiler", "libjavaProfiler"};
	const char *slash = strrchr(image->dlpi_name, '/'), *name = slash ? slash + 1 : image->dlpi_name;
	struct profiler *p = arg;
	struct both look = {p->handler, p->handler};
	size_t i;

	for (i = 0; i < ARRAY_LEN(names) && !p->known; i++)
		p->known = strncmp(name, names[i], strlen(names[i])) == 0 && has_both(image, size, &look);
	return p->known;
}

/* Whether A is such a profiler's. */
static bool is_profilers(const struct sigaction *a)
{
	struct profiler p = {.handler = (uintptr_t)a->sa_sigaction};

	if (a->sa_flags & SA_SIGINFO)
		dl_iterate_phdr(is_known, &p);
	return p.known;
}

/* ---- in front ---- */

/* The JVM's stands there again, or none, perhaps behind copies: ours before it. Lock held. */
static int come_back(size_t i)
{
	const struct sigaction *last;
	struct sigaction now;

	if (sigaction(chains[i].signo, NULL, &now))
		return -errno;
	last = signal_chain_behind(&chains[i], &now);
	return is_none(last) || is_jvms(last) ? signal_chain_put_before(&chains[i], &now) : 0;
}

static int install(size_t i)
{
	struct copy_link *own = &jstrobe_copy.faults[i];
	struct sigaction now;

	atomic_store(&own->wanted, 1);
	if (atomic_load(&own->handler))
		return come_back(i);
	if (sigaction(chains[i].signo, NULL, &now))
		return -errno;
	return signal_chain_put_before(&chains[i], &now);
}

/* ---- whether it is ---- */

/* Whether it is known that what libc has for signal I leads to us. */
static bool leads(size_t i)
{
	struct sigaction now;

	if (sigaction(chains[i].signo, NULL, &now))
		return false;
	if (signal_chain_is_ours(&chains[i], signal_chain_behind(&chains[i], &now)))
		return true;
	if (is_none(&now) || is_jvms(&now))
		return false;
	/* it came while ours was in front */
	if (is_profilers(&now) && atomic_load(&jstrobe_copy.faults[i].handler))
		return true;
	/* Nothing comes by SIGBUS that could tell. Who takes SIGSEGV takes it as well, and passes it on as well. */
	return chains[i].signo == SIGBUS || atomic_load(&fault_led) == fault_in_force(SIGSEGV);
}

/* Whether both lead to us while the kernel calls FRONT. */
static bool are_led(uintptr_t front)
{
	return leads(0) && leads(1) && fault_in_force(SIGSEGV) == front;
}

/*
 * Whether the handler behind ours is the JVM's, a profiler's or none: a library may be about to put back what it
 * found there.
 */
static bool stays(size_t i)
{
	const struct sigaction *last = signal_chain_behind(&chains[i], atomic_load(&fault_former[i]));

	return is_none(last) || is_jvms(last) || is_profilers(last);
}

/* Loads may fault. Look again afterwards: others change it without asking. */
static void trust(uintptr_t front)
{
	since = 0;
	atomic_store(&fault_front, front);
	fault_trust();
	fault_look();
}

int faults_install(struct error *err)
{
	bool locked = copies_lock(LIMIT_MS);
	uintptr_t front;
	int rc[ARRAY_LEN(chains)];
	size_t i;

	jvm = (uintptr_t)layout_symbol("JVM_handle_linux_signal");
	for (i = 0; i < ARRAY_LEN(chains); i++)
		rc[i] = install(i);
	if (locked)
		copies_unlock();
	for (i = 0; i < ARRAY_LEN(chains); i++)
		if (rc[i] && rc[i] != -ENOSPC) /* then the kernel makes the loads */
			return error_set(err, -rc[i], "cannot install a handler for signal %d: %s", chains[i].signo,
					 error_text(-rc[i]));
	front = fault_in_force(SIGSEGV);
	if (are_led(front) && stays(0) && stays(1))
		trust(front);
	return 0;
}

static void doubt(void)
{
	since = 0;
	fault_doubt();
}

void faults_keep(void)
{
	uintptr_t front = fault_in_force(SIGSEGV);
	size_t i;

	if (!atomic_load(&jstrobe_copy.faults[0].wanted))
		return;
	if (front != atomic_load(&fault_front)) {
		doubt();
		atomic_store(&fault_front, front);
		atomic_store(&fault_led, 0);
	}
	if (!are_led(front)) {
		doubt();
		for (i = 0; i < ARRAY_LEN(chains) && copies_lock(0); i++) {
			if (!leads(i))
				come_back(i);
			copies_unlock();
		}
	} else if (fault_in_doubt()) {
		since = since ? since : os_monotonic();
		if (os_monotonic() - since >= STEADY)
			trust(front);
	}
}

void faults_remove(void)
{
	bool locked = copies_lock(LIMIT_MS);
	struct sigaction now;
	size_t i;

	doubt();
	for (i = 0; i < ARRAY_LEN(chains); i++) {
		atomic_store(&jstrobe_copy.faults[i].wanted, 0);
		if (!locked || !atomic_load(&jstrobe_copy.faults[i].handler) || sigaction(chains[i].signo, NULL, &now))
			continue;
		/* What came after us may call us: then ours stays in the chain. */
		if (signal_chain_is_ours(&chains[i], &now))
			signal_chain_put_back(&chains[i]);
	}
	if (locked)
		copies_unlock();
}
