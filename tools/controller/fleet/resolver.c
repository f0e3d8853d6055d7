// SPDX-License-Identifier: GPL-2.0-only
/* Asks name services in threads, and hands their answers to the event loop. */
#include "resolver.h"

#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tools/controller/base/thread.h"

struct resolution {
	struct resolution *next; /* in a line, or in the list of answered questions */
	bool is_again;
	unsigned int turn;
	struct addrinfo *addresses;
	int status; /* of getaddrinfo(3) */
	resolved_handler handler; /* NULL: cancelled */
	void *data;
	char host[];
};

/* Questions that wait. */
struct line {
	struct resolution *first, *last;
};

/* Lives until the end of the last thread. */
struct resolver {
	sd_event_source *source;
	int wake_fd;

	pthread_mutex_t lock; /* of all below */
	struct line lines[2]; /* the second: of names that had no address before */
	struct resolution *answered;
	unsigned int threads;
	unsigned int threads_again; /* of them, that ask a question of the second line */
	bool is_closed;
};

static void resolutions__free(struct resolution *resolution)
{
	struct resolution *next;

	for (; resolution; resolution = next) {
		next = resolution->next;
		if (resolution->addresses)
			freeaddrinfo(resolution->addresses);
		free(resolution);
	}
}

static void resolver__destroy(struct resolver *resolver)
{
	pthread_mutex_destroy(&resolver->lock);
	if (resolver->wake_fd >= 0)
		close(resolver->wake_fd);
	free(resolver);
}

/* With the lock: the next question, or NULL. */
static struct resolution *resolver__take(struct resolver *resolver)
{
	struct line *line = resolver->lines;
	struct resolution *resolution;

	if (!line->first && resolver->threads_again < RESOLVER_THREADS_AGAIN)
		line++;
	resolution = line->first;
	if (!resolution)
		return NULL;
	line->first = resolution->next;
	resolution->next = NULL;
	resolver->threads_again += resolution->is_again;
	return resolution;
}

static void ask_services(struct resolution *resolution)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };

	resolution->status = getaddrinfo(resolution->host, NULL, &hints, &resolution->addresses);
}

/* A thread: asks until no question is left. */
static void *resolver__run(void *data)
{
	struct resolver *resolver = data;
	struct resolution *resolution;
	bool is_last;

	pthread_mutex_lock(&resolver->lock);
	while ((resolution = resolver__take(resolver))) {
		pthread_mutex_unlock(&resolver->lock);
		ask_services(resolution);
		pthread_mutex_lock(&resolver->lock);
		resolver->threads_again -= resolution->is_again;
		if (resolver->is_closed) {
			resolutions__free(resolution);
			continue;
		}
		resolution->next = resolver->answered;
		resolver->answered = resolution;
		eventfd_write(resolver->wake_fd, 1);
	}
	is_last = !--resolver->threads && resolver->is_closed;
	pthread_mutex_unlock(&resolver->lock);
	if (is_last)
		resolver__destroy(resolver);
	return NULL;
}

/* The address whose turn it is, and the @count of all; there is one at least. */
static const struct addrinfo *resolution__choose(const struct resolution *resolution,
						 unsigned int *count)
{
	const struct addrinfo *address;
	unsigned int number;

	*count = 0;
	for (address = resolution->addresses; address; address = address->ai_next)
		++*count;
	address = resolution->addresses;
	for (number = resolution->turn % *count; number; number--)
		address = address->ai_next;
	return address;
}

static void resolution__tell(struct resolution *resolution)
{
	const struct addrinfo *address;
	struct dart_error error = {};
	char numeric[NI_MAXHOST];
	unsigned int count = 0;
	int ret = resolution->status;

	if (!ret) {
		address = resolution__choose(resolution, &count);
		ret = getnameinfo(address->ai_addr, address->ai_addrlen, numeric, sizeof(numeric),
				  NULL, 0, NI_NUMERICHOST);
	}
	if (ret)
		dart_error__set(&error, EHOSTUNREACH, "cannot resolve '%s': %s", resolution->host,
				gai_strerror(ret));
	resolution->handler(resolution->data, ret ? NULL : numeric, count, &error);
}

