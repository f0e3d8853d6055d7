// SPDX-License-Identifier: GPL-2.0-only
/* dartctl store export --watch and table export --watch, see export_watch.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/clock.h>
#include <libdart/json.h>

#include "client.h"
#include "export_watch.h"
#include "file.h"
#include "message.h"
#include "tools/watch/path_watch.h"

#define BUSY_MS	1000	/* pause if dartd has too many clients */
/* pause after dartd could not mend a part: a try can keep it busy for a second */
#define MEND_MS	10000

struct session {
	const struct export_watch *watch;
	struct path_watch socket;
	struct dart_registration_client changes; /* with a request "monitor" */
	bool is_connected;
	char *written;		/* the contents of the file, NULL at first */
	struct dart_error error, said;
	bool is_hurt;		/* dartd could not mend a part */
	struct dart_error hurt;
	int64_t mend_at;	/* earliest time of the next try: ms of CLOCK_MONOTONIC */
};

/* Prints the error unless it was the last one printed; a success in between forgets it. */
static void session__say(struct session *session, const char *state, const struct dart_error *error)
{
	if (!strcmp(error->text, session->said.text))
		return;
	session->said = *error;
	fail(EAGAIN, "'%s' %s: %s", session->watch->path, state, error->text);
	fflush(stdout);
}

/* Can the failure pass without a change on the command line: by dartd, or by a change in it? */
static bool may_pass(int ret)
{
	switch (ret) {
	case -ENOENT:
	case -ENODATA:
	case -EUSERS:
	case -ECONNREFUSED:
	case -ECONNRESET:
	case -EPIPE:
		return true;
	default:
		return false;
	}
}

int export_watch__ask(struct dart_registration_client *client, const char *type, const char *name,
		      json_t **reply, struct dart_error *error)
{
	json_t *request = json_pack("{s:s, s:s*}", "request", type, "name", name);
	int ret;

	*reply = NULL;
	if (!request)
		return dart_error__no_memory(error);
	ret = dart_registration_client__ask(client, request, -1, reply, NULL, error);
	json_decref(request);
	if (ret && *reply)
		version__explain(*reply, error);
	return ret;
}

static void session__disconnect(struct session *session)
{
	if (session->is_connected)
		dart_registration_client__close(&session->changes);
	session->is_connected = false;
}

/* Subscribes to changes before the first export, so that none is missed. */
static int session__connect(struct session *session)
{
	json_t *reply;
	int ret;

	if (session->is_connected)
		return 0;
	ret = dart_registration_client__open(&session->changes, session->watch->options->socket,
					     &session->error);
	if (ret)
		return ret;
	session->is_connected = true;
	ret = export_watch__ask(&session->changes, "monitor", NULL, &reply, &session->error);
	json_decref(reply);
	return ret;
}

/* Writes the file if @json differs from it. */
static int session__write(struct session *session, json_t *json)
{
	const char *path = session->watch->path;
	char *text = dart_json__print(json, JSON_INDENT(1) | JSON_ENSURE_ASCII);
	int ret = 0;

	if (!text)
		return dart_error__no_memory(&session->error);
	if (!session->written || strcmp(text, session->written)) {
		ret = file__replace(path, text, &session->error);
		if (ret) {
			free(text);
			return ret;
		}
	}
	if (!session->written)
		tell_manager("%s follows %s %s", path, session->watch->kind->object,
			     session->watch->name);
	free(session->written);
	session->written = text;
	if (session->is_hurt)
		session__say(session, "is up to date, but not of use to all", &session->hurt);
	else
		session->said.text[0] = '\0';
	return 0;
}

/* A part that cannot be mended does not keep this process from writing the file. */
static int session__mend(struct session *session, struct dart_registration_client *client)
{
	const struct export_watch *watch = session->watch;
	int ret;

	if (!watch->kind->mend || session->mend_at > dart_clock__ms(CLOCK_MONOTONIC))
		return 0;
	ret = watch->kind->mend(client, watch->name, &session->error);
	if (may_pass(ret))
		return ret;
	session->is_hurt = ret;
	if (ret) {
		session->hurt = session->error;
		session->mend_at = dart_clock__ms(CLOCK_MONOTONIC) + MEND_MS;
	}
	return 0;
}

