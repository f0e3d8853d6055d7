// SPDX-License-Identifier: GPL-2.0-only
/* Asks the controller of this host: see question.h. */
#include "question.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const char request[] = "shard\n";

void question__open(struct question *question, sd_event *event, const char *path,
		    struct roster *roster, void (*answered)(void *data), void *data)
{
	question->event = event;
	question->path = path;
	question->roster = roster;
	question->answered = answered;
	question->data = data;
}

void question__close(struct question *question)
{
	question->source = sd_event_source_disable_unref(question->source);
}

/* A controller without a shard, or an earlier one, is alive; nobody knows that it starts. */
static enum roster_stage stage_of(const json_t *shard)
{
	if (json_is_true(json_object_get(shard, "is_leaving")))
		return ROSTER_LEAVES;
	return json_is_false(json_object_get(shard, "is_ready")) ? ROSTER_STARTS : ROSTER_RUNS;
}

static bool is_named(const json_t *shard)
{
	const json_t *own = json_object_get(shard, "member"), *member;
	size_t i;

	if (!json_is_true(json_object_get(shard, "is_valid")))
		return false;
	json_array_foreach(json_object_get(shard, "list"), i, member)
		if (json_equal(member, own))
			return true;
	return false;
}

/* Of a controller that does not tell, or tells nonsense: none. */
static struct portion_set unreached_of(const json_t *shard)
{
	const char *text = json_string_value(json_object_get(shard, "unreached"));
	struct portion_set portions = {};

	portion_set__parse(text ?: "", &portions);
	return portions;
}

static void question__take(struct question *question)
{
	json_t *root = json_loadb(question->text, question->length, 0, NULL);
	const json_t *shard = json_object_get(root, "shard");
	const json_int_t version = json_integer_value(json_object_get(shard, "version"));
	const struct roster_answer answer = {
		.begun_ns = question->begun_ns,
		.used = version > 0 ? version : 0,
		.stage = stage_of(shard),
		.is_named = is_named(shard),
		.unreached = unreached_of(shard),
	};

	if (json_is_object(root))
		roster__hear(question->roster, &answer);
	json_decref(root);
	question->answered(question->data);
}

static int on_answer(sd_event_source *source, int fd, uint32_t events, void *data)
{
	struct question *question = data;
	const size_t room = sizeof(question->text) - question->length;
	const ssize_t got = room ? recv(fd, question->text + question->length, room, 0) : -1;

	if (got < 0 && room && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (got > 0) {
		question->length += got;
		return 0;
	}
	question__close(question);
	/* A server with too many clients, or a process that died, closes without an answer. */
	if (!got && question->length)
		question__take(question);
	return 0;
}

/* Returns a descriptor, or -errno. */
static int question__connect(const struct question *question)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err;

	if (fd < 0)
		return -errno;
	strncpy(address.sun_path, question->path, sizeof(address.sun_path) - 1);
	if (!connect(fd, (const struct sockaddr *)&address, sizeof(address)) &&
	    send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL) == sizeof(request) - 1)
		return fd;
	err = -errno;
	close(fd);
	return err;
}

void question__ask(struct question *question, uint64_t now_ns)
{
	int fd;

	if (question->source)
		return;
	question->begun_ns = now_ns;
	question->length = 0;
	fd = question__connect(question);
	if (fd < 0) {
		/* EAGAIN: it is there, but does not accept. */
		if (fd == -ECONNREFUSED || fd == -ENOENT)
			roster__lose_controller(question->roster);
		return;
	}
	if (sd_event_add_io(question->event, &question->source, fd, EPOLLIN, on_answer, question) <
	    0)
		close(fd);
	else
		sd_event_source_set_io_fd_own(question->source, true);
}
