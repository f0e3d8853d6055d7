/* SPDX-License-Identifier: GPL-2.0-only */
/* The reporter's eBPF programs, told whom to report to. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <linux/if_ether.h>
#include <xdp_reporter.skel.h>
#include <stdbool.h>

#include <libdart/error.h>
#include <libdart/report/collectors.h>

struct reporter_plan {
	struct dart_collectors collectors;
	uint32_t out_interface;		/* where reports leave, its number */
	uint8_t out_mac[ETH_ALEN];	/* and its address */
	uint16_t int_port;		/* 0: none */
	uint16_t report_port;		/* likewise */
	bool all_copies;		/* of a key, not one at random */
};

/*
 * Loads the programs into the kernel and fills their maps.  Returns 0 or -errno,
 * and a sentence in @error.
 */
int reporter_object__load(const struct reporter_plan *plan,
			  struct xdp_reporter_bpf **object,
			  struct dart_error *error);

#endif /* PROGRAM_H */
