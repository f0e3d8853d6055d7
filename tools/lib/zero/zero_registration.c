// SPDX-License-Identifier: LGPL-2.1-or-later
/* Hands the memory and its descriptions to each dartd that appears. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <dart/registration.h>

#include "zero_internal.h"

#define EVENTS (IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)
/* Bytes of a reply that are looked at: its results come first. */
#define REPLY_ROOM 4096
/* A dartd that does not answer gets the same request again later. */
#define ANSWER_S 5
#define DELAY_MIN_MS 100
#define DELAY_MAX_MS 10000
#define LOOK_MS 1000 /* between two looks for dartd without a watch */
/* dartd may notice the end of the last process with the same names so much later. */
#define NAME_DELAY_MAX_MS 1000

/* Members that only the thread uses. */
struct registrar {
	struct dart_zero *zero;
	int watch; /* of the deepest directory on the way to the socket; -1: no event comes */
	int64_t retry_ms; /* no request before; 0: now, INT64_MAX: after an event */
	int delay_ms;
	/* The socket of the dartd that was seen last. */
	dev_t device;
	ino_t inode;
	bool lacks_short; /* this dartd refuses short forms: it is older */
	/* Of the object that this connection registered last, or NULL. */
	const struct dart_zero_type *last;
};

/* A reply of dartd, or that there is none. */
struct answer {
	int ret;
	int fd; /* came with it, or -1 */
	char text[REPLY_ROOM];
};

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void dart_zero__move(struct dart_zero *zero, struct dart_zero_object *object,
		     enum dart_zero_state state)
{
	TAILQ_REMOVE(&zero->lists[object->state], object, link);
	zero->counts[object->state]--;
	object->state = state;
	TAILQ_INSERT_TAIL(&zero->lists[state], object, link);
	zero->counts[state]++;
}

void dart_zero__drop(struct dart_zero *state, struct dart_zero_object *object)
{
	TAILQ_REMOVE(&state->lists[object->state], object, link);
	state->counts[object->state]--;
	state->by_unit[(object->offset - state->variable_bytes) / DART_ZERO_UNIT] = NULL;
	free(object);
}

/* ---- requests and replies */

/* Sends the request, with @fd at its first byte unless it is a short form. */
static int send_request(int connection, const struct dart_zero_question *question, int fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .header = {
			      .cmsg_len = CMSG_LEN(sizeof(int)),
			      .cmsg_level = SOL_SOCKET,
			      .cmsg_type = SCM_RIGHTS,
		      } };
	struct iovec bytes = { question->text, question->length };
	struct msghdr message = {
		.msg_iov = &bytes,
		.msg_iovlen = 1,
		.msg_control = question->is_short ? NULL : &control,
		.msg_controllen = question->is_short ? 0 : CMSG_SPACE(sizeof(int)),
	};
	ssize_t sent;

	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	while (bytes.iov_len) {
		sent = sendmsg(connection, &message, MSG_NOSIGNAL);
		if (sent < 0)
			return -errno;
		bytes.iov_base = (char *)bytes.iov_base + sent;
		bytes.iov_len -= sent;
		message.msg_control = NULL;
		message.msg_controllen = 0;
	}
	return 0;
}

/* Takes the descriptor out of @message, -1 if there is none. */
static int fd_of(struct msghdr *message)
{
	struct cmsghdr *part = CMSG_FIRSTHDR(message);
	int fd;

	if (!part || part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS ||
	    part->cmsg_len < CMSG_LEN(sizeof(fd)))
		return -1;
	memcpy(&fd, CMSG_DATA(part), sizeof(fd));
	return fd;
}

static bool is_ending(struct dart_zero *zero)
{
	bool is_ending;

	pthread_mutex_lock(&zero->lock);
	is_ending = zero->is_ending;
	pthread_mutex_unlock(&zero->lock);
	return is_ending;
}

/* Waits for bytes of a reply.  -ECANCELED: the thread shall end, which waits for no dartd. */
static int await_bytes(struct dart_zero *zero)
{
	struct pollfd events[] = {
		{ .fd = zero->connection, .events = POLLIN },
		{ .fd = zero->wake, .events = POLLIN },
	};
	const int64_t end = now_ms() + ANSWER_S * 1000;
	eventfd_t value;

	while (!is_ending(zero)) {
		if (poll(events, 2, end > now_ms() ? end - now_ms() : 0) <= 0)
			return -ETIMEDOUT;
		if (events[0].revents)
			return 0;
		/* The lists are looked at after the reply. */
		eventfd_read(zero->wake, &value);
	}
	return -ECANCELED;
}

