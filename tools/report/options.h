/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line of dart-report. */
#ifndef REPORT_OPTIONS_H
#define REPORT_OPTIONS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include <libdart/error.h>
#include <libdart/report/flows.h>

struct options {
	char action;	/* 'h': print the help; 'V': the version; 0: run */
	/* These point into argv. */
	const char **collectors;	/* files */
	size_t collector_files;
	const char *journal;		/* file to append entries to, not reports */
	const char *ledger;		/* file to add packets to, not reports */
	const char *sketch;		/* file to count packets for, not reports */
	uint32_t cache;			/* rows in front of the ledger */
	uint16_t postcard_port;		/* of postcards to gather; 0: packets are reported */
	uint32_t rows_log2;		/* that gather them */
	uint64_t age_ns;		/* of a row that is reported incomplete */
	const char *interface;
	const char *pcap;		/* NULL: generated flows */
	const char *live;		/* interface whose packets are counted, or NULL */
	struct dart_flows_options flows;
	uint64_t packets;		/* 0: one per flow */
	uint64_t rate;			/* frames/s; 0: no limit */
	struct in_addr source;		/* 0.0.0.0: the address of the interface */
	uint16_t int_port;
	bool all_copies;
	bool follows;			/* takes changes of the files over */
	bool emit_int;			/* INT-MD packets, not reports */
	bool json;
};

/*
 * Returns 0; -EINVAL with a sentence in @error; -ENOMEM.  In every case the
 * caller frees with options__clear().
 */
int options__parse(struct options *options, int argc, char *argv[], struct dart_error *error);
void options__clear(struct options *options);
extern const char options__help[];

#endif /* REPORT_OPTIONS_H */