static int on_answers(sd_event_source *source, int fd, uint32_t events, void *data)
{
	struct resolver *resolver = data;
	struct resolution *answered, *resolution;
	eventfd_t count;

	eventfd_read(fd, &count);
	pthread_mutex_lock(&resolver->lock);
	answered = resolver->answered;
	resolver->answered = NULL;
	pthread_mutex_unlock(&resolver->lock);
	for (resolution = answered; resolution; resolution = resolution->next) {
		if (resolution->handler)
			resolution__tell(resolution);
	}
	resolutions__free(answered);
	return 0;
}

int resolver__new(sd_event *event, struct resolver **resolverp)
{
	struct resolver *resolver;
	int ret;

	resolver = calloc(1, sizeof(*resolver));
	if (!resolver)
		return -ENOMEM;
	pthread_mutex_init(&resolver->lock, NULL);
	resolver->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ret = resolver->wake_fd < 0 ? -errno :
				      sd_event_add_io(event, &resolver->source, resolver->wake_fd,
						      EPOLLIN, on_answers, resolver);
	if (ret < 0) {
		resolver__destroy(resolver);
		return ret;
	}
	*resolverp = resolver;
	return 0;
}

void resolver__free(struct resolver *resolver)
{
	bool is_last;

	if (!resolver)
		return;
	sd_event_source_disable_unref(resolver->source);
	pthread_mutex_lock(&resolver->lock);
	resolver->is_closed = true;
	resolutions__free(resolver->lines[false].first);
	resolutions__free(resolver->lines[true].first);
	resolutions__free(resolver->answered);
	resolver->lines[false].first = resolver->lines[true].first = NULL;
	resolver->answered = NULL;
	is_last = !resolver->threads;
	pthread_mutex_unlock(&resolver->lock);
	if (is_last)
		resolver__destroy(resolver);
}

/*
 * With the lock, so that the thread finds the question.  getaddrinfo_a(3) cannot be used: its
 * thread that notifies lets all signals in, and one of them would end the program.
 */
static int resolver__start_thread(struct resolver *resolver)
{
	pthread_t thread;
	int ret;

	if (resolver->threads == RESOLVER_THREADS)
		return 0;
	ret = thread__start(&thread, "resolver", resolver__run, resolver);
	if (ret)
		return resolver->threads ? 0 : ret;
	pthread_detach(thread);
	resolver->threads++;
	return 0;
}

static void resolver__put(struct resolver *resolver, struct resolution *resolution)
{
	struct line *line = &resolver->lines[resolution->is_again];

	if (line->first)
		line->last->next = resolution;
	else
		line->first = resolution;
	line->last = resolution;
}

int resolver__ask(struct resolver *resolver, const char *host, bool again, unsigned int turn,
		  resolved_handler handler, void *data, struct resolution **resolutionp)
{
	struct resolution *resolution;
	int ret;

	resolution = calloc(1, sizeof(*resolution) + strlen(host) + 1);
	if (!resolution)
		return -ENOMEM;
	strcpy(resolution->host, host);
	resolution->is_again = again;
	resolution->turn = turn;
	resolution->handler = handler;
	resolution->data = data;
	pthread_mutex_lock(&resolver->lock);
	ret = resolver__start_thread(resolver);
	if (!ret)
		resolver__put(resolver, resolution);
	pthread_mutex_unlock(&resolver->lock);
	if (ret) {
		free(resolution);
		return ret;
	}
	*resolutionp = resolution;
	return 0;
}

void resolution__cancel(struct resolution *resolution)
{
	if (resolution)
		resolution->handler = NULL;
}

bool resolver__is_numeric(const char *host)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST };
	struct addrinfo *address;

	if (getaddrinfo(host, NULL, &hints, &address))
		return false;
	freeaddrinfo(address);
	return true;
}
