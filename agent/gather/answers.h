/* SPDX-License-Identifier: GPL-2.0-only */
/* Answers of programs that gather, and the rows of their records. */
#ifndef ANSWERS_H
#define ANSWERS_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/gather/exchange.h"
#include "record.h"

/*
 * Returns true if @copies copies of @length bytes, at most GATHER_COPY_MAX, fit into one answer: a
 * program needs room for the longest copy before it appends one.
 */
static inline bool answers__fit(uint64_t copies, uint32_t length)
{
	return copies * length <= GATHER_OUTPUT - GATHER_COPY_MAX;
}

/*
 * Writes the rows of @record from the answer to @question, GATHER_VALUES, in @exchange.  Of copies
 * for each CPU only the copies of online CPUs have rows.
 */
void answers__write(struct gather_exchange *exchange, const struct gather_question *question,
		    struct record *record);

#endif /* ANSWERS_H */
