// SPDX-License-Identifier: GPL-2.0-only
/* Messages that wait: see backlog.h. */
#include "backlog.h"

#include <stdlib.h>

#include "tools/controller/base/schedule.h"
#include "tools/controller/settings/receiver_settings.h"

static uint64_t cost_of(const struct message *message)
{
	return sizeof(*message) + message->length;
}

static void append(struct message_list *list, struct message *message)
{
	message->next = NULL;
	if (list->first)
		list->last->next = message;
	else
		list->first = message;
	list->last = message;
}

static struct message *take_first(struct message_list *list)
{
	struct message *message = list->first;

	if (message)
		list->first = message->next;
	return message;
}

/* The contents and losses of the spool, which its functions change. */
struct spool_state {
	uint64_t samples;
	uint64_t dropped;
	uint64_t damaged;
	uint64_t damaged_bytes;
};

static struct spool_state state_of(const struct spool *spool)
{
	return (struct spool_state){
		.samples = spool__samples(spool),
		.dropped = spool__dropped(spool),
		.damaged = spool__damaged_samples(spool),
		.damaged_bytes = spool__damaged(spool),
	};
}

static void count_changes(struct backlog *backlog, const struct spool_state *before)
{
	const struct spool_state now = state_of(backlog->spool);

	backlog->samples += now.samples - before->samples;
	backlog->dropped += now.dropped - before->dropped;
	backlog->damaged += now.damaged - before->damaged;
	backlog->damaged_bytes += now.damaged_bytes - before->damaged_bytes;
}

void backlog__set_spool(struct backlog *backlog, struct spool *spool, uint64_t sync_ns)
{
	const struct spool_state none = {};

	backlog->spool = spool;
	backlog->sync_ns = sync_ns;
	count_changes(backlog, &none);
}

static int add_to_spool(struct backlog *backlog, const struct message *message)
{
	const struct spool_state before = state_of(backlog->spool);
	const int ret = spool__add(backlog->spool, message);

	count_changes(backlog, &before);
	return ret;
}

static void drop_first(struct backlog *backlog)
{
	struct message *message = take_first(&backlog->memory);

	backlog->bytes -= cost_of(message);
	backlog->samples -= message->samples;
	backlog->dropped += message->samples;
	if (backlog->spool)
		backlog->failed += message->samples;
	free(message);
}

static void add_to_memory(struct backlog *backlog, struct message *message)
{
	while (backlog->memory.first && backlog->bytes + cost_of(message) > backlog->bound)
		drop_first(backlog);
	append(&backlog->memory, message);
	backlog->bytes += cost_of(message);
	backlog->samples += message->samples;
}

/* Messages that wait in memory, because the spool could not be written to, go first. */
static int move_to_spool(struct backlog *backlog)
{
	struct message *message;
	int ret;

	while ((message = backlog->memory.first)) {
		ret = add_to_spool(backlog, message);
		if (ret)
			return ret;
		take_first(&backlog->memory);
		backlog->bytes -= cost_of(message);
		backlog->samples -= message->samples;
		free(message);
	}
	return 0;
}

int backlog__add(struct backlog *backlog, struct message *message)
{
	int ret = 0;

	if (backlog->spool) {
		ret = move_to_spool(backlog) ?: add_to_spool(backlog, message);
		if (!ret) {
			free(message);
			return 0;
		}
	}
	add_to_memory(backlog, message);
	return ret;
}

/* Moves the next message into the window.  False at the end of the backlog, or with @err. */
static bool fill(struct backlog *backlog, int *err)
{
	struct message *message = NULL;
	struct spool_state before;

	if (backlog->spool) {
		before = state_of(backlog->spool);
		*err = spool__read(backlog->spool, &message);
		count_changes(backlog, &before);
		if (*err)
			return false;
	}
	if (message) {
		backlog->bytes += cost_of(message);
		backlog->samples += message->samples;
	} else {
		message = take_first(&backlog->memory);
	}
	if (!message)
		return false;
	append(&backlog->window, message);
	backlog->window_count++;
	backlog->waiting++;
	return true;
}

/* Without a message in the window there is room for any: its bytes count, too. */
static bool has_room(const struct backlog *backlog)
{
	return !backlog->window_count || (backlog->window_count < BACKLOG_WINDOW &&
					  (!backlog->spool || backlog->bytes < backlog->bound));
}

struct message *backlog__next(struct backlog *backlog, int *err)
{
	struct message *message = backlog->window.first;
	unsigned int busy = 0;

