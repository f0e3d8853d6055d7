/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every unit test includes this: tests named by a sentence, which TAP prints,
 * and random numbers that are the same in each run.
 */
#ifndef UNIT_H
#define UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* An element of struct CMUnitTest []; @sentence says what @function checks. */
#define TEST(sentence, function) TEST_TEARDOWN(sentence, function, NULL)
#define TEST_TEARDOWN(sentence, function, teardown) { \
	.name = sentence, .test_func = function, .teardown_func = teardown }

/* The next random number below @limit; @state starts with any seed. */
static inline uint32_t random__below(uint64_t *state, uint32_t limit)
{
	*state = *state * 6364136223846793005 + 1442695040888963407;
	return (*state >> 33) % limit;
}

#endif /* UNIT_H */
