// SPDX-License-Identifier: GPL-2.0-only
/*
 * farm [-f rows|records] [-s BYTES] [-p PORT] [-u MS] SOCKET HOSTS: plays HOSTS hosts,
 * each an agent with its own table, values and port, on the first RDMA device.
 *
 *   -f  a map of rows of 64 bytes (the default), or records of 512 bytes as they are
 *       gathered
 *   -s  bytes of values of each host: 4096 of rows, 8192 of records
 *   -p  port of host 0, 5000; the others follow
 *   -u  how often each value changes, 1000 ms; see selftests/lib/farm_rule.h
 *
 * Notifies that it is ready as dartd does, and serves until a test kills it.  farm_ask
 * sends requests to SOCKET.  FIRST and COUNT are hosts:
 *
 *   start FIRST COUNT	each begins the next epoch, with new keys and a new boot ID
 *   stop FIRST COUNT	disconnects the controllers, closes the listener, frees all memory
 *   vanish FIRST COUNT	the same, but the controllers are not told
 *   add FIRST COUNT	the table gets one more entry
 *   remove FIRST COUNT	the table loses it
 *   status		{"hosts": up, "connected": controllers, "update": of the values,
 *			 "descriptors": of this process, "rss_kib": its memory}
 *
 * The answer is "ok", the status, or "error: " and why; what a request did before it failed
 * stays.
 */
#include <dirent.h>
#include <errno.h>
#include <error.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "selftests/lib/farm_host.h"

/* The farm updates hosts of one part at once, and the parts one after the other. */
#define PARTS 16
#define ANSWER_MAX 1024

struct service {
	struct farm farm;
	struct farm_host *hosts;
	uint32_t host_count;
	uint32_t update_ms;
	uint32_t part;	/* to be updated next */
	sd_event *loop;
	const char *socket;
};

/* ---- values */

static int on_tick(sd_event_source *source, uint64_t time, void *data)
{
	struct service *service = data;
	uint32_t i;

	for (i = service->part; i < service->host_count; i += PARTS)
		farm_host__update(&service->hosts[i]);
	if (++service->part == PARTS) {
		service->part = 0;
		service->farm.update++;
	}
	sd_event_source_set_time_relative(source, service->update_ms * 1000ULL / PARTS);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

/* ---- connections */

static int on_connections(sd_event_source *source, int fd, uint32_t revents, void *data)
{
	struct service *service = data;
	struct rdma_cm_event *event;

	while (!rdma_get_cm_event(service->farm.device.channel, &event)) {
		if (event->event == RDMA_CM_EVENT_DEVICE_REMOVAL)
			error(1, 0, "the RDMA device was removed");
		farm_host__on_event(event);
	}
	if (errno != EAGAIN)
		error(1, errno, "cannot read events of the RDMA CM");
	return 0;
}

static int on_device(sd_event_source *source, int fd, uint32_t revents, void *data)
{
	struct service *service = data;

	if (farm_device__drain(&service->farm.device))
		error(1, 0, "the RDMA device has failed");
	return 0;
}

/* ---- requests */

static int host__stop(struct farm_host *host, struct dart_error *error)
{
	farm_host__stop(host, false);
	return 0;
}

static int host__vanish(struct farm_host *host, struct dart_error *error)
{
	farm_host__stop(host, true);
	return 0;
}

static const struct verb {
	const char *name;
	int (*act)(struct farm_host *host, struct dart_error *error);
} verbs[] = {
	{ "start", farm_host__start },	 { "stop", host__stop },
	{ "vanish", host__vanish },	 { "add", farm_host__add },
	{ "remove", farm_host__remove },
};

static const struct verb *find_verb(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
	return NULL;
}

static unsigned int count_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	const struct dirent *entry;
	unsigned int count = 0;

	if (!directory)
		return 0;
	while ((entry = readdir(directory)))
		count += *entry->d_name != '.';
	closedir(directory);
	return count - 1; /* without the directory itself */
}

static long rss_kib(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	long pages = 0;

	if (file && fscanf(file, "%*s %ld", &pages) != 1)
		pages = 0;
	if (file)
		fclose(file);
	return pages * sysconf(_SC_PAGESIZE) / 1024;
}

static void print_status(const struct service *service, char *answer)
{
	uint32_t up = 0, connected = 0, i;

	for (i = 0; i < service->host_count; i++) {
		up += service->hosts[i].is_up;
		connected += farm_host__connected(&service->hosts[i]);
	}
	snprintf(
		answer, ANSWER_MAX,
		"{\"hosts\": %u, \"connected\": %u, \"update\": %llu, \"descriptors\": %u, \"rss_kib\": %ld}",
		up, connected, (unsigned long long)service->farm.update,
		count_descriptors(), rss_kib());
}

static void answer_request(struct service *service, const char *request, char *answer)
{
	unsigned int first, count, i;
	struct dart_error problem;
	const struct verb *verb;
	char name[16], rest;

	if (!strcmp(request, "status")) {
		print_status(service, answer);
		return;
	}
	snprintf(answer, ANSWER_MAX,
		 "error: expected status, or start, stop, vanish, add or remove, FIRST and COUNT");
	if (sscanf(request, "%15s %u %u %c", name, &first, &count, &rest) != 3)
		return;
	verb = find_verb(name);
	if (!verb)
		return;
	snprintf(answer, ANSWER_MAX, "error: this farm has %u hosts, from 0", service->host_count);
	if (first > service->host_count || count > service->host_count - first)
		return;
	snprintf(answer, ANSWER_MAX, "ok");
	for (i = first; i < first + count; i++) {
		if (!verb->act(&service->hosts[i], &problem))
			continue;
		snprintf(answer, ANSWER_MAX, "error: %s", problem.text);
		return;
	}
}

