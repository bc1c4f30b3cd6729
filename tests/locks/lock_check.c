/*
 * lock_check.c - what is held while another lock is taken. Names, not addresses: two locks of one kind are one.
 *
 * A name is the file and the expression of the first who takes or makes the lock ("agent/session: session.lock").
 */
#include "lock_check.h"

#undef pthread_mutex_lock
#undef pthread_mutex_unlock
#undef pthread_mutex_trylock

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAMES 256
#define LOCKS 8192
#define DEPTH 32

static atomic_flag busy = ATOMIC_FLAG_INIT;
static char names[NAMES][120];
static int name_count = 1; /* 0: none */
static struct {
	void *lock;
	int name;
} locks[LOCKS];
static unsigned char seen[NAMES][NAMES];

static __thread int held[DEPTH];
static __thread void *held_locks[DEPTH];
static __thread int depth;

static void enter(void)
{
	while (atomic_flag_test_and_set(&busy))
		;
}

static void leave(void)
{
	atomic_flag_clear(&busy);
}

/* "agent/session/session.c", "&session.lock" → "agent/session: session.lock"; what is no member is a file's own. */
static int name_of(const char *text, const char *file)
{
	char name[sizeof(names[0])];
	int length, i;

	file += strncmp(file, "src/", 4) == 0 ? 4 : 0;
	text += *text == '&';
	length = (int)(strchr(text, '.') && strrchr(file, '/') ? strrchr(file, '/') - file : (long)strlen(file));
	snprintf(name, sizeof(name), "%.*s: %s", length, file, text);
	for (i = 1; i < name_count; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	if (name_count == NAMES)
		abort();
	strcpy(names[name_count], name);
	return name_count++;
}

static int *place_of(void *lock)
{
	unsigned at = (unsigned)((unsigned long)lock / 8 * 2654435761u) % LOCKS, i;

	for (i = 0; i < LOCKS; i++, at = (at + 1) % LOCKS)
		if (locks[at].lock == lock || !locks[at].lock) {
			locks[at].lock = lock;
			return &locks[at].name;
		}
	abort();
}

void lock_check_named(void *lock, const char *text, const char *file)
{
	enter();
	*place_of(lock) = name_of(text, file);
	leave();
}

static void tell(const char *first, const char *then)
{
	const char *path = getenv("JSTROBE_LOCK_ORDER");
	char line[300];
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
	int length = snprintf(line, sizeof(line), "%s > %s\n", first, then);

	if (fd >= 0) {
		if (write(fd, line, (size_t)length) != length)
			abort();
		close(fd);
	}
}

/* NAME is waited for: after all that is held. */
static void note_order(int name)
{
	int i, is_new;

	for (i = 0; i < depth && i < DEPTH; i++) {
		enter();
		is_new = !seen[held[i]][name];
		seen[held[i]][name] = 1;
		leave();
		if (is_new)
			tell(names[held[i]], names[name]);
	}
}

int lock_check(void *lock, int (*function)(void *), int try, const char *text, const char *file)
{
	int name, rc;

	enter();
	name = *place_of(lock);
	if (!name)
		name = *place_of(lock) = name_of(text, file);
	leave();
	if (!try)
		note_order(name);
	rc = function(lock);
	if (rc)
		return rc;
	if (depth < DEPTH) {
		held[depth] = name;
		held_locks[depth] = lock;
	}
	depth++;
	return 0;
}

void lock_check_unlock(void *lock)
{
	int i = depth < DEPTH ? depth : DEPTH;

	while (i-- > 0)
		if (held_locks[i] == lock) {
			memmove(&held[i], &held[i + 1], (size_t)(DEPTH - i - 1) * sizeof(held[0]));
			memmove(&held_locks[i], &held_locks[i + 1], (size_t)(DEPTH - i - 1) * sizeof(held_locks[0]));
			depth--;
			return;
		}
}
