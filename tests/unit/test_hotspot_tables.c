/* What a real libjvm says of itself, without a JVM being made; and the set of stubs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/hotspot/flags.h"
#include "common/hotspot/layout.h"
#include "common/hotspot/stubs.h"

static void no_jvm(void **state)
{
	static struct layout l;
	struct error err;

	assert_int_equal(layout_read(&l, &err), -ENOENT);
	assert_non_null(strstr(err.text, "no HotSpot JVM"));
}

/* What differs between the shapes must be what this release has. */
static const char *wrong_with(const struct layout *l)
{
	bool young = l->jdk >= 23, first = l->jdk == 8;

	if (l->jdk < 8 || l->jdk > 60)
		return "release";
	if (atomic_load(&l->code_ready) || l->heap_count)
		return "code cache";
	if ((l->nmethod_scopes_begin >= 0) != (!young && !first) || (l->nmethod_immutable >= 0) != young ||
	    (l->blob_code_offset >= 0) != (young || first) || (l->blob_code_begin < 0) != (young || first) ||
	    (l->nmethod_scopes_offset >= 0) != (young || first))
		return "shape of debug information";
	if ((l->blob_mutable_data >= 0) != (l->jdk >= 25) || (l->blob_kind >= 0) != (l->jdk >= 24))
		return "shape of blobs";
	if (l->scope_bytes_biased != (l->jdk >= 20))
		return "encoding of scopes";
	if (l->anchor_sp < 0 || l->anchor_pc <= l->anchor_sp || l->anchor_fp <= l->anchor_sp)
		return "anchor";
	if (l->bcp_slot != (first ? -7 : -8) || l->entry_wrapper_slot != -6 || l->interpreter_sender_sp_slot != -1)
		return "slots of frames";
	if (l->pcdesc_size < 12 || l->pcdesc_size > 32 || (l->block_size != 16 && l->block_size != 8))
		return "sizes";
	if (l->symbol_length < 0 || l->symbol_body <= l->symbol_length)
		return "symbols";
	if (l->blob_frame_complete_width != 4 && l->blob_frame_complete_width != 2)
		return "width of frame_complete";
	if (l->nmethod_comp_level_width != 1 && l->nmethod_comp_level_width != 4)
		return "width of comp_level";
	return NULL;
}

static const char *wrong_with_flags(const struct layout *l)
{
	bool value, other;

	if (flag_read_bool(l, "JstrobeNoSuchFlag", &value) || flag_write_bool(l, "JstrobeNoSuchFlag", true) ||
	    flag_set_default_bool(l, "JstrobeNoSuchFlag", true))
		return "a flag that does not exist";
	if (!flag_read_bool(l, "DebugNonSafepoints", &value) || value)
		return "DebugNonSafepoints";
	if (flag_set_default_bool(l, "DebugNonSafepoints", false))
		return "a change that is none";
	if (!flag_set_default_bool(l, "DebugNonSafepoints", true) ||
	    !flag_read_bool(l, "DebugNonSafepoints", &value) || !value ||
	    !flag_read_bool(l, "UseCompressedOops", &other))
		return "setting a flag";
	if (!flag_write_bool(l, "DebugNonSafepoints", false) ||
	    !flag_read_bool(l, "DebugNonSafepoints", &value) || value)
		return "writing a flag";
	return NULL;
}

/* In a process of its own: a libjvm cannot be unloaded. */
static int in_child(const char *path)
{
	static struct layout l;
	struct error err;
	const char *wrong;

	if (!dlopen(path, RTLD_NOW | RTLD_GLOBAL)) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	if (layout_read(&l, &err)) {
		fprintf(stderr, "%s: %s\n", path, err.text);
		return 1;
	}
	wrong = wrong_with(&l);
	if (!wrong)
		wrong = wrong_with_flags(&l);
	if (layout_refresh(&l))
		wrong = "a code cache before the JVM";
	fprintf(stderr, "JDK %d%s%s: %s\n", l.jdk, wrong ? ": wrong " : "", wrong ? wrong : "", path);
	return wrong ? 1 : 0;
}

