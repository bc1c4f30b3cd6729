#include "profile/readers/categories.h"

#include <string.h>

/* How a name is compared with a word. */
enum fit { WHOLE, BEGIN, END };

struct sign {
	const char *word;
	enum fit fit;
	enum category category;
};

const struct category_frame category_frames[CATEGORIES] = {
#define X(NAME, title, kind) {title, kind},
#include "profile/readers/categories.def"
};

/* Loops of the JVM's own threads, from the root on. CATEGORIES: it is one of them, but not which. */
static const struct sign loops[] = {
	{"CompileBroker::compiler_thread_loop", WHOLE, CATEGORY_JIT},
	{"GCTaskThread::run", WHOLE, CATEGORY_GC}, {"WorkerThread::run", WHOLE, CATEGORY_GC},
	{"java_start", WHOLE, CATEGORIES}, {"thread_native_entry", WHOLE, CATEGORIES},
	{NULL, WHOLE, CATEGORIES},
};

/* What native functions do with classes. */
static const struct sign functions[] = {
	{"Verifier::verify", WHOLE, CATEGORY_CLASS_VERIFY}, {"InstanceKlass::initialize", BEGIN, CATEGORY_CLASS_INIT},
	{"LinkResolver::", BEGIN, CATEGORY_CLASS_RESOLVE},
	{"InterpreterRuntime::resolve", BEGIN, CATEGORY_CLASS_RESOLVE},
	{"SystemDictionary::resolve", BEGIN, CATEGORY_CLASS_RESOLVE}, {"table stub", END, CATEGORY_STUB},
	{"Interpreter", WHOLE, CATEGORY_INTERPRETER}, {"I2C/C2I", BEGIN, CATEGORY_ADAPTER},
	{NULL, WHOLE, CATEGORIES},
};

/* The JVM's work for Java code, seen at its innermost frames. CATEGORIES: the Java code itself goes on in it. */
static const struct sign services[] = {
	{"JVM_", BEGIN, CATEGORY_VM}, {"Unsafe_", BEGIN, CATEGORY_VM}, {"MHN_", BEGIN, CATEGORY_VM},
	{"jni_", BEGIN, CATEGORY_VM}, {"call_stub", WHOLE, CATEGORY_VM}, {"deoptimization", WHOLE, CATEGORY_VM},
	{"unknown_Java", WHOLE, CATEGORY_VM}, {"not_walkable_Java", WHOLE, CATEGORY_VM},
	{"InlineCacheBuffer", WHOLE, CATEGORY_VM}, {"_arraycopy", END, CATEGORIES},
	{NULL, WHOLE, CATEGORIES},
};

static bool fits(const struct sign *s, const char *name)
{
	size_t n = strlen(name), length = strlen(s->word);

	if (n < length || (s->fit == WHOLE && n != length))
		return false;
	return memcmp(s->fit == END ? name + n - length : name, s->word, length) == 0;
}

/* The sign that NAME is, or NULL. */
static const struct sign *sign_of(const struct sign *list, const char *name)
{
	for (; list->word; list++)
		if (fits(list, name))
			return list;
	return NULL;
}

static bool ends_in(const char *text, const char *end)
{
	return fits(&(struct sign){end, END, CATEGORIES}, text);
}

static bool is_native(const struct profile_frame *f)
{
	return !f->class_name && f->kind != FRAME_KERNEL;
}

/* Of C++, whose names have their arguments as well; else of C, or code that the JVM made. */
static bool is_cpp(const struct profile_frame *f)
{
	return is_native(f) && f->signature;
}

/* A frame of STACK, 0 = the innermost. */
static const struct profile_frame *frame_of(const struct profile *p, const struct profile_stack *stack, uint32_t i)
{
	return &p->frames[stack->frames[stack->depth - 1 - i]];
}

/* A thread of the JVM is known by its root. CATEGORIES: it is none. */
static enum category of_thread(const struct profile *p, const struct profile_stack *stack)
{
	enum category found = CATEGORIES;
	const struct profile_frame *f;
	const struct sign *s;
	uint32_t i;

	for (i = stack->depth; i-- > 0 && is_native(f = frame_of(p, stack, i)); ) {
		s = is_cpp(f) ? sign_of(loops, f->name) : NULL;
		if (s && s->category != CATEGORIES)
			return s->category;
		found = s ? CATEGORY_VM : found;
	}
	return found;
}

static enum category of_java_method(const struct profile_frame *f)
{
	if (strcmp(f->name, "loadClass") == 0 && ends_in(f->class_name, "ClassLoader"))
		return CATEGORY_CLASS_LOAD;
	if ((strcmp(f->name, "metafactory") == 0 || strcmp(f->name, "altMetafactory") == 0) &&
	    ends_in(f->class_name, "LambdaMetafactory"))
		return CATEGORY_LAMBDA;
	return CATEGORIES;
}

/* The innermost frame that has to do with classes, or with code that goes between compiled and interpreted. */
static enum category of_classes(const struct profile *p, const struct profile_stack *stack)
{
	const struct profile_frame *f;
	enum category found;
	const struct sign *s;
	uint32_t i;

	for (i = 0; i < stack->depth; i++) {
		f = frame_of(p, stack, i);
		s = f->class_name ? NULL : sign_of(functions, f->name);
		found = f->class_name ? of_java_method(f) : s ? s->category : CATEGORIES;
		if (found == CATEGORY_ADAPTER && i + 1 < stack->depth &&
		    frame_of(p, stack, i + 1)->kind == FRAME_INTERPRETED)
			return CATEGORY_INTERPRETER;
		if (found != CATEGORIES)
			return found;
	}
	return CATEGORIES;
}

/* The innermost Java method says how it was compiled, unless it waits for native code to come back. */
static enum category of_code(const struct profile *p, const struct profile_stack *stack)
{
	const struct profile_frame *f;
	const struct sign *s;
	bool in_java = true;
	uint32_t i;

	for (i = 0; i < stack->depth; i++) {
		f = frame_of(p, stack, i);
		if (is_cpp(f) && strncmp(f->name, "Runtime1::", 10) == 0)
			return CATEGORY_C1;
		if (f->class_name && f->kind == FRAME_INLINED)
			in_java = true;
		else if (f->class_name)
			return !in_java ? CATEGORY_NATIVE : f->kind == FRAME_INTERPRETED ? CATEGORY_INTERPRETER :
			       f->kind == FRAME_C1 ? CATEGORY_C1 : CATEGORY_C2;
		if (!is_native(f) || is_cpp(f))
			continue;
		s = sign_of(services, f->name);
		if (s && s->category != CATEGORIES)
			return s->category;
		in_java &= s || strstr(f->name, "pthread_cond");
	}
	return CATEGORY_NATIVE;
}

enum category category_of(const struct profile *p, const struct profile_stack *stack)
{
	enum category found = of_thread(p, stack);

	if (found == CATEGORIES)
		found = of_classes(p, stack);
	return found == CATEGORIES ? of_code(p, stack) : found;
}