/* *@is_final: no change of dartd can mend the failure. */
static int session__export(struct session *session, bool *is_final)
{
	const struct export_watch *watch = session->watch;
	const struct export_kind *kind = watch->kind;
	struct dart_registration_client client;
	json_t *reply = NULL, *file;
	int ret;

	ret = dart_registration_client__open(&client, watch->options->socket, &session->error);
	if (ret)
		return ret;
	ret = session__mend(session, &client) ?:
	      export_watch__ask(&client, kind->request, watch->name, &reply,
				&session->error);
	dart_registration_client__close(&client);
	if (ret) {
		json_decref(reply);
		return ret;
	}
	file = watch->make(json_object_get(reply, kind->member), watch->argument);
	ret = file ? 0 : -errno;
	json_decref(reply);
	if (ret == -ENODATA)
		return dart_error__set(&session->error, ENODATA, "%s '%s' has no such %ss (see %s)",
				       kind->object, watch->name, kind->part, kind->remedy);
	if (ret)
		return dart_error__no_memory(&session->error);
	ret = session__write(session, file);
	*is_final = ret;
	json_decref(file);
	return ret;
}

/* Is this line of "monitor" about the object or one of its parts? */
static bool concerns(const json_t *change, const struct export_watch *watch)
{
	const char *object = "", *name = "", *its;

	json_unpack((json_t *)change, "{s:s, s:s}", "object", &object, "name", &name);
	if (strcmp(object, watch->kind->part))
		return !strcmp(object, watch->kind->object) && !strcmp(name, watch->name);
	its = json_string_value(json_object_get(change, watch->kind->object));
	return !its || !strcmp(its, watch->name);
}

/* Reads all changes that have arrived; sets *@has_changed if one concerns the object. */
static int session__receive(struct session *session, bool *has_changed)
{
	struct dart_registration_client *changes = &session->changes;
	json_t *change;
	int ret;

	do {
		ret = dart_registration_client__next(changes, &change, &session->error);
		if (ret)
			return ret;
		*has_changed |= concerns(change, session->watch);
		json_decref(change);
	} while (changes->length && memchr(changes->bytes, '\n', changes->length));
	return 0;
}

/* Sleeps until the file may need to be written again. */
static void session__wait(struct session *session, int ret)
{
	const int period = session->watch->kind->period_ms;
	int fd, ms = ret == -EUSERS ? BUSY_MS : ret ? -1 : period;
	bool has_changed = false;

	while (!has_changed) {
		fd = session->is_connected ? session->changes.socket : -1;
		if (path_watch__wait(&session->socket, fd, ms) != PATH_WATCH_READABLE)
			return;
		if (session__receive(session, &has_changed)) {
			session__disconnect(session);
			return;
		}
	}
}

static bool is_lost(int ret)
{
	return ret == -ECONNREFUSED || ret == -ECONNRESET || ret == -EPIPE || ret == -EUSERS;
}

static int session__run(struct session *session)
{
	bool is_final = false;
	int ret;

	for (;;) {
		ret = path_watch__arm(&session->socket, &session->error);
		if (ret)
			return ret;
		ret = session__connect(session);
		if (ret)
			session__disconnect(session);
		else
			ret = session__export(session, &is_final);
		if (is_final || (ret && !may_pass(ret)))
			return ret;
		if (ret)
			session__say(session, "waits", &session->error);
		if (is_lost(ret))
			session__disconnect(session);
		session__wait(session, ret);
	}
}

int export_watch__run(const struct export_watch *watch)
{
	struct session session = { .watch = watch };
	int ret;

	ret = path_watch__open(&session.socket, &watch->options->socket, 1, &session.error);
	if (!ret) {
		ret = session__run(&session);
		session__disconnect(&session);
		path_watch__close(&session.socket);
	}
	free(session.written);
	return fail(-ret, "cannot keep '%s' up to date: %s", watch->path, session.error.text);
}
