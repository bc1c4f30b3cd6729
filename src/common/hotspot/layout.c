/*
 * layout.c - fill struct layout from the tables libjvm.so exports.
 *
 * The tables are arrays of structs whose own strides and offsets are exported
 * too (gHotSpotVMStructEntryArrayStride, …), so nothing about their shape is
 * assumed. See vmStructs.cpp of any JDK.
 */
#include "common/hotspot/layout.h"

#include <dlfcn.h>
#include <link.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu.h"

#define ABSENT_INT INT32_MIN

/* One exported table and how to step through it. */
struct table {
	const char *first;
	uint64_t stride;
};

static int is_jvm(struct dl_phdr_info *image, size_t size, void *unused)
{
	const char *slash = strrchr(image->dlpi_name, '/');

	return strcmp(slash ? slash + 1 : image->dlpi_name, "libjvm.so") == 0;
}

/* Where it is not loaded dlopen() would look for it in all folders of libraries. */
void *layout_symbol(const char *name)
{
	void *jvm = dl_iterate_phdr(is_jvm, NULL) ? dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD) : NULL;
	void *symbol = dlsym(jvm ? jvm : RTLD_DEFAULT, name);

	if (jvm)
		dlclose(jvm);
	return symbol;
}

/* Offsets and strides are 64 bits wide on every CPU. */
static bool exported(const char *name, uint64_t *value)
{
	const uint64_t *p = layout_symbol(name);

	if (p)
		*value = *p;
	return p != NULL;
}

struct struct_table {
	struct table t;
	uint64_t type, field, type_string, is_static, offset, address;
};
struct type_table {
	struct table t;
	uint64_t name, size;
};
struct int_table {
	struct table t;
	uint64_t name, value;
};

static bool open_table(struct table *t, const char *array, const char *stride)
{
	const char *const *first = layout_symbol(array);

	if (!first || !*first || !exported(stride, &t->stride) || !t->stride)
		return false;
	t->first = *first;
	return true;
}

static bool open_structs(struct struct_table *s)
{
	return open_table(&s->t, "gHotSpotVMStructs", "gHotSpotVMStructEntryArrayStride") &&
	       exported("gHotSpotVMStructEntryTypeNameOffset", &s->type) &&
	       exported("gHotSpotVMStructEntryFieldNameOffset", &s->field) &&
	       exported("gHotSpotVMStructEntryTypeStringOffset", &s->type_string) &&
	       exported("gHotSpotVMStructEntryIsStaticOffset", &s->is_static) &&
	       exported("gHotSpotVMStructEntryOffsetOffset", &s->offset) &&
	       exported("gHotSpotVMStructEntryAddressOffset", &s->address);
}

static bool open_types(struct type_table *t)
{
	return open_table(&t->t, "gHotSpotVMTypes", "gHotSpotVMTypeEntryArrayStride") &&
	       exported("gHotSpotVMTypeEntryTypeNameOffset", &t->name) &&
	       exported("gHotSpotVMTypeEntrySizeOffset", &t->size);
}

/* KIND: "Int" or "Long". */
static bool open_constants(struct int_table *t, const char *kind)
{
	char array[64], names[3][64];
	static const char *const of[] = {"ArrayStride", "NameOffset", "ValueOffset"};
	unsigned i;

	snprintf(array, sizeof(array), "gHotSpotVM%sConstants", kind);
	for (i = 0; i < ARRAY_LEN(of); i++)
		snprintf(names[i], sizeof(names[i]), "gHotSpotVM%sConstantEntry%s", kind, of[i]);
	return open_table(&t->t, array, names[0]) && exported(names[1], &t->name) && exported(names[2], &t->value);
}

static const char *string_at(const char *entry, uint64_t offset)
{
	return *(const char *const *)(entry + offset);
}

static const char *find_field(const struct struct_table *s, const char *type, const char *field)
{
	const char *e;

	for (e = s->t.first; string_at(e, s->type); e += s->t.stride)
		if (string_at(e, s->field) && strcmp(string_at(e, s->type), type) == 0 &&
		    strcmp(string_at(e, s->field), field) == 0)
			return e;
	return NULL;
}

