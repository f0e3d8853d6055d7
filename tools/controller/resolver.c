// SPDX-License-Identifier: GPL-2.0-only
/* Asks name services in threads, and hands what they answer to the event loop. */
#include "resolver.h"

#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct resolution {
	struct resolver *resolver;
	struct resolution *next; /* of those that are answered */
	struct gaicb request;
	struct gaicb *requests[1];
	struct addrinfo hints;
	resolved_handler handler; /* NULL: cancelled */
	void *data;
	char host[];
};

/* Lives until the last answer has come. */
struct resolver {
	sd_event_source *source;
	int wake_fd;

	pthread_mutex_t lock; /* of all below */
	struct resolution *answered;
	size_t pending; /* neither answered nor failed */
	bool is_closed;
};

static void resolution__free(struct resolution *resolution)
{
	if (resolution->request.ar_result)
		freeaddrinfo(resolution->request.ar_result);
	free(resolution);
}

static void resolver__destroy(struct resolver *resolver)
{
	pthread_mutex_destroy(&resolver->lock);
	if (resolver->wake_fd >= 0)
		close(resolver->wake_fd);
	free(resolver);
}

/* In a thread of the C library. */
static void on_answer(union sigval value)
{
	struct resolution *resolution = value.sival_ptr;
	struct resolver *resolver = resolution->resolver;
	bool is_closed, is_last;

	pthread_mutex_lock(&resolver->lock);
	is_last = !--resolver->pending;
	is_closed = resolver->is_closed;
	if (!is_closed) {
		resolution->next = resolver->answered;
		resolver->answered = resolution;
		eventfd_write(resolver->wake_fd, 1);
	}
	pthread_mutex_unlock(&resolver->lock);
	if (is_closed)
		resolution__free(resolution);
	if (is_closed && is_last)
		resolver__destroy(resolver);
}

static void resolution__tell(struct resolution *resolution)
{
	struct addrinfo *address = resolution->request.ar_result;
	struct dart_error error = {};
	char numeric[NI_MAXHOST];
	int ret;

	ret = gai_error(&resolution->request);
	if (!ret)
		ret = getnameinfo(address->ai_addr, address->ai_addrlen,
				  numeric, sizeof(numeric), NULL, 0,
				  NI_NUMERICHOST);
	if (ret)
		dart_error__set(&error, EHOSTUNREACH, "cannot resolve '%s': %s",
				resolution->host, gai_strerror(ret));
	resolution->handler(resolution->data, ret ? NULL : numeric, &error);
}

static int on_answers(sd_event_source *source, int fd, uint32_t events,
		      void *data)
{
	struct resolver *resolver = data;
	struct resolution *resolution, *next;
	eventfd_t count;

	eventfd_read(fd, &count);
	pthread_mutex_lock(&resolver->lock);
	resolution = resolver->answered;
	resolver->answered = NULL;
	pthread_mutex_unlock(&resolver->lock);
	for (; resolution; resolution = next) {
		next = resolution->next;
		if (resolution->handler)
			resolution__tell(resolution);
		resolution__free(resolution);
	}
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
	ret = resolver->wake_fd < 0 ?
		      -errno :
		      sd_event_add_io(event, &resolver->source,
				      resolver->wake_fd, EPOLLIN, on_answers,
				      resolver);
	if (ret < 0) {
		resolver__destroy(resolver);
		return ret;
	}
	*resolverp = resolver;
	return 0;
}

void resolver__free(struct resolver *resolver)
{
	struct resolution *resolution, *next;
	bool is_last;

	if (!resolver)
		return;
	sd_event_source_disable_unref(resolver->source);
	pthread_mutex_lock(&resolver->lock);
	resolver->is_closed = true;
	is_last = !resolver->pending;
	resolution = resolver->answered;
	resolver->answered = NULL;
	pthread_mutex_unlock(&resolver->lock);
	for (; resolution; resolution = next) {
		next = resolution->next;
		resolution__free(resolution);
	}
	if (is_last)
		resolver__destroy(resolver);
}

int resolver__ask(struct resolver *resolver, const char *host,
		  resolved_handler handler, void *data,
		  struct resolution **resolutionp)
{
	struct resolution *resolution;
	struct sigevent notification = {
		.sigev_notify = SIGEV_THREAD,
		.sigev_notify_function = on_answer,
	};
	int ret;

	resolution = calloc(1, sizeof(*resolution) + strlen(host) + 1);
	if (!resolution)
		return -ENOMEM;
	strcpy(resolution->host, host);
	resolution->resolver = resolver;
	resolution->handler = handler;
	resolution->data = data;
	resolution->hints.ai_socktype = SOCK_STREAM;
	resolution->request.ar_name = resolution->host;
	resolution->request.ar_request = &resolution->hints;
	resolution->requests[0] = &resolution->request;
	notification.sigev_value.sival_ptr = resolution;

	pthread_mutex_lock(&resolver->lock);
	resolver->pending++;
	pthread_mutex_unlock(&resolver->lock);
	ret = getaddrinfo_a(GAI_NOWAIT, resolution->requests, 1, &notification);
	if (ret) {
		pthread_mutex_lock(&resolver->lock);
		resolver->pending--;
		pthread_mutex_unlock(&resolver->lock);
		resolution__free(resolution);
		return ret == EAI_MEMORY ? -ENOMEM : -EAGAIN;
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
