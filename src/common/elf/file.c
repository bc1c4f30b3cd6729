#include "common/elf/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/pages.h"
#include "common/base/proc_self.h"
#include "cpu.h"

#define SECTION_BYTES_MAX ((size_t)1 << 30)

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define BYTE_ORDER_HERE ELFDATA2LSB
#else
#define BYTE_ORDER_HERE ELFDATA2MSB
#endif

static bool read_at(int fd, void *to, size_t size, uint64_t offset)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(fd, (char *)to + done, size - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

static bool read_header(int fd, ElfW(Ehdr) *h)
{
	return read_at(fd, h, sizeof(*h), 0) && memcmp(h->e_ident, ELFMAG, SELFMAG) == 0 &&
	       h->e_ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) &&
	       h->e_ident[EI_DATA] == BYTE_ORDER_HERE && h->e_machine == CPU_MACHINE;
}

static bool read_sections(struct elf_file *file, const ElfW(Ehdr) *h)
{
	const ElfW(Shdr) *names;

	if (h->e_shentsize != sizeof(ElfW(Shdr)) || h->e_shnum == 0 ||
	    h->e_shstrndx >= h->e_shnum)
		return false;
	file->headers = calloc(h->e_shnum, sizeof(*file->headers));
	if (!file->headers ||
	    !read_at(file->fd, file->headers, h->e_shnum * sizeof(*file->headers), h->e_shoff))
		return false;
	file->count = h->e_shnum;
	names = &file->headers[h->e_shstrndx];
	if (names->sh_type != SHT_STRTAB || names->sh_size > 1 << 20)
		return false;
	file->names_size = names->sh_size + 1;
	file->names = calloc(1, file->names_size);
	return file->names && read_at(file->fd, file->names, names->sh_size, names->sh_offset);
}

static bool open_plain(struct elf_file *file, const char *path, ElfW(Ehdr) *h)
{
	struct stat st;

	memset(file, 0, sizeof(*file));
	/* Not blocking: the path may have become a FIFO or a device. */
	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (file->fd < 0)
		return false;
	if (fstat(file->fd, &st) == 0 && S_ISREG(st.st_mode) && read_header(file->fd, h) &&
	    read_sections(file, h))
		return true;
	elf_file_close(file);
	return false;
}

bool elf_file_open(struct elf_file *file, const char *path)
{
	ElfW(Ehdr) h;

	return open_plain(file, path, &h);
}

/* Whether the file's program headers are those of the mapped object. */
static bool same_headers(const struct elf_file *file, const ElfW(Ehdr) *h, const struct object *o)
{
	size_t size = h->e_phnum * sizeof(ElfW(Phdr));
	bool same = false;
	void *headers;

	if (h->e_phentsize != sizeof(ElfW(Phdr)) || size == 0)
		return false;
	headers = malloc(size);
	if (headers && read_at(file->fd, headers, size, h->e_phoff))
		same = object_hash(headers, size, 0) == o->details.headers_hash;
	free(headers);
	return same;
}

bool elf_file_open_object(struct elf_file *file, const struct object *o)
{
	char self[PROC_SELF_MAX];
	/* The link still leads to the main program when its path does not any more. */
	const char *path = o->details.is_main ? proc_self(self, "exe") : o->path;
	struct build_id id;
	ElfW(Ehdr) h;

	if (o->details.is_vdso || !open_plain(file, path, &h))
		return false;
	if (o->build_id.size) {
		id = elf_file_build_id(file);
		if (memcmp(&id, &o->build_id, sizeof(id)) == 0)
			return true;
	} else if (same_headers(file, &h, o)) {
		return true;
	}
	elf_file_close(file);
	return false;
}

void elf_file_close(struct elf_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	free(file->headers);
	free(file->names);
	memset(file, 0, sizeof(*file));
	file->fd = -1;
}

const ElfW(Shdr) *elf_file_find(const struct elf_file *file, const char *name)
{
	size_t i;

	for (i = 1; i < file->count; i++) {
		const ElfW(Shdr) *s = &file->headers[i];

		if (s->sh_type != SHT_NOBITS && s->sh_name < file->names_size &&
		    strcmp(file->names + s->sh_name, name) == 0)
			return s;
	}
	return NULL;
}

const ElfW(Shdr) *elf_file_find_type(const struct elf_file *file, uint32_t type)
{
	size_t i;

	for (i = 1; i < file->count; i++)
		if (file->headers[i].sh_type == type)
			return &file->headers[i];
	return NULL;
}

bool elf_file_read(const struct elf_file *file, const ElfW(Shdr) *header, struct span *span)
{
	struct stat st;
	void *bytes;

	*span = (struct span){0};
	if (!header || header->sh_type == SHT_NOBITS || header->sh_flags & SHF_COMPRESSED ||
	    header->sh_size == 0 || header->sh_size > SECTION_BYTES_MAX)
		return false;
	/* Before asking for memory that a broken header names. */
	if (fstat(file->fd, &st) < 0 || header->sh_offset > (uint64_t)st.st_size ||
	    header->sh_size > (uint64_t)st.st_size - header->sh_offset)
		return false;
	bytes = pages_alloc(header->sh_size);
	if (!bytes)
		return false;
	*span = (struct span){bytes, header->sh_size, header->sh_addr};
	if (read_at(file->fd, bytes, header->sh_size, header->sh_offset))
		return true;
	elf_file_free_section(span);
	return false;
}

bool elf_file_section(const struct elf_file *file, const char *name, struct span *span)
{
	return elf_file_read(file, elf_file_find(file, name), span);
}

void elf_file_free_section(struct span *span)
{
	if (span->bytes)
		pages_free((void *)span->bytes, span->size);
	*span = (struct span){0};
}

struct build_id elf_file_build_id(const struct elf_file *file)
{
	struct build_id id = {0};
	size_t i;

	for (i = 1; i < file->count && !id.size; i++) {
		struct span notes;

		if (file->headers[i].sh_type != SHT_NOTE || file->headers[i].sh_size > 1 << 16)
			continue;
		if (elf_file_read(file, &file->headers[i], &notes))
			id = build_id_find(notes.bytes, notes.size);
		elf_file_free_section(&notes);
	}
	return id;
}
