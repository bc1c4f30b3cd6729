/*
 * recording_survivors.c - objects that are there, before sampling has ended: a recording gets them at its end, so who
 * wants a copy meanwhile, or the last samples of a ring, gets those of then.
 */
#include <errno.h>

#include "agent/collect/aggregate.h"
#include "agent/collect/survivors.h"
#include "agent/sinks/recording/recording_state.h"
#include "common/base/error.h"
#include "common/os/os.h"

void recording_put_survivors(struct recording *r)
{
	survivors_tell(r->collector, &r->sink, os_monotonic());
	recording_take_over(r);
	recording_put_batch(r, true);
}

int recording_write_survivors(struct recording *r, struct collector *c, struct buffer *out, struct error *err)
{
	int rc;

	r->collector = c;
	recording_put_settings(r, r->began);
	collect_all_and_lock(c);
	recording_put_survivors(r);
	pthread_mutex_unlock(&c->lock);
	rc = jfr_finish(r->jfr, os_monotonic(), err);
	if (rc == 0 && r->dropped)
		rc = error_set(err, ENOMEM, "out of memory for %llu of the objects that are there",
			       (unsigned long long)r->dropped);
	return rc ? rc : recording_copy_file(r, out, err);
}
