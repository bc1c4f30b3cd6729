/*
 * split.c - the CPU time of a profile by who is responsible: each stack belongs to the innermost method of the program
 * itself, and to the kind of work that this method called (families.def); stacks without one, to the JVM's own threads.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/findings/evidence.h"
#include "common/base/ascii.h"
#include "profile/model/askers.h"

#define NO_FAMILY FAMILIES

/* The families' matches, one list: each of the family that was named last. */
static const struct match {
	const char *pattern;
	uint8_t family;
} matches[] = {
#define FAMILY(id, words, advice) {NULL, FAMILY_##id},
#define MATCH(text) {text, 0},
#include "profile/findings/families.def"
};

/* What a frame is, asked once for each. */
struct sort {
	uint8_t family; /* NO_FAMILY: of none */
	bool program;   /* a method of the program itself */
	uint8_t role;   /* enum role */
};

enum role { ROLE_NONE, ROLE_FAULT, ROLE_CLASSES, ROLE_SAFEPOINT, ROLE_GC, ROLE_JIT };

/* Functions that tell what a stack is about. */
static const struct {
	const char *begin;
	enum role role;
} functions[] = {
	{"asm_exc_page_fault", ROLE_FAULT}, {"exc_page_fault", ROLE_FAULT}, {"do_user_addr_fault", ROLE_FAULT},
	{"page_fault", ROLE_FAULT}, {"handle_mm_fault", ROLE_FAULT},
	{"SystemDictionary::", ROLE_CLASSES}, {"ClassFileParser::", ROLE_CLASSES}, {"ClassLoader::", ROLE_CLASSES},
	{"InstanceKlass::link_class", ROLE_CLASSES}, {"InstanceKlass::initialize_impl", ROLE_CLASSES},
	{"InstanceKlass::call_class_initializer", ROLE_CLASSES}, {"Verifier::", ROLE_CLASSES},
	{"JVM_DefineClass", ROLE_CLASSES}, {"jvm_define_class_common", ROLE_CLASSES},
	{"JVM_LookupDefineClass", ROLE_CLASSES}, {"KlassFactory::", ROLE_CLASSES},
	{"SafepointSynchronize::", ROLE_SAFEPOINT}, {"SafepointTracing::", ROLE_SAFEPOINT},
	{"CompileBroker::compiler_thread_loop", ROLE_JIT}, {"CompileBroker::invoke_compiler", ROLE_JIT},
	{"GangWorker::", ROLE_GC}, {"WorkerThread::run", ROLE_GC}, {"GCTaskThread::", ROLE_GC}, {"G1ConcurrentMark",
												 ROLE_GC},
	{"ConcurrentGCThread::run", ROLE_GC}, {"G1ConcurrentRefine", ROLE_GC}, {"ZWorker", ROLE_GC}, {"ZDriver",
												      ROLE_GC},
	{"ShenandoahControlThread", ROLE_GC}, {"VM_GenCollect", ROLE_GC}, {"VM_G1", ROLE_GC}, {"VM_Parallel", ROLE_GC},
	{"VM_Serial", ROLE_GC}, {"GenCollectedHeap::", ROLE_GC}, {"SerialHeap::", ROLE_GC},
		{"ParallelScavengeHeap::", ROLE_GC},
	{"DefNewGeneration::", ROLE_GC}, {"G1CollectedHeap::do_collection", ROLE_GC},
};

/* Threads that tell it by their names, where no function is known. */
static const struct {
	const char *begin;
	enum role role;
} jvm_threads[] = {
	{"C1 ", ROLE_JIT}, {"C2 ", ROLE_JIT}, {"JVMCI", ROLE_JIT},
	{"GC Thread#", ROLE_GC}, {"G1 ", ROLE_GC}, {"ZWorker", ROLE_GC}, {"ZDriver", ROLE_GC}, {"ZDirector", ROLE_GC},
	{"XWorker", ROLE_GC}, {"XDriver", ROLE_GC}, {"Shenandoah", ROLE_GC}, {"ParGC", ROLE_GC},
};

/* Whether frame F is what PATTERN, "java/lang/String.split" or the begin of it, says. */
static bool fits(const struct profile_frame *f, const char *pattern)
{
	size_t n = strlen(f->class_name);

	if (strncmp(pattern, f->class_name, n) == 0 && pattern[n] == '.')
		return text_begins(f->name, pattern + n + 1);
	return text_begins(f->class_name, pattern);
}