/* Receives a line; bytes after REPLY_ROOM - 1 are dropped. */
static int receive_reply(struct dart_zero *zero, struct answer *answer)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	size_t length = 0;
	char last = 0;
	ssize_t got;
	int ret;

	do {
		char more[512];
		struct iovec bytes = { more, sizeof(more) };
		struct msghdr message = {
			.msg_iov = &bytes,
			.msg_iovlen = 1,
			.msg_control = &control,
			.msg_controllen = sizeof(control),
		};
		size_t fits = sizeof(answer->text) - 1 - length;

		ret = await_bytes(zero);
		if (ret)
			return ret;
		got = recvmsg(zero->connection, &message, MSG_CMSG_CLOEXEC);
		if (got <= 0)
			return got ? -errno : -ECONNRESET;
		if (answer->fd < 0)
			answer->fd = fd_of(&message);
		fits = (size_t)got < fits ? (size_t)got : fits;
		memcpy(answer->text + length, more, fits);
		length += fits;
		last = more[got - 1];
	} while (last != '\n');
	answer->text[length] = '\0';
	return 0;
}

/* The text after a member's name and colon in a reply; NULL if it lacks the member. */
static const char *member(const char *reply, const char *name)
{
	char key[32];
	const char *found;

	snprintf(key, sizeof(key), "\"%s\":", name);
	found = strstr(reply, key);
	return found ? found + strlen(key) + strspn(found + strlen(key), " ") : NULL;
}

static bool says(const char *reply, const char *name, const char *value)
{
	const char *found = member(reply, name);

	return found && !strncmp(found, value, strlen(value));
}

/* ---- the connection */

static void disconnect(struct registrar *registrar)
{
	if (registrar->zero->connection >= 0)
		close(registrar->zero->connection);
	registrar->zero->connection = -1;
	registrar->last = NULL;
}

static int connect_dartd(struct registrar *registrar)
{
	const struct timeval most = { .tv_sec = ANSWER_S };
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (registrar->zero->connection >= 0)
		return 0;
	if (strlen(registrar->zero->socket) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, registrar->zero->socket);
	registrar->zero->connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (registrar->zero->connection < 0)
		return -errno;
	setsockopt(registrar->zero->connection, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof(most));
	if (!connect(registrar->zero->connection, (const struct sockaddr *)&address,
		     sizeof(address)))
		return 0;
	return -errno;
}

static void ask(struct registrar *registrar, int fd, const struct dart_zero_question *question,
		struct answer *answer)
{
	answer->fd = -1;
	answer->text[0] = '\0';
	answer->ret = connect_dartd(registrar);
	if (!answer->ret)
		answer->ret = send_request(registrar->zero->connection, question, fd);
	if (!answer->ret)
		answer->ret = receive_reply(registrar->zero, answer);
}

/* True if no dartd can have received a request that failed so. */
static bool has_no_listener(int ret)
{
	return ret == -ENOENT || ret == -ENOTDIR || ret == -ECONNREFUSED || ret == -EACCES;
}

/* No answer: waits for an event if no dartd listens, or a while that grows. */
static void fail(struct registrar *registrar, int ret)
{
	struct dart_zero *zero = registrar->zero;

	disconnect(registrar);
	snprintf(zero->reason, sizeof(zero->reason), "cannot reach dartd at %.64s: %.96s",
		 zero->socket, strerror(-ret));
	if (has_no_listener(ret)) {
		registrar->retry_ms = INT64_MAX;
		return;
	}
	registrar->retry_ms = now_ms() + registrar->delay_ms;
	if (registrar->delay_ms < DELAY_MAX_MS)
		registrar->delay_ms *= 2;
}

static void keep_reason(struct dart_zero *zero, const struct dart_zero_object *object,
			const char *reply)
{
	const char *message = member(reply, "message");
	const int length = message && *message == '"' ? (int)strcspn(message + 1, "\"") : 0;

	snprintf(zero->reason, sizeof(zero->reason), "%.64s: %.*s", object->name,
		 length < 180 ? length : 180, length ? message + 1 : "");
}

