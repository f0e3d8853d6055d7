// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of this host: dart-flows asks a dartd at a socket, both in this process.  Entries are
 * compared in the memory of the table, changes are made in their order, and a dartd that goes away
 * is asked again.
 */
#include <dart/registration.h>
#include <errno.h>
#include <jansson.h>
#include <libdart/tea/tea_table.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "selftests/unit/unit.h"
#include "tools/flows/table/table.h"

#define KEY 4
#define VALUE 2
#define RECORD (1 + KEY + VALUE)
#define CHANGES_MAX 10000
#define FILLER 0x10000000 /* keys from here on are in the table before dart-flows comes */

/* ---- a dartd */

static struct {
	sd_event *loop;
	sd_event_source *connections, *peer;
	char path[64];
	struct dart_tea_geometry geometry;
	struct dart_tea_table *entries;
	void *memory;
	int memory_fd, requests;
	bool is_stopped; /* it reads requests, and answers none */
} dartd;

static void reply(int socket, json_t *json, int fd)
{
	char *line = json_dumps(json, JSON_COMPACT), control[CMSG_SPACE(sizeof(fd))] = {};
	struct iovec parts[] = { { line, strlen(line) }, { "\n", 1 } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
	struct cmsghdr *head = (struct cmsghdr *)control;

	if (fd >= 0) {
		message.msg_control = control;
		message.msg_controllen = sizeof(control);
		*head = (struct cmsghdr){ CMSG_LEN(sizeof(fd)), SOL_SOCKET, SCM_RIGHTS };
		memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	}
	assert_int_equal(sendmsg(socket, &message, 0), parts[0].iov_len + 1);
	free(line);
	json_decref(json);
}

static void open_table(int socket)
{
	const struct dart_tea_geometry *geometry = &dartd.geometry;

	reply(socket,
	      json_pack("{s:b, s:{s:i, s:i, s:i, s:i, s:i, s:i}}", "ok", 1, "table", "rows_log2",
			(int)geometry->rows_log2, "cells", (int)geometry->cells, "key_length",
			(int)geometry->key_length, "value_length", (int)geometry->value_length,
			"packet_length", (int)geometry->packet_length, "epoch", 7),
	      dartd.memory_fd);
}

static void change_table(int socket, size_t count, int fd)
{
	int inserted = 0, removed = 0, full = 0;
	uint8_t record[RECORD];
	size_t i;

	for (i = 0; i < count; i++) {
		assert_int_equal(pread(fd, record, RECORD, i * RECORD), RECORD);
		if (*record == DART_REGISTRATION_TABLE_REMOVE)
			removed += !dart_tea_table__remove(dartd.entries, record + 1);
		else if (dart_tea_table__insert(dartd.entries, record + 1, record + 1 + KEY) < 0)
			full++;
		else
			inserted++;
	}
	reply(socket,
	      json_pack("{s:b, s:{s:i, s:i, s:i, s:i, s:i}}", "ok", 1, "changes", "inserted",
			inserted, "changed", 0, "removed", removed, "full", full, "foreign", 0),
	      -1);
}

static int on_request(sd_event_source *source, int socket, uint32_t events, void *data)
{
	char line[1000], control[CMSG_SPACE(sizeof(int))];
	struct iovec part = { line, sizeof(line) - 1 };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof(control) };
	const ssize_t length = recvmsg(socket, &message, 0);
	json_t *request;
	int fd = -1;

	if (length <= 0) {
		dartd.peer = sd_event_source_disable_unref(dartd.peer);
		return 0;
	}
	if (message.msg_controllen)
		memcpy(&fd, CMSG_DATA((struct cmsghdr *)control), sizeof(fd));
	/* One request is one segment. */
	assert_int_equal(line[length - 1], '\n');
	request = json_loadb(line, length, 0, NULL);
	assert_string_equal(json_string_value(json_object_get(request, "name")), "nat");
	dartd.requests++;
	if (dartd.is_stopped)
		goto out;
	if (!strcmp(json_string_value(json_object_get(request, "request")), "table-open"))
		open_table(socket);
	else
		change_table(socket, json_integer_value(json_object_get(request, "count")), fd);
out:
	json_decref(request);
	if (fd >= 0)
		close(fd);
	return 0;
}