static uint8_t family_of(const struct profile_frame *f)
{
	uint8_t family = 0;
	unsigned i;

	for (i = 0; f->class_name && i < ARRAY_LEN(matches); i++) {
		if (!matches[i].pattern)
			family = matches[i].family;
		else if (fits(f, matches[i].pattern))
			return family;
	}
	return NO_FAMILY;
}

static struct sort sort_of(const struct profile_frame *f)
{
	struct sort s = {.family = family_of(f)};
	unsigned i;

	s.program = !frame_is_of_jdk(f) && s.family == NO_FAMILY;
	for (i = 0; !f->class_name && i < ARRAY_LEN(functions) && !s.role; i++)
		if (text_begins(f->name, functions[i].begin))
			s.role = functions[i].role;
	return s;
}

static enum role role_of_thread(const struct profile *p, const struct profile_stack *s)
{
	unsigned i;

	for (i = 0; s->thread != PROFILE_NO_THREAD && i < ARRAY_LEN(jvm_threads); i++)
		if (text_begins(p->threads[s->thread].name, jvm_threads[i].begin))
			return jvm_threads[i].role;
	return ROLE_NONE;
}

/* What one stack comes to. */
struct reading {
	uint32_t site;     /* name of the innermost method of the program; UINT32_MAX: none */
	uint8_t family;
	bool unsure;       /* … but a method of the program may be compiled into what is on top */
	bool self;         /* that method is on top, or only its own code's natives and the kernel are */
	bool java;         /* there is a Java method */
	unsigned roles;    /* bits of enum role */
};

/* Whether what is of FAMILY calls methods of the program back. */
static bool calls_back(uint8_t family)
{
	return family == FAMILY_streams || family == FAMILY_sorting || family == FAMILY_reflection ||
	       family == FAMILY_collections;
}

/*
 * Whether a method of the program may be compiled into the LEAF, a Java method of FAMILY; DIRECT: the program's own
 * method called it.
 */
static bool may_hold_program(const struct profile_frame *leaf, uint8_t family, bool direct)
{
	if (leaf->kind == FRAME_INLINED)
		return direct || calls_back(family);
	return (leaf->kind == FRAME_C1 || leaf->kind == FRAME_C2) && calls_back(family);
}

static void read_stack(const struct split *s, const struct sort *sorts, const struct profile_stack *stack,
		       struct reading *r)
{
	const struct profile_frame *leaf = NULL; /* the innermost Java method */
	uint8_t of_leaf = NO_FAMILY;
	uint32_t i, between = 0;

	*r = (struct reading){.site = UINT32_MAX, .family = NO_FAMILY, .self = true};
	/* what is allocated stands on top of who does it: its class */
	i = s->profile->weight_kind == WEIGHT_BYTES && stack->depth ? stack->depth - 1 : stack->depth;
	for (; i > s->profile->outer; i--) {
		uint32_t f = stack->frames[i - 1];
		const struct profile_frame *frame = &s->profile->frames[f];

		r->roles |= 1u << sorts[f].role;
		r->java |= frame->class_name != NULL;
		if (r->site != UINT32_MAX)
			continue;
		if (sorts[f].program) {
			r->site = s->names.of_frame[f];
		} else {
			r->self &= !frame->class_name;
			if (frame->class_name && !between++) {
				leaf = frame;
				of_leaf = sorts[f].family;
			}
			/* the one nearest to the program's method is what that called */
			if (sorts[f].family != NO_FAMILY && (sorts[f].family != FAMILY_streams ||
							     of_leaf == FAMILY_streams))
				r->family = sorts[f].family;
		}
	}
	if (r->site == UINT32_MAX)
		r->family = NO_FAMILY;
	r->unsure = r->family != NO_FAMILY && may_hold_program(leaf, r->family, between == 1);
}

static struct site *site_at(struct split *s, struct map *places, uint32_t name)
{
	uint32_t *place = map_put(places, name, NULL);

	if (!place)
		return NULL;
	if (!*place) {
		*place = ++s->site_count;
		s->sites[*place - 1] = (struct site){.name = name};
	}
	return &s->sites[*place - 1];
}

/* Who of the JVM's threads worked in a stack without Java. */
static void add_jvm(struct split *s, const struct profile_stack *stack, const struct reading *r)
{
	unsigned roles = r->roles | 1u << role_of_thread(s->profile, stack);

	if (roles & 1u << ROLE_JIT)
		s->jit += stack->weight;
	else if (roles & 1u << ROLE_SAFEPOINT)
		s->safepoints += stack->weight;
	else if (roles & 1u << ROLE_GC)
		s->gc += stack->weight;
}

