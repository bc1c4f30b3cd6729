#include "fake_jvm.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SEGMENT 128u
#define HEADER 144u /* bytes of a blob before its code */

/* Offsets of what is not in all shapes at the same place. */
enum { NAME = 8, SIZE = 16, FRAME_SIZE = 20, FRAME_COMPLETE = 24, KIND = 28, CODE = 32, DATA = 36,
       METHOD = 48, LEVEL = 56, COMPILE_ID = 60, ENTRY = 64, ORIG_PC = 72, DEOPT = 80, DEOPT_MH = 88,
       PCS = 96, DEPENDENCIES = 100, SCOPES = 104, METADATA = 112, IMMUTABLE = 120, MUTABLE = 128,
       RELOCATION = 136 };

enum { M_CONST = 8, M_ENTRY = 16, C_POOL = 8, C_CODE_SIZE = 20, C_NAME = 24, C_SIGNATURE = 26, C_FLAGS = 28, C_SIZE = 48,
       P_HOLDER = 24, P_SIZE = 64, K_NAME = 16, S_LENGTH = 0, S_BODY = 6 };

uint64_t *fake_at(uintptr_t address)
{
	return (uint64_t *)address;
}

static void put32(uintptr_t at, uint32_t value)
{
	memcpy((void *)at, &value, 4);
}

static void put16(uintptr_t at, uint32_t value)
{
	memcpy((void *)at, &value, 2);
}

static void put64(uintptr_t at, uint64_t value)
{
	memcpy((void *)at, &value, 8);
}

uintptr_t fake_room(struct fake_jvm *f, uint32_t n)
{
	uintptr_t at = f->meta_used;

	f->meta_used = (at + n + 15) & ~(uintptr_t)15;
	if (f->meta_used > f->stack_low)
		abort();
	return at;
}

static void common_layout(struct layout *l)
{
	int32_t *absent[] = {
		&l->blob_code_begin, &l->blob_code_offset, &l->blob_data_offset, &l->blob_kind,
		&l->blob_mutable_data, &l->blob_relocation_size, &l->nmethod_entry,
		&l->nmethod_entry_offset, &l->nmethod_deopt, &l->nmethod_deopt_offset,
		&l->nmethod_deopt_mh, &l->nmethod_deopt_mh_offset, &l->nmethod_dependencies,
		&l->nmethod_scopes_begin, &l->nmethod_scopes_offset, &l->nmethod_metadata,
		&l->nmethod_immutable, &l->thread_owner_id, &l->thread_cont_entry,
		&l->symbol_length_refcount, &l->klass_loader_data, &l->blob_oop_maps, &l->oop_map_count,
		&l->nmethod_null_checks, &l->nmethod_handlers, &l->nmethod_end,
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(absent); i++)
		*absent[i] = -1;
	l->thread_state = 16;
	l->thread_anchor = 512;
	l->thread_vframe_array = 640;
	l->anchor_sp = 0;
	l->anchor_fp = 8;
	l->anchor_pc = 16;
	l->wrapper_anchor = 32;
	l->entry_wrapper_slot = -6;
	l->interpreter_sender_sp_slot = -1;
	l->method_slot = -3;
	l->bcp_slot = -8;
	l->block_used = 8;
	l->block_size = 16;
	l->blob_name = NAME;
	l->blob_size = SIZE;
	l->blob_frame_size = FRAME_SIZE;
	l->blob_frame_complete = FRAME_COMPLETE;
	l->kind_nmethod = INT32_MIN;
	l->nmethod_method = METHOD;
	l->nmethod_comp_level = LEVEL;
	l->nmethod_compile_id = COMPILE_ID;
	l->nmethod_orig_pc = ORIG_PC;
	l->nmethod_pcs_offset = PCS;
	l->pcdesc_pc = 0;
	l->pcdesc_scope = 4;
	l->pcdesc_size = 16;
	l->method_const = M_CONST;
	l->method_entry = M_ENTRY;
	l->const_pool = C_POOL;
	l->const_code_size = C_CODE_SIZE;
	l->const_name = C_NAME;
	l->const_signature = C_SIGNATURE;
	l->const_flags = C_FLAGS;
	l->const_size = C_SIZE;
	l->pool_holder = P_HOLDER;
	l->pool_size = P_SIZE;
	l->klass_name = K_NAME;
	l->symbol_length = S_LENGTH;
	l->symbol_body = S_BODY;
}

