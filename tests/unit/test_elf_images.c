/*
 * The set of images: what is in it, how it ages with dlopen and dlclose, and
 * that libraries which vanish or shrink on disk do no harm.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/base/pages.h"
#include "common/elf/elf.h"
#include "common/elf/memory.h"

#define LIBRARY "libresolv.so.2" /* of the C library, and not loaded otherwise */
#define OTHER "libanl.so.1"

static struct image_set *read_set(const struct image_set *previous)
{
	struct error err = {0};
	struct image_set *set = image_set_read(previous, &err);

	if (!set)
		fail_msg("%s", err.text);
	return set;
}

static const struct image *find(const struct image_set *set, const char *name)
{
	uint32_t i;

	for (i = 0; i < set->count; i++)
		if (strcmp(set->images[i]->name, name) == 0)
			return set->images[i];
	return NULL;
}

static void what_is_loaded(void **state)
{
	struct image_set *set = read_set(NULL);
	const struct image *own = image_find(set, (uintptr_t)what_is_loaded);
	const struct image *libc = image_find(set, (uintptr_t)dlsym(RTLD_DEFAULT, "getpid"));
	const struct image *vdso = find(set, "[vdso]");
	char path[4096] = {0};
	uint32_t i;

	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	assert_non_null(own);
	assert_string_equal(own->path, path);
	assert_non_null(libc);
	assert_non_null(strstr(libc->path, "libc.so"));
	assert_int_equal(strncmp(libc->name, "libc.so", 7), 0);
	assert_true(libc->unwind.row_count > 1000);
	if (getauxval(AT_SYSINFO_EHDR)) {
		assert_non_null(vdso);
		assert_true(vdso->unwind.row_count > 0);
		assert_true(vdso->bias == getauxval(AT_SYSINFO_EHDR));
	}
	for (i = 0; i < set->count; i++) {
		const struct image *image = set->images[i];

		assert_true(image->start < image->end);
		assert_true(i == 0 || set->images[i - 1]->end <= image->start);
		assert_true(i == 0 || set->images[i - 1]->id != image->id);
		assert_true(image->path[0] && image->name[0]);
		assert_ptr_equal(image_find(set, image->start), image);
		assert_ptr_equal(image_find(set, image->end - 1), image);
		assert_true(image_find(set, image->end) != image);
	}
	assert_null(image_find(set, 0));
	assert_null(image_find(set, UINTPTR_MAX));
	assert_null(image_find(set, (uintptr_t)&set));
	assert_true(image_set_bytes(set) > 100000);
	image_set_free(set, NULL);
}

static void unchanged_ones_are_taken_over(void **state)
{
	struct image_set *first = read_set(NULL), *second;
	uint32_t i;

	assert_false(image_set_is_stale(first));
	second = read_set(first);
	assert_true(second->generation > first->generation);
	assert_int_equal(first->count, second->count);
	for (i = 0; i < first->count; i++)
		assert_ptr_equal(first->images[i], second->images[i]);
	image_set_free(first, second);
	assert_true(find(second, "[vdso]") == NULL || find(second, "[vdso]")->path != NULL);
	image_set_free(second, NULL);
}

static void libraries_come_and_go(void **state)
{
	struct image_set *before = read_set(NULL), *with, *after, *again;
	const struct image *libc = image_find(before, (uintptr_t)dlsym(RTLD_DEFAULT, "getpid"));
	uint32_t libc_id = libc->id, library_id;
	uintptr_t start;
	void *handle;

	assert_null(find(before, LIBRARY));
	handle = dlopen(LIBRARY, RTLD_NOW);
	if (!handle)
		fail_msg("%s", dlerror());
	assert_true(image_set_is_stale(before));
	with = read_set(before);
	assert_false(image_set_is_stale(with));
	assert_int_equal(with->count, before->count + 1);
	assert_non_null(find(with, LIBRARY));
	assert_true(find(with, LIBRARY)->unwind.row_count > 100);
	assert_ptr_equal(image_find(with, libc->start), libc);
	assert_int_equal(libc->id, libc_id);
	image_set_free(before, with);
	assert_int_equal(libc->id, libc_id); /* still alive */
	library_id = find(with, LIBRARY)->id;
	start = find(with, LIBRARY)->start;

	dlclose(handle);
	assert_true(image_set_is_stale(with));
	after = read_set(with);
	assert_null(find(after, LIBRARY));
	assert_ptr_equal(image_find(after, libc->start), libc);
	image_set_free(with, after);

	/* The same library, often at the same place: another mapping all the same. */
	handle = dlopen(LIBRARY, RTLD_NOW);
	again = read_set(after);
	assert_non_null(find(again, LIBRARY));
	assert_true(find(again, LIBRARY)->id > library_id);
	print_message("loaded again at %s address\n",
		      find(again, LIBRARY)->start == start ? "the same" : "another");
	image_set_free(after, again);
	image_set_free(again, NULL);
	dlclose(handle);
}

