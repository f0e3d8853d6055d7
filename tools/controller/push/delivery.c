// SPDX-License-Identifier: GPL-2.0-only
/* The thread of an output that pushes: see delivery.h. */
#include "delivery.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tools/controller/base/schedule.h"
#include "tools/controller/base/thread.h"
#include "tools/controller/push/formats/formats.h"

/* Blocks wait for others, for a part of the time that they waited already. */
#define LINGER_PART 5
#define LINGER_MAX_NS 1000000000ULL
#define END_NS 3000000000ULL
/* A disk that is full or fails is tried again after it. */
#define READ_AGAIN_NS 1000000000ULL
/* How soon messages are sent after a list of members is valid again: that is rare. */
#define VALID_AGAIN_NS 100000000ULL

/* Samples, of workers and of the thread. */
static uint64_t dropped_by(const struct delivery *delivery)
{
	return delivery->backlog.dropped + atomic_load(&delivery->rules.dropped);
}

static void publish(struct delivery *delivery, uint64_t now_ns)
{
	const struct backlog *backlog = &delivery->backlog;
	const struct message *oldest = backlog__oldest(backlog);
	const struct notices_losses losses = {
		.dropped = dropped_by(delivery) - backlog->damaged,
		.damaged = backlog->damaged,
		.damaged_bytes = backlog->damaged_bytes,
		.older = atomic_load(&delivery->rules.older),
		.limit = &delivery->rules.limit,
	};

	count__set(&delivery->bytes, poster__bytes(delivery->poster));
	count__set(&delivery->waiting, backlog->samples);
	count__set(&delivery->backlog_bytes, backlog->bytes);
	count__set(&delivery->failed, backlog->failed);
	count__set(&delivery->damaged, backlog->damaged);
	count__set(&delivery->dropped, backlog->dropped);
	count__set(&delivery->oldest_ns, oldest ? oldest->made_ns : 0);
	count__set(&delivery->unsent, delivery->pending.encoder.unsent);
	count__set(&delivery->damaged_bytes, backlog->damaged_bytes);
	if (backlog->spool)
		count__set(&delivery->spool_bytes, spool__bytes(backlog->spool));
	notices__say_losses(&delivery->notices, &losses, now_ns);
	notices__say_limited(&delivery->notices, &delivery->rules.limit, now_ns);
}

static void keep(void *data, struct message *message)
{
	struct delivery *delivery = data;
	int err;

	message->made_ns = monotonic_ns();
	err = backlog__add(&delivery->backlog, message);
	if (!err) {
		notices__end_unwritable(&delivery->notices);
		return;
	}
	notices__say_unwritable(&delivery->notices, err);
	count__add(&delivery->spool_failures, 1);
}

/* If the output waits, no message may push out an older one that was not sent. */
static bool has_room(void *data)
{
	const struct delivery *delivery = data;

	return !atomic_load(&delivery->rules.waits) || !backlog__is_half_full(&delivery->backlog);
}

static void give_back(void *data, const struct block *block)
{
	struct delivery *delivery = data;

	series_rules__give_back(&delivery->rules, block->bytes);
}

static void encode(struct delivery *delivery, uint64_t now_ns)
{
	const struct pending_operations operations = {
		.has_room = has_room,
		.give_back = give_back,
		.take = keep,
		.data = delivery,
	};

	pending__encode(&delivery->pending, !delivery->backlog.window_count, now_ns, &operations);
}

static void take_blocks(struct delivery *delivery, uint64_t now_ns)
{
	struct queue_item *item;
	struct block *block;

	while ((item = queue__take(&delivery->queue))) {
		if (item == &delivery->hurry) {
			delivery->end_ns = now_ns + END_NS;
			continue;
		}
		if (item == &delivery->end) {
			delivery->is_ending = true;
			delivery->end_ns = now_ns + END_NS;
			/* At once, however long it was to wait. */
			delivery->again_ns = 0;
			continue;
		}
		block = caa_container_of(item, struct block, item);
		pending__add(&delivery->pending, block, now_ns);
	}
}

/* While other messages wait, sending a further message at once gains nothing. */
static uint64_t linger_ns(const struct delivery *delivery)
{
	const uint64_t part_ns = delivery->rules.delay_ns / LINGER_PART;

	if (backlog__has_waiting(&delivery->backlog))
		return LINGER_MAX_NS;
	return part_ns < LINGER_MAX_NS ? part_ns : LINGER_MAX_NS;
}