/* Asks for @object again after a while that grows. */
static void ask_later(struct registrar *registrar, const struct dart_zero_object *object,
		      const struct answer *answer)
{
	keep_reason(registrar->zero, object, answer->text);
	disconnect(registrar);
	registrar->retry_ms = now_ms() + registrar->delay_ms;
	if (registrar->delay_ms < DELAY_MAX_MS)
		registrar->delay_ms *= 2;
}

/* True if another entry has the name, and @object is to be asked for again, or by another name. */
static bool can_wait_for_name(struct registrar *registrar, struct dart_zero_object *object,
			      const struct answer *answer)
{
	if (object->state != ZERO_WAITING || !says(answer->text, "error", "\"EEXIST\""))
		return false;
	if (registrar->delay_ms < NAME_DELAY_MAX_MS) {
		ask_later(registrar, object, answer);
		return true;
	}
	if (!registrar->zero->other_suffix || object->is_renamed)
		return false;
	object->is_renamed = true;
	return true;
}

/* With the lock held: the program may have freed @object meanwhile. */
static void take_answer(struct registrar *registrar, struct dart_zero_object *object,
			bool was_leaving, const struct answer *answer)
{
	struct dart_zero *zero = registrar->zero;
	const bool is_ok = says(answer->text, "ok", "true");
	const char *lease_ms = member(answer->text, "lease_ms");

	if (says(answer->text, "error", "\"EBUSY\"") || says(answer->text, "error", "\"EUSERS\"")) {
		ask_later(registrar, object, answer);
		return;
	}
	if (!was_leaving && can_wait_for_name(registrar, object, answer))
		return;
	registrar->delay_ms = DELAY_MIN_MS;
	if (was_leaving) {
		object->until_ms = now_ms() + (is_ok && lease_ms ? atoll(lease_ms) : 0);
		dart_zero__move(zero, object, ZERO_LEASED);
		return;
	}
	if (is_ok && answer->fd >= 0) {
		if (zero->proof >= 0)
			close(zero->proof);
		zero->proof = answer->fd;
	}
	if (!is_ok)
		keep_reason(zero, object, answer->text);
	if (object->state == ZERO_WAITING)
		dart_zero__move(zero, object, is_ok ? ZERO_REGISTERED : ZERO_REFUSED);
	else if (!is_ok)
		dart_zero__move(zero, object, ZERO_LEASED);
}

/* ---- events */

/* Watches the deepest directory on the way to the socket that exists, unless it is unreadable. */
static void place_watch(struct registrar *registrar)
{
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)], *slash;
	struct dart_zero *zero = registrar->zero;
	int watch, before;

	if (zero->inotify < 0)
		zero->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	/* A second look finds a directory that was created before its parent was watched. */
	do {
		before = registrar->watch;
		snprintf(path, sizeof(path), "%s", zero->socket);
		do {
			slash = strrchr(path, '/');
			if (!slash)
				return;
			*slash = '\0';
			watch = inotify_add_watch(zero->inotify, *path ? path : "/", EVENTS);
		} while (watch < 0 && *path && (errno == ENOENT || errno == ENOTDIR));
		if (before >= 0 && before != watch)
			inotify_rm_watch(zero->inotify, before);
		registrar->watch = watch;
	} while (watch != before);
}

/* Another dartd listens if the socket is another file: it may know none of the entries. */
static void look_for_dartd(struct registrar *registrar)
{
	struct dart_zero *zero = registrar->zero;
	struct stat status;

	place_watch(registrar);
	if (stat(zero->socket, &status))
		return;
	registrar->retry_ms = 0;
	if (status.st_dev == registrar->device && status.st_ino == registrar->inode)
		return;
	registrar->device = status.st_dev;
	registrar->inode = status.st_ino;
	registrar->delay_ms = DELAY_MIN_MS;
	registrar->lacks_short = false;
	disconnect(registrar);
	while (!TAILQ_EMPTY(&zero->lists[ZERO_REGISTERED]))
		dart_zero__move(zero, TAILQ_FIRST(&zero->lists[ZERO_REGISTERED]), ZERO_WAITING);
	while (!TAILQ_EMPTY(&zero->lists[ZERO_REFUSED]))
		dart_zero__move(zero, TAILQ_FIRST(&zero->lists[ZERO_REFUSED]), ZERO_WAITING);
}