/* dlopen and dlclose in another thread all the time. */
static volatile bool stop;

static void *open_and_close(void *arg)
{
	while (!stop) {
		void *handle = dlopen(LIBRARY, RTLD_NOW);

		if (handle)
			dlclose(handle);
	}
	return NULL;
}

static void reading_while_libraries_change(void **state)
{
	int rounds = getenv("JSTROBE_SOAK") ? 20000 : 300, with = 0, i;
	struct image_set *set = read_set(NULL), *next;
	pthread_t thread;

	stop = false;
	assert_int_equal(pthread_create(&thread, NULL, open_and_close, NULL), 0);
	/* Until it was met a few times, however the threads happen to run. */
	for (i = 0; i < rounds || (with < 5 && i < 200 * rounds); i++) {
		const struct image *image;

		next = read_set(set);
		image_set_free(set, next);
		set = next;
		image = find(set, LIBRARY);
		if (image) {
			with++;
			image_symbol(image, image->start + (image->end - image->start) / 2, NULL);
		}
		if (i % 8 == 0)
			image_symbols_release(set);
	}
	stop = true;
	pthread_join(thread, NULL);
	next = read_set(set);
	image_set_free(set, next);
	assert_false(image_set_is_stale(next));
	assert_null(find(next, LIBRARY));
	image_set_free(next, NULL);
	print_message("seen loaded in %d of %d sets\n", with, i);
	assert_true(with >= 5);
}

/* ---- files that change under the mapping; in children, which may be hurt ---- */

static void copy_file(const char *from, const char *to)
{
	char bytes[65536];
	int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0700);
	ssize_t n;

	assert_true(in >= 0 && out >= 0);
	while ((n = read(in, bytes, sizeof(bytes))) > 0)
		assert_int_equal(write(out, bytes, (size_t)n), n);
	close(in);
	close(out);
}

/* The path of the installed library NAME. */
static void library_path(const char *name, char *path, size_t size)
{
	struct link_map *map;
	void *handle = dlopen(name, RTLD_NOW);

	assert_non_null(handle);
	assert_int_equal(dlinfo(handle, RTLD_DI_LINKMAP, &map), 0);
	snprintf(path, size, "%s", map->l_name);
	dlclose(handle);
}