static int on_connection(sd_event_source *source, int listener, uint32_t events, void *data)
{
	const int socket = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	assert_true(socket >= 0);
	assert_true(sd_event_add_io(dartd.loop, &dartd.peer, socket, EPOLLIN, on_request, NULL) >=
		    0);
	assert_true(sd_event_source_set_io_fd_own(dartd.peer, true) >= 0);
	return 0;
}

static void listen_at_path(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, dartd.path);
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_true(sd_event_add_io(dartd.loop, &dartd.connections, listener, EPOLLIN,
				    on_connection, NULL) >= 0);
	assert_true(sd_event_source_set_io_fd_own(dartd.connections, true) >= 0);
}

static void leave(void)
{
	dartd.connections = sd_event_source_disable_unref(dartd.connections);
	dartd.peer = sd_event_source_disable_unref(dartd.peer);
	unlink(dartd.path);
}

static void begin(uint32_t rows_log2, uint32_t fillers)
{
	uint8_t key[KEY], value[VALUE] = {};
	uint32_t i, number;
	size_t length;

	memset(&dartd, 0, sizeof(dartd));
	assert_true(sd_event_new(&dartd.loop) >= 0);
	snprintf(dartd.path, sizeof(dartd.path), "/tmp/flows_table.%d", getpid());
	dartd.geometry = (struct dart_tea_geometry){
		.rows_log2 = rows_log2,
		.cells = 4,
		.key_length = KEY,
		.value_length = VALUE,
		.packet_length = 100,
	};
	length = dart_tea_geometry__length(&dartd.geometry);
	dartd.memory_fd = memfd_create("table", MFD_CLOEXEC);
	assert_int_equal(ftruncate(dartd.memory_fd, length), 0);
	dartd.memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, dartd.memory_fd, 0);
	assert_ptr_not_equal(dartd.memory, MAP_FAILED);
	assert_int_equal(dart_tea_table__new(&dartd.geometry, 7, dartd.memory, &dartd.entries), 0);
	for (i = 0; i < fillers; i++) {
		number = FILLER + i;
		memcpy(key, &number, KEY);
		assert_true(dart_tea_table__insert(dartd.entries, key, value) >= 0);
	}
}

static void end(void)
{
	leave();
	dart_tea_table__free(dartd.entries);
	munmap(dartd.memory, dart_tea_geometry__length(&dartd.geometry));
	close(dartd.memory_fd);
	sd_event_unref(dartd.loop);
}

static uint64_t entries_now(void)
{
	struct dart_tea_statistics statistics;

	dart_tea_table__statistics(dartd.entries, &statistics);
	return statistics.entries;
}

/* ---- dart-flows */

static struct {
	uint32_t seen, compared, told, absent, away;
	char reason[DART_ERROR_MAX];
} flows;

static bool on_see(void *subject, const uint8_t *key, const uint8_t *value)
{
	flows.seen++;
	return false;
}

static void on_compare(void *subject)
{
	flows.compared++;
}

static void on_changed(void *subject, void *token, bool is_inserted, bool is_there)
{
	assert_int_equal((uintptr_t)token, ++flows.told);
	flows.absent += is_inserted && !is_there;
}

static void on_connected(void *subject, bool is_there, const char *reason)
{
	flows.away += !is_there;
	if (!is_there)
		snprintf(flows.reason, sizeof(flows.reason), "%s", reason);
}

static const struct table_handlers handlers = { on_see, on_compare, on_changed, on_connected };

static struct table *make_table(uint32_t value_length)
{
	static struct table_settings settings;
	struct dart_error error;
	struct table *table;

	memset(&flows, 0, sizeof(flows));
	settings = (struct table_settings){ .way = &table_socket,
					    .socket = dartd.path,
					    .name = "nat",
					    .key_length = KEY,
					    .value_length = value_length,
					    .changes_max = CHANGES_MAX };
	if (table__new(dartd.loop, &settings, &handlers, NULL, &table, &error))
		fail_msg("%s", error.text);
	return table;
}

static void run_until(const uint32_t *count, uint32_t wanted)
{
	while (*count < wanted)
		assert_true(sd_event_run(dartd.loop, 10000000) > 0);
}

