/*
 * Names of kernel addresses: one pass over /proc/kallsyms (some 200,000 lines,
 * mostly rising) with memory for the answers only.
 *
 * The asked addresses are sorted. Each line belongs to the first asked address
 * at or above it; the highest line of each is remembered. At the end an
 * address without a line of its own has that of its neighbour below.
 * Data symbols take part: where one lies between, there is no function.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/base.h"
#include "common/base/vector.h"
#include "common/elf/elf.h"
#include "common/elf/kallsyms.h"

#define READ_BYTES 65536
#define LINE_MAX_BYTES 1024
#define HIDDEN_LINES 4096             /* zero addresses in a row: all are */

struct asked {
	uint64_t address;
	size_t place;       /* in the caller's array */
	uint64_t best;      /* highest symbol not above, so far; 0 none */
	uint64_t next;      /* lowest symbol above it and not above the next one asked for; 0 none */
	bool is_text;
	VECTOR(char) name;
};

struct pass {
	struct asked *asked;
	size_t count;
};

/* Going through the lines. */
struct walk {
	bool (*fn)(const struct kallsyms_line *line, void *arg);
	void *arg;
	size_t lines, visible;
	bool no_memory;
};

static bool is_text(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

/* "ffffffff81000000 T name\t[module]" between AT and END. */
static bool parse(const char *at, const char *end, struct kallsyms_line *line)
{
	const char *tab;

	memset(line, 0, sizeof(*line));
	for (; at < end && *at != ' '; at++) {
		int digit = *at <= '9' ? *at - '0' : (*at | 0x20) - 'a' + 10;

		if (digit < 0 || digit > 15)
			return false;
		line->address = line->address << 4 | (unsigned)digit;
	}
	if (end - at < 4 || at[2] != ' ')
		return false;
	line->type = at[1];
	line->name = at + 3;
	tab = memchr(line->name, '\t', (size_t)(end - line->name));
	line->name_length = (size_t)((tab ? tab : end) - line->name);
	if (tab) {
		line->module = tab + 1;
		line->module_length = (size_t)(end - line->module);
	}
	return line->name_length > 0;
}

/* Whether LINE says it better than what A has: higher, or as high and more readable. */
static bool better(const struct asked *a, const struct kallsyms_line *line)
{
	if (a->best != line->address || !a->name.items)
		return line->address >= a->best;
	if (a->is_text != line->is_text)
		return line->is_text;
	return a->name.items[0] == '_' && line->name[0] != '_';
}

static bool store(struct asked *a, const struct kallsyms_line *line)
{
	size_t size = line->name_length + (line->module ? 1 + line->module_length : 0) + 1;
	char *p;

	if (!VECTOR_RESERVE(&a->name, size))
		return false;
	p = mempcpy(a->name.items, line->name, line->name_length);
	if (line->module) {
		*p++ = ' ';
		p = mempcpy(p, line->module, line->module_length);
	}
	*p = '\0';
	a->best = line->address;
	a->is_text = line->is_text;
	return true;
}

/* False: out of memory. */
static bool take(const struct kallsyms_line *line, void *arg)
{
	struct pass *pass = arg;
	size_t low = SEARCH(pass->count, i, pass->asked[i].address < line->address);

	if (low > 0 && (!pass->asked[low - 1].next || line->address < pass->asked[low - 1].next))
		pass->asked[low - 1].next = line->address;
	return low == pass->count || !better(&pass->asked[low], line) || store(&pass->asked[low], line);
}

static void take_line(struct walk *walk, const char *at, const char *end)
{
	struct kallsyms_line line;

	if (!parse(at, end, &line))
		return;
	walk->lines++;
	/* Absolute symbols are numbers, not places. */
	if (line.address == 0 || line.type == 'A' || line.type == 'a')
		return;
	walk->visible++;
	line.is_text = is_text(line.type);
	walk->no_memory |= !walk->fn(&line, walk->arg);
}

static int read_lines(struct walk *walk, int fd, char *buffer)
{
	size_t filled = 0;
	off_t done = 0; /* one open file may be read by several at once */

	for (;;) {
		ssize_t n = pread(fd, buffer + filled, READ_BYTES - filled, done);
		char *at = buffer, *end, *newline;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		done += n;
		end = buffer + filled + n;
		while ((newline = memchr(at, '\n', (size_t)(end - at)))) {
			take_line(walk, at, newline);
			at = newline + 1;
		}
		filled = (size_t)(end - at);
		if (filled > LINE_MAX_BYTES)
			filled = 0; /* no line of kallsyms is that long */
		memmove(buffer, at, filled);
		if (walk->no_memory)
			return -ENOMEM;
		if (walk->visible == 0 && walk->lines >= HIDDEN_LINES)
			return 0;
	}
}

static int by_address(const void *a, const void *b)
{
	const struct asked *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* Give each asked address the highest symbol that is not above it. */
static int answer(struct pass *pass, char **names, struct kernel_range *ranges)
{
	const struct asked *best = NULL;
	size_t i;

	for (i = pass->count; i-- > 1;)
		if (!pass->asked[i - 1].next)
			pass->asked[i - 1].next = pass->asked[i].next;

	for (i = 0; i < pass->count; i++) {
		const struct asked *a = &pass->asked[i];

		if (a->name.items)
			best = a;
		if (!best || !best->is_text || a->address - best->best >= KALLSYMS_FUNCTION_MAX)
			continue;
		names[a->place] = strdup(best->name.items);
		if (!names[a->place])
			return -ENOMEM;
		if (ranges && a->next)
			ranges[a->place] = (struct kernel_range){
				best->best, MIN(a->next, best->best + KALLSYMS_FUNCTION_MAX)};
	}
	return 0;
}

static _Atomic int given = -1;

void kernel_symbols_from(int fd)
{
	atomic_store(&given, fd);
}

/* The file PATH; what was given stands for the kernel's own. */
static int open_symbols(const char *path)
{
	int fd = strcmp(path, KALLSYMS) == 0 ? atomic_load(&given) : -1;

	return fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_CLOEXEC);
}

int kallsyms_each(const char *path, bool (*fn)(const struct kallsyms_line *line, void *arg), void *arg,
		  struct error *err)
{
	struct walk walk = {.fn = fn, .arg = arg};
	char *buffer = malloc(READ_BYTES);
	int fd = open_symbols(path);
	int rc;

	if (fd < 0)
		rc = error_set(err, errno, "kernel symbols: cannot open %s: %s", path,
			       error_text(errno));
	else if (!buffer)
		rc = error_set(err, ENOMEM, "kernel symbols: no memory");
	else if ((rc = read_lines(&walk, fd, buffer)) < 0)
		error_set(err, -rc, "kernel symbols: reading %s: %s", path, error_text(-rc));
	else if (walk.visible == 0)
		rc = error_set(err, EACCES, "kernel symbols are hidden: all addresses in %s are "
			       "zero; write 0 to /proc/sys/kernel/kptr_restrict and 1 or less to "
			       "/proc/sys/kernel/perf_event_paranoid, or give the process CAP_SYSLOG",
			       path);
	if (fd >= 0)
		close(fd);
	free(buffer);
	return rc;
}

int kallsyms_read(const char *path, const uint64_t *addresses, size_t count, char **names,
		  struct kernel_range *ranges, struct error *err)
{
	struct pass pass = {.count = count};
	size_t i;
	int rc;

	if (count == 0)
		return 0;
	memset(names, 0, count * sizeof(*names));
	if (ranges)
		memset(ranges, 0, count * sizeof(*ranges));
	pass.asked = calloc(count, sizeof(*pass.asked));
	if (!pass.asked)
		return error_set(err, ENOMEM, "kernel symbols: no memory");
	for (i = 0; i < count; i++) {
		pass.asked[i].address = addresses[i];
		pass.asked[i].place = i;
	}
	qsort(pass.asked, count, sizeof(*pass.asked), by_address);
	rc = kallsyms_each(path, take, &pass, err);
	if (rc == 0 && (rc = answer(&pass, names, ranges)) < 0)
		error_set(err, -rc, "kernel symbols: no memory");
	for (i = 0; i < count; i++) {
		free(pass.asked[i].name.items);
		if (rc < 0) {
			free(names[i]);
			names[i] = NULL;
		}
	}
	free(pass.asked);
	return rc;
}

int kernel_symbols(const uint64_t *addresses, size_t count, char **names, struct kernel_range *ranges,
		   struct error *err)
{
	return kallsyms_read(KALLSYMS, addresses, count, names, ranges, err);
}