static uint64_t wanted_samples(const struct delivery *delivery)
{
	return (uint64_t)delivery->settings.batch *
	       (backlog__has_waiting(&delivery->backlog) ? delivery->settings.senders : 1);
}

static bool is_time_to_encode(struct delivery *delivery, uint64_t now_ns)
{
	return delivery->pending.first && has_room(delivery) &&
	       (delivery->is_ending || delivery->pending.samples >= wanted_samples(delivery) ||
		/* Before workers must drop samples. */
		atomic_load(&delivery->rules.bytes) > delivery->rules.bound / 2 ||
		now_ns >= delivery->pending.since_ns + linger_ns(delivery));
}

/* @text is why, without a full stop. */
static void fail(struct delivery *delivery, const struct answer *answer, const char *text,
		 uint64_t now_ns)
{
	/* Messages that were under way at the same time count as one attempt. */
	if (now_ns >= delivery->again_ns)
		delivery->again_ns = now_ns + answer__backoff_ns(answer, ++delivery->attempts,
								 &delivery->random);
	notices__say_outage(&delivery->notices, answer, text);
	atomic_store(&delivery->is_failing, true);
}

/* No sample of @message will be taken, but for @taken; @pieces may be NULL. */
static void refuse(struct delivery *delivery, struct message *message, const struct pieces *pieces,
		   const struct answer *answer, uint64_t taken, uint64_t now_ns)
{
	const enum refusal_reason reason = refusal_reason__of(answer);
	const char *host;

	/* First: those who read the counts read the error afterwards. */
	notices__take_refusal(&delivery->notices, answer);
	count__add(&delivery->sent, taken);
	count__add(&delivery->refused, message->samples - taken);
	host = refusals__count_message(&delivery->refusals, message, pieces, answer, taken);
	if (refusals__is_to_say(&delivery->refusals, reason, now_ns))
		notices__say_refusal(&delivery->notices, reason, host,
				     delivery->refusals.samples[reason], answer);
	backlog__done(&delivery->backlog, message);
}

static void split(struct delivery *delivery, struct message *message, const struct answer *answer,
		  uint64_t now_ns)
{
	struct message *first, *second;
	struct pieces pieces;
	int err = pieces__open(message, &pieces);

	if (!err && !refusals__is_to_split(&delivery->refusals, message, &pieces, now_ns)) {
		if (!message->is_apart && pieces.count == 1)
			refusals__set_apart(&delivery->refusals, pieces.hosts->name,
					    pieces.series->hash, now_ns);
		refuse(delivery, message, &pieces, answer, 0, now_ns);
	} else {
		if (!err)
			err = pieces__split(&pieces, &first, &second);
		if (!err)
			backlog__replace(&delivery->backlog, message, first, second);
		else if (err == -ENOMEM)
			delivery->again_ns = now_ns + READ_AGAIN_NS;
		else
			refuse(delivery, message, NULL, answer, 0, now_ns);
	}
	pieces__clear(&pieces);
}

/* A message that was not split, or cannot be. */
static void refuse_whole(struct delivery *delivery, struct message *message,
			 const struct answer *answer, uint64_t now_ns)
{
	struct pieces pieces;
	const int err = pieces__open(message, &pieces);
	uint64_t taken = 0;

	if (answer->written != ANSWER_WRITTEN_UNKNOWN && answer->status / 100 == 4)
		taken = answer->written < message->samples ? answer->written : message->samples;
	else if (answer->rejected && answer->rejected < message->samples)
		taken = message->samples - answer->rejected;
	refuse(delivery, message, err ? NULL : &pieces, answer, taken, now_ns);
	pieces__clear(&pieces);
}

/* From now on the receiver gets the older format. */
static void send_older(struct delivery *delivery)
{
	notices__say_older(&delivery->notices, delivery->format);
	delivery->format = delivery->format->older;
	pending__set_format(&delivery->pending, delivery->format, keep, delivery);
}

/* Does the receiver not take the format of @message any more, but an older one? */
static bool is_outdated(const struct delivery *delivery, const struct message *message)
{
	return message->format->older && message->format->older == delivery->format;
}

