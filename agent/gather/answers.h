/* SPDX-License-Identifier: GPL-2.0-only */
/* Answers of programs that gather, and the rows of their records. */
#ifndef ANSWERS_H
#define ANSWERS_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/gather/exchange.h"
#include "record.h"

/* Does answers__write() need to know which CPUs are online? */
bool answers__are_by_cpu(const struct gather_question *question, const struct record *record);
/*
 * Returns true if @copies copies of @length bytes, at most GATHER_COPY_MAX, fit into one answer: a
 * program needs room for the longest copy before it appends one.
 */
static inline bool answers__fit(uint64_t copies, uint32_t length)
{
	return copies * length <= GATHER_OUTPUT - GATHER_COPY_MAX;
}

/*
 * Writes the rows of @record from the answer to @question, GATHER_VALUES, in @exchange.  @online: a
 * bitmap of CPUs that includes all of @exchange, for answers__are_by_cpu(); only online CPUs have
 * rows.
 */
void answers__write(struct gather_exchange *exchange, const struct gather_question *question,
		    const uint64_t *online, struct record *record);

#endif /* ANSWERS_H */
