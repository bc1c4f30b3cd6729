/*
 * nmt.c - what the JVM's own accounts (Native Memory Tracking, -XX:NativeMemoryTracking=summary) say, asked for by the
 * user: it is the JVM that answers, which is attached to for that. They are of what was reserved and committed, not of
 * what is resident, so they stand beside the table and are in no line of it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/attach/attach.h"
#include "cli/memory/resident.h"
#include "common/base/ascii.h"
#include "common/base/clean.h"

#define OFF "Native memory tracking is not enabled"

/* The number behind WORD in [AT, END), in KB; false: there is none. */
static bool amount(const char *at, const char *end, const char *word, uint64_t *bytes)
{
	const char *found = memmem(at, (size_t)(end - at), word, strlen(word));
	uint64_t kb = 0;

	if (!found || !ascii_is_digit(found[strlen(word)]))
		return false;
	for (found += strlen(word); found < end && ascii_is_digit(*found) && kb < UINT64_MAX / 20480; found++)
		kb = kb * 10 + (uint64_t)(*found - '0');
	*bytes = kb * 1024;
	return found + 1 < end && found[0] == 'K' && found[1] == 'B';
}

/* "-      Java Heap (reserved=10485760KB, committed=655360KB)", "Total: reserved=…, committed=…" of newer ones. */
static void take_line(struct memory_nmt *n, const char *at, const char *end)
{
	struct memory_nmt_line line = {.name = ""}, *place;
	size_t length;

	if (!amount(at, end, "reserved=", &line.reserved) || !amount(at, end, "committed=", &line.committed))
		return;
	if (end - at > 6 && memcmp(at, "Total:", 6) == 0) {
		n->reserved = line.reserved;
		n->committed = line.committed;
		return;
	}
	if (*at++ != '-')
		return; /* a part of the line above */
	while (at < end && *at == ' ')
		at++;
	length = strcspn(at, "(");
	while (length && at[length - 1] == ' ')
		length--;
	length = MIN(length, sizeof(line.name) - 1);
	memcpy(line.name, at, length);
	place = n->count < ARRAY_LEN(n->lines) ? &n->lines[n->count++] : NULL;
	if (place)
		*place = line;
}

int memory_nmt_parse(const char *text, struct memory_nmt *n, struct error *err)
{
	const char *end;

	memset(n, 0, sizeof(*n));
	if (strstr(text, OFF))
		return error_set(err, ENODATA, "native memory tracking is off in this JVM; start it with "
				 "-XX:NativeMemoryTracking=summary");
	for (; *text; text = *end ? end + 1 : end) {
		end = text + strcspn(text, "\n");
		take_line(n, text, end);
	}
	n->known = n->count && n->committed;
	return n->known ? 0 : error_set(err, EPROTO, "what this JVM says of its native memory is not understood");
}

int memory_read_nmt(pid_t pid, uint64_t timeout_ns, struct memory_nmt *n, struct error *err)
{
	struct attach_target t = ATTACH_TARGET_INIT;
	struct buffer text = BUFFER_INIT;
	int rc = attach_check(pid, -1, &t, err);

	if (rc == 0)
		rc = attach_jcmd(&t, "VM.native_memory summary scale=KB", (int)(timeout_ns / NS_PER_MS), &text, err);
	buffer_putc(&text, '\0');
	if (rc == 0 && text.failed)
		rc = error_set(err, ENOMEM, "out of memory");
	if (rc == 0)
		rc = memory_nmt_parse(text.data, n, err);
	buffer_free(&text);
	attach_close(&t);
	return rc;
}

void memory_nmt_table(const struct memory_nmt *n, struct buffer *out)
{
	char a[24], b[24];
	uint32_t i;

	if (!n->known)
		return;
	buffer_printf(out, "\nNative memory tracking, as the JVM counts it (committed is not resident):\n"
		      "%10s %10s\n", "committed", "reserved");
	for (i = 0; i < n->count; i++) {
		if (!n->lines[i].committed && !n->lines[i].reserved)
			continue;
		buffer_printf(out, "%10s %10s  ", memory_size(n->lines[i].committed, a),
			      memory_size(n->lines[i].reserved, b));
		clean_name(out, n->lines[i].name);
		buffer_putc(out, '\n');
	}
	buffer_printf(out, "%10s %10s  all of them\n", memory_size(n->committed, a), memory_size(n->reserved, b));
}
