/*
 * options.h - the door of the options room: what a user can ask for.
 *
 * One table, options.def, describes every option of the agent and of the
 * command. `struct options` is the result: plain data, copied by assignment,
 * with no pointer in it. Nothing here keeps state; every function may be
 * called on any thread in normal code.
 */
#ifndef JSTROBE_OPTIONS_OPTIONS_H
#define JSTROBE_OPTIONS_OPTIONS_H

#include "common/base/buffer.h"
#include "common/base/error.h"

enum options_action {
	ACTION_NONE,
	ACTION_START,
	ACTION_RESUME,
	ACTION_STOP,
	ACTION_DUMP,
	ACTION_STATUS,
	ACTION_LIST,
	ACTION_VERSION,
	ACTION_METRICS,
};

/* What a recording can do without, numbered as async-profiler's jfropts. */
enum options_omit {
	OMIT_MACHINE = 1, /* machine, system and JVM */
	OMIT_PROPERTIES = 2,
	OMIT_LIBRARIES = 4,
	OMIT_CPU_LOAD = 8,
	OMIT_HEAP = 16,
	OMIT_ALL = 31,
};

#define OPTIONS_FILE_MAX 1024
#define OPTIONS_PATTERNS_MAX 1024
#define OPTIONS_NO_THREAD "-" /* a filter that lists none: the program adds threads itself */
#define OPTIONS_ANY_CPU UINT32_MAX
#define OPTIONS_ALL UINT64_MAX /* of a time for which 0 is "not said": 0 was said, and means all */

struct options {
	enum options_action action;

	/* what to sample */
	char event[512];   /* names apart by commas, each may end in @INTERVAL; never empty after options_init */
	uint64_t interval; /* of the first: ns of CPU time, or events; 0 = its default */
	uint64_t interval_bytes; /* the same as a size: "1m" is another number then; OPTIONS_ALL = it is none */
	bool interval_is_size; /* and nothing else: "512kb" */
	bool all;          /* the event, and all below that are events with an interval of their own */
	uint64_t wall;     /* interval of the event wall, ns; 1 = its default; 0 = not said */
	bool nopark;       /* lock: monitors only */
	bool sleep;        /* lock: Thread.sleep, too */
	uint64_t lock;     /* the same of lock: ns of waiting; OPTIONS_ALL = each wait */
	uint64_t alloc;    /* the same of alloc: bytes; OPTIONS_ALL = each object */
	uint64_t io;        /* the same of io: ns of reading and writing; OPTIONS_ALL = each call */
	uint64_t nativelock; /* the same of nativelock: ns of waiting; OPTIONS_ALL = each wait */
	bool nativewait;   /* nativelock: conditions and semaphores, too */
	uint64_t nativemem; /* the same of nativemem: bytes; OPTIONS_ALL = each block */
	uint64_t nativemap; /* 1: mappings as well, each of them */
	bool nativemem_live, nativemem_peak;
	uint32_t tail;     /* of them: what came in the last part of the time is left out; OPTION_RATIO, 0 = not said */
	bool nmt;          /* memory: the JVM's own accounts as well */
	bool diff;         /* convert: two files are compared */
	bool leak;         /* convert: of native memory only what was not freed */
	char show[256];    /* the event that the result shows; "" = all */
	uint32_t depth;    /* frames kept of a stack */
	uint32_t depth_kept; /* frames kept of a stack that is deeper, 0 = as many */
	char cstack[8];    /* "no", "vm", …; "" = vm */
	bool sched, alluser, record_cpu;
	uint32_t target_cpu; /* OPTIONS_ANY_CPU = all */
	char filter[256];  /* ids of threads, "120-127;132"; "" = all */
	uint32_t signal;   /* to sample by, 0 = a free one */
	char time[8];      /* periodic: "wall" asks all threads, else those that used CPU time */
	bool disable_sampling, disable_all; /* for the life of the JVM */
	uint64_t survivors; /* as `alloc`, of live */
	uint32_t rate;     /* alloc, live: samples a second at most; 0 = any number */
	uint32_t cpu_rate; /* events of CPU time: the same, of all threads together */
	bool sizes;        /* alloc, live: arrays are kept apart by their size */
	uint32_t survived; /* live: of objects that have survived so many collections */
	bool collect_first; /* live: the heap is collected before a result */
	uint32_t roots;    /* live: of so many suspects of a leak it is found what holds them; 0 = of none */
	uint64_t roots_pause; /* ns that the program may stand still for it; 0 = the default */
	bool nobatch;      /* wall: a signal for each sample */
	bool vthreads;     /* wall: parked virtual threads, too */
	bool fdtransfer;   /* perf descriptors come from the command */
	bool stats;        /* features=stats: measure the walks */
	char begin[256], end[256]; /* native functions; "" = none */
	bool nostop, ttsp;
	uint64_t memlimit; /* bytes for stacks, 0 = the default */

