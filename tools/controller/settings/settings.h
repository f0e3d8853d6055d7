/* SPDX-License-Identifier: GPL-2.0-only */
/* Targets and entries to scrape, from the command line and a file. */
#ifndef CONTROLLER_SETTINGS_H
#define CONTROLLER_SETTINGS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libdart/error.h>

#include "entry_names.h"
#include "output_settings.h"
#include "tools/controller/base/shared_text.h"
#include "url_settings.h"

#define SETTINGS_INTERVAL_DEFAULT_NS	1000000000ULL
#define SETTINGS_INTERVAL_MIN_NS	100000ULL
#define SETTINGS_INTERVAL_MAX_NS	3600000000000ULL

/* What all agents may have in flight at once, and in which order: see flow.h. */
enum settings_flow {
	SETTINGS_FLOW_UNSET,	/* the default: none if only one agent can be, or else credit */
	SETTINGS_FLOW_CREDIT,	/* a bound for all agents together */
	SETTINGS_FLOW_BDP,	/* a bound for each */
	SETTINGS_FLOW_NONE,	/* that of the queue pair */
};

/* Threads that READ: see io/io_threads.h. */
enum settings_io {
	SETTINGS_IO_UNSET,	/* the default: event */
	SETTINGS_IO_EVENT,
	SETTINGS_IO_POLL,
	SETTINGS_IO_HYBRID,	/* one of each */
};

/* How values get here: see transport/transport.h. */
enum settings_transport {
	SETTINGS_TRANSPORT_UNSET,	/* the default: read */
	SETTINGS_TRANSPORT_READ,
	SETTINGS_TRANSPORT_RPC,
	SETTINGS_TRANSPORT_TCP,
};

/*
 * Paths of PEM files, either all set or all NULL, except that the list of revoked certificates is
 * optional.  NULL stands for the files of tls_places.h, unless this user cannot read their key.
 */
struct settings_tls {
	char *certificate;
	char *key;
	char *authorities;
	char *revoked;
};

/* Of a file of a recording, and how many are kept: see record/recorder.h. */
#define SETTINGS_RECORD_SIZE_MIN	(1ULL << 20)
#define SETTINGS_RECORD_SIZE_MAX	(16ULL << 40)
#define SETTINGS_RECORD_SIZE_DEFAULT	(1ULL << 30)
#define SETTINGS_RECORD_FILES_MAX	1000

struct settings_record {
	char *path;		/* NULL: nothing is recorded */
	uint64_t size;		/* bytes of a file; 0: not set */
	unsigned int files;	/* 0: not set, one */
};

#define SETTINGS_TCP_NEEDS_TLS						\
	"tcp needs --tls-certificate, --tls-key and --tls-authorities, or 'tls' in the configuration, or the files of dartctl tls create controller, which this user may read"

/* Scrapes of fewer fragments are polled by a hybrid: the number of ZERO, section 6.3. */
#define SETTINGS_IO_FRAGMENTS_DEFAULT	32
#define SETTINGS_IO_FRAGMENTS_MAX	65536
#define SETTINGS_IO_GROUP_MAX		1024

#define SETTINGS_FLOW_BYTES_MIN	4096ULL
#define SETTINGS_FLOW_BYTES_MAX	(1ULL << 30)

/* 0 goes first. */
#define SETTINGS_CLASS_MAX	3
#define SETTINGS_CLASS_DEFAULT	1
/* Threads that decode: more than one for many or large agents. */
#define SETTINGS_WORKERS_DEFAULT	1
#define SETTINGS_WORKERS_MAX		64

/* Targets that connect at the same time: see handshakes.h. */
#define SETTINGS_HANDSHAKES_DEFAULT	64
#define SETTINGS_HANDSHAKES_MAX		10000

/* Of all sources together, and of each. */
#define SETTINGS_TARGETS_MAX	10000
#define SETTINGS_SOURCES_MAX	32

/* Members with holders are released by whoever frees the structure. */
struct target_settings {
	size_t index;		/* below SETTINGS_TARGETS_MAX, of no other target */
	char *host;
	char *name;		/* HOST:PORT */
	uint16_t port;
	enum settings_transport transport;	/* never unset */
	uint64_t interval_ns;	/* 0: that of all targets */
	uint8_t class;		/* of flow control, up to SETTINGS_CLASS_MAX */
	struct entry_names *entries;	/* NULL: those of all targets */
	struct shared_text *labels;	/* a JSON object; NULL: none */
	struct shared_text *source;	/* who named it; NULL: the command line */
};

enum source_kind {
	SOURCE_FILE_SD,	/* a file in the format of Prometheus' file_sd */
	SOURCE_DNS_SRV,	/* SRV records of a name */
	SOURCE_HTTP_SD,	/* a URL that answers in the format of Prometheus' http_sd */
};

/* What the targets of a source have, unless it says otherwise for one of them. */
struct target_defaults {
	enum settings_transport transport;	/* of a source never unset */
	uint64_t interval_ns;	/* 0: that of all targets */
	uint8_t class;
	struct entry_names *entries;	/* NULL: those of all targets */
	json_t *labels;		/* an object of texts; NULL: none */
};

