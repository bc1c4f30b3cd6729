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
 * Copies of this library put theirs before each other's, and lead to each other. One that goes while another stands
 * before it stays in the chain and passes on; the last to go takes it out. So whatever the order, the JVM's own is
 * there in the end.
 */
#include "agent/hooks/faults.h"

#include <errno.h>
#include <link.h>
#include <string.h>

#include "agent/hooks/copies.h"
#include "agent/walk/fault.h"
#include "common/base/error.h"
#include "common/hotspot/layout.h"
#include "common/os/os.h"

#define LIMIT_MS 1000 /* another copy changes actions for microseconds */
#define STEADY NS_PER_S
#define FORMERS 8

static const int signals[2] = {SIGSEGV, SIGBUS};
/* Whom ours has ever passed on to. Handlers read them at any time. */
static struct sigaction formers[2][FORMERS];
static uint32_t bound[2];
static uintptr_t jvm;  /* an address in libjvm.so; 0: there is none */
static uint64_t since; /* what the kernel calls for SIGSEGV has led to us, os_monotonic; 0: it does not */

static bool is_ours(const struct sigaction *a)
{
	return a->sa_flags & SA_SIGINFO && a->sa_sigaction == fault_handler;
}

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

/* The copy in the chain whose handler A installs, or NULL. */
static struct copy_link *copy_of(size_t i, const struct sigaction *a)
{
	struct copy *c;
	uint32_t n;

	for (n = 0; a->sa_flags & SA_SIGINFO && (c = copies_other(n)) != NULL; n++)
		if ((void *)a->sa_sigaction == atomic_load(&c->faults[i].handler))
			return &c->faults[i];
	return NULL;
}

/* Who is reached by A, behind all copies that stand before; one of them if they go in a circle. */
static const struct sigaction *behind_copies(size_t i, const struct sigaction *a)
{
	const struct copy_link *copy;
	const struct sigaction *former;
	int steps;

	for (steps = 0; steps <= COPIES_MAX && (copy = copy_of(i, a)) != NULL; steps++, a = former)
		if (!(former = atomic_load(&copy->former)))
			break;
	return a;
}

/* ---- in front ---- */

static bool is_same(const struct sigaction *a, const struct sigaction *b)
{
	return a->sa_handler == b->sa_handler && a->sa_flags == b->sa_flags &&
	       memcmp(&a->sa_mask, &b->sa_mask, FAULT_MASK_BYTES) == 0;
}

/* Ours passes on to A from here on; false: to too many already. */
static bool pass_on_to(size_t i, const struct sigaction *a)
{
	uint32_t n = 0;

	while (n < bound[i] && !is_same(&formers[i][n], a))
		n++;
	if (n == FORMERS)
		return false;
	if (n == bound[i])
		formers[i][bound[i]++] = *a;
	atomic_store(&fault_former[i], &formers[i][n]);
	atomic_store(&jstrobe_copy.faults[i].former, &formers[i][n]);
	return true;
}

/*
 * Ours before NOW, with its mask and flags: what is passed on runs as it always did; before who came between, too. Lock
 * held. -ENOSPC: ours has stood before too many.
 */
static int put_before(size_t i, const struct sigaction *now)
{
	struct sigaction ours = *now, was;

	if (!pass_on_to(i, now))
		return -ENOSPC;
	ours.sa_flags |= SA_SIGINFO;
	ours.sa_flags &= ~SA_RESETHAND;
	ours.sa_sigaction = fault_handler;
	if (sigaction(signals[i], &ours, &was))
		return -errno;
	atomic_store(&jstrobe_copy.faults[i].handler, (void *)fault_handler);
	if (!is_ours(&was) && !is_same(&was, now) && !pass_on_to(i, &was))
		return -ENOSPC;
	return 0;
}

