/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The collectors that a reporter sends to: what agents export, see
 * <dart/store.h> and dart_collectors(5).
 *
 * The file is JSON.  What `dartctl store export` of one agent prints is such a
 * file; several are read as if their collectors were in one:
 *
 *   {"dart_collectors": 1,
 *    "collectors": [
 *      {"name": "paths", "reporter": "10.0.0.2",
 *       "mac": "52:54:00:00:00:01", "ip": "10.0.0.1", "qpn": 17,
 *       "rkey": 4660, "base": "0x3a5f00000000", "slots_log2": 20,
 *       "value_length": 20, "checksum_bits": 32, "redundancy": 2,
 *       "first_psn": 0, "shares": "0-1023"}]}
 *
 * reporter: the source address that this queue pair takes reports from; a
 * reporter uses the lines with its own.  base: a string, for JSON's numbers are
 * not wide enough.  shares: a list of numbers and ranges, "0-511,600"; it may be
 * left out by all collectors, which then get equal parts in their order.
 */
#ifndef DART_COLLECTORS_H
#define DART_COLLECTORS_H

#include <jansson.h>
#include <netinet/in.h>

#include <libdart/error.h>
#include <libdart/store/store_hash.h>

#define DART_COLLECTORS_MAX	DART_STORE_SHARES
#define DART_COLLECTOR_NONE	UINT16_MAX

struct dart_collector {
	char name[64];		/* of the store */
	struct in_addr reporter; /* where reports come from */
	uint8_t mac[6];		/* where they go to */
	struct in_addr ip;
	uint32_t qpn;		/* 24 bits */
	uint32_t rkey;
	uint32_t first_psn;	/* 24 bits */
	uint64_t base;		/* address of slot 0 */
	struct dart_store_geometry geometry;
};

struct dart_collectors {
	uint32_t count;		/* 1 to DART_COLLECTORS_MAX */
	struct dart_collector *list;
	/* who has a share: an index into the list, or DART_COLLECTOR_NONE */
	uint16_t shares[DART_STORE_SHARES];
};

/*
 * Reads the lines for @reporter out of the @count files at @paths.  All must
 * have one length of values and one width of checksums.  INADDR_ANY stands for the
 * only reporter that there is.  Returns 0 or -errno, and a sentence in @error.
 */
int dart_collectors__load(const char *const *paths, size_t count,
			  struct in_addr reporter,
			  struct dart_collectors *collectors,
			  struct dart_error *error);
/* The same out of one file, called @name, that has been parsed. */
int dart_collectors__take(json_t *file, const char *name,
			  struct in_addr reporter,
			  struct dart_collectors *collectors,
			  struct dart_error *error);
void dart_collectors__free(struct dart_collectors *collectors);

/* A line as JSON, without "shares"; NULL if memory is short. */
json_t *dart_collector__to_json(const struct dart_collector *collector);

#endif /* DART_COLLECTORS_H */