/* Bytes of a field, by the type name the table gives for it. Only integer fields matter; others are pointers. */
static uint8_t width_of(const char *type)
{
	static const struct { const char *name; uint8_t width; } widths[] = {
		{"bool", 1}, {"u1", 1}, {"volatile signed char", 1}, {"CompLevel", 1},
		{"CodeBlobKind", 1}, {"u2", 2}, {"int16_t", 2}, {"short", 2}, {"uint16_t", 2},
		{"int", 4}, {"u4", 4}, {"uint32_t", 4}, {"unsigned int", 4}, {"jint", 4},
	};
	size_t i;

	for (i = 0; type && i < ARRAY_LEN(widths); i++)
		if (strcmp(type, widths[i].name) == 0)
			return widths[i].width;
	return WORD;
}

static bool read_field(const struct struct_table *s, const char *type, const char *field,
		       int32_t *offset, uint8_t *width)
{
	const char *e = find_field(s, type, field);

	if (!e || *(const int32_t *)(e + s->is_static))
		return false;
	*offset = (int32_t)*(const uint64_t *)(e + s->offset);
	*width = width_of(string_at(e, s->type_string));
	return true;
}

static bool read_static(const struct struct_table *s, const char *type, const char *field,
			uintptr_t *address)
{
	const char *e = find_field(s, type, field);

	if (!e || !*(const int32_t *)(e + s->is_static))
		return false;
	*address = *(const uintptr_t *)(e + s->address);
	return true;
}

static int32_t read_size(const struct type_table *t, const char *type)
{
	const char *e;

	for (e = t->t.first; string_at(e, t->name); e += t->t.stride)
		if (strcmp(string_at(e, t->name), type) == 0)
			return (int32_t)*(const uint64_t *)(e + t->size);
	return 0;
}

static int32_t read_int(const struct int_table *t, const char *name)
{
	const char *e;

	for (e = t->t.first; string_at(e, t->name); e += t->t.stride)
		if (strcmp(string_at(e, t->name), name) == 0)
			return *(const int32_t *)(e + t->value);
	return ABSENT_INT;
}

static int32_t read_long(const struct int_table *t, const char *name)
{
	const char *e;

	for (e = t->t.first; e && string_at(e, t->name); e += t->t.stride)
		if (strcmp(string_at(e, t->name), name) == 0)
			return (int32_t)*(const uint64_t *)(e + t->value);
	return ABSENT_INT;
}

/*
 * The alternatives of one member are separate lines in the table, in order;
 * the first pass takes FIELD/STATIC, the second fills what is still absent.
 */