static void take(struct delivery *delivery, struct message *message)
{
	count__add(&delivery->sent, message->samples);
	refusals__take(&delivery->refusals, message);
	/* It was converted because the newer format was refused. */
	if (message->format == delivery->format->older)
		send_older(delivery);
	backlog__done(&delivery->backlog, message);
}

/* Returns the message in the older format; NULL if that is not possible now, or never. */
static struct message *convert(struct delivery *delivery, struct message *message, uint64_t now_ns)
{
	const struct answer none = { .text = "it is damaged" };
	struct message *older;
	const int err = message__convert(message, &older);

	if (!err) {
		older->attempts = message->attempts;
		backlog__replace(&delivery->backlog, message, older, NULL);
		return older;
	}
	if (err == -EINVAL)
		refuse(delivery, message, NULL, &none, 0, now_ns);
	else
		delivery->again_ns = now_ns + READ_AGAIN_NS;
	return NULL;
}

static void end_attempts(struct delivery *delivery)
{
	delivery->attempts = 0;
	delivery->again_ns = 0;
	atomic_store(&delivery->is_failing, false);
	notices__end_outage(&delivery->notices, dropped_by(delivery));
}

/* In batches. */
static uint64_t waiting_messages(const struct delivery *delivery)
{
	const struct backlog *backlog = &delivery->backlog;
	uint64_t samples = delivery->pending.samples;

	if (backlog->spool)
		samples += spool__samples(backlog->spool);
	return backlog->waiting + samples / delivery->settings.batch + !!backlog->memory.first;
}

static void take_answer(struct delivery *delivery, struct message *message,
			struct answer *answer, uint64_t now_ns)
{
	const enum verdict verdict =
		format__judge(message->format, answer, delivery->may_be_older);

	backlog__again(&delivery->backlog, message);
	count__add(&delivery->requests, answer->is_one);
	if (verdict == VERDICT_AGAIN) {
		senders__fail(&delivery->senders);
		fail(delivery, answer, answer->text, now_ns);
		return;
	}
	if (senders__take(&delivery->senders, waiting_messages(delivery), now_ns))
		poster__ask(delivery->poster);
	message->attempts = 0;
	end_attempts(delivery);
	switch (verdict) {
	case VERDICT_DONE:
		take(delivery, message);
		break;
	case VERDICT_OLDER:
		/* 400 may be about the samples: then it comes again for the older format. */
		if (answer->status != 400 && message->format == delivery->format)
			send_older(delivery);
		convert(delivery, message, now_ns);
		break;
	case VERDICT_SMALLER:
		split(delivery, message, answer, now_ns);
		break;
	default:
		refuse_whole(delivery, message, answer, now_ns);
		break;
	}
}

/* A message that can be sent now, or NULL. */
static struct message *next_message(struct delivery *delivery, uint64_t now_ns)
{
	struct message *message;
	int err;

	message = backlog__next(&delivery->backlog, &err);
	if (err) {
		notices__say_unreadable(&delivery->notices, err);
		delivery->again_ns = now_ns + READ_AGAIN_NS;
	}
	/* It waited since before it was known. */
	if (message && is_outdated(delivery, message))
		message = convert(delivery, message, now_ns);
	return message;
}

/* May this controller push, by the list of the members of its shard? */
static bool is_valid(const struct delivery *delivery)
{
	return validity__holds(atomic_load(&delivery->validity));
}

/* While the receiver fails, a single message probes it. */
static bool may_begin(const struct delivery *delivery, uint64_t now_ns)
{
	const unsigned int under_way = delivery->backlog.under_way;

	return is_valid(delivery) && now_ns >= delivery->again_ns &&
	       under_way < (delivery->attempts ? 1 : delivery->senders.count);
}

static void begin(struct delivery *delivery, uint64_t now_ns)
{
	const struct answer none = {};
	struct message *message;
	struct dart_error error;
	unsigned int slot;

	for (slot = 0; slot < delivery->settings.senders; slot++) {
		if (!poster__is_free(delivery->poster, slot))
			continue;
		if (!may_begin(delivery, now_ns))
			return;
		message = next_message(delivery, now_ns);
		if (!message)
			return;
		if (message->attempts)
			count__add(&delivery->retries, 1);
		if (delivery->attempts)
			poster__forget(delivery->poster);
		backlog__begin(&delivery->backlog, message);
		if (poster__begin(delivery->poster, slot, message, &error)) {
			backlog__again(&delivery->backlog, message);
			senders__fail(&delivery->senders);
			fail(delivery, &none, error.text, now_ns);
		}
	}
}

