/*
 * fake_jvm.h - a JVM of plain memory: code heap, compiled methods with debug information,
 * methods with names, a stack. Laid out as `struct layout` says, in one of three shapes.
 */
#ifndef FAKE_JVM_H
#define FAKE_JVM_H

#include "agent/walk/decode.h"
#include "agent/zone/zone.h"

enum fake_shape {
	FAKE_FIRST,  /* 8 */
	FAKE_OLD,    /* 9..22 */
	FAKE_MIDDLE, /* 23, 24 */
	FAKE_YOUNG,  /* 25.. */
	FAKE_SHAPES
};

#define FAKE_CALL 5000u /* offset in the interpreter of a return address: a call stands before it */
#define FAKE_CODE_BYTES (256u * 1024)
#define FAKE_STACK_WORDS 8192u

struct fake_jvm {
	enum fake_shape shape;
	struct zone zone;
	struct thread_record record;
	uint8_t *memory;       /* all of it, FAKE_BYTES */
	uintptr_t code, segmap, meta, stack_low, stack_high;
	uint64_t *stack;       /* its words, lowest first */
	uint32_t segments;     /* of the code heap, taken */
	uintptr_t meta_used;
	uintptr_t java_thread;
	uintptr_t call_stub;   /* return address in the call stub */
};
#define FAKE_BYTES (FAKE_CODE_BYTES + 4096 + 192 * 1024 + FAKE_STACK_WORDS * 8)

struct fake_scope {
	uint32_t sender;       /* number of the sender's scope, from 1; 0 = none */
	uintptr_t method;
	int bci;
};
struct fake_pc {
	int offset;            /* from the code's begin */
	uint32_t scope;        /* number, from 1 */
};
/* What fake_nmethod makes. Return addresses (pcs[].offset) are behind call instructions. */
struct fake_code {
	uintptr_t method;
	int level;             /* 0 native wrapper, 1..3 C1, 4 C2 */
	uint32_t frame_words;
	int frame_complete;
	uint32_t entry;        /* verified entry, from the code's begin */
	uint32_t size;         /* of the code; 0: 256 */
	const uint8_t *bytes;  /* its first bytes */
	uint32_t byte_count;
	struct fake_scope scopes[8];
	struct fake_pc pcs[8];
	uint32_t deopt;        /* deopt handler, from the code's begin */
	uint32_t orig_pc;      /* where the frame keeps the original pc, from sp */
};

void fake_open(struct fake_jvm *f, enum fake_shape shape);
void fake_close(struct fake_jvm *f);

/* A Method* with its chain of names. CODE_SIZE bytes of byte code (0: native). */
uintptr_t fake_method(struct fake_jvm *f, const char *class_name, const char *name,
		      const char *signature, uint32_t code_size);
/* Its first bytecode. */
uintptr_t fake_bytecode(const struct fake_jvm *f, uintptr_t method);
/* METHOD's memory becomes another method's: another class and name. */
void fake_replace(struct fake_jvm *f, uintptr_t method, const char *class_name, const char *name);

/* A compiled method; returns the address of its first instruction. */
uintptr_t fake_nmethod(struct fake_jvm *f, const struct fake_code *c);
/* A stub with a frame of FRAME_WORDS, taken down at its end; returns the address of its first instruction. */
uintptr_t fake_stub(struct fake_jvm *f, uint32_t frame_words, int frame_complete, const uint8_t *bytes,
		    uint32_t count);
/* The blob that the code at CODE is of. */
uintptr_t fake_blob_of(const struct fake_jvm *f, uintptr_t code);
/* A pc inside the interpreter. */
uintptr_t fake_interpreter(const struct fake_jvm *f, uint32_t offset);
/* N bytes for whatever it be, zeroed, 16-aligned. */
uintptr_t fake_room(struct fake_jvm *f, uint32_t n);

uint64_t *fake_at(uintptr_t address);

#endif