static bool add(struct split *s, struct map *places, const struct profile_stack *stack, const struct reading *r)
{
	uint8_t top = stack->depth ? s->profile->frames[stack->frames[stack->depth - 1]].kind : FRAME_OTHER;
	struct site *site;

	s->whole += stack->weight;
	s->samples += stack->samples;
	s->kernel += top == FRAME_KERNEL ? stack->weight : 0;
	s->faults += r->roles & 1u << ROLE_FAULT ? stack->weight : 0;
	s->classes += r->roles & 1u << ROLE_CLASSES ? stack->weight : 0;
	if (!r->java) {
		add_jvm(s, stack, r);
		return true;
	}
	/* what a method calls in native code is no slower where the method is interpreted */
	s->java += top <= FRAME_INLINED ? stack->weight : 0;
	s->java_samples += top <= FRAME_INLINED ? stack->samples : 0;
	s->interpreted += top == FRAME_INTERPRETED ? stack->weight : 0;
	if (r->site == UINT32_MAX)
		return true;
	site = site_at(s, places, r->site);
	if (!site)
		return false;
	site->weight += stack->weight;
	site->self += r->self ? stack->weight : 0;
	site->classes += r->roles & 1u << ROLE_CLASSES ? stack->weight : 0;
	if (r->family != NO_FAMILY) {
		site->family[r->family] += stack->weight;
		s->family[r->family] += stack->weight;
		s->family_unsure[r->family] += r->unsure ? stack->weight : 0;
	}
	return true;
}

uint32_t split_top_of(const struct split *s, const struct site *site, uint64_t *weight)
{
	uint64_t *weights = calloc((size_t)s->names.count + 1, sizeof(*weights));
	bool objects = s->profile->weight_kind == WEIGHT_BYTES;
	uint32_t i, top = UINT32_MAX;

	*weight = 0;
	for (i = 0; weights && i < s->profile->stack_count; i++) {
		const struct profile_stack *stack = &s->profile->stacks[i];
		uint32_t depth = stack->depth, name;

		if (s->site_of[i] != site->name)
			continue;
		depth -= objects && depth > 1; /* their class */
		/* natives and the kernel are told as the Java method that called them */
		while (depth > 1 && !s->profile->frames[stack->frames[depth - 1]].class_name)
			depth--;
		name = s->names.of_frame[stack->frames[depth - 1]];
		weights[name] += stack->weight;
		if (weights[name] > *weight) {
			*weight = weights[name];
			top = name;
		}
	}
	free(weights);
	return top;
}

static int by_weight(const void *a, const void *b)
{
	const struct site *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static void name_families(struct split *s)
{
	unsigned f;
	uint32_t i;

	for (f = 0; f < FAMILIES; f++) {
		uint64_t most = 0;

		s->family_site[f] = UINT32_MAX;
		for (i = 0; i < s->site_count; i++)
			if (s->sites[i].family[f] > most) {
				most = s->sites[i].family[f];
				s->family_site[f] = i;
			}
	}
}

int split_build(struct split *s, const struct profile *p)
{
	struct sort *sorts = calloc((size_t)p->frame_count + 1, sizeof(*sorts));
	struct map places = {0};
	bool whole = sorts != NULL;
	uint32_t i;

	*s = (struct split){.profile = p};
	if (name_table_build(&s->names, p, STYLE_TEXT | STYLE_NORM | STYLE_ANY_TYPE))
		whole = false;
	if (whole)
		s->sites = calloc((size_t)s->names.count + 1, sizeof(*s->sites));
	s->site_of = calloc((size_t)p->stack_count + 1, sizeof(*s->site_of));
	whole &= s->sites != NULL && s->site_of != NULL;
	for (i = 0; whole && i < p->frame_count; i++)
		sorts[i] = sort_of(&p->frames[i]);
	for (i = 0; whole && i < p->stack_count; i++) {
		struct reading r;

		read_stack(s, sorts, &p->stacks[i], &r);
		s->site_of[i] = r.site;
		whole = add(s, &places, &p->stacks[i], &r);
	}
	if (whole && s->site_count)
		qsort(s->sites, s->site_count, sizeof(*s->sites), by_weight);
	if (whole)
		name_families(s);
	map_free(&places);
	free(sorts);
	return whole ? 0 : -ENOMEM;
}

void split_free(struct split *s)
{
	name_table_free(&s->names);
	free(s->sites);
	free(s->site_of);
	*s = (struct split){.profile = NULL};
}
