/*
 * Names of functions: the right one of several, nothing where nothing is, and
 * files with broken symbol tables.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/elf/elf.h"
#include "common/elf/file.h"
#include "common/elf/symbols.h"
#include "common/elf/symtab.h"

/*
 * Aliases, a label inside a function, a function without size, a gap that
 * belongs to none.
 */
__asm__(".pushsection .text\n"
	".globl __probe_alias\n.type __probe_alias, @function\n__probe_alias:\n"
	".globl probe_alias\n.type probe_alias, @function\nprobe_alias:\n"
	".type probe_local, @function\nprobe_local:\n"
	"nop\nprobe_inner: nop\nnop\nret\n"
	".size __probe_alias, . - __probe_alias\n"
	".size probe_alias, . - probe_alias\n"
	".size probe_local, . - probe_local\n"
	"nop\nnop\nnop\nnop\n"
	".globl probe_bare\nprobe_bare: nop\nnop\nnop\n"
	".globl probe_next\n.type probe_next, @function\nprobe_next: ret\n"
	".size probe_next, . - probe_next\n"
	".popsection");
extern const char probe_alias[], probe_bare[], probe_next[];

static struct image_set *set;

static const char *name_at(const void *at, uintptr_t *offset)
{
	const struct image *image = image_find(set, (uintptr_t)at);

	return image ? image_symbol(image, (uintptr_t)at, offset) : NULL;
}

static __attribute__((noinline)) int a_static_function(int n)
{
	__asm__ volatile("");
	return n + 1;
}

static int set_up(void **state);

static void own_functions(void **state)
{
	uintptr_t offset = 99;

	assert_string_equal(name_at((void *)own_functions, &offset), "own_functions");
	assert_int_equal(offset, 0);
	assert_string_equal(name_at((char *)a_static_function + 1, &offset), "a_static_function");
	assert_int_equal(offset, 1);
	assert_string_equal(name_at((char *)a_static_function + 1, NULL), "a_static_function");
	assert_int_equal(a_static_function(1), 2);
}

static void several_at_one_place(void **state)
{
	uintptr_t offset;

	assert_string_equal(name_at(probe_alias, &offset), "probe_alias");
	assert_string_equal(name_at(probe_alias + 1, &offset), "probe_alias");
	assert_int_equal(offset, 1);
	assert_string_equal(name_at(probe_alias + 3, &offset), "probe_alias");
	assert_null(name_at(probe_alias + 4, &offset)); /* the gap */
	assert_string_equal(name_at(probe_bare, &offset), "probe_bare");
	assert_string_equal(name_at(probe_bare + 2, &offset), "probe_bare");
	assert_int_equal(offset, 2);
	assert_string_equal(name_at(probe_next, &offset), "probe_next");
}

static void names_of_libc(void **state)
{
	static const char *const names[] = {
		"malloc", "free", "write", "read", "printf", "qsort", "pthread_create", "getenv",
		"fwrite", "clock_gettime", "sigaction", "mmap", "nanosleep", "pthread_mutex_lock",
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++) {
		void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
		char *function = dlsym(libc, names[i]);
		const char *name = name_at(function + 1, NULL);

		assert_non_null(name);
		/* Some are kept under an alias such as "_IO_fwrite" or "__GI_…" never. */
		assert_string_equal(name, names[i]);
		assert_int_equal(image_address_of(image_find(set, (uintptr_t)function), names[i]),
				 function);
		dlclose(libc);
	}
}

static void kernel_page(void **state)
{
	uint32_t i;

	for (i = 0; i < set->count; i++) {
		const struct image *image = set->images[i];
		uintptr_t at;

		if (strcmp(image->path, "[vdso]") != 0)
			continue;
		at = image_address_of(image, "__vdso_clock_gettime");
		assert_true(at > image->start && at < image->end);
		assert_non_null(strstr(image_symbol(image, at, NULL), "clock_gettime"));
		return;
	}
	print_message("SKIP: no vdso in this process\n");
	skip();
}

static void addresses_of_names(void **state)
{
	const struct image *own = image_find(set, (uintptr_t)own_functions);

	assert_int_equal(image_address_of(own, "a_static_function"), (uintptr_t)a_static_function);
	assert_int_equal(image_address_of(own, "probe_bare"), (uintptr_t)probe_bare);
	assert_int_equal(image_address_of(own, "no_such_function_here"), 0);
	assert_int_equal(image_address_of(own, ""), 0);
	assert_int_equal(image_address_of(own, "_cmocka_run_group_tests"), 0); /* used only */
}

/* Wherever in its range one looks, the symbol is the same; ranges of a library's functions do not overlap. */
static void ranges(void **state)
{
	const struct image *libc = image_find(set, (uintptr_t)qsort), *own = image_find(set, (uintptr_t)set_up);
	const struct image *images[] = {libc, own};
	uintptr_t pc, from, to, offset, other, at;
	unsigned i, found = 0, seed = 1;

	for (i = 0; i < 20000; i++) {
		const struct image *image = images[i % 2];

		pc = image->start + (uintptr_t)rand_r(&seed) % (image->end - image->start);
		if (!image_symbol_range(image, pc, &from, &to)) {
			assert_null(image_symbol(image, pc, NULL));
			continue;
		}
		found++;
		assert_true(from <= pc && pc < to);
		assert_non_null(image_symbol(image, pc, &offset));
		for (at = from; at < to; at += MAX((uintptr_t)1, (to - from) / 8)) {
			assert_non_null(image_symbol(image, at, &other));
			assert_int_equal(at - other, pc - offset);
		}
		assert_non_null(image_symbol(image, to - 1, &other));
		assert_int_equal(to - 1 - other, pc - offset);
	}
	assert_true(found > 5000);
}

