/*
 * decode.h - from a pc inside a compiled method to the Java frames it stands
 * for: HotSpot's debug information, and a cache of what was decoded.
 *
 *   nmethod ─▶ PcDesc[] (sorted by pc) ─▶ scope ─▶ sender scope ─▶ … ─▶ the method itself
 *
 * The cache is shared by all threads. An entry is immutable once its slot shows it
 * and is believed only if the nmethod at its address still has the same compile id
 * and Method*; nmethods that are on a stack cannot go away, so this is exact.
 *
 * Beside it stand stretches of code in which the innermost frame is the same, or at least
 * its edge: following the code costs microseconds, and a loop has many instructions to be
 * sampled at. And methods that interpreted frames showed: believed as long as the
 * Method* points to the same ConstMethod, which spares the proof that it is a method.
 */
#ifndef JSTROBE_WALK_DECODE_H
#define JSTROBE_WALK_DECODE_H

#include <stdatomic.h>

#include "agent/walk/codecache.h"
#include "agent/zone/stack_store.h"

/* Where the debug information of one nmethod lies. */
struct debug_info {
	uintptr_t pcs, pcs_end;  /* PcDesc array */
	uintptr_t scopes;
	uintptr_t metadata;      /* Method* array, 1-based indices */
	uintptr_t method;        /* the nmethod's own */
	uint32_t compile_id;
	enum frame_kind kind;    /* of its outermost frame */
};

/* A PcDesc: the offset from the code's begin that it is for, and its scope. */
struct described {
	uint32_t offset, scope;
};

struct decoded {
	uint64_t key;            /* pc << 1 | top */
	uintptr_t blob;
	uintptr_t method;
	uint32_t compile_id;
	uint32_t frame_bytes;
	uint32_t count;          /* frames */
	uint32_t return_offset;  /* from sp: of the return address; a top pc before or behind the frame has its own */
	uint32_t own_size;       /* see struct frame_state */
	bool fp_saved;           /* the caller's fp lies below the return address */
	bool linked;             /* see struct frame_state */
	bool unsure;             /* its places disagree, see guards.h */
	uint16_t before, after;  /* bytes of code around pc that the same is true of */
	uint64_t frame[];        /* innermost first */
};

/* Two words that are written one by one: a torn entry has another method's ConstMethod. */
struct known_method {
	_Atomic uintptr_t method;
	_Atomic uint64_t constant_size; /* ConstMethod* (8-byte aligned, 47 bits) << 16 | bytes of code */
};

/* What of a method is at work. */
enum frame_part {
	FRAME_BODY,
	FRAME_PROLOGUE, /* its frame is being built: nothing inlined runs yet */
	FRAME_TAIL,  /* nothing is described any more before it returns: what lies behind in memory says nothing */
	FRAME_EPILOGUE,  /* its frame is being taken down, or gone */
};

/* Where the innermost frame's return address is. */
struct frame_state {
	uint32_t return_offset; /* from sp */
	uint32_t own_size;      /* not 0: of a frame whose size word says this; what it says more comes on top */
	bool fp_saved;          /* the caller's fp is the word below it, else still in the register */
	bool linked;            /* it is still in the link register, and return_offset is that of the caller's stack */
	enum frame_part part;
	bool fixed;             /* it is so whenever this pc is reached: may be remembered */
	uintptr_t first, last;  /* it is the same at all pcs from here to there */
};

/* Instructions in a row that leave sp alone: the edge is the same at each of them. */
struct pc_range {
	uintptr_t blob, method;
	uint32_t compile_id;
	struct frame_state frame_state;
};

#define DECODE_SLOTS 8192u
#define DECODE_PROBES 4
#define DECODE_METHODS 512u
#define DECODE_LINES 1024u
#define DECODE_LINE 32u         /* bytes of code that share a slot of the next two tables */

struct decode_cache {
	_Atomic(struct decoded *) slot[DECODE_SLOTS];
	struct known_method method[DECODE_METHODS];
	_Atomic(struct pc_range *) pc_range[DECODE_LINES];
	_Atomic(struct decoded *) near[DECODE_LINES]; /* innermost frames, for pcs not seen yet */
	_Atomic uint32_t used;   /* bytes of the arena handed out */
	uint32_t size;
	uint64_t arena[];
};

/* The cached decoding of PC, or NULL. Any context. */
const struct decoded *decode_lookup(const struct layout *l, struct decode_cache *c, uintptr_t pc,
				    bool top);

/* Begin to fetch what decode_lookup() will look at first for an innermost frame. Any context. C may be NULL. */
void decode_prefetch(const struct decode_cache *c, uintptr_t pc);

/* A Method*, and where its byte code lies. */
struct method {
	uintptr_t address, code;
	uint32_t code_size;      /* bytes; 0 = a native method */
};

/* Look at the Method* at ADDRESS. False when it does not look like one. C may be NULL. Any context. */
bool decode_method(const struct layout *l, struct decode_cache *c, uintptr_t address, struct method *m);

/*
 * Decode PC inside nmethod B, append its frames to W and remember them in C (may
 * be NULL). TOP: PC is the next instruction to run, else a return address. EDGE: where the
 * return address is (of use to decode_lookup).
 * False when the debug information cannot be read (nothing is appended then) or W is full.
 * Any context.
 */
bool decode_nmethod(const struct layout *l, struct decode_cache *c, const struct blob *b, uintptr_t pc,
		    bool top, const struct frame_state *frame_state, struct stack_trace_writer *w);
/*
 * The first pc from PC on, inside nmethod B, that debug information describes: there the frame stands as
 * the method says, unless it was taken down. If it IS_RETURN, a return address: PC itself, for a call of Java
 * code or of the JVM. 0: there is none. Any context.
 */
uintptr_t decode_described(const struct layout *l, const struct blob *b, uintptr_t pc, bool is_return);

/* Read where the debug information of the nmethod at NM lies. False: it cannot be read. Any context. */
bool decode_info(const struct layout *l, uintptr_t nm, struct debug_info *d);

/* The first PcDesc of D at or behind OFFSET, scope 0 and offset UINT32_MAX if there is none. Any context. */
bool decode_next(const struct layout *l, const struct debug_info *d, uint32_t offset, struct described *found);

/*
 * Whether only calls, polls and traps of nmethod NM are described: it was compiled without DebugNonSafepoints. False,
 * too, where that cannot be told (JDK 8). Any context.
 */
bool decode_is_sparse(const struct layout *l, const struct debug_info *d, uintptr_t nm);

/* Whether the same methods are inlined into each other at scopes A and B of D; 0 is the method itself. Any context. */
bool decode_same_methods(const struct layout *l, const struct debug_info *d, uint32_t a, uint32_t b);

/* The Method* and the compile id of the nmethod at NM. False: they cannot be read. Any context. */
bool decode_identity(const struct layout *l, uintptr_t nm, uintptr_t *method, uint32_t *compile_id);

/* Remember HEAD (key to count filled in) with its FRAMEs and EDGE in C. Any context. */
void decode_remember(struct decode_cache *c, const struct decoded *head, const struct frame_state *frame_state,
		     const uint64_t *frame);

/* The edge known for PC in nmethod B; false: none is. Any context. */
bool decode_frame_state(const struct layout *l, struct decode_cache *c, const struct blob *b, uintptr_t pc,
		 struct frame_state *frame_state);

/* Remember EDGE of nmethod B from its first to its last pc. C may be NULL. Any context. */
void decode_keep_frame_state(const struct layout *l, struct decode_cache *c, const struct blob *b,
		      const struct frame_state *frame_state);

#endif