static void shape_layout(struct layout *l, enum fake_shape shape)
{
	static const int jdk[FAKE_SHAPES] = {8, 17, 23, 25};

	l->jdk = jdk[shape];
	l->scope_bytes_biased = shape > FAKE_OLD;
	l->blob_frame_complete_width = shape == FAKE_YOUNG ? 2 : 4;
	l->nmethod_comp_level_width = shape <= FAKE_OLD ? 4 : 1;
	if (shape == FAKE_FIRST) {
		l->bcp_slot = -7;
		l->blob_code_offset = CODE;
		l->nmethod_entry = ENTRY;
		l->nmethod_deopt_offset = DEOPT;
		l->nmethod_deopt_mh_offset = DEOPT_MH;
		l->nmethod_dependencies = DEPENDENCIES;
		l->nmethod_scopes_offset = SCOPES;
		l->nmethod_metadata = METADATA;
		return;
	}
	if (shape == FAKE_OLD) {
		l->blob_code_begin = CODE;
		l->nmethod_entry = ENTRY;
		l->nmethod_deopt = DEOPT;
		l->nmethod_deopt_mh = DEOPT_MH;
		l->nmethod_dependencies = DEPENDENCIES;
		l->nmethod_scopes_begin = SCOPES;
		l->nmethod_metadata = METADATA;
		return;
	}
	l->blob_code_offset = CODE;
	l->nmethod_entry_offset = ENTRY;
	l->nmethod_entry_offset_width = 2;
	l->nmethod_deopt_offset = DEOPT;
	l->nmethod_deopt_mh_offset = DEOPT_MH;
	l->nmethod_scopes_offset = SCOPES;
	l->nmethod_immutable = IMMUTABLE;
	if (shape == FAKE_MIDDLE) {
		l->blob_data_offset = DATA;
		l->nmethod_metadata = METADATA;
		l->nmethod_metadata_width = 2;
	} else {
		l->blob_kind = KIND;
		l->kind_nmethod = 1;
		l->blob_mutable_data = MUTABLE;
		l->blob_relocation_size = RELOCATION;
	}
}

/* A block of the code heap with a blob of HEADER + CODE_BYTES + MORE bytes; its address. */
static uintptr_t new_blob(struct fake_jvm *f, const char *kind, uint32_t code_bytes, uint32_t more)
{
	char *name = strcpy((char *)fake_room(f, 32), kind);
	uint32_t bytes = 16 + HEADER + code_bytes + more, n = (bytes + SEGMENT - 1) / SEGMENT, i;
	uintptr_t block = f->code + (uintptr_t)f->segments * SEGMENT, blob = block + 16;
	uint32_t hop = 0;

	if ((f->segments + n) * SEGMENT > FAKE_CODE_BYTES)
		abort();
	for (i = 0; i < n; i++) {
		((uint8_t *)f->segmap)[f->segments + i] = (uint8_t)hop++;
		if (hop == 0xff)
			hop = 1;
	}
	f->segments += n;
	put64(block, n);
	*(uint8_t *)(block + 8) = 1;
	put64(blob + NAME, (uintptr_t)name);
	put32(blob + SIZE, bytes - 16);
	if (f->shape == FAKE_OLD)
		put64(blob + CODE, blob + HEADER);
	else
		put32(blob + CODE, HEADER);
	memset((void *)(blob + HEADER), 0x90, code_bytes);
	return blob;
}

static void set_frame(struct fake_jvm *f, uintptr_t blob, uint32_t words, int complete)
{
	put32(blob + FRAME_SIZE, words);
	if (f->shape == FAKE_YOUNG)
		put16(blob + FRAME_COMPLETE, (uint32_t)complete);
	else
		put32(blob + FRAME_COMPLETE, (uint32_t)complete);
}

uintptr_t fake_blob_of(const struct fake_jvm *f, uintptr_t code)
{
	(void)f;
	return code - HEADER;
}

uintptr_t fake_interpreter(const struct fake_jvm *f, uint32_t offset)
{
	return f->zone.layout.interpreter_low + offset;
}

uintptr_t fake_stub(struct fake_jvm *f, uint32_t frame_words, int frame_complete, const uint8_t *bytes,
		    uint32_t count)
{
	uintptr_t blob = new_blob(f, "StubRoutines", 256, 0);
	const uint8_t end[] = {0x48, 0x83, 0xc4, (uint8_t)(frame_words * 8 - 16), 0x5d, 0xc3};

	set_frame(f, blob, frame_words, frame_complete);
	if (frame_words)
		memcpy((void *)(blob + HEADER + 256 - sizeof(end)), end, sizeof(end));
	if (count)
		memcpy((void *)(blob + HEADER), bytes, count);
	return blob + HEADER;
}

static uintptr_t symbol(struct fake_jvm *f, const char *text)
{
	uint32_t n = (uint32_t)strlen(text);
	uintptr_t s = fake_room(f, n + 8);

	put16(s + S_LENGTH, n);
	memcpy((void *)(s + S_BODY), text, n);
	return s;
}

