// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples the counters of RDMA devices for each port, over the netlink protocol of rdma(8).  A
 * driver asks the device, which may no longer answer, so each port is a question.
 */
#include <errno.h>
#include <rdma/rdma_netlink.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/base/namespace_socket.h"
#include "agent/region/source.h"
#include "netlink.h"
#include "own_sample.h"
#include "question.h"

/* Longest time to wait for the first values of a port, and for the list of devices. */
#define FIRST_MS 200
/* Longest time that a pass waits for the values of a port. */
#define PATIENCE_MS 20

/* Loading ib_core, which a socket for its protocol would do, does not make a device. */
#define CLASS "/sys/class/infiniband"

/* ---- the device that works on a network device */

struct device_search {
	struct question question; /* first: see question.h */
	int fd; /* a socket in the namespace of the network device */
	uint32_t ifindex;
	/* The answer: */
	uint32_t index;
	uint32_t ports;
	/* Of the devices before: */
	uint32_t *devices;
	uint32_t count;
	bool is_found;
};

static uint16_t request_type(uint16_t command)
{
	return RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command);
}

static int take_device(void *owner, const struct nlmsghdr *message)
{
	struct device_search *search = owner;
	const struct nlattr *attribute;
	uint32_t *more;
	size_t left;

	attribute = netlink__attributes(message, 0, &left);
	netlink__for_each(attribute,
			  left) if (netlink__type(attribute) == RDMA_NLDEV_ATTR_DEV_INDEX)
	{
		more = reallocarray(search->devices, search->count + 1, sizeof(*more));
		if (!more)
			return -ENOMEM;
		search->devices = more;
		more[search->count++] = netlink__number(attribute);
	}
	return 0;
}

/* Counts the ports of a device, and notices the network device below one of them. */
static int take_port(void *owner, const struct nlmsghdr *message)
{
	struct device_search *search = owner;
	const struct nlattr *attribute;
	size_t left;

	search->ports++;
	attribute = netlink__attributes(message, 0, &left);
	netlink__for_each(attribute,
			  left) if (netlink__type(attribute) == RDMA_NLDEV_ATTR_NDEV_INDEX &&
				    netlink__number(attribute) == search->ifindex)
		search->is_found = true;
	return 0;
}

static int ask_ports(struct device_search *search, uint32_t device)
{
	struct netlink_request request;
	int ret;

	netlink__begin(&request, request_type(RDMA_NLDEV_CMD_PORT_GET), NLM_F_DUMP, NULL, 0);
	netlink__add(&request, RDMA_NLDEV_ATTR_DEV_INDEX, device);
	search->ports = 0;
	ret = netlink__ask(search->fd, &request, take_port, search);
	/* The device can have ended since the list of devices was made. */
	return ret == -EINVAL || ret == -ENODEV ? 0 : ret;
}

static int ask_device(struct question *question)
{
	struct device_search *search = (struct device_search *)question;
	struct netlink_request request;
	uint32_t i;
	int ret;

	netlink__begin(&request, request_type(RDMA_NLDEV_CMD_GET), NLM_F_DUMP, NULL, 0);
	ret = netlink__ask(search->fd, &request, take_device, search);
	for (i = 0; !ret && !search->is_found && i < search->count; i++) {
		search->index = search->devices[i];
		ret = ask_ports(search, search->index);
	}
	return ret ?: search->is_found ? 0 : -EOPNOTSUPP;
}

static void free_search(struct question *question)
{
	struct device_search *search = (struct device_search *)question;

	close(search->fd);
	free(search->devices);
	free(search);
}

static const struct question_kind search_kind = {
	.ask = ask_device,
	.free = free_search,
};

/*
 * A search that had no answer in time, or NULL.  Each network device searches: while a driver hangs,
 * the other searches would hang, too, each after a wait and with a thread.
 */
static struct device_search *late;

static bool is_search_late(void)
{
	if (late && !question__is_answered(&late->question))
		return true;
	if (late)
		question__put(&late->question);
	late = NULL;
	return false;
}

