/*
 * table.c - the table: a line for each owner, with what the JVM counts beside what is resident.
 */
#include <stdio.h>

#include "cli/memory/resident.h"
#include "common/base/buffer.h"
#include "common/base/clean.h"
#include "common/base/decimal.h"

const char *const memory_keys[] = {
#define LINE(key, title, about) #key,
#include "cli/memory/lines.def"
};
const char *const memory_titles[] = {
#define LINE(key, title, about) title,
#include "cli/memory/lines.def"
};

const char *memory_size(uint64_t bytes, char out[24])
{
	static const char *const units[] = {"KB", "MB", "GB", "TB"};
	double value = (double)bytes / 1024;
	size_t unit = 0;

	while (value >= 1023.5 && unit + 1 < ARRAY_LEN(units)) {
		value /= 1024;
		unit++;
	}
	snprintf(out, 24, "%.12s %s", decimal(value, value < 9.95 && unit).text, units[unit]);
	return out;
}

/* "used 40 MB of 384 MB committed", unless what is resident by now shows that these are old. */
static void put_counted(struct buffer *out, uint64_t used, uint64_t committed, uint64_t resident)
{
	char a[24], b[24];

	if (resident > committed + committed / 16)
		return;
	if (committed && used)
		buffer_printf(out, "  used %s of %s committed", memory_size(used, a), memory_size(committed, b));
	else if (committed)
		buffer_printf(out, "  %s committed", memory_size(committed, b));
}

static void put_parts(const struct memory_reading *r, enum memory_line line, struct buffer *out)
{
	const char *apart = "  ";
	size_t i;
	char text[24];

	for (i = 0; i < r->parts.count; i++)
		if (r->parts.items[i].line == line && r->parts.items[i].rss >= 1024) {
			buffer_printf(out, "%s%s %s", apart, r->parts.items[i].what,
				      memory_size(r->parts.items[i].rss, text));
			apart = ", ";
		}
}

static void put_details(const struct memory_reading *r, enum memory_line line, struct buffer *out)
{
	const struct memory_counters *c = &r->counters;
	const struct memory_malloc *m = &r->malloc;

	switch (line) {
	case MEMORY_java_heap:
		put_counted(out, c->heap_used, c->heap_committed, r->lines[line]);
		break;
	case MEMORY_metaspace:
		put_counted(out, c->metaspace_used, c->metaspace_committed, r->lines[line]);
		break;
	case MEMORY_class_space:
		put_counted(out, c->class_used, c->class_committed, r->lines[line]);
		break;
	case MEMORY_stacks_java:
	case MEMORY_stacks_jit:
	case MEMORY_stacks_gc:
	case MEMORY_stacks_other:
		buffer_printf(out, "  %u thread%s", (unsigned)r->stacks[line], r->stacks[line] == 1 ? "" : "s");
		break;
	case MEMORY_malloc_used:
		if (m->known)
			buffer_printf(out, "  %u arena%s", m->arenas, m->arenas == 1 ? "" : "s");
		break;
	case MEMORY_malloc_large:
		if (m->large_count)
			buffer_printf(out, "  %u block%s", m->large_count, m->large_count == 1 ? "" : "s");
		break;
	default:
		put_parts(r, line, out);
	}
}

void memory_put_change(uint64_t now, uint64_t then, struct buffer *out)
{
	char text[24], signed_text[32] = "";

	if (now != then)
		snprintf(signed_text, sizeof(signed_text), "%c%s", now > then ? '+' : '-',
			 memory_size(now > then ? now - then : then - now, text));
	buffer_printf(out, "  %11s", signed_text);
}

static void put_share(const struct memory_reading *r, uint64_t bytes, struct buffer *out)
{
	char text[24];

	buffer_printf(out, "%10s %5s%%", memory_size(bytes, text),
		      decimal(100.0 * (double)bytes / (double)MAX(r->maps.rss, 1), 1).text);
}

void memory_table(const struct memory_reading *r, const struct memory_sums *before, struct buffer *out)
{
	unsigned i;

	buffer_printf(out, "Process %d", (int)r->pid);
	if (r->vm == PROCESS_HOTSPOT) {
		buffer_puts(out, ", ");
		clean_name(out, r->java.main);
		buffer_puts(out, ", JDK ");
		clean_name(out, r->jdk);
	} else {
		buffer_puts(out, r->vm == PROCESS_OPENJ9 ? ", OpenJ9: its own memory cannot be told apart" :
							   ": not a JVM that jstrobe knows");
	}
	buffer_printf(out, "\n%10s %6s%s  resident\n", "", "", before ? "       change" : "");
	for (i = 0; i < MEMORY_LINES; i++) {
		if (!r->lines[i] && !(before && before->lines[i]))
			continue;
		put_share(r, r->lines[i], out);
		if (before)
			memory_put_change(r->lines[i], before->lines[i], out);
		buffer_printf(out, "  %s", memory_titles[i]);
		put_details(r, (enum memory_line)i, out);
		buffer_putc(out, '\n');
	}
	put_share(r, r->maps.rss, out);
	if (before)
		memory_put_change(r->maps.rss, before->rss, out);
	buffer_puts(out, "  Rss, as the kernel counts it\n");
}