static uintptr_t const_method(struct fake_jvm *f, const char *class_name, const char *name,
			      const char *signature, uint32_t code_size)
{
	uintptr_t c = fake_room(f, C_SIZE + code_size + 16), pool = fake_room(f, P_SIZE + 64);
	uintptr_t klass = fake_room(f, 64);

	put64(c + C_POOL, pool);
	put16(c + C_CODE_SIZE, code_size);
	put16(c + C_NAME, 3);
	put16(c + C_SIGNATURE, 5);
	put64(pool + P_HOLDER, klass);
	put64(pool + P_SIZE + 3 * 8, symbol(f, name));
	put64(pool + P_SIZE + 5 * 8, symbol(f, signature));
	put64(klass + K_NAME, symbol(f, class_name));
	return c;
}

uintptr_t fake_method(struct fake_jvm *f, const char *class_name, const char *name,
		      const char *signature, uint32_t code_size)
{
	uintptr_t m = fake_room(f, 64);

	put64(m + M_CONST, const_method(f, class_name, name, signature, code_size));
	put64(m + M_ENTRY, fake_interpreter(f, 0));
	return m;
}

void fake_replace(struct fake_jvm *f, uintptr_t method, const char *class_name, const char *name)
{
	put64(method + M_CONST, const_method(f, class_name, name, "()V", 40));
}

uintptr_t fake_bytecode(const struct fake_jvm *f, uintptr_t method)
{
	(void)f;
	return *fake_at(method + M_CONST) + C_SIZE;
}

/* UNSIGNED5, as compressedStream.cpp writes it. */
static uint8_t *write_int(uint8_t *to, uint32_t value, bool biased)
{
	uint32_t bias = biased ? 1 : 0, low = 192 - bias, i;

	for (i = 0; i < 4 && value >= low; i++) {
		value -= low;
		*to++ = (uint8_t)(low + value % 64 + bias);
		value /= 64;
	}
	*to++ = (uint8_t)(value + bias);
	return to;
}

struct built {
	uintptr_t pcs, scopes, metadata, end;
};

/* PcDescs, scopes and Method* array behind each other at AT; as the old shape has them. */
static void write_debug_info(struct fake_jvm *f, const struct fake_code *c, uintptr_t at, struct built *b)
{
	bool biased = f->zone.layout.scope_bytes_biased;
	uint32_t offset[ARRAY_LEN(c->scopes) + 1] = {0}, i, n = 0;
	uint8_t *to;

	b->metadata = at;
	for (i = 0; i < ARRAY_LEN(c->scopes); i++)
		put64(at + i * 8, c->scopes[i].method);
	at += sizeof(uint64_t) * ARRAY_LEN(c->scopes);
	b->scopes = at;
	to = (uint8_t *)at;
	*to++ = 0; /* offset 0 means none */
	for (i = 0; i < ARRAY_LEN(c->scopes) && c->scopes[i].method; i++) {
		offset[i + 1] = (uint32_t)(to - (uint8_t *)at);
		to = write_int(to, offset[c->scopes[i].sender], biased);
		to = write_int(to, i + 1, biased);
		to = write_int(to, (uint32_t)(c->scopes[i].bci + 1), biased);
	}
	at = ((uintptr_t)to + 7) & ~(uintptr_t)7;
	b->pcs = at;
	put32(at, UINT32_MAX); /* the sentinels */
	for (i = 0; i < ARRAY_LEN(c->pcs) && c->pcs[i].offset; i++, n++) {
		put32(at + (i + 1) * 16, (uint32_t)c->pcs[i].offset);
		put32(at + (i + 1) * 16 + 4, offset[c->pcs[i].scope]);
	}
	put32(at + (n + 1) * 16, INT32_MAX);
	b->end = at + (n + 2) * 16;
}