/* One request a client: its only packet. */
static int on_client(sd_event_source *source, int fd, uint32_t revents, void *data)
{
	char request[128], answer[ANSWER_MAX];
	ssize_t length = recv(fd, request, sizeof(request) - 1, MSG_DONTWAIT);

	if (length > 0) {
		request[length] = '\0';
		answer_request(data, request, answer);
		send(fd, answer, strlen(answer), MSG_DONTWAIT | MSG_NOSIGNAL);
	}
	sd_event_source_disable_unref(source);
	return 0;
}

static int on_clients(sd_event_source *source, int fd, uint32_t revents, void *data)
{
	struct service *service = data;
	sd_event_source *client = NULL;
	int accepted = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (accepted < 0)
		return 0;
	if (sd_event_add_io(service->loop, &client, accepted, EPOLLIN, on_client, service) < 0) {
		close(accepted);
		return 0;
	}
	return sd_event_source_set_io_fd_own(client, true);
}

/* ---- start */

static int listen_for_requests(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (strlen(path) >= sizeof(address.sun_path))
		error(2, 0, "'%s' is too long for a socket", path);
	strcpy(address.sun_path, path);
	unlink(path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 8))
		error(1, errno, "cannot listen at %s", path);
	return fd;
}

static void start_hosts(struct service *service)
{
	struct dart_error problem;
	uint32_t i;

	service->hosts = calloc(service->host_count, sizeof(*service->hosts));
	service->farm.schema = farm_shape__schema(&service->farm.shape);
	if (!service->hosts || !service->farm.schema)
		error(1, errno, "cannot make the hosts");
	if (farm_device__open(&service->farm.device, &problem))
		error(1, 0, "%s", problem.text);
	for (i = 0; i < service->host_count; i++) {
		farm_host__init(&service->hosts[i], &service->farm, i);
		if (farm_host__start(&service->hosts[i], &problem))
			error(1, 0, "%s", problem.text);
	}
}

static void run(struct service *service)
{
	const struct farm_device *device = &service->farm.device;
	int err = sd_event_new(&service->loop);

	if (err >= 0)
		err = sd_event_add_io(service->loop, NULL, device->channel->fd,
				      EPOLLIN, on_connections, service);
	if (err >= 0)
		err = sd_event_add_io(service->loop, NULL, device->context->async_fd, EPOLLIN,
				      on_device, service);
	if (err >= 0)
		err = sd_event_add_io(service->loop, NULL, listen_for_requests(service->socket),
				      EPOLLIN, on_clients, service);
	if (err >= 0)
		err = sd_event_add_time_relative(service->loop, NULL, CLOCK_MONOTONIC, 0, 1000,
						 on_tick, service);
	if (err >= 0) {
		sd_notify(0, "READY=1");
		err = sd_event_loop(service->loop);
	}
	if (err < 0)
		error(1, -err, "the event loop failed");
}

/* A number from @least to @most, or the end. */
static uint64_t parse(const char *text, uint64_t least, uint64_t most, const char *what)
{
	char *end;
	uint64_t number;

	errno = 0;
	number = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || number < least || number > most)
		error(2, 0, "'%s' is not %s (expected %llu to %llu)", text, what,
		      (unsigned long long)least, (unsigned long long)most);
	return number;
}

static void parse_form(const char *name, enum farm_form *form)
{
	if (!strcmp(name, "rows"))
		*form = FARM_ROWS;
	else if (!strcmp(name, "records"))
		*form = FARM_RECORDS;
	else
		error(2, 0, "'%s' is not a form (expected rows or records)", name);
}

int main(int argc, char *argv[])
{
	struct service service = {
		.farm = { .first_port = 5000, .update = 1 },
		.update_ms = 1000,
	};
	enum farm_form form = FARM_ROWS;
	uint64_t bytes = 0;
	int option;

	while ((option = getopt(argc, argv, "f:s:p:u:")) != -1) {
		if (option == 'f')
			parse_form(optarg, &form);
		else if (option == 's')
			bytes = parse(optarg, 512, 1 << 20, "a size");
		else if (option == 'p')
			service.farm.first_port = parse(optarg, 1, UINT16_MAX, "a port");
		else if (option == 'u')
			service.update_ms = parse(optarg, PARTS, 3600000, "a time in ms");
		else
			return 2;
	}
	if (argc - optind != 2)
		error(2, 0, "expected SOCKET and HOSTS");
	service.socket = argv[optind];
	service.host_count = parse(argv[optind + 1], 1, UINT16_MAX + 1 - service.farm.first_port,
				   "a number of hosts");
	if (farm_shape__init(&service.farm.shape, form,
			     bytes		       ?:
				     form == FARM_ROWS ? 4096 :
							 8192))
		error(2, 0, "a size must be a multiple of 512");
	start_hosts(&service);
	run(&service);
	return 0;
}