static void read_all(struct layout *l, const struct struct_table *s, const struct type_table *t,
		     const struct int_table *i, const struct int_table *longs)
{
#define FIELD(member, type, field)                                              \
	if (!read_field(s, type, field, &l->member, &l->member##_width))        \
		l->member = -1;
#define STATIC(member, type, field)                  \
	if (!read_static(s, type, field, &l->member)) \
		l->member = 0;
#define SIZE(member, type) l->member = read_size(t, type);
#define INT(member, name) l->member = read_int(i, name);
#define LONG(member, name) l->member = read_long(longs, name);
#include "common/hotspot/vmstructs.def"

#define ALT_FIELD(member, type, field) \
	if (l->member < 0)             \
		read_field(s, type, field, &l->member, &l->member##_width);
#define ALT_STATIC(member, type, field) \
	if (!l->member)                 \
		read_static(s, type, field, &l->member);
#include "common/hotspot/vmstructs.def"
}

/* "OpenJDK 64-Bit Zero VM (17.0.21+3) for …": an interpreter in C++, its frames are not machine frames. */
static bool is_zero(const struct layout *l)
{
	const char *info = l->vm_info ? *(const char *const *)l->vm_info : NULL;

	return info && strstr(info, " Zero VM ");
}

static int check_needed(const struct layout *l, struct error *err)
{
#define NEED(member)                                                                        \
	if (l->member < 0)                                                                  \
		return error_set(err, ENOTSUP, "this JVM (JDK %d) does not export '%s': its stacks " \
				 "cannot be read; use a HotSpot JDK that jstrobe supports", \
				 l->jdk, #member);
#include "common/hotspot/vmstructs.def"
	return 0;
}

/*
 * Debug information is laid out in one of four ways (8, 9 to 22, 23 and 24, 25 and later);
 * refuse what is none of them.
 */
static int check_sense(const struct layout *l, struct error *err)
{
	bool old = l->nmethod_immutable < 0 && l->nmethod_metadata >= 0 &&
		   l->nmethod_dependencies >= 0 &&
		   (l->nmethod_scopes_begin >= 0 || l->nmethod_scopes_offset >= 0) &&
		   (l->blob_code_begin >= 0 || l->blob_code_offset >= 0);
	bool middle = l->nmethod_immutable >= 0 && l->nmethod_metadata >= 0 &&
		      l->nmethod_scopes_offset >= 0 && l->blob_data_offset >= 0;
	bool young = l->nmethod_immutable >= 0 && l->blob_mutable_data >= 0 &&
		     l->nmethod_scopes_offset >= 0 && l->blob_relocation_size >= 0;

	if (!old && !middle && !young)
		return error_set(err, ENOTSUP, "this JVM (JDK %d) keeps its debug information in a form "
				 "jstrobe does not know; use a supported HotSpot JDK", l->jdk);
	if (!l->code_heaps && !l->code_heap)
		return error_set(err, ENOTSUP, "this JVM (JDK %d) does not export its code heaps", l->jdk);
	if (l->pcdesc_size == 0 || l->block_size == 0 || l->pool_size == 0 || l->const_size == 0)
		return error_set(err, ENOTSUP, "this JVM (JDK %d) does not export the sizes of its types",
				 l->jdk);
	return 0;
}

/* Feature release from JVM_GetVersionInfo-free sources: the exported version string of libjvm. */
static int jdk_release(const struct struct_table *s)
{
	uintptr_t major = 0;

	/* Abstract_VM_Version::_vm_major_version is 9+; 8 has "25" as HotSpot version. */
	if (read_static(s, "Abstract_VM_Version", "_vm_major_version", &major) && major) {
		int version = *(const int32_t *)major;

		return version == 25 && find_field(s, "CodeCache", "_heap") ? 8 : version;
	}
	return 8;
}

int layout_read(struct layout *l, struct error *err)
{
	struct struct_table s;
	struct type_table t;
	struct int_table i, longs;
	int rc;

	memset(l, 0, sizeof(*l));
	if (!open_structs(&s) || !open_types(&t) || !open_constants(&i, "Int"))
		return error_set(err, ENOENT, "no HotSpot JVM in this process: libjvm.so exports no vmStructs "
				 "tables (OpenJ9, native-image and GraalVM executables are not supported)");
	if (!open_constants(&longs, "Long"))
		longs = (struct int_table){.name = 0};
	read_all(l, &s, &t, &i, &longs);
	l->jdk = jdk_release(&s);
	if (is_zero(l)) {
		l->unwalked = "the Zero VM";
		return error_set(err, ENOTSUP, "this JVM (JDK %d) is the Zero VM, an interpreter whose stacks "
				 "cannot be read; use the Server VM (java without -zero)", l->jdk);
	}
	if (!CPU_WALKED) {
		l->unwalked = "a JVM on " CPU_NAME;
		return error_set(err, ENOTSUP, "jstrobe cannot walk Java stacks on " CPU_NAME ", and this JVM (JDK %d) "
				 "cannot be asked for them", l->jdk);
	}
	if (CPU_BACK_CHAIN)
		l->anchor_fp = l->anchor_sp; /* not kept: it is at sp */
	rc = check_needed(l, err);
	if (rc == 0)
		rc = check_sense(l, err);
	if (rc)
		return rc;
	l->method_slot = CPU_BACK_CHAIN ? -13 : -3;
	l->bcp_slot = l->jdk <= 8 ? -7 : -8;
	if (l->interpreter_sender_sp_slot == ABSENT_INT)
		l->interpreter_sender_sp_slot = -1;
	if (l->flag_size == 0)
		l->flag_size = read_size(&t, "Flag"); /* ..9 */
	if (l->entry_wrapper_slot == ABSENT_INT)
		l->entry_wrapper_slot = CPU_ENTRY_WRAPPER_SLOT;
	l->scope_bytes_biased = l->jdk >= 20;
	layout_refresh(l);
	return 0;
}

static uintptr_t word_at(uintptr_t address)
{
	return *(const uintptr_t *)address;
}

static bool read_heap(const struct layout *l, uintptr_t heap, struct code_heap *out)
{
	uintptr_t memory = heap + (uintptr_t)l->heap_memory;
	uintptr_t segmap = heap + (uintptr_t)l->heap_segmap;

	out->low = word_at(memory + (uintptr_t)l->space_low_boundary);
	out->high = word_at(memory + (uintptr_t)l->space_high_boundary);
	out->segmap = word_at(segmap + (uintptr_t)l->space_low);
	out->log2_segment = *(const uint32_t *)(heap + (uintptr_t)l->heap_log2_segment);
	return out->low && out->low < out->high && out->segmap && out->log2_segment < 16;
}

static bool read_heaps(struct layout *l)
{
	uintptr_t array, data;
	uint32_t i, count;

	if (l->code_heap) {
		l->heap_count = 1;
		return word_at(l->code_heap) && read_heap(l, word_at(l->code_heap), &l->heap[0]);
	}
	array = word_at(l->code_heaps);
	if (!array)
		return false;
	count = *(const uint32_t *)(array + (uintptr_t)l->array_length);
	data = word_at(array + (uintptr_t)l->array_data);
	if (!data || count == 0 || count > LAYOUT_HEAPS)
		return false;
	for (i = 0; i < count; i++)
		if (!read_heap(l, word_at(data + i * sizeof(uintptr_t)), &l->heap[i]))
			return false;
	l->heap_count = count;
	return true;
}

/*
 * The queue is made too large and cut to size when the interpreter has been generated:
 * its end is read anew each time.
 */
static bool read_interpreter(struct layout *l)
{
	uintptr_t queue = l->interpreter_code ? word_at(l->interpreter_code) : 0;
	uintptr_t low = queue ? word_at(queue + (uintptr_t)l->stubqueue_buffer) : 0;

	if (!low)
		return false;
	l->interpreter_low = low;
	l->interpreter_high = low + *(const uint32_t *)(queue + (uintptr_t)l->stubqueue_limit);
	return true;
}

static bool read_code(struct layout *l)
{
	uint32_t i;

	/* Order of birth inside the JVM: code heaps, stubs, interpreter. The last must exist. */
	if (!read_heaps(l) || !l->call_stub_return)
		return false;
	l->call_stub_pc = word_at(l->call_stub_return);
	if (!l->call_stub_pc || !read_interpreter(l))
		return false;
	l->code_low = UINTPTR_MAX;
	l->code_high = 0;
	for (i = 0; i < l->heap_count; i++) {
		l->code_low = MIN(l->code_low, l->heap[i].low);
		l->code_high = MAX(l->code_high, l->heap[i].high);
	}
	return true;
}

bool layout_refresh(struct layout *l)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	bool ready;

	pthread_mutex_lock(&lock);
	ready = atomic_load_explicit(&l->code_ready, memory_order_relaxed);
	if (ready)
		read_interpreter(l);
	else if (read_code(l))
		atomic_store_explicit(&l->code_ready, ready = true, memory_order_release);
	pthread_mutex_unlock(&lock);
	return ready;
}
