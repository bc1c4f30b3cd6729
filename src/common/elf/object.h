/*
 * object.h - an image with what the elf room alone needs to know about it.
 */
#ifndef JSTROBE_ELF_OBJECT_H
#define JSTROBE_ELF_OBJECT_H

#include <link.h>

#include "common/elf/unwind.h"

#define BUILD_ID_MAX 32

struct build_id {
	uint8_t size; /* 0: none */
	uint8_t bytes[BUILD_ID_MAX];
};

/* What the loader's list says about an object; addresses are running ones, 0 = none. */
struct object_details {
	uintptr_t start, end;   /* executable range */
	uintptr_t bias;
	uintptr_t low, high;    /* everything mapped of the object */
	uintptr_t hdr;          /* .eh_frame_hdr */
	uintptr_t hdr_low, hdr_high; /* the segment it lies in */
	uintptr_t dynamic;      /* the dynamic section */
	size_t dynamic_size;
	uintptr_t notes;        /* the PT_NOTE segment that may hold the build id */
	size_t notes_size;
	uint64_t headers_hash;  /* over the program headers */
	size_t path;            /* offset in the list's names */
	bool is_main, is_vdso;
};

struct object {
	struct image image;     /* image.symbols is a struct symbols *, or NULL */
	struct object_details details;
	struct build_id build_id;
	char path[];
};

static inline struct object *object_of(const struct image *image)
{
	return CONTAINER_OF(image, struct object, image);
}

/* What the loader has mapped now. */
struct object_list {
	struct object_details *details;
	size_t count;
	char *names;
	uint64_t adds, subs;
};

/* Read the loader's list; 0 or -ENOMEM. Free with object_list_free. */
int object_list_read(struct object_list *list);
void object_list_free(struct object_list *list);
/* The loader's counters of objects added and removed. */
void object_list_changes(uint64_t *adds, uint64_t *subs);

/* The build id in the SIZE bytes of notes at NOTES. */
struct build_id build_id_find(const void *notes, size_t size);
/* 64-bit hash of SIZE bytes, for telling headers apart. */
uint64_t object_hash(const void *bytes, size_t size, uint64_t seed);

#endif
