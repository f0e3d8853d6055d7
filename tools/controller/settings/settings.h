/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The settings of dart-controller, from the command line and a configuration file, and the targets
 * and entries to scrape.  Each setting is a member here and a row in
 * settings_table.c: see Documentation/adding/setting.md.
 */
#ifndef CONTROLLER_SETTINGS_H
#define CONTROLLER_SETTINGS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libdart/settings/setting.h>

#include "entry_names.h"
#include "output_settings.h"
#include "shard.h"
#include "tools/controller/base/shared_text.h"
#include "tools/controller/relabel/rules.h"
#include "url_settings.h"

#define SETTINGS_INTERVAL_DEFAULT_NS	1000000000ULL
#define SETTINGS_INTERVAL_MIN_NS	100000ULL
#define SETTINGS_INTERVAL_MAX_NS	3600000000000ULL

/* Bound of the bytes in flight: see flow.h. */
enum settings_flow {
	SETTINGS_FLOW_UNSET,	/* the default: credit, or none if there is always one agent */
	SETTINGS_FLOW_CREDIT,	/* a bound for all agents together */
	SETTINGS_FLOW_BDP,	/* a bound for each agent */
	SETTINGS_FLOW_NONE,	/* the bound of the queue pair */
};

/* Threads that READ: see io/io_threads.h. */
enum settings_io {
	SETTINGS_IO_UNSET,	/* the default: event */
	SETTINGS_IO_EVENT,
	SETTINGS_IO_POLL,
	SETTINGS_IO_HYBRID,	/* one of each */
};

/* How values reach the controller: see flow/transport.h. */
enum settings_transport {
	SETTINGS_TRANSPORT_UNSET,	/* the default: read */
	SETTINGS_TRANSPORT_READ,
	SETTINGS_TRANSPORT_RPC,
	SETTINGS_TRANSPORT_TCP,
};

/*
 * Paths of PEM files, either all set or all NULL, except that the list of revoked certificates is
 * optional.  NULL stands for the files of tls_places.h, if this user may read their key.
 */
struct settings_tls {
	char *certificate;
	char *key;
	char *authorities;
	char *revoked;
};

/* Bytes of each file of a recording, and the number of files kept: see record/recorder.h. */
#define SETTINGS_RECORD_SIZE_MIN	(1ULL << 20)
#define SETTINGS_RECORD_SIZE_MAX	(16ULL << 40)
#define SETTINGS_RECORD_SIZE_DEFAULT	(1ULL << 30)
#define SETTINGS_RECORD_FILES_MAX	1000

struct settings_record {
	char *path;		/* NULL: nothing is recorded */
	uint64_t size;		/* bytes of a file; 0: not set */
	unsigned int files;	/* 0: not set, which means one */
};

#define SETTINGS_TCP_NEEDS_TLS						\
	"tcp needs --tls-certificate, --tls-key and --tls-authorities, or 'tls' in the configuration, or the files of dartctl tls create controller, which this user may read"

/* A hybrid polls scrapes of fewer fragments: the number of ZERO, section 6.3. */
#define SETTINGS_IO_FRAGMENTS_DEFAULT	32
#define SETTINGS_IO_FRAGMENTS_MAX	65536
#define SETTINGS_IO_GROUP_MAX		1024
/* Threads of each kind that READ: more than one for more scrapes than a CPU can do. */
#define SETTINGS_IO_THREADS_MAX		16

#define SETTINGS_FLOW_BYTES_MIN	4096ULL
#define SETTINGS_FLOW_BYTES_MAX	(1ULL << 30)

#define SETTINGS_DSCP_MAX	63

/* To DART_CONTROL_MIRROR_MAX */
#define SETTINGS_MIRROR_MIN	4096ULL

/* Priorities of targets; 0 goes first. */
#define SETTINGS_CLASS_MAX	3
#define SETTINGS_CLASS_DEFAULT	1
/* Threads that decode: more than one for many or large agents. */
#define SETTINGS_WORKERS_DEFAULT	1
#define SETTINGS_WORKERS_MAX		64

/* Targets that connect at the same time: see handshakes.h. */
#define SETTINGS_HANDSHAKES_DEFAULT	64
#define SETTINGS_HANDSHAKES_MAX		10000

/* Targets of all sources together, and of each source. */
#define SETTINGS_TARGETS_MAX	10000
#define SETTINGS_SOURCES_MAX	32

/* Whoever frees the structure releases the members that have holders. */
struct target_settings {
	size_t index;		/* below SETTINGS_TARGETS_MAX, of no other target */
	char *host;
	char *name;		/* HOST:PORT */
	uint16_t port;
	enum settings_transport transport;	/* never unset */
	uint64_t interval_ns;	/* 0: the interval of all targets */
	/* This controller stands by for the target, and READs it at this interval; 0: scrapes it */
	uint64_t standby_ns;
	uint8_t class;		/* of flow control, up to SETTINGS_CLASS_MAX */
	struct entry_names *entries;	/* NULL: the entries of all targets */
	struct shared_text *labels;	/* a JSON object; NULL: none */
	struct shared_text *source;	/* what named it; NULL: the command line */
	/* metric_relabel_configs: of the series of this target; NULL: none */
	struct relabel_rules *metric_relabel;
};

enum source_kind {
	SOURCE_FILE_SD,	/* a file in the format of Prometheus' file_sd */
	SOURCE_DNS_SRV,	/* SRV records of a name */
	SOURCE_HTTP_SD,	/* a URL that answers in the format of Prometheus' http_sd */
};

