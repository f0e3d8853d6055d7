// SPDX-License-Identifier: GPL-2.0-only
/* What answers mean: see answer.h. */
#include "answer.h"

/* Does it come from a receiver that has read the message as 2.0? */
static bool is_of_second(const struct answer *answer)
{
	return answer->has_written && answer->written;
}

enum verdict answer__judge(const struct answer *answer, bool is_second,
			   bool may_be_older)
{
	const long status = answer->status;
	const bool is_taken = status / 100 == 2;

	if (!answer->is_one || status == 429 || status / 100 == 5 ||
	    status / 100 == 3)
		return VERDICT_AGAIN;
	if (is_second && may_be_older &&
	    (status == 415 || (is_taken && !is_of_second(answer)) ||
	     (status == 400 && !answer->has_written)))
		return VERDICT_OLDER;
	if (is_taken)
		return is_second && !is_of_second(answer) ? VERDICT_REFUSED :
							    VERDICT_DONE;
	if (is_second && is_of_second(answer) &&
	    answer->written != ANSWER_WRITTEN_UNKNOWN)
		return VERDICT_PARTLY;
	return status == 400 || status == 413 || status == 422 ?
		       VERDICT_SMALLER :
		       VERDICT_REFUSED;
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
