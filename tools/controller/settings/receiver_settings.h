/* SPDX-License-Identifier: GPL-2.0-only */
/* Settings of an output that pushes metrics to a URL. */
#ifndef CONTROLLER_RECEIVER_SETTINGS_H
#define CONTROLLER_RECEIVER_SETTINGS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include <libdart/settings/setting.h>

#include "tools/controller/relabel/rules.h"

/* Samples of a request: ten scrapes of a host with 2,000 series. */
#define RECEIVER_BATCH_DEFAULT	20000U
#define RECEIVER_BATCH_MAX		100000U
/*
 * How long scrapes of a target wait for further ones.  A request carries the labels of a series
 * once for all its samples: ten scrapes a second apart take less than 8 bytes for each sample in
 * remote write 1.0, five take 9, one 37 (Documentation/measurements.md).
 */
#define RECEIVER_DELAY_DEFAULT_NS	10000000000ULL
#define RECEIVER_DELAY_MAX_NS	60000000000ULL
#define RECEIVER_DELAY_NONE	UINT64_MAX
#define RECEIVER_TIMEOUT_DEFAULT_NS	30000000000ULL
#define RECEIVER_TIMEOUT_MIN_NS	100000000ULL
#define RECEIVER_TIMEOUT_MAX_NS	600000000000ULL
/*
 * Up to half of the bound holds points that wait for further scrapes, 16 bytes each: 400 hosts with
 * 1,000 series for 10 s.  The bound filled with requests holds 16 million samples or more.
 */
#define RECEIVER_QUEUE_DEFAULT	(128ULL << 20)
#define RECEIVER_QUEUE_MIN		(256ULL << 10)
#define RECEIVER_QUEUE_MAX		(1ULL << 40)
#define RECEIVER_SPOOL_DEFAULT	(1ULL << 30)
#define RECEIVER_SPOOL_MIN		(4ULL << 20)
#define RECEIVER_SPOOL_MAX		(1ULL << 50)
/* Requests under way at a time: 8 of 20,000 samples in 100 ms are 1.6 million samples a second. */
#define RECEIVER_SENDERS_DEFAULT	8U
#define RECEIVER_SENDERS_MAX		16U
#define RECEIVER_SYNC_DEFAULT_NS	1000000000ULL
#define RECEIVER_SYNC_MIN_NS	100000000ULL
#define RECEIVER_SYNC_MAX_NS	600000000000ULL
#define RECEIVER_SYNC_ALWAYS	1ULL
#define RECEIVER_SYNC_NEVER	UINT64_MAX
/* Amazon Managed Service for Prometheus. */
#define RECEIVER_SERVICE_DEFAULT "aps"
#define RECEIVER_RATE_MAX	1000000000U
#define RECEIVER_EVERY_MIN_NS	100000000ULL
#define RECEIVER_EVERY_MAX_NS	3600000000000ULL
/*
 * Each has a thread, and a worker gives each scrape to all of them: see "Many receivers" in
 * Documentation/measurements.md.
 */
#define RECEIVERS_MAX	128

/* Requests are signed by version 4 of the signature of Amazon Web Services if there is a region. */
struct receiver_signature {
	char *region;
	char *service;		/* NULL: RECEIVER_SERVICE_DEFAULT */
	char *access_key;
	char *secret_key_file;
};

/* The value of a gauge for several scrapes: see push/queue/thin.h. */
enum receiver_gauges {
	RECEIVER_GAUGES_UNSET,	/* the default: last */
	RECEIVER_GAUGES_LAST,
	RECEIVER_GAUGES_MEAN,
	RECEIVER_GAUGES_MIN,
	RECEIVER_GAUGES_MAX,
};

/* Texts are NULL and numbers 0 if the user does not give them. */
struct receiver_settings {
	const char *format;	/* a key of an output, which names a row of push/formats/ */
	char *url;
	/* Of remote write: 1 or 2; 0: 2, or 1 if the receiver refuses 2. */
	unsigned int version;
	/* Of InfluxDB: a database of 1.x, or a bucket of an organization of 2.x. */
	char *database;
	char *bucket;
	char *organization;
	unsigned int batch;
	uint64_t delay_ns;	/* RECEIVER_DELAY_NONE: each scrape is sent at once */
	uint64_t timeout_ns;	/* of a request */
	uint64_t queue_bytes;
	unsigned int senders;	/* requests under way at a time */
	uint64_t every_ns;	/* one sample of each series in this time; 0: each scrape */
	enum receiver_gauges gauges;
	/* Bounds of the samples that are sent in each second; 0: none */
	unsigned int samples_per_second;	/* of all agents */
	unsigned int agent_samples_per_second;	/* of each agent */
	char *spool;		/* a directory */
	uint64_t spool_bytes;
	/*
	 * Interval at which the spool is forced to the disk; RECEIVER_SYNC_ALWAYS: before a message
	 * counts as written; RECEIVER_SYNC_NEVER: when the kernel decides.
	 */
	uint64_t spool_sync_ns;
	char *token_file;
	char *user;
	char *password_file;
	char *authorities;	/* PEM file: authorities that sign the receiver's certificate */
	char *certificate;	/* PEM file, for a receiver that asks for one; needs a key */
	char *key;
	struct receiver_signature sigv4;
	json_t *headers;	/* further headers, an object of texts; NULL: none */
	json_t *labels;		/* of all series, an object of texts */
	struct relabel_rules *write_relabel;	/* of series with all labels; NULL: none */
};

/* The keys of an output that pushes, except its URL and its credentials. */
extern const struct dart_settings receiver_settings__table;

/*
 * Checks that the settings are complete and do not contradict each other, and sets numbers that are
 * 0 to their defaults.  Returns 0, or -EINVAL with a sentence in @error.
 */
int receiver_settings__complete(struct receiver_settings *settings, struct dart_error *error);
/* Compares all settings but the rules for series, which a reload replaces. */
bool receiver_settings__equal(const struct receiver_settings *one,
			      const struct receiver_settings *other);
/* Returns 0 or -ENOMEM; the caller clears @copy in both cases. */
int receiver_settings__copy(struct receiver_settings *copy,
			    const struct receiver_settings *settings);
void receiver_settings__clear(struct receiver_settings *settings);

/* The URL as messages show it, without user, password and query; NULL if out of memory. */
char *receiver_settings__name(const struct receiver_settings *settings);

#endif /* CONTROLLER_RECEIVER_SETTINGS_H */
