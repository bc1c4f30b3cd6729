/*
 * session.h - the life of a profiling session inside the target process.
 *
 * There is at most one session a process. All functions are for normal code, as a job of the control thread
 * (agent/command/control_thread.h) unless said otherwise.
 */
#ifndef JSTROBE_SESSION_SESSION_H
#define JSTROBE_SESSION_SESSION_H

#include <sys/stat.h>

#include "agent/tracing/trace_work.h"
#include "agent/zone/thread_record.h"
#include "common/base/buffer.h"
#include "common/base/error.h"
#include "common/options/options.h"
#include "profile/writers/format.h"

/* An event of the session, and by what threads are sampled. */
struct session_armed {
	char event[256], engine[32];
	const char *of;         /* what its interval is of: "cpu", "wall", "wait", "events" */
	uint64_t interval;
	uint32_t perf, timer, refused;
};

struct session_status {
	bool running;
	bool has_data;          /* a stopped session whose result can still be dumped */
	char event[512];        /* "cpu", "cpu,page-faults" */
	char engine[512];       /* of each event: "perf", "perf+ctimer,wall-marker" */
	uint64_t interval;      /* of the first event: ns of CPU time, or events */
	uint64_t running_for;   /* ns */
	uint64_t ending_for;    /* ns that a stop waits for a thread of ours; 0: none does */
	uint64_t taken, stored, lost; /* samples so far */
	uint64_t outside;             /* the window of begin and end */
	uint32_t threads;       /* live threads known */
	uint32_t threads_perf, threads_timer, threads_refused; /* the most of any event */
	uint32_t event_count;   /* 0: it counts calls */
	struct session_armed events[RECORD_EVENTS];
	uint64_t open;             /* taken: of runs that go on */
	uint64_t queue_bytes;
	uint64_t recording;     /* bytes of the recording so far; 0 = none is written */
	uint64_t last, ring_bytes; /* flight recorder: ns that it reaches back now, memory */
	uint32_t streams;       /* live ones that are read */
	uint64_t streamed, dropped; /* samples in records; those for which their readers were too slow */
	uint64_t cpu_time, own_cpu; /* ns that the process used since the session began; of it jstrobe's threads */
	struct trace_progress trace; /* of classes that change */
	uint64_t unwritten;     /* stored samples that are not in it: the disk was full, … */
};

/*
 * Start sampling as OPTIONS say. FILE: where a recording (format jfr) goes, open for reading and writing; it
 * becomes the session's, also on failure; -1 for other formats. -EBUSY: a session runs already (from any command);
 * every other failure leaves nothing behind.
 * NOTES gets lines a person should read ("cpu: no permission for kernel stacks …"), each ended by \n.
 */
int session_start(const struct options *options, int file, struct buffer *notes, struct error *err);
/* Whether a session may begin with O now, as far as that can be said before: -EBUSY, -EPERM (session_forbid). */
int session_may_begin(const struct options *o, struct error *err);
/*
 * No session that samples may begin in this JVM any more, or (ALL) none at all: a start is refused and
 * says that OPTION (a constant) is why.
 */
void session_forbid(const char *option, bool all);
/* Nothing can refuse the session just begun any more: its stream's file takes its place. On failure, stop it. */
int session_confirm(struct error *err);
/*
 * The stream that was offered (agent/session/streams.h) gets the samples of the session that runs; OPTIONS say how
 * it is spelled. -EAGAIN: none runs.
 */
int session_join(const struct options *options, struct error *err);
/* READER, who offered a stream, is gone. */
void session_leave(const void *reader);
/* Start again and keep the data gathered so far; a recording into the file of the last one goes on there. */
int session_resume(const struct options *options, int file, struct buffer *notes, struct error *err);
/* A stop and the start that follows are one session (ON), for who asks how it stands meanwhile. */
void session_goes_on(bool on);
/*
 * A round is about to end: what takes long, such as names, is done while sampling goes on, for the next one begins only
 * when this one has ended, and nothing is sampled in between.
 */
void session_round_ends(void);
/*
 * Stop sampling; the data stay for session_dump until the next start. -ENOENT: nothing runs. -EINPROGRESS: nothing is
 * sampled any more, but a thread of ours is held, as by a debugger; the next call goes on there.
 */
int session_stop(struct error *err);
/* Before a stop whose result is to be of a heap that was collected just now (live). */
void session_collect_heap(void);
/* What holds what grows is found now, if O or the session's options ask for it; the results of a stop tell it. */
void session_find_roots(const struct options *o);
/*
 * Write the profile in the form that OPTIONS ask for (format, total, lines, threads…) to OUT; TOLD (may be NULL) gets
 * what is to be said beside it.
 * Works while running and after a stop. -ENOENT: there is no data.
 */
int session_dump(const struct options *options, struct buffer *out, struct format_told *told, struct error *err);
/* Write what a flight recorder (options.last) holds as a recording into FD, replacing what is there. The same. */
int session_write_window(const struct options *options, int fd, struct format_told *told, struct error *err);
/* Everything stored so far is in the recording's file. -ENOENT: there is none; else why something is missing. */
int session_complete_recording(const struct options *options, struct format_told *told, struct error *err);
/*
 * Whether FILE is the session's own recording, which no copy of it may replace: then *RC tells whether the result that
 * O wants is in it. One that has ended can be replaced by a result of another kind.
 */
bool session_is_in_file(const struct options *o, const struct stat *file, struct format_told *told, int *rc,
			struct error *err);
/* Close the file of a recording that has ended (it can be copied by session_dump until then). */
void session_close_recording(void);
/* False: the session is at work on a command, STATUS is as it was before. Any thread; 200 ms at most. */
bool session_get_status(struct session_status *status);
/* It waits for its collector and its writers to end. Any thread. */
bool session_drains(void);
/*
 * Append the counters of the session that runs, or of the last one, as Prometheus reads them. -EBUSY: it is at work on
 * a command. Any thread.
 */
int session_metrics(struct buffer *out, struct error *err);
/* What a person should read of threads that got less than others since the last call, as NOTES above. */
void session_notes(struct buffer *notes);
/* One word a line: the events available here, with a help text after two spaces. */
void session_list_events(struct buffer *out);
/* Give back the memory of a stopped session's data; does nothing while one runs. */
void session_forget(void);
/* The options the running (or last) session was started with; NULL if none. */
const struct options *session_options(void);

#endif
