/*
 * class_names.c - a table of fixed size, without a lock. Two threads that bring a new name at once may give it two
 * numbers: a thread that reads goes by the name. Its memory goes back when records do; a late writer only makes a page
 * dirty again. Names of waits that go on in the next session keep their numbers.
 */
#include "agent/sources/class_names.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "agent/zone/load.h"
#include "agent/zone/zone.h"
#include "common/base/hash.h"
#include "common/base/map.h"
#include "common/os/os.h"

#define CLASSES 4096u /* beyond, classes have no name */
#define PROBES 16
#define NAME 248
#define SIGNATURE 512

enum { FREE, WRITING, READY };

struct class_name {
	_Atomic uint32_t state;
	bool kept;            /* once, beyond the release */
	char name[NAME];
};

static struct class_name *classes;
static _Atomic bool mistaken; /* a name read from the JVM's memory was not the one that it tells: no more is read */

int class_names_open(void)
{
	size_t bytes = CLASSES * sizeof(*classes);

	if (!classes)
		classes = os_reserve(bytes);
	return classes && os_make_writable(classes, bytes) == 0 ? 0 : -1;
}

static uint32_t kept;

void class_name_keep(uint32_t class)
{
	if (!class_name_of(class) || classes[class - 1].kept)
		return;
	classes[class - 1].kept = true;
	kept++;
}

void class_names_release(void)
{
	uint32_t i;

	if (classes && !kept)
		madvise(classes, CLASSES * sizeof(*classes), MADV_DONTNEED);
	for (i = 0; kept && i < CLASSES; i++) {
		if (!classes[i].kept && atomic_load(&classes[i].state) == READY)
			memset(&classes[i], 0, sizeof(classes[i]));
		classes[i].kept = false;
	}
	kept = 0;
}

/* The number of NAME, 0 where there is none; BRING: it is given one, if there is room. */
static uint32_t number_of(const char *name, bool bring)
{
	uint64_t at = hash_mix(hash_bytes(HASH_BEGIN, name, strlen(name)));
	uint32_t i;

	if (!classes)
		return 0;
	for (i = 0; i < PROBES; i++) {
		uint32_t slot = (uint32_t)(at + i) % CLASSES, expected = FREE;
		struct class_name *c = &classes[slot];
		uint32_t state = atomic_load_explicit(&c->state, memory_order_acquire);

		if (state == FREE && !bring)
			return 0;
		if (state == FREE && atomic_compare_exchange_strong(&c->state, &expected, WRITING)) {
			strncpy(c->name, name, NAME - 1);
			atomic_store_explicit(&c->state, READY, memory_order_release);
			return slot + 1;
		}
		if (state == READY && strncmp(c->name, name, NAME - 1) == 0)
			return slot + 1;
	}
	return 0;
}

uint32_t class_number(const char *name)
{
	return number_of(name, true);
}

const char *class_name_of(uint32_t class)
{
	if (!class || class > CLASSES || !classes ||
	    atomic_load_explicit(&classes[class - 1].state, memory_order_acquire) != READY)
		return NULL;
	return classes[class - 1].name;
}

/* "Ljava/lang/Object;" as java/lang/Object; arrays stay as the JVM spells them. */
static void put_name(const char *signature, char *out)
{
	size_t length = MIN(strlen(signature), (size_t)SIGNATURE - 1);
	bool object = signature[0] == 'L' && length > 2;

	if (object) {
		signature++;
		length -= 2;
	}
	memcpy(out, signature, length);
	out[length] = '\0';
}

/* The Klass* of CLASS, a local reference, as its mirror has it; a mirror that is being moved has none. */
static bool read_klass(jclass class, uintptr_t *klass)
{
	int32_t at = zone.layout.mirror_klass ? *(const int32_t *)zone.layout.mirror_klass : 0;
	uintptr_t handle = (uintptr_t)class, mirror, now;

	return at > 0 && !(handle & (sizeof(handle) - 1)) /* others have a tag */ && load_word(handle, &mirror) &&
	       mirror && load_word(mirror + (uintptr_t)at, klass) && *klass && load_word(handle, &now) && now == mirror;
}

/*
 * The name of CLASS as it lies in its Symbol, which costs some 50 ns; the JVM makes a text for each question, which
 * costs more than 1 us. Not of hidden classes, which JVMTI spells in another way, nor of names longer than ours.
 */
static bool read_name(jclass class, char name[NAME])
{
	const struct layout *l = &zone.layout;
	uintptr_t klass, symbol;
	uint32_t length;

	if (atomic_load_explicit(&mistaken, memory_order_relaxed) || l->klass_name < 0 || l->symbol_length < 0 ||
	    !read_klass(class, &klass) || !load_word(klass + (uintptr_t)l->klass_name, &symbol) || !symbol ||
	    !load_u16(symbol + (uintptr_t)l->symbol_length, &length) || length >= NAME ||
	    !load_bytes(name, symbol + (uintptr_t)l->symbol_body, length))
		return false;
	name[length] = '\0';
	return !memchr(name, '+', length);
}

/* By the JVM; READ is what the JVM's memory has for it, NULL if nothing. */
static uint32_t number_by_asking(jvmtiEnv *ti, jclass class, const char *read)
{
	char *signature = NULL, name[SIGNATURE];

	if ((*ti)->GetClassSignature(ti, class, &signature, NULL) || !signature)
		return 0;
	put_name(signature, name);
	(*ti)->Deallocate(ti, (unsigned char *)signature);
	if (read && strcmp(read, name))
		atomic_store(&mistaken, true);
	return class_number(name);
}

uint32_t class_number_of_class(jvmtiEnv *ti, jclass class)
{
	char name[NAME];
	bool known;
	uint32_t number;

	if (!class)
		return 0;
	known = read_name(class, name);
	number = known ? number_of(name, false) : 0;
	return number ? number : number_by_asking(ti, class, known ? name : NULL);
}

uint32_t class_number_of(jvmtiEnv *ti, JNIEnv *env, jobject object)
{
	jclass class = (*env)->GetObjectClass(env, object);
	uint32_t number = class_number_of_class(ti, class);

	(*env)->DeleteLocalRef(env, class);
	return number;
}
