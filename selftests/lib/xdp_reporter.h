/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The XDP reporter, which `dartctl xdp attach` attaches to a separate interface, with 64 different
 * collectors, every third over a reliable connection.  BPF_PROG_TEST_RUN runs it on frames.  Every
 * error fails the test.
 */
#ifndef DART_TEST_XDP_REPORTER_H
#define DART_TEST_XDP_REPORTER_H

#include <libdart/report/journal_target.h>

#include "int_frame.h"

#define XDP_REPORTER_COLLECTORS	64

/* In the order of struct reporter. */
enum xdp_reporter_counter {
	REPORTS,
	APPENDED,
	GATHERED,
	OTHERS,
	TRUNCATED,
	MALFORMED,
	INCOMPLETE,
	ANONYMOUS,
	UNASSIGNED,
	CRAMPED,
	DAMAGED,
	TAGGED,
	ANSWERS,
	STALE,
	XDP_REPORTER_COUNTERS,
};

struct xdp_reporter {
	struct dart_collector collectors[XDP_REPORTER_COLLECTORS];
	uint32_t sent[XDP_REPORTER_COLLECTORS];
	uint16_t shares[DART_STORE_SHARES];
	struct dart_store_hash *hash;	/* for the most slots and copies */
	int program;
	int counters;
	int flush;	/* the program of an appender or translator; -1 for reporters */
};

/* Fixtures of cmocka: the interface, for a group of tests. */
int xdp_reporter__setup(void **state);
int xdp_reporter__teardown(void **state);

/* The first @assigned shares have a collector. */
struct xdp_reporter *xdp_reporter__attach(uint32_t checksum_bits, uint32_t assigned);

/*
 * The same for a translator of postcards to POSTCARD_PORT, with further options.  Each collector
 * has a slot of 32-bit checksums.
 */
struct xdp_reporter *xdp_reporter__attach_translator(const char *options);

/* The same for an appender; completes @target by numbers that need not differ, but its geometry. */
struct xdp_reporter *xdp_reporter__attach_journal(struct dart_journal_target *target);

/* The address from which frames are sent. */
extern const uint8_t xdp_reporter__mac[6];

/* The fixture after each test whose @state is an attached reporter, or NULL. */
int xdp_reporter__detach(void **state);

/* Runs the program on the frame and replaces it by the result.  Returns XDP_PASS ... */
uint32_t xdp_reporter__run(struct xdp_reporter *reporter, uint8_t frame[INT_FRAME_MAX],
			   size_t *length, bool is_from_interface);

/*
 * Runs the program "dart_flush" on a list, or "dart_flush_row" on a row.  The frame of @length
 * bytes is its WRITE if it returns XDP_TX.
 */
uint32_t xdp_reporter__flush(struct xdp_reporter *reporter, uint32_t number,
			     uint8_t frame[INT_FRAME_MAX], size_t *length);

/* The sum over all CPUs. */
uint64_t xdp_reporter__count(struct xdp_reporter *reporter, enum xdp_reporter_counter counter);

/* The frame is the next report of @value under @key.  Returns the number of its copy. */
uint32_t xdp_reporter__expect(struct xdp_reporter *reporter, const uint8_t *frame, size_t length,
			      const uint8_t *key, size_t key_length, const void *value);

/* The program passes the frame unchanged, and counts it. */
void xdp_reporter__expect_passed(struct xdp_reporter *reporter, const uint8_t *frame, size_t length,
				 enum xdp_reporter_counter counter, const char *what);

#endif /* DART_TEST_XDP_REPORTER_H */
