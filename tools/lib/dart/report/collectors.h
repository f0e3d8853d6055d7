/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The collectors that a reporter sends to, as agents export them: see
 * <dart/store.h> and dart_collectors(5).
 *
 * `dartctl store export` prints such a JSON file for one agent.  The collectors
 * of several files add up:
 *
 *   {"dart_collectors": 1,
 *    "collectors": [
 *      {"name": "paths", "reporter": "10.0.0.2",
 *       "mac": "52:54:00:00:00:01", "ip": "10.0.0.1", "qpn": 17,
 *       "rkey": 4660, "base": "0x3a5f00000000", "slots_log2": 20,
 *       "value_length": 20, "checksum_bits": 32, "redundancy": 2,
 *       "first_psn": 0, "epoch": 1795339800, "shares": "0-1023"}]}
 *
 * reporter: the source address from which this queue pair accepts reports; a
 * reporter uses the elements with its address.  epoch: higher for each set of
 * numbers that the agent has made for the store; optional, as is dscp, the differentiated services
 * code point of reports, which is 0 by default.
 * redundancy_max: optional; the store lowers the redundancy as it fills, and raises it to at most
 * this number when it begins with empty memory.  transport: optional, "uc" (by default) or "rc".
 * base: a string, because JSON's
 * numbers are not wide enough.  shares: a list of numbers and ranges,
 * "0-511,600"; if all collectors omit it, they get equal parts in their order, or those of a
 * file of shares (<libdart/store/share_history.h>) that is given beside theirs.
 */
#ifndef DART_COLLECTORS_H
#define DART_COLLECTORS_H

#include <jansson.h>
#include <netinet/in.h>
#include <stdbool.h>

#include <libdart/error.h>
#include <libdart/store/store_hash.h>

#define DART_COLLECTORS_MAX	DART_STORE_SHARES
#define DART_COLLECTOR_NONE	UINT16_MAX

struct dart_collector {
	char name[64];		/* of the store */
	struct in_addr reporter; /* source of reports */
	uint8_t mac[6];		/* destination of reports */
	struct in_addr ip;
	uint8_t dscp;		/* of reports, 6 bits */
	bool is_reliable;	/* RC, otherwise UC: see <dart/store.h> */
	uint32_t qpn;		/* 24 bits */
	uint32_t rkey;
	uint32_t first_psn;	/* 24 bits */
	uint64_t base;		/* address of slot 0 */
	uint64_t epoch;		/* of qpn, rkey and base; 0: unknown */
	struct dart_store_geometry geometry; /* redundancy: of reports that are sent now */
	uint32_t redundancy_max; /* that the store ever uses; 0: it does not change */
};

/* The slots of a key that reports to @collector may fill. */
static inline uint32_t dart_collector__redundancy_max(const struct dart_collector *collector)
{
	return collector->redundancy_max ?: collector->geometry.redundancy;
}

struct dart_collectors {
	uint32_t count;		/* 1 to DART_COLLECTORS_MAX */
	struct dart_collector *list;
	/* by share: an index into the list, or DART_COLLECTOR_NONE */
	uint16_t shares[DART_STORE_SHARES];
};

/*
 * Reads the collectors for @reporter from the @count files at @paths, of which one may be a file of
 * shares.  All must have the same length of values and width of checksums.  INADDR_ANY stands for
 * the only reporter in the files.  Returns 0, or sets @error and returns
 * -ENOENT if no collector accepts reports from @reporter, -EINVAL, -ENOMEM or
 * the error of opening a file.
 */
int dart_collectors__load(const char *const *paths, size_t count, struct in_addr reporter,
			  struct dart_collectors *collectors, struct dart_error *error);
/* The same for one parsed @file; @name is for messages. */
int dart_collectors__take(json_t *file, const char *name, struct in_addr reporter,
			  struct dart_collectors *collectors, struct dart_error *error);
void dart_collectors__free(struct dart_collectors *collectors);

/* A collector as JSON, without "shares"; NULL if out of memory. */
json_t *dart_collector__to_json(const struct dart_collector *collector);

/*
 * The members of an element that other memory of a collector, too, has: all but the geometry and
 * the shares.  Takes them out of @json, which may be hostile, and sets *@others to the number of
 * other members.  Returns 0, or sets @error and returns -EINVAL.
 */
int dart_collector__take_path(json_t *json, struct dart_collector *collector, size_t *others,
			      struct dart_error *error);
/* Returns a new reference, NULL if out of memory. */
json_t *dart_collector__path_to_json(const struct dart_collector *collector);
/* Reads JSON, a new reference, from the file at @path, which an export wrote; 0 or -errno. */
int dart_collectors__read(const char *path, json_t **root, struct dart_error *error);

#endif /* DART_COLLECTORS_H */