static void force_spool(struct delivery *delivery, uint64_t now_ns)
{
	if (now_ns >= backlog__force_at_ns(&delivery->backlog))
		notices__take_force(&delivery->notices, backlog__force(&delivery->backlog));
}

static uint64_t sooner(uint64_t one_ns, uint64_t other_ns)
{
	return one_ns < other_ns ? one_ns : other_ns;
}

/* How long it may sleep until something is due. */
static int timeout_ms(struct delivery *delivery, uint64_t now_ns)
{
	uint64_t until_ns = now_ns + 60000000000ULL;

	if (delivery->pending.is_encoding)
		return 0;
	if (delivery->pending.first && has_room(delivery))
		until_ns = sooner(until_ns, delivery->pending.since_ns + linger_ns(delivery));
	if (!is_valid(delivery) && backlog__has_waiting(&delivery->backlog))
		until_ns = sooner(until_ns, now_ns + VALID_AGAIN_NS);
	if (delivery->again_ns && !delivery->backlog.under_way)
		until_ns = sooner(until_ns, delivery->again_ns);
	if (delivery->is_ending && !atomic_load(&delivery->rules.waits))
		until_ns = sooner(until_ns, delivery->end_ns);
	until_ns = sooner(until_ns, backlog__force_at_ns(&delivery->backlog));
	return until_ns <= now_ns ? 0 : (until_ns - now_ns) / 1000000 + 1;
}

static bool has_ended(const struct delivery *delivery, uint64_t now_ns)
{
	if (!delivery->is_ending || delivery->pending.is_encoding)
		return false;
	if (!delivery->backlog.window_count && !delivery->pending.first &&
	    !backlog__has_waiting(&delivery->backlog))
		return true;
	return now_ns >= delivery->end_ns && !atomic_load(&delivery->rules.waits);
}

static void summarize(struct delivery *delivery)
{
	struct backlog *backlog = &delivery->backlog;
	struct notices_sum sum;

	if (backlog->spool)
		backlog__keep(backlog);
	publish(delivery, monotonic_ns());
	sum = (struct notices_sum){
		.sent = count__of(&delivery->sent),
		.refused = count__of(&delivery->refused),
		.dropped = dropped_by(delivery) + atomic_load(&delivery->rules.limit.dropped),
		.unsent = delivery->pending.encoder.unsent,
		.older = atomic_load(&delivery->rules.older),
		.requests = count__of(&delivery->requests),
		.bytes = poster__bytes(delivery->poster),
		.left = backlog->samples,
	};
	notices__sum_up(&delivery->notices, &sum);
}

static void *run(void *data)
{
	struct delivery *delivery = data;
	struct message *message;
	struct answer answer;
	uint64_t now_ns;
	bool is_parallel;

	for (;;) {
		now_ns = monotonic_ns();
		take_blocks(delivery, now_ns);
		if (delivery->pending.is_encoding || is_time_to_encode(delivery, now_ns))
			encode(delivery, now_ns);
		begin(delivery, now_ns);
		force_spool(delivery, now_ns);
		publish(delivery, now_ns);
		if (has_ended(delivery, now_ns))
			break;
		message = poster__wait(delivery->poster, delivery->queue.wake,
				       timeout_ms(delivery, now_ns), &answer);
		now_ns = monotonic_ns();
		if (message)
			take_answer(delivery, message, &answer, now_ns);
		if (poster__take_question(delivery->poster, &is_parallel))
			senders__take_question(&delivery->senders, is_parallel, now_ns);
	}
	summarize(delivery);
	eventfd_write(delivery->ended_fd, 1);
	return NULL;
}

/* In any thread: its memory was counted when it was made. */
static void take_block(void *data, struct block *block)
{
	struct delivery *delivery = data;

	queue__put_always(&delivery->queue, &block->item, 0);
}