static void link_debug_info(struct fake_jvm *f, const struct fake_code *c, uintptr_t nm, uint32_t size)
{
	struct built b;

	if (f->shape <= FAKE_OLD) {
		write_debug_info(f, c, nm + HEADER + size, &b);
		put32(nm + PCS, (uint32_t)(b.pcs - nm));
		put32(nm + DEPENDENCIES, (uint32_t)(b.end - nm));
		if (f->shape == FAKE_OLD)
			put64(nm + SCOPES, b.scopes);
		else
			put32(nm + SCOPES, (uint32_t)(b.scopes - nm));
		put32(nm + METADATA, (uint32_t)(b.metadata - nm));
		return;
	}
	/* Immutable data: PcDescs, then scopes; the end of the first is the begin of the second. */
	uintptr_t scratch = fake_room(f, 1024), immutable = fake_room(f, 1024);
	uint32_t pcs_bytes;

	write_debug_info(f, c, scratch, &b);
	pcs_bytes = (uint32_t)(b.end - b.pcs);
	memcpy((void *)(immutable + 32), (void *)b.pcs, pcs_bytes);
	memcpy((void *)(immutable + 32 + pcs_bytes), (void *)b.scopes, b.pcs - b.scopes);
	put64(nm + IMMUTABLE, immutable);
	put32(nm + PCS, 32);
	put32(nm + SCOPES, 32 + pcs_bytes);
	if (f->shape == FAKE_MIDDLE) {
		memcpy((void *)(nm + HEADER + size + 16), (void *)b.metadata, 64);
		put32(nm + DATA, HEADER + size);
		put16(nm + METADATA, 16);
	} else {
		uintptr_t data = fake_room(f, 128);

		memcpy((void *)(data + 24), (void *)b.metadata, 64);
		put64(nm + MUTABLE, data);
		put32(nm + RELOCATION, 24);
	}
}

uintptr_t fake_nmethod(struct fake_jvm *f, const struct fake_code *c)
{
	static const uint8_t call[] = {0xff, 0x10}, end[] = {0xeb, 0xfe};
	static uint32_t compile_id;
	uint32_t size = c->size ? c->size : 256, i;
	uintptr_t nm = new_blob(f, c->level ? "nmethod" : "native nmethod", size, 1024);
	uintptr_t code = nm + HEADER;

	for (i = 0; i < ARRAY_LEN(c->pcs); i++)
		if (c->pcs[i].offset >= 2)
			memcpy((void *)(code + (uintptr_t)c->pcs[i].offset - 2), call, sizeof(call));
	memcpy((void *)(code + size - sizeof(end)), end, sizeof(end));
	if (c->byte_count)
		memcpy((void *)code, c->bytes, c->byte_count);
	set_frame(f, nm, c->frame_words, c->frame_complete);
	put64(nm + METHOD, c->method);
	put32(nm + LEVEL, (uint32_t)c->level);
	put32(nm + COMPILE_ID, ++compile_id);
	put32(nm + ORIG_PC, c->orig_pc);
	if (f->shape <= FAKE_OLD) {
		put64(nm + ENTRY, code + c->entry);
	} else {
		put16(nm + ENTRY, c->entry);
		*(uint8_t *)(nm + KIND) = 1;
	}
	if (f->shape == FAKE_OLD)
		put64(nm + DEOPT, c->deopt ? code + c->deopt : 0);
	else
		put32(nm + DEOPT, c->deopt ? HEADER + c->deopt : 0);
	link_debug_info(f, c, nm, size);
	return code;
}

void fake_open(struct fake_jvm *f, enum fake_shape shape)
{
	static const uint8_t stub_call[] = {0x90, 0xe8, 0, 0, 0, 0, 0x90};
	struct layout *l = &f->zone.layout;
	uintptr_t interpreter;

	memset(f, 0, sizeof(*f));
	f->shape = shape;
	f->memory = mmap(NULL, FAKE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (f->memory == MAP_FAILED)
		abort();
	f->code = (uintptr_t)f->memory;
	f->segmap = f->code + FAKE_CODE_BYTES;
	f->meta = f->meta_used = f->segmap + 4096;
	f->stack_low = f->meta + 192 * 1024;
	f->stack_high = f->stack_low + FAKE_STACK_WORDS * 8;
	f->stack = fake_at(f->stack_low);
	memset((void *)f->segmap, 0xff, 4096);
	common_layout(l);
	shape_layout(l, shape);
	l->heap_count = 1;
	l->heap[0] = (struct code_heap){f->code, f->code + FAKE_CODE_BYTES, f->segmap, 7};
	l->code_low = f->code;
	l->code_high = f->code + FAKE_CODE_BYTES;
	interpreter = new_blob(f, "Interpreter", 16384, 0) + HEADER;
	l->interpreter_low = interpreter;
	l->interpreter_high = interpreter + 16384;
	f->call_stub = fake_stub(f, 0, -1, stub_call, sizeof(stub_call)) + 6;
	l->call_stub_pc = f->call_stub;
	atomic_store(&l->code_ready, true);
	f->zone.has_jvm = true;
	f->zone.depth = 2048;
	f->java_thread = fake_room(f, 1024);
	atomic_store(&f->record.java_thread, f->java_thread);
	f->record.stack_high = f->stack_high;
}

void fake_close(struct fake_jvm *f)
{
	munmap(f->memory, FAKE_BYTES);
}