	/* calls to trace */
	char instrument[2048]; /* patterns of methods; "" = sample instead */
	char traced[2048];     /* the same: their calls are recorded beside samples */
	char methods[2048];    /* the same: their calls are samples of the event calls */
	char trace[1024];      /* lines METHOD[:TIME], until all options are read; "" = none */
	char root[1024];       /* patterns of methods: count below these alone; "" = everywhere */
	char timing[16];       /* "" = sampled, or exact where it is needed */
	bool all_classes;      /* of a pattern that means many, also those that do not run */
	uint64_t period;       /* ns, 0 = the default */
	uint32_t trace_depth;  /* of calls, 0 = any */
	uint64_t latency;      /* ns from which on a call is told by itself, 0 = none is */
	uint32_t budget;       /* adaptive timing: percent, 0 = the default */
	bool cpu_clock;        /* exact timing: read the CPU's clock as well */

	/* the result */
	char file[OPTIONS_FILE_MAX]; /* as given, patterns unexpanded; "" = none */
	bool force;       /* also over what belongs to others, and into FIFOs and devices */
	bool overwrite;   /* the command: a file that is there is replaced */
	uint32_t mode;    /* of a new file; 0 = 0600 within the umask */
	char format[16];  /* a name of formats[]; "" = not asked for */
	char timeout[24], loop[24]; /* as options_moment reads them; "" = none */
	uint32_t flat;    /* methods in text, 0 = the format's default */
	uint32_t traces;  /* stacks in text, 0 = the format's default */
	bool threads, total, samples, lines;
	bool idle;        /* wall, lock: waits for work as well */
	bool contexts;    /* stacks apart by trace id, span id and labels */
	bool simple, dot, norm, sig, ann, lib;
	bool no_times;    /* results do not show when samples were taken */
	bool no_norm;     /* classes that are made at run time as the JVM names them */
	bool reverse, inverted;
	bool owners;       /* lock: stacks of who held the locks */
	uint32_t minwidth; /* thousandths of a percent */
	char include[OPTIONS_PATTERNS_MAX], exclude[OPTIONS_PATTERNS_MAX]; /* a pattern a line */
	bool patterns_old; /* said earlier: the first new one takes the place of all */
	char title[256];

	/* recordings */
	char jfr_compat[8];    /* "4.2": for that converter; "" = all that there is to say */
	char cpu_events[12]; /* "execution", "cputime", "both"; "" = both */
	char jfr_alloc[8];   /* "tlab", "sample"; "" = tlab */
	uint64_t chunk_size, chunk_time, max_size; /* bytes, ns, bytes; 0 = the default */
	uint32_t omitted; /* of enum options_omit */
	bool no_props;
	char jfrsync[OPTIONS_FILE_MAX]; /* of the JDK's own recording beside ours; "" = none */
	uint64_t last;      /* ns kept in memory, 0 = no flight recorder */
	bool on_oom;
	uint32_t on_signal; /* 0 = none */

	/* live streams */
	char stream[OPTIONS_FILE_MAX]; /* the target; "" = none */
	char stream_format[12];        /* "" = ndjson */
	uint64_t names_every;          /* ns, 0 = the default */

