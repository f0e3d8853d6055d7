/* SPDX-License-Identifier: GPL-2.0-only */
/* What the user says about an output that pushes metrics to a URL. */
#ifndef CONTROLLER_RECEIVER_SETTINGS_H
#define CONTROLLER_RECEIVER_SETTINGS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include <libdart/error.h>

/* Samples of a request: as many as ten scrapes of a host with 2,000 series have. */
#define RECEIVER_BATCH_DEFAULT	20000U
#define RECEIVER_BATCH_MAX		100000U
/*
 * How long scrapes of a target wait for further ones: series that have several samples in a
 * request have their labels there once.  Ten scrapes a second apart take less than 8 bytes
 * for each sample in remote write 1.0, five take 9, one 37 (Documentation/measurements.md).
 */
#define RECEIVER_DELAY_DEFAULT_NS	10000000000ULL
#define RECEIVER_DELAY_MAX_NS	60000000000ULL
#define RECEIVER_DELAY_NONE	UINT64_MAX
#define RECEIVER_TIMEOUT_DEFAULT_NS	30000000000ULL
#define RECEIVER_TIMEOUT_MIN_NS	100000000ULL
#define RECEIVER_TIMEOUT_MAX_NS	600000000000ULL
/*
 * Points take 16 bytes each while they wait for further scrapes, which up to half of the bound
 * may do: 400 hosts with 1,000 series for 10 s.  As requests it is 16 million samples or more.
 */
#define RECEIVER_QUEUE_DEFAULT	(128ULL << 20)
#define RECEIVER_QUEUE_MIN		(256ULL << 10)
#define RECEIVER_QUEUE_MAX		(1ULL << 40)
#define RECEIVER_SPOOL_DEFAULT	(1ULL << 30)
#define RECEIVER_SPOOL_MIN		(4ULL << 20)
#define RECEIVER_SPOOL_MAX		(1ULL << 50)
/* Requests under way at a time: 8 of 20,000 samples in 100 ms are 1.6 million a second. */
#define RECEIVER_SENDERS_DEFAULT	8U
#define RECEIVER_SENDERS_MAX		16U
#define RECEIVER_SYNC_DEFAULT_NS	1000000000ULL
#define RECEIVER_SYNC_MIN_NS	100000000ULL
#define RECEIVER_SYNC_MAX_NS	600000000000ULL
#define RECEIVER_SYNC_ALWAYS	1ULL
#define RECEIVER_SYNC_NEVER	UINT64_MAX
#define RECEIVERS_MAX	16

/* Texts are NULL and numbers 0 where the user does not say. */
struct receiver_settings {
	const char *format;	/* of receiver_settings__format(): a row of push/formats/ */
	char *url;
	/* Of remote write: 1 or 2; 0: 2, and 1 if the receiver does not take it. */
	unsigned int version;
	/* Of InfluxDB: 1.x has databases, 2.x buckets of organizations. */
	char *database;
	char *bucket;
	char *organization;
	unsigned int batch;
	uint64_t delay_ns;	/* RECEIVER_DELAY_NONE: each scrape is sent at once */
	uint64_t timeout_ns;	/* of a request */
	uint64_t queue_bytes;
	unsigned int senders;	/* requests under way at a time */
	char *spool;		/* a directory */
	uint64_t spool_bytes;
	/*
	 * How often it is forced to the disk; RECEIVER_SYNC_ALWAYS: before a message counts as
	 * written; RECEIVER_SYNC_NEVER: the kernel decides.
	 */
	uint64_t spool_sync_ns;
	char *token_file;
	char *user;
	char *password_file;
	char *authorities;	/* PEM file of who signs the receiver's certificate */
	json_t *labels;		/* an object of texts: of all series */
};

/* The constant of the name, which a key of an output is called by; NULL if there is none. */
const char *receiver_settings__format(const char *name);
/*
 * Is it complete, and does nothing contradict?  Sets the numbers that are 0 to their
 * defaults.  Returns 0, or -EINVAL with a sentence in @error.
 */
int receiver_settings__complete(struct receiver_settings *settings,
			    struct dart_error *error);
bool receiver_settings__equal(const struct receiver_settings *one,
			      const struct receiver_settings *other);
/* @copy may be cleared also after -ENOMEM. */
int receiver_settings__copy(struct receiver_settings *copy,
			const struct receiver_settings *settings);
void receiver_settings__clear(struct receiver_settings *settings);

/* "10M": from @min to @max bytes, with K, M, G or T behind.  0 or -EINVAL. */
int receiver_settings__parse_bytes(const char *text, uint64_t min, uint64_t max,
			       uint64_t *bytes);
/* "500ms", "5s", "1min", from @min_ns to @max_ns.  0 or -EINVAL. */
int receiver_settings__parse_time(const char *text, uint64_t min_ns,
			      uint64_t max_ns, uint64_t *time_ns);

/* "always", "never", or a time.  0 or -EINVAL. */
int receiver_settings__parse_sync(const char *text, uint64_t *sync_ns);

/* The URL as messages show it, without user, password and query; NULL if out of memory. */
char *receiver_settings__name(const struct receiver_settings *settings);

#endif /* CONTROLLER_RECEIVER_SETTINGS_H */
