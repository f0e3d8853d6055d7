// SPDX-License-Identifier: GPL-2.0-only
/* The thread of an output that pushes: encodes, keeps and sends.  See push.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>

#include "push_private.h"
#include "tools/controller/schedule.h"

/* Blocks wait so long for others, a part of what they have waited already. */
#define LINGER_PART 5
#define LINGER_MAX_NS 1000000000ULL
#define END_NS 3000000000ULL
/* A disk that is full or fails is tried again after it. */
#define READ_AGAIN_NS 1000000000ULL

/* Samples, of workers and of the thread. */
static uint64_t dropped_by(const struct push *push)
{
	return push->backlog.dropped + atomic_load(&push->rules.dropped);
}

static void publish(struct push *push, uint64_t now_ns)
{
	const struct backlog *backlog = &push->backlog;
	const struct message *oldest = backlog__oldest(backlog);
	const uint64_t dropped = backlog->dropped;
	uint64_t since;

	count__set(&push->bytes, poster__bytes(push->poster));
	count__set(&push->waiting, backlog->samples);
	count__set(&push->backlog_bytes, backlog->bytes);
	count__set(&push->failed, backlog->failed);
	count__set(&push->dropped, dropped);
	if (oldest || !backlog->samples)
		count__set(&push->oldest_ns, oldest ? oldest->made_ns : 0);
	count__set(&push->unsent, push->encoder.unsent);
	if (backlog->spool)
		count__set(&push->spool_bytes, spool__bytes(backlog->spool));
	if (push->log && hourly__take(&push->drops, now_ns, dropped_by(push), &since))
		output__print(
			push->log,
			"dart-controller: %s is behind: samples that do not fit into %s are dropped (%llu so far, %llu of them since this was said)",
			push->name, backlog->spool ? "the spool" : "the queue",
			(unsigned long long)dropped_by(push), (unsigned long long)since);
}

static void keep(void *data, struct message *message)
{
	struct push *push = data;
	int err;

	message->made_ns = monotonic_ns();
	err = backlog__add(&push->backlog, message);
	if (err)
		output_error_holder__set(&push->error, "spool_not_writable", strerror(-err));
	if (!err) {
		push->is_spool_told = false;
	} else if (push->log && !push->is_spool_told) {
		push->is_spool_told = true;
		output__print(
			push->log,
			"dart-controller: samples for %s are dropped: cannot write to the spool '%s': %s",
			push->name, push->settings.spool, strerror(-err));
	}
}

/* If the output waits, no message costs an older one that was not sent. */
static bool has_room(const struct push *push)
{
	const struct backlog *backlog = &push->backlog;

	if (!atomic_load(&push->rules.waits))
		return true;
	return backlog->spool ? spool__bytes(backlog->spool) <
					push->settings.spool_bytes / 2 :
				backlog->bytes < backlog->bound / 2;
}

/* Makes messages of all blocks that are there, as long as there is room for them. */
static void encode(struct push *push)
{
	struct block *block;

	while ((block = push->pending) && has_room(push)) {
		push->pending = block->next;
		push->pending_samples -= block->samples;
		encoder__add(&push->encoder, block, keep, push);
		series_rules__give_back(&push->rules, block->bytes);
		block__free(block);
	}
	encoder__finish(&push->encoder, keep, push);
}

static void take_blocks(struct push *push, uint64_t now_ns)
{
	struct queue_item *item;
	struct block *block;

	while ((item = queue__take(&push->queue))) {
		if (item == &push->hurry) {
			push->end_ns = now_ns + END_NS;
			continue;
		}
		if (item == &push->end) {
			push->is_ending = true;
			push->end_ns = now_ns + END_NS;
			/* At once, however long it was to wait. */
			push->again_ns = 0;
			continue;
		}
		block = caa_container_of(item, struct block, item);
		block->next = NULL;
		if (push->pending)
			push->last_pending->next = block;
		else
			push->pending = block;
		if (block == push->pending)
			push->pending_ns = now_ns;
		push->last_pending = block;
		push->pending_samples += block->samples;
	}
}