static void insert(struct table *table, uint32_t number)
{
	uint8_t key[KEY], value[VALUE] = { number };

	memcpy(key, &number, KEY);
	table__insert(table, key, value, (void *)(uintptr_t)number);
}

static void test_life(void **state)
{
	struct table *table;
	uint32_t i;

	begin(12, 1000);
	table = make_table(VALUE);
	run_until(&flows.away, 1); /* nobody listens yet */
	listen_at_path();
	run_until(&flows.compared, 1);
	assert_int_equal(flows.seen, 1000);
	assert_true(table__is_there(table));
	assert_int_equal(table__frame_length(table), 100);
	for (i = 1; i <= 5000; i++)
		insert(table, i);
	run_until(&flows.told, 5000);
	assert_int_equal(flows.absent, 0);
	assert_int_equal(table__counts(table)->stray, 1000);
	assert_int_equal(table__counts(table)->removed, 1000);
	assert_int_equal(table__counts(table)->inserted, 5000);
	assert_int_equal(entries_now(), 5000);
	/* The strays, and 5,000 changes, in requests of many. */
	assert_in_range(dartd.requests, 4, 20);
	leave();
	run_until(&flows.away, 2);
	assert_non_null(strstr(flows.reason, "disconnected"));
	assert_false(table__is_there(table));
	insert(table, 1); /* is forgotten */
	listen_at_path();
	run_until(&flows.compared, 2);
	assert_int_equal(flows.seen, 6000);
	assert_int_equal(table__counts(table)->waiting, 5000);
	table__free(table);
	end();
}

static void test_full(void **state)
{
	struct table *table;
	uint32_t i;

	begin(4, 0);
	listen_at_path();
	table = make_table(VALUE);
	run_until(&flows.compared, 1);
	for (i = 1; i <= 500; i++)
		insert(table, i);
	run_until(&flows.told, 500);
	assert_true(flows.absent > 0);
	assert_int_equal(500 - flows.absent, entries_now());
	assert_int_equal(table__counts(table)->full, flows.absent);
	table__free(table);
	end();
}

static void test_other_values(void **state)
{
	struct table *table;

	begin(4, 0);
	listen_at_path();
	table = make_table(VALUE + 1);
	run_until(&flows.away, 1);
	assert_non_null(strstr(flows.reason, "values of 2, not 4 and 3"));
	table__free(table);
	end();
}

/* A dartd that is stopped, or waits for something: it is away until it answers. */
static void test_stopped(void **state)
{
	struct table *table;

	begin(12, 0);
	dartd.is_stopped = true;
	listen_at_path();
	table = make_table(VALUE);
	run_until(&flows.away, 1);
	assert_non_null(strstr(flows.reason, "no answer within 10 s"));
	dartd.is_stopped = false;
	run_until(&flows.compared, 1);
	dartd.is_stopped = true;
	insert(table, 1);
	run_until(&flows.away, 2);
	assert_non_null(strstr(flows.reason, "no answer within 10 s"));
	assert_false(table__is_there(table));
	dartd.is_stopped = false;
	run_until(&flows.compared, 2);
	insert(table, 1);
	run_until(&flows.told, 1);
	table__free(table);
	end();
}

static void test_too_many_changes(void **state)
{
	struct table *table;
	uint32_t i;

	begin(12, 0);
	listen_at_path();
	table = make_table(VALUE);
	run_until(&flows.compared, 1);
	for (i = 1; i <= CHANGES_MAX; i++)
		insert(table, i);
	assert_true(table__is_there(table));
	insert(table, i);
	assert_int_equal(flows.away, 1);
	assert_non_null(strstr(flows.reason, "more slowly"));
	assert_int_equal(table__counts(table)->waiting, 0);
	run_until(&flows.compared, 2);
	table__free(table);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("entries are compared, changed, and compared again after dartd was away",
		     test_life),
		TEST("entries that have no place are told of, each one", test_full),
		TEST("a dartd that does not answer is away until it does", test_stopped),
		TEST("a bounded number of changes waits for dartd", test_too_many_changes),
		TEST("a table with other values than the function's is left alone",
		     test_other_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