static void real_tables(void **state)
{
	const char *home = getenv("JAVA_HOME");
	glob_t found = {0};
	char pattern[4096];
	size_t i;

	snprintf(pattern, sizeof(pattern), "%s/lib/server/libjvm.so", home ? home : "/nowhere");
	glob("/usr/lib/jvm/*/lib/server/libjvm.so", 0, NULL, &found);
	glob("/usr/lib/jvm/*/jre/lib/amd64/server/libjvm.so", GLOB_APPEND, NULL, &found); /* 8 */
	glob(pattern, GLOB_APPEND, NULL, &found);
	if (!found.gl_pathc) {
		print_message("skipped: no libjvm.so under JAVA_HOME or /usr/lib/jvm\n");
		skip();
	}
	for (i = 0; i < found.gl_pathc; i++) {
		pid_t child = fork();
		int status;

		assert_true(child >= 0);
		if (child == 0)
			_exit(in_child(found.gl_pathv[i]));
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	globfree(&found);
}

/* ---- stubs ---- */

static const char *name_at(const struct stub_set *set, uintptr_t pc)
{
	const struct stub *s = stub_find(set, pc);

	return s ? s->name : "-";
}

static void stub_sets(void **state)
{
	struct stub_set *first, *second, *third;
	char name[16] = "wide";

	assert_string_equal(name_at(NULL, 5), "-");
	assert_false(stubs_pending());
	stubs_note("late", 500, 600);
	stubs_note(name, 100, 200);
	stubs_note("inner", 120, 140);
	stubs_note("empty", 300, 300);
	strcpy(name, "gone"); /* the name was copied */
	assert_true(stubs_pending());
	first = stubs_merge(NULL);
	assert_false(stubs_pending());
	assert_string_equal(name_at(first, 99), "-");
	assert_string_equal(name_at(first, 100), "wide");
	assert_string_equal(name_at(first, 119), "wide");
	assert_string_equal(name_at(first, 120), "inner");
	assert_string_equal(name_at(first, 139), "inner");
	assert_string_equal(name_at(first, 300), "-");
	assert_string_equal(name_at(first, 599), "late");
	assert_string_equal(name_at(first, 600), "-");
	/* News at a known place. */
	stubs_note("newer", 500, 550);
	stubs_note("cont_returnBarrier", 700, 710);
	second = stubs_merge(first);
	assert_string_equal(name_at(second, 500), "newer");
	assert_string_equal(name_at(second, 100), "wide");
	assert_true(stub_find(second, 705)->frozen);
	assert_false(stub_find(second, 500)->frozen);
	assert_string_equal(name_at(first, 500), "late"); /* the old set is as it was */
	stub_set_free(first);
	third = stubs_merge(second);
	assert_int_equal(third->count, second->count);
	stub_set_free(second);
	assert_string_equal(name_at(third, 130), "inner");
	stub_set_free(third);
	stub_set_free(NULL);
}

static void many_stubs(void **state)
{
	struct stub_set *set = NULL, *old;
	uint32_t i, j;

	for (i = 0; i < 20; i++) {
		for (j = 0; j < 100; j++) {
			uintptr_t at = 1000 + (j * 7919 % 100 * 20 + i) * 64;
			char name[32];

			snprintf(name, sizeof(name), "s%lu", (unsigned long)at);
			stubs_note(name, at, at + 64);
		}
		old = set;
		set = stubs_merge(old);
		stub_set_free(old);
	}
	assert_int_equal(set->count, 2000);
	for (i = 0; i < 2000 * 64; i += 13) {
		char name[32];

		snprintf(name, sizeof(name), "s%u", 1000 + i / 64 * 64);
		assert_string_equal(name_at(set, 1000 + i), name);
	}
	stub_set_free(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_jvm), cmocka_unit_test(real_tables), cmocka_unit_test(stub_sets),
		cmocka_unit_test(many_stubs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
