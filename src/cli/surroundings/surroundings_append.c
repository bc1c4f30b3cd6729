/*
 * surroundings_append.c - surroundings behind a recording that the agent has written: a chunk of their own, with an
 * event for each number.
 */
#include <errno.h>
#include <sys/stat.h>

#include "cli/surroundings/surroundings_look.h"
#include "common/os/os.h"
#include "profile/writers/jfr/jfr.h"

int look_append(const struct surroundings *s, uint64_t at, int fd, struct error *err)
{
	struct jfr_options how = {.tick = JFR_TICK_EXACT};
	uint64_t ago = os_monotonic() - at;
	struct stat st;
	struct jfr *j;
	int rc, i;

	if (fstat(fd, &st))
		return error_set(err, errno, "the recording cannot be read back: %s", error_text(errno));
	if (!s->known || st.st_size == 0)
		return 0;
	how.start = (uint64_t)st.st_size;
	j = jfr_new(fd, &how, os_realtime() - ago, at);
	if (!j)
		return error_set(err, ENOMEM, "out of memory for what went on around the samples");
	for (i = 0; i < SURROUNDINGS; i++)
		if (around_known(s, (enum surrounding)i))
			jfr_event(j, JFR_SURROUNDING, at, (const struct jfr_value[]){
				JFR_S(surrounding_name((enum surrounding)i)), JFR_N(s->value[i]),
			}, 2);
	rc = jfr_finish(j, at + NS_PER_MS, err);
	jfr_free(j);
	return rc;
}