#define CHILD_ASSERT(what)                                                           \
	do {                                                                         \
		if (!(what)) {                                                       \
			dprintf(2, "in the child, line %d: %s\n", __LINE__, #what);  \
			_exit(1);                                                    \
		}                                                                    \
	} while (0)

static void in_child(void (*run)(const char *path))
{
	char folder[] = "/tmp/jstrobe-test-XXXXXX", path[64], from[4096];
	int status = -1;
	pid_t pid;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/library.so", folder);
	library_path(LIBRARY, from, sizeof(from));
	copy_file(from, path);
	pid = fork();
	if (pid == 0) {
		run(path);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	unlink(path);
	rmdir(folder);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		fail_msg("the child ended with status %#x", status);
}

static void replace_it(const char *path)
{
	void *handle = dlopen(path, RTLD_NOW);
	void *function = dlsym(handle, "__p_class");
	char from[4096], other[80];
	struct image_set *set;
	const struct image *image;
	struct error err;
	const char *name;

	CHILD_ASSERT(handle && function);
	library_path(OTHER, from, sizeof(from));
	snprintf(other, sizeof(other), "%s.new", path);
	copy_file(from, other);
	CHILD_ASSERT(rename(other, path) == 0);
	set = image_set_read(NULL, &err);
	CHILD_ASSERT(set);
	image = image_find(set, (uintptr_t)function);
	CHILD_ASSERT(image && strcmp(image->path, path) == 0);
	CHILD_ASSERT(image->unwind.row_count > 100);
	/* The names are those of the code in memory. */
	name = image_symbol(image, (uintptr_t)function + 1, NULL);
	CHILD_ASSERT(name && strstr(name, "p_class"));
	CHILD_ASSERT(image_address_of(image, "__p_class") == (uintptr_t)function);
	CHILD_ASSERT(unlink(path) == 0);
	image_symbols_release(set);
	name = image_symbol(image, (uintptr_t)function + 1, NULL);
	CHILD_ASSERT(name && strstr(name, "p_class"));
	image_set_free(set, NULL);
}

static void shrink_it(const char *path)
{
	static const int sizes[] = {30000, 8192, 4096, 100, 0};
	void *handle = dlopen(path, RTLD_NOW);
	uintptr_t function = (uintptr_t)dlsym(handle, "__p_class");
	struct image_set *set, *old;
	struct error err;
	const char *name;
	size_t i;

	CHILD_ASSERT(handle && function);
	old = image_set_read(NULL, &err);
	CHILD_ASSERT(old && image_find(old, function));
	name = image_symbol(image_find(old, function), function, NULL);
	CHILD_ASSERT(name);
	for (i = 0; i < ARRAY_LEN(sizes); i++) {
		const struct image *image;

		CHILD_ASSERT(truncate(path, sizes[i]) == 0);
		set = image_set_read(NULL, &err);
		CHILD_ASSERT(set);
		image = image_find(set, function);
		if (image) {
			image_symbol(image, function, NULL);
			image_address_of(image, "__p_class");
		}
		image_set_free(set, NULL);
	}
	/* Other names of an index made before come from what is left of the file. */
	for (i = 0; i < 20000; i += 100)
		image_symbol(image_find(old, function), function + i, NULL);
	image_set_free(old, NULL);
}

static void replaced_file(void **state)
{
	in_child(replace_it);
}

static void shrunk_file(void **state)
{
	in_child(shrink_it);
}

/* ---- no memory ---- */

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

/* Address space of this process in bytes. */
static size_t address_space(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	size_t pages = 0;

	CHILD_ASSERT(f && fscanf(f, "%zu", &pages) == 1);
	fclose(f);
	return pages * 4096;
}

/* Reading with room for a little more each time: fails cleanly until it succeeds. */
static void read_with_little(const char *path)
{
	struct rlimit limit, unlimited;
	struct image_set *set = NULL;
	size_t base, room;
	int failures = 0;

	CHILD_ASSERT(getrlimit(RLIMIT_AS, &unlimited) == 0);
	base = address_space();
	for (room = 0; room < 64 << 20 && !set; room += 16384) {
		struct error err = {0};

		limit = unlimited;
		limit.rlim_cur = base + room;
		CHILD_ASSERT(setrlimit(RLIMIT_AS, &limit) == 0);
		set = image_set_read(NULL, &err);
		if (set) {
			/* Symbols may be missing for want of memory; asking must do no harm. */
			image_symbol(image_find(set, (uintptr_t)read_with_little),
				     (uintptr_t)read_with_little, NULL);
		} else {
			CHILD_ASSERT(err.code == ENOMEM && err.text[0]);
			failures++;
		}
	}
	CHILD_ASSERT(setrlimit(RLIMIT_AS, &unlimited) == 0);
	CHILD_ASSERT(set && failures > 5);
	CHILD_ASSERT(image_find(set, (uintptr_t)read_with_little)->unwind.row_count > 100);
	image_set_free(set, NULL);
}

static void short_of_memory(void **state)
{
#ifdef SANITIZED
	print_message("SKIP: the sanitizer needs address space without limit\n");
	skip();
#endif
	in_child(read_with_little);
}

static void check_copies(void)
{
	char *pages = pages_alloc(3 * 4096), copy[8192];

	assert_non_null(pages);
	memset(pages, 'x', 3 * 4096);
	pages_free(pages + 4096, 4096);
	assert_int_equal(memory_copy(copy, (uintptr_t)pages, sizeof(copy)), 4096);
	assert_int_equal(copy[4095], 'x');
	assert_int_equal(memory_copy(copy, (uintptr_t)pages + 4096, 1), 0);
	assert_int_equal(memory_copy(copy, 0, 100), 0);
	assert_int_equal(memory_copy(copy, UINTPTR_MAX - 50, 100), 0);
	assert_int_equal(memory_copy(copy, (uintptr_t)pages + 8192, 4096), 4096);
	pages_free(pages, 4096);
	pages_free(pages + 8192, 4096);
}

static void unreadable_memory(void **state)
{
	struct rlimit none, limit;

	check_copies();
	/* Without a descriptor for the memory file the other way is taken. */
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	check_copies();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_loaded),
		cmocka_unit_test(unchanged_ones_are_taken_over),
		cmocka_unit_test(libraries_come_and_go),
		cmocka_unit_test(reading_while_libraries_change),
		cmocka_unit_test(replaced_file),
		cmocka_unit_test(shrunk_file),
		cmocka_unit_test(short_of_memory),
		cmocka_unit_test(unreadable_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
