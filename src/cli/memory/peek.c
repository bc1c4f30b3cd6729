/*
 * peek.c - reading another process's memory without changing what is resident of it.
 *
 * process_vm_readv brings in the pages that it reads: one that was never used becomes a page of zeros, one that was
 * swapped out comes back. So a page without a file behind it is only read if pagemap says that it is there. Both need
 * the right to look at the process; to read its memory, Yama (ptrace_scope) may ask for more.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cli/memory/resident.h"

#define PAGE 4096u
#define WINDOW ARRAY_LEN(((struct peek_window *)0)->entries) /* read at once */
#define WINDOWS 256u
#define CACHED 64u
#define PRESENT (1ull << 63)

static uint64_t page_size(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

int peek_open(struct peek *p, pid_t pid, const struct mappings *maps, struct error *err)
{
	char path[64];

	*p = (struct peek){.pid = pid, .maps = maps, .pagemap = -1};
	p->windows = calloc(WINDOWS, sizeof(*p->windows));
	p->cache = malloc(CACHED * PAGE);
	if (!p->windows || !p->cache) {
		peek_close(p);
		return error_set(err, ENOMEM, "out of memory");
	}
	memset(p->cached, 0xff, sizeof(p->cached));
	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	p->pagemap = open(path, O_RDONLY | O_CLOEXEC);
	p->refused = p->pagemap < 0;
	return 0;
}

void peek_close(struct peek *p)
{
	if (p->pagemap >= 0)
		close(p->pagemap);
	free(p->windows);
	free(p->cache);
	p->windows = NULL;
	p->cache = NULL;
	p->pagemap = -1;
}

static struct peek_window *window_of(struct peek *p, uint64_t number, bool anew)
{
	uint64_t from = number / WINDOW * WINDOW;
	struct peek_window *w = &p->windows[number / WINDOW % WINDOWS];
	ssize_t n;

	if (w->count == 0 || w->from != from || anew) {
		n = p->pagemap < 0 ? 0 : pread(p->pagemap, w->entries, sizeof(w->entries),
					       (off_t)(from * sizeof(*w->entries)));
		w->from = from;
		w->count = n > 0 ? (size_t)n / sizeof(*w->entries) : 0;
	}
	return w;
}

/* Whether page NUMBER is in memory. */
static bool is_present(struct peek *p, uint64_t number, bool anew)
{
	const struct peek_window *w = window_of(p, number, anew);

	return number - w->from < w->count && w->entries[number - w->from] & PRESENT;
}

uint64_t peek_resident(struct peek *p, uint64_t from, uint64_t to)
{
	uint64_t size = page_size(), page, found = 0;

	for (page = from / size; page < (to + size - 1) / size; page++)
		found += is_present(p, page, false);
	return found * size;
}

uint64_t peek_next(struct peek *p, uint64_t from, uint64_t to)
{
	uint64_t size = page_size(), page;

	for (page = (from + size - 1) / size; page < to / size; page++)
		if (is_present(p, page, false))
			return page * size;
	return to;
}

/*
 * Whether the bytes can be read and nothing changes by it: pages that are there, and pages of files. What was not there
 * when its entry was read may have come since.
 */
static bool may_read(struct peek *p, uint64_t from, uint64_t n)
{
	uint64_t size = page_size(), page;
	const struct mapping *m;

	for (page = from / size; page <= (from + n - 1) / size; page++) {
		if (is_present(p, page, false))
			continue;
		m = mappings_find(p->maps, MAX(page * size, from));
		if (!(m && m->perms[0] == 'r' && m->path[0] == '/') && !is_present(p, page, true))
			return false;
	}
	return true;
}

static bool read_it(struct peek *p, uint64_t address, void *to, size_t n)
{
	struct iovec here = {to, n}, there = {(void *)(uintptr_t)address, n};
	ssize_t got;

	if (p->refused || n == 0)
		return false;
	got = process_vm_readv(p->pid, &here, 1, &there, 1, 0);
	if (got < 0 && (errno == EPERM || errno == ENOSYS))
		p->refused = true;
	return got == (ssize_t)n;
}

bool peek_read(struct peek *p, uint64_t address, void *to, size_t n)
{
	return n && address + n > address && may_read(p, address, n) && read_it(p, address, to, n);
}

bool peek_word(struct peek *p, uint64_t address, uint64_t *word)
{
	uintptr_t value = 0;
	bool done = peek_read(p, address, &value, sizeof(value));

	*word = value;
	return done;
}

/* The page that holds ADDRESS; what it holds is constant. */
static const char *cached_page(struct peek *p, uint64_t address)
{
	uint64_t page = address / PAGE;
	char *bytes = p->cache + page % CACHED * PAGE;

	if (p->cached[page % CACHED] == page)
		return bytes;
	p->cached[page % CACHED] = UINT64_MAX;
	if (!peek_read(p, page * PAGE, bytes, PAGE))
		return NULL;
	p->cached[page % CACHED] = page;
	return bytes;
}

bool peek_text(struct peek *p, uint64_t address, char *to, size_t size)
{
	size_t i;

	for (i = 0; i + 1 < size; i++) {
		const char *page = cached_page(p, address + i);

		if (!page)
			return false;
		to[i] = page[(address + i) % PAGE];
		if (!to[i])
			return true;
	}
	to[i] = '\0';
	return true;
}
