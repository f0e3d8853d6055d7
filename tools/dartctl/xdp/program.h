/* SPDX-License-Identifier: GPL-2.0-only */
/* The XDP program, loaded with the collectors to report to. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <linux/if_ether.h>
#include <stdbool.h>

#include <libdart/error.h>
#include <libdart/report/journal_target.h>
#include <libdart/report/sketch_target.h>

#include "maps.h"
#include "skeleton.h"

struct xdp_setup {
	struct dart_collectors collectors;
	/* The memory of the collectors, see appender.h and merger.h; both NULL: stores. */
	const struct dart_journal_target *journal;
	const struct dart_sketch_target *sketch;
	uint32_t out_interface;		/* number of the interface that reports leave through */
	uint8_t out_mac[ETH_ALEN];	/* address of this interface */
	uint16_t int_port;		/* 0: no INT packets */
	uint16_t report_port;		/* 0: no INT reports */
	struct reporter_translation translation; /* all 0: no postcards of hops */
	struct reporter_merging merging; /* of a sketch */
	bool all_copies;		/* report to all slots of a key, not to a random one */
};

/*
 * Makes @collectors of the only collector of a journal or a sketch, which has share 0.  Returns 0,
 * or -ENOMEM with a sentence in @error.
 */
int xdp_program__lone(const struct dart_collector *collector, struct dart_collectors *collectors,
		      struct dart_error *error);
/* The rows of a collector and of a share in the maps of the program. */
void xdp_program__collector_row(const struct xdp_setup *setup, uint32_t number,
				struct reporter_collector *row);
/* Does a collector have a reliable connection?  Its answers concern the program then. */
bool xdp_program__has_answers(const struct dart_collectors *collectors);
/* The sequence of a queue pair, after all reports in @former are answered or lost. */
void xdp_program__sequence_row(const struct dart_collector *collector,
			       const struct reporter_sequence *former,
			       struct reporter_sequence *row);
/* Where the answers of a collector come from. */
struct reporter_source xdp_program__source(const struct dart_collector *collector);
void xdp_program__share_row(const struct xdp_setup *setup, uint32_t share,
			    struct reporter_share *row);

/* The program for the interface that telemetry arrives at. */
const struct bpf_program *xdp_program__main(const struct xdp_reporter_bpf *object);

/*
 * Loads the program into the kernel and fills its maps.  Returns 0, or -errno
 * with a sentence in @error.
 */
int xdp_program__load(const struct xdp_setup *setup, struct xdp_reporter_bpf **object,
		      struct dart_error *error);

#endif /* PROGRAM_H */
