// SPDX-License-Identifier: GPL-2.0-only
/* The thread of an output that pushes: encodes, keeps and sends.  See push.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>

#include "push_private.h"
#include "tools/controller/base/schedule.h"

/* Blocks wait so long for others, a part of what they have waited already. */
#define LINGER_PART 5
#define LINGER_MAX_NS 1000000000ULL
#define END_NS 3000000000ULL
/* A disk that is full or fails is tried again after it. */
#define READ_AGAIN_NS 1000000000ULL
/* Of a batch: messages of busy senders are not smaller, if there is enough for all. */
#define BATCH_PARTS 4

/* Samples, of workers and of the thread. */
static uint64_t dropped_by(const struct push *push)
{
	return push->backlog.dropped + atomic_load(&push->rules.dropped);
}

static void say_losses(struct push *push, uint64_t now_ns)
{
	const struct backlog *backlog = &push->backlog;
	const uint64_t dropped = dropped_by(push) - backlog->damaged;
	const uint64_t older = atomic_load(&push->rules.older);
	uint64_t since;

	if (!push->log)
		return;
	if (hourly__take(&push->damage, now_ns, backlog->damaged_bytes, &since))
		output__print(
			push->log,
			"dart-controller: the spool '%s' is damaged: %llu bytes are passed over, with the samples in them, which are lost (%llu so far)",
			push->settings.spool, (unsigned long long)since,
			(unsigned long long)backlog->damaged);
	if (hourly__take(&push->drops, now_ns, dropped, &since))
		output__print(
			push->log,
			"dart-controller: %s is behind: samples that do not fit into %s are dropped (%llu so far, %llu of them since this was said)",
			push->name, backlog->spool ? "the spool" : "the queue",
			(unsigned long long)dropped, (unsigned long long)since);
	if (hourly__take(&push->older, now_ns, older, &since))
		output__print(
			push->log,
			"dart-controller: %s: samples are not sent that are before others of their series (was the clock of this machine set back?) or ten minutes older than their scrape (%llu so far, %llu of them since this was said)",
			push->name, (unsigned long long)older, (unsigned long long)since);
}

static void publish(struct push *push, uint64_t now_ns)
{
	const struct backlog *backlog = &push->backlog;
	const struct message *oldest = backlog__oldest(backlog);

	count__set(&push->bytes, poster__bytes(push->poster));
	count__set(&push->waiting, backlog->samples);
	count__set(&push->backlog_bytes, backlog->bytes);
	count__set(&push->failed, backlog->failed);
	count__set(&push->damaged, backlog->damaged);
	count__set(&push->dropped, backlog->dropped);
	count__set(&push->oldest_ns, oldest ? oldest->made_ns : 0);
	count__set(&push->unsent, push->encoder.unsent);
	count__set(&push->damaged_bytes, backlog->damaged_bytes);
	if (backlog->spool)
		count__set(&push->spool_bytes, spool__bytes(backlog->spool));
	say_losses(push, now_ns);
}

static void keep(void *data, struct message *message)
{
	struct push *push = data;
	int err;

	message->made_ns = monotonic_ns();
	err = backlog__add(&push->backlog, message);
	if (!err) {
		if (push->is_spool_told && push->log)
			output__print(
				push->log,
				"dart-controller: the spool '%s' can be written to again",
				push->settings.spool);
		push->is_spool_told = false;
		return;
	}
	count__add(&push->spool_failures, 1);
	output_error_holder__set(&push->error, "spool_not_writable", strerror(-err));
	if (!push->log || push->is_spool_told)
		return;
	push->is_spool_told = true;
	output__print(
		push->log,
		"dart-controller: cannot write to the spool '%s': %s: samples for %s wait in memory instead, and are lost if dart-controller ends",
		push->settings.spool, strerror(-err), push->name);
}