/* Frees the objects that no controller reads any more. */
static void end_leases(struct dart_zero *zero)
{
	struct dart_zero_object *object;

	while ((object = TAILQ_FIRST(&zero->lists[ZERO_LEASED])) && object->until_ms <= now_ms())
		dart_zero__drop(zero, object);
}

static struct dart_zero_object *next_object(const struct dart_zero *zero)
{
	struct dart_zero_object *leaving = TAILQ_FIRST(&zero->lists[ZERO_LEAVING]);

	return leaving ? leaving : TAILQ_FIRST(&zero->lists[ZERO_WAITING]);
}

/* Milliseconds until something is due, or -1. */
static int until_due(const struct registrar *registrar)
{
	const struct dart_zero *zero = registrar->zero;
	const struct dart_zero_object *leased = TAILQ_FIRST(&zero->lists[ZERO_LEASED]);
	int64_t due = leased ? leased->until_ms : INT64_MAX, now = now_ms();

	if (next_object(zero) && registrar->retry_ms < due)
		due = registrar->retry_ms;
	if (registrar->watch < 0 && due > now + LOOK_MS)
		due = now + LOOK_MS;
	if (due == INT64_MAX)
		return -1;
	return due <= now ? 0 : due - now < 1000000 ? (int)(due - now) : 1000000;
}

/*
 * True if @answer, to a short form, does not tell about its object: dartd is older, or the slice of
 * the object before is gone.
 */
static bool asks_in_full(struct registrar *registrar, const struct answer *answer)
{
	if (says(answer->text, "error", "\"EINVAL\""))
		registrar->lacks_short = true;
	else if (!says(answer->text, "error", "\"ENOENT\""))
		return false;
	registrar->last = NULL;
	return true;
}

/* Asks for one object.  With the lock held, which it releases meanwhile. */
static void proceed(struct registrar *registrar)
{
	struct dart_zero *zero = registrar->zero;
	struct dart_zero_object *object = next_object(zero);
	const bool is_leaving = object->state == ZERO_LEAVING;
	const bool was_asked = object->is_asked;
	const struct dart_zero_type *type = object->type;
	const int fd = zero->fd;
	const struct dart_zero_question question =
		dart_zero__ask_for(zero, object, registrar->lacks_short ? NULL : registrar->last);
	struct answer answer;

	object->is_asked = true;
	pthread_mutex_unlock(&zero->lock);
	if (question.text)
		ask(registrar, fd, &question, &answer);
	else
		answer.ret = -ENOMEM;
	free(question.text);
	pthread_mutex_lock(&zero->lock);
	if (answer.ret == -ECANCELED)
		return;
	if (answer.ret) {
		object->is_asked = was_asked || !has_no_listener(answer.ret);
		fail(registrar, answer.ret);
		return;
	}
	/* Then the object is the next one again. */
	if (question.is_short && asks_in_full(registrar, &answer))
		return;
	if (!is_leaving && says(answer.text, "ok", "true"))
		registrar->last = type;
	take_answer(registrar, object, is_leaving, &answer);
}

static void wait_for_events(struct registrar *registrar, int ms)
{
	struct pollfd events[] = {
		{ .fd = registrar->zero->wake, .events = POLLIN },
		{ .fd = registrar->zero->inotify, .events = POLLIN },
	};
	char ignored[4096];
	eventfd_t value;

	poll(events, 2, ms);
	eventfd_read(registrar->zero->wake, &value);
	while (read(registrar->zero->inotify, ignored, sizeof(ignored)) > 0)
		;
}

void dart_zero__register(struct dart_zero *zero)
{
	struct registrar registrar = {
		.zero = zero,
		.watch = -1,
		.delay_ms = DELAY_MIN_MS,
	};
	int ms;

	pthread_mutex_lock(&zero->lock);
	while (!zero->is_ending) {
		look_for_dartd(&registrar);
		end_leases(zero);
		while (!zero->is_ending && next_object(zero) && registrar.retry_ms <= now_ms())
			proceed(&registrar);
		/* dartd has few connections. */
		disconnect(&registrar);
		ms = zero->is_ending ? 0 : until_due(&registrar);
		pthread_mutex_unlock(&zero->lock);
		wait_for_events(&registrar, ms);
		pthread_mutex_lock(&zero->lock);
	}
	pthread_mutex_unlock(&zero->lock);
	disconnect(&registrar);
}
