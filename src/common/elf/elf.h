/*
 * elf.h - the door of the elf room: images of this process, their unwind
 * tables and symbols, kernel symbols, demangling.
 *
 * Normal code only (allocates, reads files); one thread at a time (start-up,
 * then the collector). The signal zone uses common/elf/unwind.h on published sets.
 * Files are hostile bytes: everything is read through bounded cursors, a
 * broken file gives an image without table or symbols, never a crash.
 */
#ifndef JSTROBE_ELF_ELF_H
#define JSTROBE_ELF_ELF_H

#include "common/base/error.h"
#include "common/elf/unwind.h"

/*
 * Describe all images of this process as they are now. PREVIOUS may be NULL;
 * images that are still mapped at the same place are taken over (same pointer,
 * same id, table and symbols kept), so a refresh costs only what is new.
 * Returns NULL and sets ERR when out of memory.
 * The caller owns the set; see image_set_free.
 */
struct image_set *image_set_read(const struct image_set *previous, struct error *err);

/* Whether dlopen/dlclose changed the images since SET was made. Cheap (no file access). */
bool image_set_is_stale(const struct image_set *set);
/* Whether images were opened since SET was made, and none closed. */
bool image_set_has_grown(const struct image_set *set);

/*
 * Free OLD, and those of its images that NEXT (may be NULL) did not take over.
 * Call it only when no handler can still be reading OLD. NULL is fine.
 */
void image_set_free(struct image_set *old, const struct image_set *next);

/* Bytes of memory held by SET: tables, symbols, everything. */
size_t image_set_bytes(const struct image_set *set);

/*
 * Name of the function that holds PC in IMAGE, from .symtab of the file, else of a
 * debug file with its build id (/usr/lib/debug/.build-id, .gnu_debuglink), else .dynsym.
 * A file that was replaced since it was mapped is not read; memory has .dynsym still.
 * The name is raw (not demangled), valid until image_symbols_release or the image is freed.
 * *OFFSET (may be NULL) is the distance from its start in bytes. NULL: no symbol.
 * Sized symbols cover [value, value+size); a zero-sized one (assembler) reaches to the next symbol.
 */
const char *image_symbol(const struct image *image, uintptr_t pc, uintptr_t *offset);

/* Where around PC image_symbol has the same answer: [*FROM, *TO). False: it has none. The same. */
bool image_symbol_range(const struct image *image, uintptr_t pc, uintptr_t *from, uintptr_t *to);

/* Give back memory of symbol tables read so far (they are read again when needed). */
void image_symbols_release(const struct image_set *set);

/* Address of the defined symbol NAME (raw) in IMAGE, 0 if there is none; reads .symtab, then .dynsym. */
uintptr_t image_address_of(const struct image *image, const char *name);
/* The same of the first symbol whose name begins with PREFIX. */
uintptr_t image_address_of_prefix(const struct image *image, const char *prefix);

/*
 * Demangled copy of a C++ (Itanium) or Rust name, parameters left out
 * ("JVM_Sleep" stays, "_ZN7Monitor4waitEl" gives "Monitor::wait"), or NULL when
 * NAME is not mangled (or too long: 1,024 bytes, 4,096 demangled). free() it.
 */
char *demangle(const char *name);
/* The same with parameters: "Monitor::wait(long)". */
char *demangle_full(const char *name);

/*
 * Kernel symbols: look up COUNT addresses, any order, in one pass over
 * /proc/kallsyms that keeps nothing in memory but the answers.
 * names[i] becomes a malloc'ed string ("do_syscall_64") or NULL; unless RANGES is NULL, ranges[i] says
 * where around the address that is so (0, 0 where there is no name).
 * Returns 0, or a negative errno when kallsyms cannot be read or is hidden
 * (all addresses zero: kptr_restrict).
 */
struct kernel_range {
	uint64_t from, to;
};
int kernel_symbols(const uint64_t *addresses, size_t count, char **names, struct kernel_range *ranges,
		   struct error *err);

/*
 * From now on /proc/kallsyms is read from FD, which was opened by a process that may see the addresses (the kernel
 * asks at the opening); it stays the caller's. -1: it is opened each time. Any thread; no thread may read from a
 * former one.
 */
void kernel_symbols_from(int fd);

/*
 * All of them in memory (4 MB), for who asks often: a pass takes 50 ms of CPU time. NULL with the reason. A name is
 * malloc'ed, NULL = none there; *RANGE as above.
 */
struct kernel_table;
struct kernel_table *kernel_table_read(struct error *err);
char *kernel_table_name(const struct kernel_table *t, uint64_t address, struct kernel_range *range);
void kernel_table_free(struct kernel_table *t);

#endif
