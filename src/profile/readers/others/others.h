/*
 * others.h - files that other profilers and viewers have. Inner header of the readers room.
 *
 * Whether a file is one follows from its bytes, never from its name. Each reader gathers the events that C's selection
 * names, apart by thread and by what threads worked for as the aggregate says. 0, or a negative errno with the reason.
 */
#ifndef JSTROBE_READERS_OTHERS_H
#define JSTROBE_READERS_OTHERS_H

#include "profile/readers/conversion.h"

/* profile.proto of google/pprof, which gzip has packed or not. */
bool pprof_is(const struct input *in);
int pprof_read(struct conversion *c, struct error *err);
/* ProfilesData of OpenTelemetry, or a request with them. */
bool otlp_is(const struct input *in);
int otlp_read(struct conversion *c, struct error *err);

/* What `perf script` prints. */
bool perf_script_is(const struct input *in);
int perf_script_read(struct conversion *c, struct error *err);

/* JSON: by the first key that only one kind of file has. */
enum foreign_kind { FOREIGN_NONE, FOREIGN_SPEEDSCOPE, FOREIGN_FIREFOX, FOREIGN_OTLP };
enum foreign_kind foreign_json_kind(const struct input *in);
int speedscope_read(struct conversion *c, struct error *err);
int firefox_read(struct conversion *c, struct error *err);
int otlp_json_read(struct conversion *c, struct error *err);

#endif
