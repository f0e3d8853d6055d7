/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Numbers from 0 for what comes and goes: each is given again once it has come back, so that
 * all are less than the number of those that were out at once.  For one thread.
 */
#ifndef DART_NUMBERS_H
#define DART_NUMBERS_H

#include <stdint.h>

/* Zeroed memory has given none. */
struct dart_numbers {
	uint32_t next; /* it and all above were never given */
	uint32_t *back; /* those that have come back; room for all below @next */
	uint32_t back_count;
};

/* Returns 0 or -ENOMEM. */
int dart_numbers__take(struct dart_numbers *numbers, uint32_t *number);
void dart_numbers__give_back(struct dart_numbers *numbers, uint32_t number);
void dart_numbers__close(struct dart_numbers *numbers);

#endif /* DART_NUMBERS_H */
