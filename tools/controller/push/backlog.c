// SPDX-License-Identifier: GPL-2.0-only
/* Messages that wait: see backlog.h. */
#include "backlog.h"

#include <stdlib.h>

static uint64_t cost_of(const struct message *message)
{
	return sizeof(*message) + message->length;
}

static void drop_first(struct backlog *backlog)
{
	struct message *message = backlog->first;

	backlog->first = message->next;
	backlog->bytes -= cost_of(message);
	backlog->samples -= message->samples;
	backlog->dropped += message->samples;
	free(message);
}

static int add_to_spool(struct backlog *backlog, struct message *message)
{
	struct spool *spool = backlog->spool;
	const uint64_t dropped = spool__dropped(spool);
	const int ret = spool__add(spool, message);

	if (ret) {
		backlog->dropped += message->samples;
		backlog->failed += message->samples;
	}
	backlog->dropped += spool__dropped(spool) - dropped;
	backlog->samples = spool__samples(spool);
	free(message);
	return ret;
}

int backlog__add(struct backlog *backlog, struct message *message)
{
	if (backlog->spool)
		return add_to_spool(backlog, message);
	while (backlog->first &&
	       backlog->bytes + cost_of(message) > backlog->bound)
		drop_first(backlog);
	message->next = NULL;
	if (backlog->first)
		backlog->last->next = message;
	else
		backlog->first = message;
	backlog->last = message;
	backlog->bytes += cost_of(message);
	backlog->samples += message->samples;
	return 0;
}

struct message *backlog__current(struct backlog *backlog, int *err)
{
	uint64_t dropped;

	*err = 0;
	if (backlog->current)
		return backlog->current;
	if (backlog->spool) {
		dropped = spool__dropped(backlog->spool);
		*err = spool__read(backlog->spool, &backlog->current);
		/* What was damaged. */
		backlog->dropped += spool__dropped(backlog->spool) - dropped;
		backlog->samples = spool__samples(backlog->spool);
		return backlog->current;
	}
	if (backlog->first) {
		backlog->current = backlog->first;
		backlog->first = backlog->first->next;
	}
	return backlog->current;
}

const struct message *backlog__oldest(const struct backlog *backlog)
{
	return backlog->current ?: backlog->first;
}

void backlog__replace(struct backlog *backlog, struct message *message)
{
	struct message *before = backlog->current;

	if (!backlog->spool)
		backlog->bytes += cost_of(message) - cost_of(before);
	backlog->current = message;
	free(before);
}

void backlog__done(struct backlog *backlog)
{
	struct message *message = backlog->current;

	backlog->current = NULL;
	if (backlog->spool) {
		spool__advance(backlog->spool);
		backlog->samples = spool__samples(backlog->spool);
	} else {
		backlog->bytes -= cost_of(message);
		backlog->samples -= message->samples;
	}
	free(message);
}

void backlog__clear(struct backlog *backlog)
{
	struct message *message;

	free(backlog->current);
	while ((message = backlog->first)) {
		backlog->first = message->next;
		free(message);
	}
	spool__close(backlog->spool);
	*backlog = (struct backlog){};
}