static uint64_t linger_ns(const struct push *push)
{
	const uint64_t part_ns = push->rules.delay_ns / LINGER_PART;

	return part_ns < LINGER_MAX_NS ? part_ns : LINGER_MAX_NS;
}

static bool is_time_to_encode(const struct push *push, uint64_t now_ns)
{
	return push->pending && has_room(push) &&
	       (push->is_ending ||
		push->pending_samples >= push->settings.batch ||
		now_ns >= push->pending_ns + linger_ns(push));
}

/* Keeps an answer that was none, or that took no samples, as the last error. */
static void set_error(struct push *push, const struct answer *answer, const char *text)
{
	char kind[OUTPUT_ERROR_KIND_MAX], sentence[OUTPUT_ERROR_TEXT_MAX];

	if (!answer->is_one) {
		output_error_holder__set(&push->error, "no_answer", text);
		return;
	}
	snprintf(kind, sizeof(kind), "status_%ld", answer->status);
	snprintf(sentence, sizeof(sentence), "status %ld: %s", answer->status, text);
	output_error_holder__set(&push->error, kind, sentence);
}

/* @text is why, without a full stop. */
static void fail(struct push *push, const struct answer *answer,
		 const char *text, uint64_t now_ns)
{
	set_error(push, answer, text);
	push->attempts++;
	push->again_ns = now_ns + answer__backoff_ns(answer, push->attempts,
						     &push->random);
	atomic_store(&push->is_failing, true);
	if (!push->log || push->is_outage_told)
		return;
	push->is_outage_told = true;
	if (answer->is_one)
		output__print(
			push->log,
			"dart-controller: %s answers with status %ld (%s): samples wait and are sent again",
			push->name, answer->status, text);
	else
		output__print(
			push->log,
			"dart-controller: %s does not answer (%s): samples wait and are sent again",
			push->name, text);
}

static void begin(struct push *push, uint64_t now_ns)
{
	struct message *message, *older;
	const struct answer none = {};
	struct dart_error error;
	int err;

	message = backlog__current(&push->backlog, &err);
	if (err)
		output_error_holder__set(&push->error, "spool_not_readable", strerror(-err));
	if (err && push->log && !push->is_spool_told) {
		push->is_spool_told = true;
		output__print(
			push->log,
			"dart-controller: cannot read the spool '%s': %s",
			push->settings.spool, strerror(-err));
	}
	if (err)
		push->again_ns = now_ns + READ_AGAIN_NS;
	if (!message)
		return;
	/* It waited since before it was known. */
	if (message->format == MESSAGE_REMOTE_WRITE_2 &&
	    push->encoder.format == MESSAGE_REMOTE_WRITE_1) {
		err = message__convert(message, &older);
		if (err == -EINVAL) {
			count__add(&push->refused, message->samples);
			count__add(&push->refused_by[PUSH_REFUSAL_OTHER], message->samples);
			backlog__done(&push->backlog);
		}
		if (err) {
			push->again_ns = now_ns + READ_AGAIN_NS;
			return;
		}
		backlog__replace(&push->backlog, older);
		message = older;
	}
	if (push->attempts)
		count__add(&push->retries, 1);
	if (poster__begin(push->poster, message, &error))
		fail(push, &none, error.text, now_ns);
	else
		push->is_under_way = true;
}

static void end_attempts(struct push *push)
{
	push->attempts = 0;
	push->again_ns = 0;
	atomic_store(&push->is_failing, false);
	if (push->is_outage_told && push->log)
		output__print(
			push->log,
			"dart-controller: %s answers again (%llu samples dropped so far)",
			push->name, (unsigned long long)dropped_by(push));
	push->is_outage_told = false;
}