static int set_rules(struct delivery *delivery, struct dart_error *error)
{
	const struct receiver_settings *settings = &delivery->settings;
	const struct format *format = format__of(settings);
	struct series_rules *rules = &delivery->rules;

	if (!format)
		return dart_error__set(error, EINVAL, "there is no format '%s'", settings->format);
	rules->precision_ns = format->precision_ns;
	rules->has_markers = format->has_markers;
	series_rules__configure(rules, settings);
	rules->take = take_block;
	rules->data = delivery;
	pending__open(&delivery->pending, format, settings->batch, settings->senders,
		      &delivery->refusals);
	delivery->format = format;
	delivery->may_be_older = format->older && !settings->version;
	delivery->backlog.bound = settings->queue_bytes;
	senders__open(&delivery->senders, settings->senders);
	/* For the jitter: different in each process and for each output. */
	delivery->random = dart_random__of(monotonic_ns() ^ (uintptr_t)delivery);
	return 0;
}

static int open_spool(struct delivery *delivery, struct dart_error *error)
{
	const struct receiver_settings *settings = &delivery->settings;
	struct spool *spool;
	const int ret = spool__open(settings->spool, settings->spool_bytes,
				    settings->spool_sync_ns == RECEIVER_SYNC_ALWAYS, &spool, error);

	if (!ret)
		backlog__set_spool(&delivery->backlog, spool, settings->spool_sync_ns);
	return ret;
}

static int start(struct delivery *delivery, struct dart_error *error)
{
	const int ret = thread__start(&delivery->thread, "push", run, delivery);

	if (ret)
		return dart_error__system(error, -ret, "cannot start a thread");
	delivery->is_running = true;
	return 0;
}

int delivery__open(struct delivery *delivery, const struct receiver_settings *settings,
		   struct output *log, struct dart_error *error)
{
	const int queue_error = queue__open(&delivery->queue, SIZE_MAX);
	int ret;

	pthread_mutex_init(&delivery->rules.lock, NULL);
	pthread_cond_init(&delivery->rules.room_is_made, NULL);
	refusals__open(&delivery->refusals);
	notices__open(&delivery->notices, log);
	ended__open(&delivery->rules.ended);
	delivery->ended_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (queue_error || delivery->ended_fd < 0)
		return dart_error__system(error, errno, "cannot make an eventfd");
	if (receiver_settings__copy(&delivery->settings, settings))
		return dart_error__no_memory(error);
	ret = receiver_settings__complete(&delivery->settings, error);
	if (ret)
		return ret;
	delivery->name = receiver_settings__name(&delivery->settings);
	if (!delivery->name)
		return dart_error__no_memory(error);
	delivery->notices.name = delivery->name;
	delivery->notices.spool = delivery->settings.spool;
	ret = set_rules(delivery, error) ?:
		      poster__new(&delivery->settings, delivery->format, delivery->settings.senders,
				  &delivery->poster, error);
	if (!ret && delivery->settings.spool)
		ret = open_spool(delivery, error);
	return ret ?: start(delivery, error);
}

void delivery__set_waits(struct delivery *delivery, bool waits)
{
	const bool waited = atomic_load(&delivery->rules.waits);

	series_rules__set_waits(&delivery->rules, waits);
	if (waited && !waits)
		queue__put_always(&delivery->queue, &delivery->hurry, 0);
}

void delivery__end(struct delivery *delivery)
{
	queue__put_always(&delivery->queue, &delivery->end, 0);
}

void delivery__close(struct delivery *delivery)
{
	struct queue_item *item;

	if (delivery->is_running)
		pthread_join(delivery->thread, NULL);
	while ((item = queue__take(&delivery->queue))) {
		if (item != &delivery->end && item != &delivery->hurry)
			block__free(caa_container_of(item, struct block, item));
	}
	queue__close(&delivery->queue);
	if (delivery->ended_fd >= 0)
		close(delivery->ended_fd);
	series_rules__set_rewriter(&delivery->rules, NULL);
	ended__close(&delivery->rules.ended);
	pthread_cond_destroy(&delivery->rules.room_is_made);
	pthread_mutex_destroy(&delivery->rules.lock);
	notices__close(&delivery->notices);
	refusals__close(&delivery->refusals);
	poster__free(delivery->poster);
	backlog__clear(&delivery->backlog);
	pending__close(&delivery->pending);
	receiver_settings__clear(&delivery->settings);
	free(delivery->name);
}