/* Settings of one agent, or of all targets of a source that do not get others from it. */
struct target_defaults {
	enum settings_transport transport;	/* never unset in a source */
	uint64_t interval_ns;	/* 0: the interval of all targets */
	uint8_t class;
	struct entry_names *entries;	/* NULL: the entries of all targets */
	json_t *labels;		/* an object of texts; NULL: none */
	struct relabel_rules *metric_relabel;	/* NULL: the rules of all targets */
	/* relabel_configs: of the targets of a source; NULL: the rules of all targets */
	struct relabel_rules *relabel;
	/* Of a source that runs: the labels __meta_... that its rules see; NULL: none */
	json_t *meta;
};

/* A source that names further targets, and is asked again and again. */
struct source_settings {
	enum source_kind kind;
	char *place;		/* path, name or URL */
	uint64_t refresh_ns;	/* 0: the pause of the kind */
	struct url_settings url;	/* of an http_sd */
	struct target_defaults defaults;
};

#define SETTINGS_SERIES_MAX		1000000000
#define SETTINGS_LABEL_BYTES_MAX	65536

/* Bounds of metrics in all outputs but text and JSON; 0: there is none. */
struct settings_limits {
	unsigned int series;		/* of an agent */
	unsigned int all_series;	/* of all agents */
	unsigned int label_bytes;	/* of the value of a label */
};

struct settings {
	uint64_t interval_ns;	/* 0: not set */
	struct settings_limits limits;
	/* Of agents and sources that do not have their own. */
	enum settings_transport transport;
	struct settings_tls tls;
	struct settings_record record;
	struct shard shard;
	struct relabel_rules *metric_relabel;	/* of targets without rules of their own */
	struct relabel_rules *relabel;	/* relabel_configs: of targets and of sources likewise */
	char *replica;		/* the label "replica" of targets; NULL: none */
	enum settings_flow flow;
	uint64_t flow_bytes;	/* its bound; 0: derived from the speed of the port */
	enum settings_io io;
	unsigned int io_fragments;	/* a hybrid polls smaller scrapes; 0: not set */
	unsigned int io_threads;	/* of each kind; 0: not set, which means one */
	unsigned int io_group;		/* queue pairs of a group; 0: not set */
	unsigned int workers;	/* 0: not set */
	unsigned int handshakes;	/* at the same time; 0: not set */
	uint8_t dscp;		/* of packets over RDMA; 0: not set */
	uint64_t mirror_bytes;	/* of each agent that is READ; 0: none */
	uint64_t clock_bound_ns;	/* see decode/host_clock.h; 0: not set */
	char **entries;		/* names or patterns; none: all entries */
	size_t entry_count;
	struct target_settings *targets;
	size_t target_count;
	void *by_name;		/* targets: a tree of tsearch(3) */
	struct source_settings *sources;
	size_t source_count;
	struct output_settings outputs;
};

/* The keys and options of struct settings, and the keys of agents and sources. */
extern const struct dart_settings settings__table;
extern const struct dart_settings target_defaults__table;

/*
 * These return 0, -EINVAL, -EEXIST if already present, -E2BIG if there are too many, or -ENOMEM.
 */
/* The transport of the target is read. */
int settings__add_target(struct settings *settings, const char *host,
			 uint16_t port, uint64_t interval_ns);
/* The last of the sources is the new one; its transport is read. */
int settings__add_source(struct settings *settings, enum source_kind kind, const char *place);
int settings__add_entry(struct settings *settings, const char *name);

/* The same; writes a sentence into @error for each result but 0, and returns -EINVAL or -ENOMEM. */
int settings__name_source(struct settings *settings, enum source_kind kind, const char *place,
			  struct dart_error *error);
/*
 * How messages call a source: @place, of a URL without user and password.  NULL if out of
 * memory.
 */
struct shared_text *source_kind__name(enum source_kind kind, const char *place);
/* Sets the transport, interval or class of @key from a text, as a configuration file does. */
int target_defaults__take(struct target_defaults *defaults, const char *key, const char *text,
			  struct dart_error *error);
const char *settings__transport_name(enum settings_transport transport);
/* HOST, HOST:PORT, [V6] or [V6]:PORT; without a port @port is 0. */
int settings__parse_agent(const char *text, char **host, uint16_t *port);
/* The port at which agents listen by default. */
uint16_t settings__default_port(enum settings_transport transport);
/*
 * Refuses targets by tcp without certificates, and certificates that are not complete.  Returns 0,
 * or -EINVAL with a sentence in @error.
 */
int settings__check_tls(const struct settings *settings, struct dart_error *error);
/*
 * Gives each target and source the label "replica", unless it has one.  For settings that are
 * complete.  Returns 0, or -errno with a sentence in @error.
 */
int settings__label_replica(struct settings *settings, struct dart_error *error);
/* The record settings with defaults for members that are not set; shares the path of @record. */
struct settings_record settings_record__complete(const struct settings_record *record);

/* @copy is empty before.  Returns 0 or -ENOMEM; the caller clears @copy in both cases. */
int settings__copy(struct settings *copy, const struct settings *settings);
/* The same without targets, sources and entries. */
int settings__copy_members(struct settings *copy, const struct settings *settings);
/* Are the settings equal that count only at the start of the program? */
bool settings__start_alike(const struct settings *one, const struct settings *other);
void settings__clear(struct settings *settings);

/*
 * Teams of I/O threads, see io/io_threads.h; @is_alone: there will never be more than one target,
 * and one thread has it.
 */
static inline unsigned int settings__io_teams(const struct settings *settings, bool is_alone)
{
	return is_alone || !settings->io_threads ? 1 : settings->io_threads;
}

/* The entries that @target scrapes, as settings that must not be cleared. */
static inline struct settings target_settings__chosen(const struct target_settings *target)
{
	return (struct settings){
		.entries = target->entries ? target->entries->names : NULL,
		.entry_count = target->entries ? target->entries->count : 0,
	};
}

#endif /* CONTROLLER_SETTINGS_H */
