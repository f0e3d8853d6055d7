/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Asks the controller of this host, again and again, which list of members it uses and whether it
 * is about to end, over its control socket (tools/controller/status/status_server.h).  An answer
 * also shows that it runs; one that is frozen does not answer, and one that is dead refuses.
 */
#ifndef MEMBERS_QUESTION_H
#define MEMBERS_QUESTION_H

#include <systemd/sd-event.h>

#include "roster.h"

struct question {
	sd_event *event;
	const char *path;
	struct roster *roster;
	void (*answered)(void *data); /* the roster has news */
	void *data;
	uint64_t begun_ns;
	sd_event_source *source; /* owns the descriptor; NULL: nothing is asked */
	size_t length;
	char text[65536];
};

/* Zeroed before.  @path and @roster outlive it. */
void question__open(struct question *question, sd_event *event, const char *path,
		    struct roster *roster, void (*answered)(void *data), void *data);
void question__close(struct question *question);
/* Asks now, unless the last question is not answered yet. */
void question__ask(struct question *question, uint64_t now_ns);

#endif /* MEMBERS_QUESTION_H */
