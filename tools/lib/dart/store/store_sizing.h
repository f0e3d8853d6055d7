/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How good a store is, and how large one has to be: section 4 of "Zero-CPU
 * Collection with Direct Telemetry Access" (HotNets 2021).
 *
 * The load is keys per slot, of which each is reported once, to all its slots.  A
 * report is as old as the load that came behind it; ages are from 0 to the load.
 */
#ifndef DART_STORE_SIZING_H
#define DART_STORE_SIZING_H

#include <libdart/error.h>

#include "store_hash.h"

/* A report of this age, or all reports of a store, some of whose copies last. */
double dart_store_sizing__oldest(double load, uint32_t redundancy);
double dart_store_sizing__average(double load, uint32_t redundancy);

struct dart_sizing_bounds {
	double low;
	double high;
};

/*
 * What a query may end with but the right answer.  Bounds differ by what the other
 * values that have the key's checksum are; all see only one value as an answer, so
 * plurality has fewer ambiguous answers if there are three copies or more.
 */
struct dart_sizing_risks {
	double empty;		/* no copy is left, nor anything like it */
	struct dart_sizing_bounds ambiguous; /* several values */
	struct dart_sizing_bounds wrong; /* no copy, but something like it */
};

void dart_store_sizing__risks_of_oldest(double load, uint32_t redundancy,
					uint32_t checksum_bits,
					struct dart_sizing_risks *risks);
void dart_store_sizing__average_risks(double load, uint32_t redundancy,
				      uint32_t checksum_bits,
				      struct dart_sizing_risks *risks);

/* The largest load with this average success, between 0 and 1. */
double dart_store_sizing__load(double success, uint32_t redundancy);
/* How many copies have the best average, 1 to DART_STORE_REDUNDANCY_MAX. */
uint32_t dart_store_sizing__redundancy(double load);
/*
 * The narrowest checksum with which at most this part of the answers is wrong on
 * average; 0 if there is none.
 */
uint32_t dart_store_sizing__checksum_bits(double load, uint32_t redundancy,
					  double error);
/* The load of a store with @written of @samples slots; INFINITY if all are. */
double dart_store_sizing__estimate(uint64_t written, uint64_t samples,
				   uint32_t redundancy);

/* What is wanted: success or memory; 0 is whatever fits. */
struct dart_sizing_wish {
	uint64_t flows;		/* keys, each reported once */
	uint32_t value_length;	/* bytes */
	double success;		/* on average */
	uint64_t memory;	/* bytes */
	uint32_t redundancy;
	uint32_t checksum_bits;
	double error;		/* of answers, at most */
};

struct dart_store_sizing {
	/* as wished, the number of slots not rounded */
	struct dart_store_geometry ideal;
	/* a store that can be: success is rounded up, memory is rounded down */
	struct dart_store_geometry store;
};

/* Returns 0, or -EINVAL or -ERANGE and a sentence in @error. */
int dart_store_sizing__make(const struct dart_sizing_wish *wish,
			    struct dart_store_sizing *sizing,
			    struct dart_error *error);

#endif /* DART_STORE_SIZING_H */
