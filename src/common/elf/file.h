/*
 * file.h - an ELF file on disk, read with pread only: a file that shrinks
 * under us gives short reads, where a mapping would raise SIGBUS.
 */
#ifndef JSTROBE_ELF_FILE_H
#define JSTROBE_ELF_FILE_H

#include <link.h>

#include "common/base/cursor.h"
#include "common/elf/object.h"

struct elf_file {
	int fd;
	ElfW(Shdr) *headers; /* section headers */
	size_t count;
	char *names;         /* their names, NUL-terminated */
	size_t names_size;
};

/* Open PATH; false (nothing to close) if it is no readable ELF file of this machine's kind. */
bool elf_file_open(struct elf_file *file, const char *path);
/*
 * Open the file that O was mapped from; false when it is gone or was replaced:
 * build ids differ, or there are none and the program headers differ.
 */
bool elf_file_open_object(struct elf_file *file, const struct object *o);
void elf_file_close(struct elf_file *file);

/* The first section of that name or type; NULL if there is none or it has no bytes in the file. */
const ElfW(Shdr) *elf_file_find(const struct elf_file *file, const char *name);
const ElfW(Shdr) *elf_file_find_type(const struct elf_file *file, uint32_t type);
/*
 * The bytes of the section HEADER / NAME to SPAN, its address as in the file. False, and an
 * empty span, if it is missing, compressed or unreadable. Free with elf_file_free_section.
 */
bool elf_file_read(const struct elf_file *file, const ElfW(Shdr) *header, struct span *span);
bool elf_file_section(const struct elf_file *file, const char *name, struct span *span);
void elf_file_free_section(struct span *span);
struct build_id elf_file_build_id(const struct elf_file *file);

#endif
