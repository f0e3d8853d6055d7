/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The quality of a store, and the size for a quality: section 4 of "Zero-CPU
 * Collection with Direct Telemetry Access" (HotNets 2021).
 *
 * The load is the number of keys per slot; each key is reported once, to all
 * its slots.  The age of a report is the load that followed it, from 0 to the
 * load.
 */
#ifndef DART_STORE_SIZING_H
#define DART_STORE_SIZING_H

#include <libdart/error.h>

#include "store_hash.h"

/*
 * The part of the reports of which a copy remains: of the age @load, or of all
 * ages up to @load.
 */
double dart_store_sizing__oldest(double load, uint32_t redundancy);
double dart_store_sizing__average(double load, uint32_t redundancy);

struct dart_sizing_bounds {
	double low;
	double high;
};

/*
 * The probabilities of results other than the right answer.  They depend on
 * whether other values with the key's checksum agree, hence bounds.  The rule
 * is DART_STORE_UNIQUE; plurality has fewer ambiguous answers with three copies
 * or more.
 */
struct dart_sizing_risks {
	double empty;		/* no slot has the key's checksum */
	struct dart_sizing_bounds ambiguous; /* several values */
	struct dart_sizing_bounds wrong; /* only other keys' values have it */
};

void dart_store_sizing__risks_of_oldest(double load, uint32_t redundancy, uint32_t checksum_bits,
					struct dart_sizing_risks *risks);
void dart_store_sizing__average_risks(double load, uint32_t redundancy, uint32_t checksum_bits,
				      struct dart_sizing_risks *risks);

/* The largest load with this average success, between 0 and 1. */
double dart_store_sizing__load(double success, uint32_t redundancy);
/* The copies with the best average, 1 to DART_STORE_REDUNDANCY_MAX. */
uint32_t dart_store_sizing__redundancy(double load);
/*
 * The redundancy of reports to a store of which this part of the slots is written, if it falls as
 * the store fills: 8, 4, 2 and then 1.  Early reports get many copies while slots are empty; late
 * ones overwrite few.
 */
uint32_t dart_store_sizing__falling(double written);
/* As dart_store_sizing__oldest() and __average(), if the redundancy falls from @most, 1 to 8. */
double dart_store_sizing__falling_oldest(double load, uint32_t most);
double dart_store_sizing__falling_average(double load, uint32_t most);
/* The load, from a sample of slots; INFINITY if all of them are written. */
double dart_store_sizing__estimate(uint64_t written, uint64_t samples, uint32_t redundancy);

/*
 * The lines of the cache, of 64 bytes, that a slot of @slot_length bytes touches on average, in a
 * store whose memory begins with a line: at least 1.
 */
double dart_store_sizing__lines(size_t slot_length);
/*
 * The least length from @slot_length on with which no slot lies across lines that it would fit in;
 * 0 above 64, where each slot does.
 */
size_t dart_store_sizing__whole(size_t slot_length);

/* The requirements: success or memory, and others; 0 leaves the choice open. */
struct dart_sizing_wish {
	uint64_t flows;		/* keys, each reported once */
	uint32_t value_length;	/* bytes */
	double success;		/* on average */
	uint64_t memory;	/* bytes */
	uint32_t redundancy;
	uint32_t checksum_bits;
	double error;		/* part of the answers, at most */
};

struct dart_store_sizing {
	/* with the exact number of slots, not rounded */
	struct dart_store_geometry ideal;
	/* with 2^k slots: rounded up for success, down for memory */
	struct dart_store_geometry store;
};

/* Returns 0, or sets @error and returns -EINVAL or -ERANGE. */
int dart_store_sizing__make(const struct dart_sizing_wish *wish, struct dart_store_sizing *sizing,
			    struct dart_error *error);

#endif /* DART_STORE_SIZING_H */