/* Where the names of further targets come from, again and again. */
struct source_settings {
	enum source_kind kind;
	char *place;		/* path, name or URL */
	uint64_t refresh_ns;	/* 0: that of the kind */
	struct url_settings url;	/* of an http_sd */
	struct target_defaults defaults;
};

struct settings {
	uint64_t interval_ns;	/* 0: not set */
	/* Of agents and sources that do not say. */
	enum settings_transport transport;
	struct settings_tls tls;
	struct settings_record record;
	enum settings_flow flow;
	uint64_t flow_bytes;	/* its bound; 0: that of the port's speed */
	enum settings_io io;
	unsigned int io_fragments;	/* scrapes of fewer are polled; 0: not set */
	unsigned int io_group;		/* queue pairs of a group; 0: not set */
	unsigned int workers;	/* 0: not set */
	unsigned int handshakes;	/* at the same time; 0: not set */
	uint64_t clock_bound_ns;	/* see decode/host_clock.h; 0: not set */
	char **entries;		/* names or patterns; none: all entries */
	size_t entry_count;
	struct target_settings *targets;
	size_t target_count;
	void *by_name;		/* of targets: a tree of tsearch(3) */
	struct source_settings *sources;
	size_t source_count;
	struct output_settings outputs;
};

/*
 * All return 0, -EINVAL, -EEXIST if already present, -E2BIG if there are too many, or
 * -ENOMEM.
 */
/* Its transport is read. */
int settings__add_target(struct settings *settings, const char *host,
			 uint16_t port, uint64_t interval_ns);
/* What a place of this kind is, as "a path". */
const char *source_kind__expected(enum source_kind kind);
/*
 * What messages call a source: @place, of a URL without user and password.  NULL if out of
 * memory.
 */
struct shared_text *source_kind__name(enum source_kind kind, const char *place);
/* The last of @sources is the new one. */
int settings__add_source(struct settings *settings, enum source_kind kind,
			 const char *place);
int settings__add_entry(struct settings *settings, const char *name);
/* "250us", "100ms", "5s", "1min", from INTERVAL_MIN_NS to _MAX_NS. */
int settings__parse_interval(const char *text, uint64_t *interval_ns);
/* "credit", "bdp" or "none". */
int settings__parse_flow(const char *text, enum settings_flow *flow);
/* "16384", "16K", "8M", "1G", from FLOW_BYTES_MIN to _MAX. */
int settings__parse_flow_bytes(const char *text, uint64_t *bytes);
/* "read", "rpc" or "tcp". */
int settings__parse_transport(const char *text,
			      enum settings_transport *transport);
const char *settings__transport_name(enum settings_transport transport);
/* HOST, HOST:PORT, [V6] or [V6]:PORT; without a port @port is 0. */
int settings__parse_agent(const char *text, char **host, uint16_t *port);
/* Where agents listen if nobody says. */
uint16_t settings__default_port(enum settings_transport transport);
/* @copy may be cleared with its settings also after -ENOMEM. */
int settings_tls__copy(struct settings_tls *copy,
		       const struct settings_tls *tls);
bool settings_tls__equal(const struct settings_tls *one,
			 const struct settings_tls *other);
/*
 * Has what is called by TCP a certificate, and a certificate its key?  Returns 0, or -EINVAL
 * with a sentence in @error.
 */
int settings__check_tls(const struct settings *settings,
			struct dart_error *error);
/* "64M", "1G", "2T", from RECORD_SIZE_MIN to _MAX. */
int settings__parse_record_size(const char *text, uint64_t *size);
/* From 1 to RECORD_FILES_MAX. */
int settings__parse_record_files(const char *text, unsigned int *files);
/* Copies @path.  Returns 0 or -ENOMEM. */
int settings_record__set_path(struct settings_record *record, const char *path);
/* @copy may be cleared with its settings also after -ENOMEM. */
int settings_record__copy(struct settings_record *copy,
			  const struct settings_record *record);
bool settings_record__equal(const struct settings_record *one,
			    const struct settings_record *other);
/* The same with the defaults of what is not set; its path is that of @record. */
struct settings_record
settings_record__complete(const struct settings_record *record);
/* "event", "poll" or "hybrid". */
int settings__parse_io(const char *text, enum settings_io *io);
/* From 1 to @max, in decimal. */
int settings__parse_number(const char *text, unsigned int max,
			   unsigned int *number);
/* From 1 to WORKERS_MAX. */
int settings__parse_workers(const char *text, unsigned int *workers);

/* @copy is empty before; it may be cleared also after -ENOMEM. */
int settings__copy(struct settings *copy, const struct settings *settings);
void settings__clear(struct settings *settings);

/* The entries that @target scrapes, as settings that must not be cleared. */
static inline struct settings
target_settings__chosen(const struct target_settings *target)
{
	return (struct settings){
		.entries = target->entries ? target->entries->names : NULL,
		.entry_count = target->entries ? target->entries->count : 0,
	};
}

#endif /* CONTROLLER_SETTINGS_H */