/* The JVM's stands there again, or none, perhaps behind copies: ours before it. Lock held. */
static int come_back(size_t i)
{
	const struct sigaction *last;
	struct sigaction now;

	if (sigaction(signals[i], NULL, &now))
		return -errno;
	last = behind_copies(i, &now);
	return is_none(last) || is_jvms(last) ? put_before(i, &now) : 0;
}

static int install(size_t i)
{
	struct copy_link *own = &jstrobe_copy.faults[i];
	struct sigaction now;

	atomic_store(&own->wanted, 1);
	if (atomic_load(&own->handler))
		return come_back(i);
	if (sigaction(signals[i], NULL, &now))
		return -errno;
	return put_before(i, &now);
}

/* ---- whether it is ---- */

/* Whether it is known that what libc has for signal I leads to us. */
static bool leads(size_t i)
{
	struct sigaction now;

	if (sigaction(signals[i], NULL, &now))
		return false;
	if (is_ours(behind_copies(i, &now)))
		return true;
	if (is_none(&now) || is_jvms(&now))
		return false;
	/* it came while ours was in front */
	if (is_profilers(&now) && atomic_load(&jstrobe_copy.faults[i].handler))
		return true;
	/* Nothing comes by SIGBUS that could tell. Who takes SIGSEGV takes it as well, and passes it on as well. */
	return signals[i] == SIGBUS || atomic_load(&fault_led) == fault_in_force(SIGSEGV);
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
	const struct sigaction *last = behind_copies(i, atomic_load(&fault_former[i]));

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
	int rc[ARRAY_LEN(signals)];
	size_t i;

	jvm = (uintptr_t)layout_symbol("JVM_handle_linux_signal");
	for (i = 0; i < ARRAY_LEN(signals); i++)
		rc[i] = install(i);
	if (locked)
		copies_unlock();
	for (i = 0; i < ARRAY_LEN(signals); i++)
		if (rc[i] && rc[i] != -ENOSPC) /* then the kernel makes the loads */
			return error_set(err, -rc[i], "cannot install a handler for signal %d: %s", signals[i],
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
		for (i = 0; i < ARRAY_LEN(signals) && copies_lock(0); i++) {
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

/* The copy whose handler for signal I is installed by ACTION, and not wanted any more; or NULL. */
static struct copy_link *unwanted(size_t i, const struct sigaction *action)
{
	struct copy *c;
	uint32_t n;

	for (n = 0; (c = copies_other(n)) != NULL; n++)
		if (action->sa_flags & SA_SIGINFO && !atomic_load(&c->faults[i].wanted) &&
		    (void *)action->sa_sigaction == atomic_load(&c->faults[i].handler))
			return &c->faults[i];
	return NULL;
}

/* Ours stands first: put back who came before us, and is still wanted. */
static void put_back(size_t i)
{
	const struct sigaction *former = atomic_load(&fault_former[i]);
	struct copy_link *gone[COPIES_MAX];
	struct sigaction was;
	size_t n = 0;

	while (n < ARRAY_LEN(gone) && (gone[n] = unwanted(i, former)) != NULL)
		former = atomic_load(&gone[n++]->former);
	if (sigaction(signals[i], former, &was))
		return;
	/* Who came between has ours to pass on to. */
	if (!is_ours(&was)) {
		sigaction(signals[i], &was, NULL);
		return;
	}
	atomic_store(&jstrobe_copy.faults[i].handler, NULL);
	while (n)
		atomic_store(&gone[--n]->handler, NULL);
}

void faults_remove(void)
{
	bool locked = copies_lock(LIMIT_MS);
	struct sigaction now;
	size_t i;

	doubt();
	for (i = 0; i < ARRAY_LEN(signals); i++) {
		atomic_store(&jstrobe_copy.faults[i].wanted, 0);
		if (!locked || !atomic_load(&jstrobe_copy.faults[i].handler) || sigaction(signals[i], NULL, &now))
			continue;
		/* What came after us may call us: then ours stays in the chain. */
		if (is_ours(&now))
			put_back(i);
	}
	if (locked)
		copies_unlock();
}