	*err = 0;
	while (busy != MESSAGE_SHARDS_ALL) {
		if (!message) {
			if (!has_room(backlog) || !fill(backlog, err))
				return NULL;
			message = backlog->window.last;
		}
		if (message->state == MESSAGE_WAITING && !(message->shards & busy))
			return message;
		if (message->state != MESSAGE_DONE)
			busy |= message->shards;
		message = message->next;
	}
	return NULL;
}

const struct message *backlog__oldest(const struct backlog *backlog)
{
	return backlog->window.first ?: backlog->memory.first;
}

bool backlog__has_waiting(const struct backlog *backlog)
{
	return backlog->waiting || backlog->memory.first ||
	       (backlog->spool && spool__samples(backlog->spool));
}

void backlog__begin(struct backlog *backlog, struct message *message)
{
	message->state = MESSAGE_UNDER_WAY;
	backlog->waiting--;
	backlog->under_way++;
}

void backlog__again(struct backlog *backlog, struct message *message)
{
	message->state = MESSAGE_WAITING;
	message->attempts++;
	backlog->waiting++;
	backlog->under_way--;
}

/* Forgets messages of the spool up to the first one that is not done. */
static void advance(struct backlog *backlog)
{
	struct spool_state before;
	struct message *message;

	while ((message = backlog->window.first) && message->state == MESSAGE_DONE) {
		if (message->end) {
			before = state_of(backlog->spool);
			spool__advance(backlog->spool, message);
			count_changes(backlog, &before);
		}
		take_first(&backlog->window);
		backlog->window_count--;
		backlog->bytes -= cost_of(message);
		free(message);
	}
}

void backlog__done(struct backlog *backlog, struct message *message)
{
	if (message->state == MESSAGE_UNDER_WAY)
		backlog->under_way--;
	else
		backlog->waiting--;
	message->state = MESSAGE_DONE;
	backlog->samples -= message->samples;
	advance(backlog);
}

void backlog__replace(struct backlog *backlog, struct message *before, struct message *first,
		      struct message *second)
{
	struct message *const last = second ?: first;
	struct message **at = &backlog->window.first;

	while (*at != before)
		at = &(*at)->next;
	*at = first;
	first->next = second;
	last->next = before->next;
	if (backlog->window.last == before)
		backlog->window.last = last;
	/* The spool forgets the message when both are done. */
	first->segment = last->segment = before->segment;
	last->end = before->end;
	message__inherit(first, before);
	message__inherit(last, before);
	first->is_piece = last->is_piece = second || before->is_piece;
	backlog->bytes += cost_of(first) - cost_of(before);
	backlog->samples += first->samples;
	backlog->samples -= before->samples;
	if (second) {
		backlog->bytes += cost_of(second);
		backlog->samples += second->samples;
		backlog->window_count++;
		backlog->waiting++;
	}
	free(before);
}

bool backlog__is_half_full(const struct backlog *backlog)
{
	return backlog->bytes >= backlog->bound / 2 ||
	       (backlog->spool && spool__bytes(backlog->spool) >= spool__bound(backlog->spool) / 2);
}

uint64_t backlog__force_at_ns(const struct backlog *backlog)
{
	if (!backlog->spool || backlog->sync_ns == RECEIVER_SYNC_NEVER ||
	    backlog->sync_ns == RECEIVER_SYNC_ALWAYS || !spool__is_loose(backlog->spool))
		return UINT64_MAX;
	return backlog->forced_ns + backlog->sync_ns;
}

int backlog__force(struct backlog *backlog)
{
	const int ret = spool__force(backlog->spool);

	backlog->forced_ns = monotonic_ns();
	return ret;
}

void backlog__keep(struct backlog *backlog)
{
	struct message *message;

	move_to_spool(backlog);
	while (backlog->memory.first)
		drop_first(backlog);
	for (message = backlog->window.first; message; message = message->next) {
		if (message->state == MESSAGE_DONE ||
		    (message->segment && message->segment >= spool__oldest(backlog->spool)))
			continue;
		backlog->samples -= message->samples;
		backlog->dropped += message->samples;
		backlog->failed += message->samples;
	}
}

static void free_list(struct message_list *list)
{
	struct message *message;

	while ((message = take_first(list)))
		free(message);
}

void backlog__clear(struct backlog *backlog)
{
	free_list(&backlog->window);
	free_list(&backlog->memory);
	spool__close(backlog->spool);
	*backlog = (struct backlog){};
}