	/* what to take from a file (jstrobe convert) */
	bool converting;
	bool jfrconv;       /* … by the name of async-profiler's converter: patterns are regular expressions */
	bool classify, bci;
	uint32_t skip;      /* frames from the root on that are left out */
	uint32_t grain;     /* thousandths of a sample; 0 = one */
	bool by_block;      /* diff: stacks apart by when they were */
	char per[64];       /* diff: units of work, as the command reads them; "" = by time */
	char highlight[256]; /* what the page searches for at first; "" = nothing */
	char tag[128];      /* samples within spans of this tag; "" = any */
	char families[256]; /* "cpu,alloc"; "" = not said */
	char group[256];    /* how threads are grouped, a regular expression; "" = by their names but for numbers */
	char states[128];   /* "runnable,sleeping"; "" = any */
	char trace_id[40], span[24], label[128]; /* what threads worked for; "" = any */
	char from[40], to[40]; /* as profile/readers/range.h reads them; "" = all */

	/* the command's own */
	uint64_t duration;       /* ns, 0 = not given */
	uint64_t attach_timeout; /* ns */
	uint64_t watch;          /* ns between two readings of `jstrobe memory`; 0: one reading */
	char libpath[OPTIONS_FILE_MAX];
	char java[OPTIONS_FILE_MAX]; /* of selftest; "" = as JAVA_HOME and PATH say */
	bool quiet, verbose, strict, once, live;
	char log[OPTIONS_FILE_MAX]; /* where the agent's messages go; "" = stderr */
	bool want_version, want_help;

	/* while a text is read */
	bool lenient;       /* what is not known is left out, with a note */
	uint64_t given[4];  /* options by their rows: those that the command's words said (options_check_taken) */
	char notes[1024];   /* what was read otherwise than it was said: sentences, each with its newline */
	bool parsing, event_said;
	uint64_t period_said;       /* sampling_period_ms, ns */
	bool sampling_said;         /* an event that is sampled was asked for */

	uint32_t queue_start;       /* entries of a new queue, 0 = the default */
	char wall_mode[8];          /* "marker", "slots"; "" = what works */
	/* knobs for tests (common/base/knob.h) */
	uint32_t collector_hold_ms; /* pause of the collector between two passes */
	uint64_t renew_at;          /* bytes of the aggregate from which it is made anew */
	char engine_fail[32];       /* the part that shall fail; "" = none */

	/* from the command to its agent */
	char connect[108]; /* path of the command's socket; "" = no command waits */
	char token[72];
	uint32_t protocol;
	bool owner; /* the session ends with the conversation that started it */
	bool join;  /* the stream is of the session that runs, if one does */
	bool color; /* text for a terminal */
	bool times; /* the result shows when samples were taken */
};

/* Everything at its default. */
void options_init(struct options *o);

/*
 * Read the agent's option string TEXT, items apart by SEPARATOR (',' in
 * -agentpath; '\n' between command and agent, whose values may have commas).
 * Items are added to what O holds. -EINVAL with the reason. Apart by commas, what is not known is left out and stands
 * in the notes, as callers have words of other profilers' versions; with `strict` it is an error.
 */
int options_parse_agent(struct options *o, const char *text, char separator, struct error *err);

/*
 * Read the command's arguments ARGV[0..ARGC). Arguments that are no options are
 * moved to the front of ARGV in their order; their number goes to *WORDS.
 * What follows "--" is not read; *PROGRAM is the index of what follows it, or
 * ARGC if there is no "--". -EINVAL with the reason.
 */
int options_parse_command(struct options *o, int argc, char **argv, int *words, int *program,
			  struct error *err);

/*
 * -EINVAL, with the commands that take it, when a word of the command line is an option that COMMAND does not take. By
 * the names of async-profiler's launcher (JFRCONV: its converter) what they take has always passed.
 */
int options_check_taken(const struct options *o, const char *command, struct error *err);
int options_check_taken_at_door(const struct options *o, bool jfrconv, struct error *err);

/*
 * Append O as an agent string with SEPARATOR: the action and what differs from
 * the defaults, without the command's own options, the file and the connection.
 */
void options_print(const struct options *o, char separator, struct buffer *out);