/* If the output waits, no message costs an older one that was not sent. */
static bool has_room(const struct push *push)
{
	const struct backlog *backlog = &push->backlog;

	if (!atomic_load(&push->rules.waits))
		return true;
	return backlog->bytes < backlog->bound / 2 &&
	       (!backlog->spool || spool__bytes(backlog->spool) <
					   push->settings.spool_bytes / 2);
}

/* As many as there are samples for, up to the senders; one if none of them is busy. */
static unsigned int choose_lanes(const struct push *push)
{
	const uint64_t part = push->settings.batch / BATCH_PARTS + 1;
	const bool is_idle = !push->backlog.window_count &&
			     push->pending_samples <= push->settings.batch;
	unsigned int lanes = 1;

	while (!is_idle && 2 * lanes <= push->settings.senders &&
	       2 * lanes * part <= push->pending_samples)
		lanes *= 2;
	return lanes;
}

static void finish_encoding(struct push *push)
{
	encoder__finish(&push->encoder, keep, push);
	push->is_encoding = false;
}

/*
 * Makes messages of the blocks that are there, as long as there is room for them, and not so many
 * at a time that senders would wait.  Returns after a part of a batch, to be called again: answers
 * that arrive meanwhile do not wait for all of it.
 */
static void encode(struct push *push, uint64_t now_ns)
{
	const uint64_t part = push->settings.batch / BATCH_PARTS + 1;
	uint64_t encoded = 0;
	struct block *block;

	if (!push->is_encoding) {
		push->encoder.lanes = choose_lanes(push);
		push->to_encode = (uint64_t)push->encoder.lanes * push->settings.batch;
		push->is_encoding = true;
		if (push->encoder.lanes == 1)
			encoder__shrink(&push->encoder);
	}
	while ((block = push->pending) && has_room(push) && encoded < part &&
	       encoded < push->to_encode) {
		encoded += block->samples;
		push->pending = block->next;
		push->pending_samples -= block->samples;
		encoder__add(&push->encoder, block, now_ns, keep, push);
		series_rules__give_back(&push->rules, block->bytes);
		block__free(block);
	}
	if (push->pending && has_room(push) && encoded < push->to_encode)
		push->to_encode -= encoded;
	else
		finish_encoding(push);
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

/* While something else waits to be sent, nothing is gained by a message at once. */
static uint64_t linger_ns(const struct push *push)
{
	const uint64_t part_ns = push->rules.delay_ns / LINGER_PART;

	if (backlog__has_waiting(&push->backlog))
		return LINGER_MAX_NS;
	return part_ns < LINGER_MAX_NS ? part_ns : LINGER_MAX_NS;
}

static uint64_t wanted_samples(const struct push *push)
{
	return (uint64_t)push->settings.batch *
	       (backlog__has_waiting(&push->backlog) ? push->settings.senders :
							1);
}

static bool is_time_to_encode(const struct push *push, uint64_t now_ns)
{
	return push->pending && has_room(push) &&
	       (push->is_ending ||
		push->pending_samples >= wanted_samples(push) ||
		/* Before workers have to drop. */
		atomic_load(&push->rules.bytes) > push->rules.bound / 2 ||
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
	/* Those that were under way at the same time are the same attempt. */
	if (now_ns >= push->again_ns)
		push->again_ns =
			now_ns + answer__backoff_ns(answer, ++push->attempts,
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

static void say_refusal(struct push *push, const char *host,
			enum refusal_reason reason, const struct answer *answer,
			uint64_t now_ns)
{
	char name[REFUSAL_NAME_MAX];

	if (!push->log ||
	    !refusals__is_to_say(&push->refusals, reason, now_ns))
		return;
	refusal_reason__name(reason, answer->status, name);
	output__print(
		push->log,
		"dart-controller: %s refuses samples, which are lost: %llu so far for %s, now of '%s': status %ld: %s",
		push->name,
		(unsigned long long)push->refusals.samples[reason],
		name, host, answer->status, answer->text);
}

/* No sample of @message will be taken, but for @taken; @pieces may be NULL. */
static void refuse(struct push *push, struct message *message,
		   const struct pieces *pieces, const struct answer *answer,
		   uint64_t taken, uint64_t now_ns)
{
	const enum refusal_reason reason =
		answer->status ? refusal_reason__of(answer) : REFUSAL_DAMAGED;
	const bool are_known = pieces && !taken;
	const struct pieces_host *host = NULL;
	uint64_t refused = message->samples - taken;
	size_t i;

	count__add(&push->sent, taken);
	count__add(&push->refused, refused);
	for (i = 0; are_known && i < pieces->host_count; i++) {
		host = pieces->hosts + i;
		refusals__count(&push->refusals, host->name, reason,
				answer->status, host->samples);
		refused -= host->samples < refused ? host->samples : refused;
	}
	/* Which are not taken is not said. */
	if (refused)
		refusals__count(&push->refusals, "", reason, answer->status,
				refused);
	set_error(push, answer, answer->text);
	say_refusal(push, host ? host->name : "", reason, answer, now_ns);
	backlog__done(&push->backlog, message);
}

/* Is there a piece that may be taken, and that is worth a request? */
static bool is_to_split(struct push *push, const struct message *message,
			const struct pieces *pieces, uint64_t now_ns)
{
	if (message->is_apart || !pieces__are_several(pieces))
		return false;
	return pieces->host_count > 1 ||
	       !refusals__is_host_apart(&push->refusals, pieces->hosts->name,
					now_ns);
}

static void split(struct push *push, struct message *message,
		  const struct answer *answer, uint64_t now_ns)
{
	struct message *first, *second;
	struct pieces pieces;
	int err = pieces__open(message, &pieces);

	if (!err && !is_to_split(push, message, &pieces, now_ns)) {
		if (!message->is_apart && pieces.count == 1)
			refusals__set_apart(&push->refusals, pieces.hosts->name,
					    pieces.series->hash, now_ns);
		refuse(push, message, &pieces, answer, 0, now_ns);
	} else {
		if (!err)
			err = pieces__split(&pieces, &first, &second);
		if (!err)
			backlog__replace(&push->backlog, message, first,
					 second);
		else if (err == -ENOMEM)
			push->again_ns = now_ns + READ_AGAIN_NS;
		else
			refuse(push, message, NULL, answer, 0, now_ns);
	}
	pieces__clear(&pieces);
}

/* A message that was not split, or cannot be. */
static void refuse_whole(struct push *push, struct message *message,
			 const struct answer *answer, uint64_t now_ns)
{
	struct pieces pieces;
	const int err = pieces__open(message, &pieces);
	uint64_t taken = 0;

	if (answer->written != ANSWER_WRITTEN_UNKNOWN &&
	    answer->status / 100 == 4)
		taken = answer->written < message->samples ? answer->written :
							     message->samples;
	refuse(push, message, err ? NULL : &pieces, answer, taken, now_ns);
	pieces__clear(&pieces);
}

/* What was refused before, or is a part of it, is taken now. */
static void note_taken(struct push *push, const struct message *message)
{
	struct pieces pieces;
	size_t i;

	if (!message->is_apart && !message->is_piece)
		return;
	if (!pieces__open(message, &pieces)) {
		for (i = 0; i < pieces.host_count; i++)
			refusals__take(&push->refusals, pieces.hosts[i].name);
		for (i = 0; i < pieces.count; i++)
			refusals__take_series(&push->refusals,
					      pieces.series[i].hash);
	}
	pieces__clear(&pieces);
}

/* From now on. */
static void send_older(struct push *push)
{
	if (push->is_encoding)
		finish_encoding(push);
	push->encoder.format = MESSAGE_REMOTE_WRITE_1;
	if (push->log)
		output__print(
			push->log,
			"dart-controller: %s does not take remote write 2.0: it gets 1.0",
			push->name);
}

static void take(struct push *push, struct message *message)
{
	count__add(&push->sent, message->samples);
	note_taken(push, message);
	/* It was converted because 2.0 was refused. */
	if (message->format == MESSAGE_REMOTE_WRITE_1 &&
	    push->encoder.format == MESSAGE_REMOTE_WRITE_2)
		send_older(push);
	backlog__done(&push->backlog, message);
}

/* Returns the message as 1.0; NULL if that is not possible now, or never. */
static struct message *convert(struct push *push, struct message *message,
			       uint64_t now_ns)
{
	const struct answer none = { .text = "it is damaged" };
	struct message *older;
	const int err = message__convert(message, &older);

	if (!err) {
		older->attempts = message->attempts;
		backlog__replace(&push->backlog, message, older, NULL);
		return older;
	}
	if (err == -EINVAL)
		refuse(push, message, NULL, &none, 0, now_ns);
	else
		push->again_ns = now_ns + READ_AGAIN_NS;
	return NULL;
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

/* In batches. */
static uint64_t waiting_messages(const struct push *push)
{
	const struct backlog *backlog = &push->backlog;
	uint64_t samples = push->pending_samples;

	if (backlog->spool)
		samples += spool__samples(backlog->spool);
	return backlog->waiting + samples / push->settings.batch +
	       !!backlog->memory.first;
}

static void take_answer(struct push *push, struct message *message,
			const struct answer *answer, uint64_t now_ns)
{
	const bool is_second = message->format == MESSAGE_REMOTE_WRITE_2;
	const enum verdict verdict =
		answer__judge(answer, is_second, push->may_be_older);

	backlog__again(&push->backlog, message);
	count__add(&push->requests, answer->is_one);
	if (verdict == VERDICT_AGAIN) {
		senders__fail(&push->senders);
		fail(push, answer, answer->text, now_ns);
		return;
	}
	if (senders__take(&push->senders, waiting_messages(push), now_ns))
		poster__ask(push->poster);
	message->attempts = 0;
	end_attempts(push);
	switch (verdict) {
	case VERDICT_DONE:
		take(push, message);
		break;
	case VERDICT_OLDER:
		/* 400 may be about the samples: then it comes again after 1.0. */
		if (answer->status != 400 &&
		    push->encoder.format == MESSAGE_REMOTE_WRITE_2)
			send_older(push);
		convert(push, message, now_ns);
		break;
	case VERDICT_SMALLER:
		split(push, message, answer, now_ns);
		break;
	default:
		refuse_whole(push, message, answer, now_ns);
		break;
	}
}

/* A message that can be sent now; NULL if there is none. */
static struct message *next_message(struct push *push, uint64_t now_ns)
{
	struct message *message;
	int err;

	message = backlog__next(&push->backlog, &err);
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
	/* It waited since before it was known. */
	if (message && message->format == MESSAGE_REMOTE_WRITE_2 &&
	    push->encoder.format == MESSAGE_REMOTE_WRITE_1)
		message = convert(push, message, now_ns);
	return message;
}

/* While the receiver fails, one message asks whether it does so still. */
static bool may_begin(const struct push *push, uint64_t now_ns)
{
	const unsigned int under_way = push->backlog.under_way;

	return now_ns >= push->again_ns &&
	       under_way < (push->attempts ? 1 : push->senders.count);
}

static void begin(struct push *push, uint64_t now_ns)
{
	const struct answer none = {};
	struct message *message;
	struct dart_error error;
	unsigned int slot;

	for (slot = 0; slot < push->settings.senders; slot++) {
		if (!poster__is_free(push->poster, slot))
			continue;
		if (!may_begin(push, now_ns))
			return;
		message = next_message(push, now_ns);
		if (!message)
			return;
		if (message->attempts)
			count__add(&push->retries, 1);
		if (push->attempts)
			poster__forget(push->poster);
		backlog__begin(&push->backlog, message);
		if (poster__begin(push->poster, slot, message, &error)) {
			backlog__again(&push->backlog, message);
			senders__fail(&push->senders);
			fail(push, &none, error.text, now_ns);
		}
	}
}

/* What is lost when the machine fails is bounded by a time. */
static uint64_t force_at_ns(const struct push *push)
{
	const uint64_t sync_ns = push->settings.spool_sync_ns;

	if (!push->backlog.spool || sync_ns == RECEIVER_SYNC_NEVER ||
	    sync_ns == RECEIVER_SYNC_ALWAYS ||
	    !spool__is_loose(push->backlog.spool))
		return UINT64_MAX;
	return push->forced_ns + sync_ns;
}

static void force_spool(struct push *push, uint64_t now_ns)
{
	int err;

	if (now_ns < force_at_ns(push))
		return;
	err = spool__force(push->backlog.spool);
	push->forced_ns = monotonic_ns();
	if (err && push->log && !push->is_force_told)
		output__print(
			push->log,
			"dart-controller: cannot force the spool '%s' to the disk: %s: it is lost if the machine fails",
			push->settings.spool, strerror(-err));
	push->is_force_told = err;
}

static uint64_t sooner(uint64_t one_ns, uint64_t other_ns)
{
	return one_ns < other_ns ? one_ns : other_ns;
}

/* How long it may sleep until something is due. */
static int timeout_ms(const struct push *push, uint64_t now_ns)
{
	uint64_t until_ns = now_ns + 60000000000ULL;

	if (push->is_encoding)
		return 0;
	if (push->pending && has_room(push))
		until_ns = sooner(until_ns,
				  push->pending_ns + linger_ns(push));
	if (push->again_ns && !push->backlog.under_way)
		until_ns = sooner(until_ns, push->again_ns);
	if (push->is_ending && !atomic_load(&push->rules.waits))
		until_ns = sooner(until_ns, push->end_ns);
	until_ns = sooner(until_ns, force_at_ns(push));
	return until_ns <= now_ns ? 0 : (until_ns - now_ns) / 1000000 + 1;
}

static bool has_ended(const struct push *push, uint64_t now_ns)
{
	if (!push->is_ending || push->is_encoding)
		return false;
	if (!push->backlog.window_count && !push->pending &&
	    !backlog__has_waiting(&push->backlog))
		return true;
	return now_ns >= push->end_ns && !atomic_load(&push->rules.waits);
}

static void summarize(struct push *push)
{
	struct backlog *backlog = &push->backlog;

	if (backlog->spool)
		backlog__keep(backlog);
	publish(push, monotonic_ns());
	if (!push->log)
		return;
	output__print(
		push->log,
		"dart-controller: %s: %llu samples sent, %llu refused, %llu dropped, %llu not expressible, %llu too old; %llu requests, %llu bytes",
		push->name, (unsigned long long)count__of(&push->sent),
		(unsigned long long)count__of(&push->refused),
		(unsigned long long)dropped_by(push),
		(unsigned long long)push->encoder.unsent,
		(unsigned long long)atomic_load(&push->rules.older),
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
	struct message *message;
	struct answer answer;
	uint64_t now_ns;
	bool is_parallel;

	for (;;) {
		now_ns = monotonic_ns();
		take_blocks(push, now_ns);
		if (push->is_encoding || is_time_to_encode(push, now_ns))
			encode(push, now_ns);
		begin(push, now_ns);
		force_spool(push, now_ns);
		publish(push, now_ns);
		if (has_ended(push, now_ns))
			break;
		message = poster__wait(push->poster, push->queue.wake,
				       timeout_ms(push, now_ns), &answer);
		now_ns = monotonic_ns();
		if (message)
			take_answer(push, message, &answer, now_ns);
		if (poster__take_question(push->poster, &is_parallel))
			senders__take_question(&push->senders, is_parallel,
					       now_ns);
	}
	summarize(push);
	eventfd_write(push->ended_fd, 1);
	return NULL;
}
