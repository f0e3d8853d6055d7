/* SPDX-License-Identifier: GPL-2.0-only */
/* Frames that ask a switch which entries are in use, and its answers: see <dart/tea_use.h>. */
#ifndef FLOWS_QUESTION_H
#define FLOWS_QUESTION_H

#include <dart/tea_use.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct question_frame {
	uint8_t bytes[DART_TEA_USE_LENGTH];
};

/* Begins a question without keys. */
void question__begin(struct question_frame *frame, const uint8_t sender[static 6], uint32_t number);
/* Its key with this place, below DART_TEA_USE_KEYS. */
void question__put_key(struct question_frame *frame, unsigned int place, const void *key,
		       size_t length);
/*
 * Reads an answer: its number, and for each key how long it was not used at least.  False: the
 * frame is no answer.
 */
bool question__read_answer(const void *frame, size_t length, uint32_t *number,
			   uint64_t idle_ns[static DART_TEA_USE_KEYS]);

#endif /* FLOWS_QUESTION_H */