/* Append the options of --help, one a line, by groups. */
void options_help(struct buffer *out);
/* … of those that COMMAND takes, without those that BUT names, apart by blanks. */
void options_help_of(const char *command, const char *but, struct buffer *out);
/* … of the option called NAME as COMMAND takes it, with TEXT in place of what the table says. */
void options_help_row(const char *command, const char *name, const char *text, struct buffer *out);
#define OPTIONS_HELP_COLUMNS 100
/* Append TEXT, broken into lines of so many columns at most; the first begins in column FROM, as do the others. */
void options_put_lines(const char *text, size_t from, struct buffer *out);
/*
 * Append all about the option WORD: "--interval", "interval", "-i", or its name in the agent's string. False: there is
 * none.
 */
bool options_explain(const char *word, struct buffer *out);
/* Append, apart by blanks, the names by which options_explain knows options. */
void options_put_names(struct buffer *out);
/* Append all options as a page of docs (Markdown). */
void options_markdown(struct buffer *out);
/* A word and what it is for. */
struct options_word {
	const char *name, *help;
};
/*
 * Append the completion script for SHELL, "bash", "zsh" or "fish"; COMMANDS, ended by one without
 * name, are the subcommands. -EINVAL for another shell.
 */
int options_completion(const char *shell, const struct options_word *commands, struct buffer *out);
/* Append the options of the command, or of the agent, as paragraphs of a manual page. */
void options_man(bool agent, struct buffer *out);
void options_man_events(struct buffer *out);
/* Append an entry of a list of a manual page. */
void options_man_entry(const char *name, const char *arguments, const char *help, struct buffer *out);
/* Append TEXT, escaped for a manual page. */
void options_man_text(const char *text, struct buffer *out);
/* Append the event names, one a line, those without an engine marked. */
void options_events(struct buffer *out);

/*
 * Whether thread TID is in LIST, "120-127;132" (or with commas), by its number: items like name:http-* and
 * group:main may stand there, too. With TID UINT32_MAX: whether LIST
 * is such a list at all.
 */
bool options_thread_listed(const char *list, uint32_t tid);

/* A point in time. */
struct options_moment {
	uint64_t at;   /* ns; 0 = never */
	bool by_clock; /* of CLOCK_REALTIME, else of CLOCK_MONOTONIC */
};

/*
 * What TEXT ("90", "10m", "hh:mm:ss" with * for any) means at the time REAL and MONOTONIC (ns): so
 * much later, or when local time is next so. 0 is never. -EINVAL, -ERANGE.
 */
int options_moment(const char *text, uint64_t real, uint64_t monotonic, struct options_moment *m);

/*
 * The interval of EVENT that an option of its name says ("wall", "lock"): 1 = its default, OPTIONS_ALL = 0 was said;
 * 0: nothing is.
 */
uint64_t options_event_interval(const struct options *o, const char *event);
/* -EINVAL, with what to do, when O says something that has an effect only with events that O does not have. */
int options_check_beside(const struct options *o, struct error *err);
/* Whether a session of O samples, and has probes in methods: their calls are samples, or recorded beside samples. */
static inline bool options_have_probes(const struct options *o)
{
	return o->traced[0] || o->methods[0];
}
/* -EINVAL, with what to do, when O asks to count calls and to sample as well. */
int options_check_tracing(const struct options *o, struct error *err);

/*
 * Turn the patterns in PATTERN (%p = PID, %t = the time NOW in seconds since
 * 1970 as yyyyMMdd-hhmmss, %n = ROUND, or, if that is negative, the first number from 1 whose file
 * does not exist; %n{MAX} = the number modulo MAX; %{NAME} = environment variable) into a file name
 * in OUT[SIZE]. -ENAMETOOLONG, -EINVAL.
 */
int options_file_name(const char *pattern, int pid, int64_t now, int round, char *out, size_t size,
		      struct error *err);

/*
 * The candidate nearest to WORD by edit distance, or NULL if none is near.
 * CANDIDATES ends with NULL.
 */
const char *options_nearest(const char *word, const char *const *candidates);

#endif