/* The socket of the search keeps the namespace, but for no longer than the search. */
static int find_device(int netns, uint32_t ifindex, uint32_t *index, uint32_t *ports)
{
	struct device_search *search;
	int ret;

	if (is_search_late())
		return -EAGAIN;
	search = calloc(1, sizeof(*search));
	if (!search)
		return -ENOMEM;
	search->fd = namespace_socket__open(netns, AF_NETLINK, SOCK_RAW, NETLINK_RDMA);
	if (search->fd < 0) {
		ret = search->fd;
		free(search);
		return ret;
	}
	search->ifindex = ifindex;
	question__begin(&search->question, &search_kind);
	if (!question__ask(&search->question, FIRST_MS)) {
		late = search;
		return -EAGAIN;
	}
	ret = search->question.code;
	if (!ret) {
		*index = search->index;
		*ports = search->ports;
	}
	question__put(&search->question);
	return ret;
}

/* ---- the ports */

/*
 * A port of a device.  The kernel numbers devices upwards, so that a number means no later device
 * until all numbers were used.
 */
struct rdma_port {
	struct question question; /* first: see question.h */
	uint32_t device; /* index in the kernel */
	uint32_t number;
	/* The answer: */
	struct dart_zero_rdma_port values;
	bool has_none; /* the driver has no counter that is a field */
	/* The last answer took longer than the patience of a pass. */
	bool is_slow;
};

struct rdma_sample {
	struct own_sample sample; /* first: see own_sample.h */
	struct rdma_port *ports[]; /* @sample.rows */
};

/* Stores a counter of the driver in the field of its name, if there is one. */
static void take_counter(struct rdma_port *port, const char *name, size_t size, uint64_t value)
{
	const struct dart_field *field = source__find("rdma:ports")->fields();

	for (; field->name; field++)
		if (field->kind == DART_CONTROL_FIELD_COUNTER && strlen(field->name) < size &&
		    !strncmp(field->name, name, size)) {
			memcpy((uint8_t *)&port->values + field->offset, &value, sizeof(value));
			port->has_none = false;
		}
}

static void take_entry(struct rdma_port *port, const struct nlattr *entry)
{
	const struct nlattr *attribute = netlink__value(entry);
	const struct nlattr *name = NULL, *value = NULL;
	size_t left = netlink__size(entry);

	netlink__for_each(attribute, left)
	{
		if (netlink__type(attribute) == RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME)
			name = attribute;
		if (netlink__type(attribute) == RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE)
			value = attribute;
	}
	if (name && value)
		take_counter(port, netlink__value(name), netlink__size(name),
			     netlink__number(value));
}

static int take_counters(void *owner, const struct nlmsghdr *message)
{
	const struct nlattr *attribute, *entry;
	size_t left, entries_left;

	attribute = netlink__attributes(message, 0, &left);
	netlink__for_each(attribute, left)
	{
		if (netlink__type(attribute) != RDMA_NLDEV_ATTR_STAT_HWCOUNTERS)
			continue;
		entry = netlink__value(attribute);
		entries_left = netlink__size(attribute);
		netlink__for_each(entry, entries_left) take_entry(owner, entry);
	}
	return 0;
}

static int take_state(void *owner, const struct nlmsghdr *message)
{
	struct rdma_port *port = owner;
	const struct nlattr *attribute;
	size_t left;

	attribute = netlink__attributes(message, 0, &left);
	netlink__for_each(attribute,
			  left) if (netlink__type(attribute) == RDMA_NLDEV_ATTR_PORT_STATE)
		port->values.state = netlink__number(attribute);
	return 0;
}

static int ask_about(const struct rdma_port *port, int fd, uint16_t command,
		     int (*take)(void *owner, const struct nlmsghdr *message))
{
	struct netlink_request request;

	netlink__begin(&request, request_type(command), 0, NULL, 0);
	netlink__add(&request, RDMA_NLDEV_ATTR_DEV_INDEX, port->device);
	netlink__add(&request, RDMA_NLDEV_ATTR_PORT_INDEX, port->number);
	return netlink__ask(fd, &request, take, (void *)port);
}

