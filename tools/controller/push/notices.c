// SPDX-License-Identifier: GPL-2.0-only
/* Sentences for the log: see notices.h. */
#include "notices.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/controller/base/schedule.h"

/* Bytes of what follows a sentence. */
#define MORE_MAX 80

void notices__open(struct notices *notices, struct output *log)
{
	notices->log = log;
	output_error_holder__open(&notices->error);
}

void notices__close(struct notices *notices)
{
	output_error_holder__close(&notices->error);
}

/* Nothing without a log. */
__attribute__((format(printf, 2, 3))) static void say(const struct notices *notices,
						      const char *format, ...)
{
	va_list values;
	char *text;
	int length;

	if (!notices->log)
		return;
	va_start(values, format);
	length = vasprintf(&text, format, values);
	va_end(values);
	if (length < 0)
		return;
	output__print(notices->log, "dart-controller: %s", text);
	free(text);
}

/*
 * True if the caller should say that @fault begins: once, and not if it comes too often.  A fault
 * that goes on when it may be said again is said then.  Prints to @more how many were left out.
 */
static bool fault__begins(struct fault *fault, const struct notices *notices,
			  char more[static MORE_MAX])
{
	const uint64_t now_ns = monotonic_ns();
	uint64_t left_out;

	if (!notices->log || fault->is_told ||
	    (fault->is_left_out && now_ns < fault->few.until_ns))
		return false;
	fault->is_told = few__take(&fault->few, now_ns, NOTICES_OF_FAULT, NOTICES_OF_FAULT_NS,
				   &left_out);
	if (!fault->is_told) {
		fault->is_left_out = true;
		return false;
	}
	left_out -= fault->is_left_out;
	fault->is_left_out = false;
	*more = '\0';
	if (left_out)
		snprintf(more, MORE_MAX, " (so it was %llu times more that were not said)",
			 (unsigned long long)left_out);
	return true;
}

/* True if the caller should say that @fault, which was said, has ended. */
static bool fault__ends(struct fault *fault)
{
	const bool was_told = fault->is_told;

	fault->is_told = fault->is_left_out = false;
	return was_told;
}

/*
 * The samples of all agents share the queue: an operator needs the name of the agent that takes
 * most of it.
 */
static void say_dropped(const struct notices *notices, const struct notices_losses *losses,
			uint64_t since)
{
	char name[RATE_LIMIT_NAME_MAX], largest[RATE_LIMIT_NAME_MAX + MORE_MAX] = "";
	const uint64_t series = rate_limit__take_largest(losses->limit, name);

	if (series)
		snprintf(largest, sizeof(largest), "; of its agents '%s' has the most series, %llu",
			 name, (unsigned long long)series);
	say(notices,
	    "%s is behind: samples that do not fit into %s are dropped (%llu so far, %llu of them since this was said%s)",
	    notices->name, notices->spool ? "the spool" : "the queue", losses->dropped,
	    (unsigned long long)since, largest);
}

void notices__say_losses(struct notices *notices, const struct notices_losses *losses,
			 uint64_t now_ns)
{
	uint64_t since;

	if (!notices->log)
		return;
	if (hourly__take(&notices->damage, now_ns, losses->damaged_bytes, &since))
		say(notices,
		    "the spool '%s' is damaged: %llu bytes are passed over, with the samples in them, which are lost (%llu so far)",
		    notices->spool, (unsigned long long)since, losses->damaged);
	if (hourly__take(&notices->drops, now_ns, losses->dropped, &since))
		say_dropped(notices, losses, since);
	if (hourly__take(&notices->older, now_ns, losses->older, &since))
		say(notices,
		    "%s: samples are not sent that are before others of their series (was the clock of this machine set back?) or ten minutes older than their scrape (%llu so far, %llu of them since this was said)",
		    notices->name, losses->older, (unsigned long long)since);
}

void notices__say_limited(struct notices *notices, struct rate_limit *limit, uint64_t now_ns)
{
	const unsigned long long dropped = atomic_load(&limit->dropped);
	char name[RATE_LIMIT_NAME_MAX];
	uint64_t since;

	if (!notices->log || !hourly__take(&notices->limited, now_ns, dropped, &since))
		return;
	rate_limit__last(limit, name);
	say(notices,
	    "%s: scrapes are dropped that exceed its limit of samples for each second, now of %u agents, '%s' among the last (%llu samples so far, %llu of them since this was said)",
	    notices->name, atomic_load(&limit->over), name, dropped, (unsigned long long)since);
}

