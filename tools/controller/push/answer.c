// SPDX-License-Identifier: GPL-2.0-only
/* What answers mean: see answer.h. */
#include "answer.h"

enum verdict answer__judge(const struct answer *answer, bool may_be_older)
{
	const bool is_taken = answer->status / 100 == 2;

	if (!answer->is_one || answer->status == 429 ||
	    answer->status / 100 == 5)
		return VERDICT_AGAIN;
	if (may_be_older &&
	    (answer->status == 415 ||
	     ((is_taken || answer->status == 400) && !answer->has_written)))
		return VERDICT_OLDER;
	return is_taken ? VERDICT_DONE : VERDICT_REFUSED;
}

uint64_t answer__backoff_ns(const struct answer *answer, unsigned int attempts,
			    struct dart_random *random)
{
	uint64_t wait_ns = ANSWER_BACKOFF_MIN_NS;
	uint64_t asked_ns = answer->retry_after_ns;

	while (--attempts && wait_ns < ANSWER_BACKOFF_MAX_NS)
		wait_ns *= 2;
	if (wait_ns > ANSWER_BACKOFF_MAX_NS)
		wait_ns = ANSWER_BACKOFF_MAX_NS;
	wait_ns = wait_ns / 2 + dart_random__below(random, wait_ns / 2);
	if (asked_ns > ANSWER_RETRY_AFTER_MAX_NS)
		asked_ns = ANSWER_RETRY_AFTER_MAX_NS;
	return wait_ns > asked_ns ? wait_ns : asked_ns;
}