static void refuse(struct push *push, const struct answer *answer)
{
	const long status = answer->status;
	const size_t index = status >= 400 && status < 500 ? status - 400 : PUSH_REFUSAL_OTHER;

	set_error(push, answer, answer->text);
	count__add(&push->refused, push->backlog.current->samples);
	count__add(&push->refused_by[index], push->backlog.current->samples);
	if (!push->log || push->are_refusals_told[index])
		return;
	push->are_refusals_told[index] = true;
	output__print(
		push->log,
		"dart-controller: %s refuses samples, which are lost: status %ld: %s",
		push->name, status, answer->text);
}

static void take_answer(struct push *push, const struct answer *answer,
			uint64_t now_ns)
{
	const bool is_second =
		push->backlog.current->format == MESSAGE_REMOTE_WRITE_2;
	const enum verdict verdict =
		answer__judge(answer, push->may_be_older && is_second);

	push->is_under_way = false;
	count__add(&push->requests, answer->is_one);
	if (verdict == VERDICT_AGAIN) {
		fail(push, answer, answer->text, now_ns);
		return;
	}
	end_attempts(push);
	if (verdict == VERDICT_OLDER) {
		push->encoder.format = MESSAGE_REMOTE_WRITE_1;
		if (push->log)
			output__print(
				push->log,
				"dart-controller: %s does not take remote write 2.0: it gets 1.0",
				push->name);
		return;
	}
	if (verdict == VERDICT_DONE) {
		count__add(&push->sent, push->backlog.current->samples);
		if (is_second)
			push->may_be_older = false;
	} else {
		refuse(push, answer);
	}
	backlog__done(&push->backlog);
}

/* How long it may sleep until something is due. */
static int timeout_ms(const struct push *push, uint64_t now_ns)
{
	uint64_t until_ns = now_ns + 60000000000ULL;

	if (push->pending && has_room(push) &&
	    push->pending_ns + linger_ns(push) < until_ns)
		until_ns = push->pending_ns + linger_ns(push);
	if (!push->is_under_way && push->again_ns && push->again_ns < until_ns)
		until_ns = push->again_ns;
	if (push->is_ending && !atomic_load(&push->rules.waits) &&
	    push->end_ns < until_ns)
		until_ns = push->end_ns;
	return until_ns <= now_ns ? 0 : (until_ns - now_ns) / 1000000 + 1;
}

static bool has_ended(const struct push *push, uint64_t now_ns)
{
	if (!push->is_ending)
		return false;
	if (!push->backlog.current && !push->pending)
		return true;
	return now_ns >= push->end_ns && !atomic_load(&push->rules.waits);
}

static void summarize(struct push *push)
{
	struct backlog *backlog = &push->backlog;

	if (!push->log)
		return;
	output__print(
		push->log,
		"dart-controller: %s: %llu samples sent, %llu refused, %llu dropped, %llu not expressible; %llu requests, %llu bytes",
		push->name, (unsigned long long)count__of(&push->sent),
		(unsigned long long)count__of(&push->refused),
		(unsigned long long)dropped_by(push),
		(unsigned long long)push->encoder.unsent,
		(unsigned long long)count__of(&push->requests),
		(unsigned long long)poster__bytes(push->poster));
	if (!backlog->samples)
		return;
	if (backlog->spool)
		output__print(
			push->log,
			"dart-controller: %llu samples for %s stay in the spool",
			(unsigned long long)backlog->samples, push->name);
	else
		output__print(
			push->log,
			"dart-controller: %llu samples were not sent to %s",
			(unsigned long long)backlog->samples, push->name);
}

void *push__run(void *data)
{
	struct push *push = data;
	struct answer answer;
	uint64_t now_ns;

	for (;;) {
		now_ns = monotonic_ns();
		take_blocks(push, now_ns);
		if (is_time_to_encode(push, now_ns))
			encode(push);
		if (!push->is_under_way && now_ns >= push->again_ns)
			begin(push, now_ns);
		publish(push, now_ns);
		if (has_ended(push, now_ns))
			break;
		if (poster__wait(push->poster, push->queue.wake,
				 timeout_ms(push, now_ns), &answer))
			take_answer(push, &answer, monotonic_ns());
	}
	summarize(push);
	eventfd_write(push->ended_fd, 1);
	return NULL;
}