static void set_error(struct notices *notices, const struct answer *answer, const char *text)
{
	char kind[OUTPUT_ERROR_KIND_MAX], sentence[OUTPUT_ERROR_TEXT_MAX];

	if (!answer->is_one) {
		output_error_holder__set(&notices->error, "no_answer", text);
		return;
	}
	snprintf(kind, sizeof(kind), "status_%ld", answer->status);
	snprintf(sentence, sizeof(sentence), "status %ld: %s", answer->status, text);
	output_error_holder__set(&notices->error, kind, sentence);
}

void notices__say_outage(struct notices *notices, const struct answer *answer, const char *text)
{
	char more[MORE_MAX];

	set_error(notices, answer, text);
	if (!fault__begins(&notices->outage, notices, more))
		return;
	if (answer->is_one)
		say(notices, "%s answers with status %ld (%s): samples wait and are sent again%s",
		    notices->name, answer->status, text, more);
	else
		say(notices, "%s does not answer (%s): samples wait and are sent again%s",
		    notices->name, text, more);
}

void notices__end_outage(struct notices *notices, unsigned long long dropped)
{
	if (fault__ends(&notices->outage))
		say(notices, "%s answers again (%llu samples dropped so far)", notices->name,
		    dropped);
}

void notices__take_refusal(struct notices *notices, const struct answer *answer)
{
	set_error(notices, answer, answer->text);
}

void notices__say_refusal(const struct notices *notices, enum refusal_reason reason,
			  const char *host, unsigned long long samples, const struct answer *answer)
{
	char name[REFUSAL_NAME_MAX];

	refusal_reason__name(reason, answer->status, name);
	say(notices,
	    "%s refuses samples, which are lost: %llu so far for %s, now of '%s': status %ld: %s",
	    notices->name, samples, name, host, answer->status, answer->text);
}

void notices__say_older(const struct notices *notices, const struct format *format)
{
	say(notices, "%s does not take %s: it gets %u.0", notices->name, format->title,
	    format->older->version);
}

void notices__say_unwritable(struct notices *notices, int err)
{
	char more[MORE_MAX];

	output_error_holder__set(&notices->error, "spool_not_writable", strerror(-err));
	if (fault__begins(&notices->spool_fault, notices, more))
		say(notices,
		    "cannot write to the spool '%s': %s: samples for %s wait in memory instead, and are lost if dart-controller ends%s",
		    notices->spool, strerror(-err), notices->name, more);
}

void notices__say_unreadable(struct notices *notices, int err)
{
	char more[MORE_MAX];

	output_error_holder__set(&notices->error, "spool_not_readable", strerror(-err));
	if (fault__begins(&notices->spool_fault, notices, more))
		say(notices, "cannot read the spool '%s': %s%s", notices->spool, strerror(-err),
		    more);
}

void notices__end_unwritable(struct notices *notices)
{
	if (fault__ends(&notices->spool_fault))
		say(notices, "the spool '%s' can be written to again", notices->spool);
}

void notices__take_force(struct notices *notices, int err)
{
	char more[MORE_MAX];

	if (!err)
		fault__ends(&notices->force_fault);
	else if (fault__begins(&notices->force_fault, notices, more))
		say(notices,
		    "cannot force the spool '%s' to the disk: %s: it is lost if the machine fails%s",
		    notices->spool, strerror(-err), more);
}

void notices__sum_up(const struct notices *notices, const struct notices_sum *sum)
{
	say(notices,
	    "%s: %llu samples sent, %llu refused, %llu dropped, %llu not expressible, %llu too old; %llu requests, %llu bytes",
	    notices->name, sum->sent, sum->refused, sum->dropped, sum->unsent, sum->older,
	    sum->requests, sum->bytes);
	if (sum->left && notices->spool)
		say(notices, "%llu samples for %s stay in the spool", sum->left, notices->name);
	else if (sum->left)
		say(notices, "%llu samples were not sent to %s", sum->left, notices->name);
}