static void outside(void **state)
{
	const struct image *own = image_find(set, (uintptr_t)own_functions);

	assert_null(image_symbol(own, own->start - 1, NULL));
	assert_null(image_symbol(own, own->end, NULL));
	assert_null(image_symbol(own, 0, NULL));
	assert_null(image_symbol(own, UINTPTR_MAX, NULL));
}

static void memory_comes_back(void **state)
{
	size_t before, with;

	image_symbols_release(set);
	before = image_set_bytes(set);
	assert_string_equal(name_at((void *)own_functions, NULL), "own_functions");
	with = image_set_bytes(set);
	assert_true(with > before);
	image_symbols_release(set);
	assert_int_equal(image_set_bytes(set), before);
	assert_string_equal(name_at((void *)own_functions, NULL), "own_functions");
}

/* ---- broken files ---- */

static uint64_t seed = 4101842887655102017ull;

static uint32_t any(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 33) % below;
}

struct target {
	uint8_t *bytes;
	size_t size;
	const struct object *o;
	size_t headers; /* where the section headers are */
};

static void break_file(uint8_t *bytes, const struct target *t)
{
	ElfW(Ehdr) h;
	uint32_t n = 1 + any(8);

	memcpy(&h, t->bytes, sizeof(h));
	while (n--) {
		uint32_t at;

		switch (any(4)) {
		case 0: /* the file's header */
			at = any(sizeof(h));
			break;
		case 1: /* a section header */
			at = (uint32_t)h.e_shoff + any(h.e_shnum * (uint32_t)sizeof(ElfW(Shdr)));
			break;
		default:
			at = any((uint32_t)t->size);
		}
		bytes[at] = any(3) ? (uint8_t)any(256) : any(2) ? 0xff : 0;
	}
}

static bool try_broken(const struct target *t, const uint8_t *bytes, size_t size)
{
	struct object *o = calloc(1, sizeof(*o) + 64);
	struct image_set one = {.count = 1};
	const struct image *images[1] = {&o->image};
	int fd = memfd_create("broken", MFD_CLOEXEC);
	struct elf_file file;
	bool named = false;
	uintptr_t pc;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	*o = *t->o;
	one.images = images;
	snprintf(o->path, 64, "/proc/self/fd/%d", fd);
	o->image.path = o->image.name = o->path;
	o->image.symbols = NULL;
	o->image.unwind = (struct unwind_table){0};
	o->details.dynamic = 0; /* no way out by memory */
	if (elf_file_open(&file, o->path)) {
		o->build_id = elf_file_build_id(&file);
		elf_file_close(&file);
	}
	for (pc = o->image.start; pc < o->image.end; pc += 64) {
		const char *name = image_symbol(&o->image, pc, NULL);

		named |= name && strlen(name) > 0;
	}
	image_address_of(&o->image, "__p_class");
	image_symbols_release(&one);
	close(fd);
	free(o);
	return named;
}

static void broken_files(void **state)
{
	int rounds = getenv("JSTROBE_SOAK") ? 100000 : 2000, named = 0, i;
	void *handle = dlopen("libresolv.so.2", RTLD_NOW);
	struct image_set *with;
	struct target t = {0};
	struct error err;
	uint8_t *bytes;
	uint32_t k;
	FILE *f;

	assert_non_null(handle);
	with = image_set_read(NULL, &err);
	assert_non_null(with);
	for (k = 0; k < with->count; k++)
		if (strstr(with->images[k]->name, "libresolv"))
			t.o = CONTAINER_OF(with->images[k], struct object, image);
	assert_non_null(t.o);
	f = fopen(t.o->path, "r");
	assert_non_null(f);
	bytes = malloc(1 << 20);
	t.bytes = malloc(1 << 20);
	t.size = fread(t.bytes, 1, 1 << 20, f);
	fclose(f);
	/* Unbroken, it has names. */
	assert_true(try_broken(&t, t.bytes, t.size));
	for (i = 0; i < rounds; i++) {
		memcpy(bytes, t.bytes, t.size);
		break_file(bytes, &t);
		named += try_broken(&t, bytes, any(4) ? t.size : any((uint32_t)t.size));
	}
	print_message("%d of %d broken files still gave names\n", named, rounds);
	assert_true(named > 0 && named < rounds);
	free(bytes);
	free(t.bytes);
	image_set_free(with, NULL);
	dlclose(handle);
}

static int set_up(void **state)
{
	struct error err;

	set = image_set_read(NULL, &err);
	return set ? 0 : -1;
}

static int tear_down(void **state)
{
	image_set_free(set, NULL);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_functions),      cmocka_unit_test(several_at_one_place),
		cmocka_unit_test(names_of_libc),      cmocka_unit_test(kernel_page),
		cmocka_unit_test(addresses_of_names), cmocka_unit_test(outside), cmocka_unit_test(ranges),
		cmocka_unit_test(memory_comes_back),  cmocka_unit_test(broken_files),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