static int ask_port(struct question *question)
{
	struct rdma_port *port = (struct rdma_port *)question;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);
	int ret;

	if (fd < 0)
		return -EAGAIN;
	port->values = (struct dart_zero_rdma_port){};
	port->has_none = true;
	/* -EINVAL: the device does not exist. */
	ret = ask_about(port, fd, RDMA_NLDEV_CMD_PORT_GET, take_state);
	if (ret == -EINVAL)
		ret = -ENODEV;
	else if (!ret && ask_about(port, fd, RDMA_NLDEV_CMD_STAT_GET, take_counters))
		ret = -ENODATA;
	close(fd);
	return ret;
}

static void free_port(struct question *question)
{
	free(question);
}

static const struct question_kind port_kind = {
	.ask = ask_port,
	.free = free_port,
};

static struct rdma_port *port__new(uint32_t device, uint32_t number)
{
	struct rdma_port *port = calloc(1, sizeof(*port));

	if (!port)
		return NULL;
	question__begin(&port->question, &port_kind);
	port->device = device;
	port->number = number;
	return port;
}

/* Ports that answer late have values one pass later. */
static int rdma__sample(struct own_sample *sample, uint32_t index, void *values, uint64_t *number,
			uint64_t *time)
{
	struct rdma_port *port = ((struct rdma_sample *)sample)->ports[index];
	struct question *question = &port->question;
	int code;

	if (!question__is_answered(question))
		return -EAGAIN;
	if (!port->is_slow && !question__ask(question, PATIENCE_MS)) {
		port->is_slow = true;
		return -EAGAIN;
	}
	code = question->code;
	*number = port->number;
	*time = question->time;
	memcpy(values, &port->values, sizeof(port->values));
	if (port->is_slow) {
		port->is_slow = question->time - question->begun > PATIENCE_MS * UINT64_C(1000000);
		question__ask(question, 0);
	}
	return code;
}

static void rdma__close(struct own_sample *sample)
{
	struct rdma_sample *rdma = (struct rdma_sample *)sample;
	uint32_t i;

	for (i = 0; i < sample->rows && rdma->ports[i]; i++)
		question__put(&rdma->ports[i]->question);
	free(rdma);
}

/* A port whose driver does not answer in time counts as one that may have counters. */
static bool has_counters(struct rdma_sample *rdma)
{
	uint32_t i, having = 0;

	for (i = 0; i < rdma->sample.rows; i++)
		having += !question__ask(&rdma->ports[i]->question, FIRST_MS) ||
			  !rdma->ports[i]->has_none;
	return having;
}

static int rdma__open(const struct dart_zero_record *wanted, struct own_sample **result)
{
	uint32_t device, ports, i;
	struct rdma_sample *rdma;
	int ret;

	if (access(CLASS, F_OK))
		return -EOPNOTSUPP;
	ret = find_device(wanted->fd, wanted->ifindex, &device, &ports);
	/* The follower tries again, unlike after -EOPNOTSUPP: a device without RDMA ports. */
	if (ret)
		return ret == -EAGAIN ? -ETIMEDOUT : ret;
	rdma = calloc(1, sizeof(*rdma) + ports * sizeof(rdma->ports[0]));
	if (!rdma)
		return -ENOMEM;
	rdma->sample.rows = ports;
	for (i = 0; i < ports; i++) {
		rdma->ports[i] = port__new(device, i + 1);
		if (!rdma->ports[i]) {
			rdma__close(&rdma->sample);
			return -ENOMEM;
		}
	}
	if (!has_counters(rdma)) {
		rdma__close(&rdma->sample);
		return -EOPNOTSUPP;
	}
	*result = &rdma->sample;
	return 0;
}

const struct own_sample_kind rdma_sample = {
	.open = rdma__open,
	.close = rdma__close,
	.sample = rdma__sample,
};
