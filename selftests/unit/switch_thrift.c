// SPDX-License-Identifier: GPL-2.0-only
/* What a switch says by Thrift: right, wrong, and cut off anywhere. */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include <libdart/error.h>

#include "tools/dartctl/switch/bmv2.h"

#define PORT	3	/* behind which the collector is */
#define ROUNDS	1000
#define SEED	0x5eed

enum { REPLY = 2, EXCEPTION = 3, SET = 14, MAP = 13 };

/* ---- a switch that says the same to everybody */

struct speech {
	int listener;
	char name[32];		/* where it listens */
	uint32_t length;
	uint8_t bytes[1 << 20];
};

static void *speak(void *context)
{
	struct speech *speech = context;
	int socket = accept(speech->listener, NULL, NULL);
	uint8_t ear[4096];
	uint32_t sent = 0;
	ssize_t count = 1;

	/* All it is asked, so that no reset overtakes what it says. */
	for (; count > 0 && sent < speech->length; sent += count)
		count = send(socket, speech->bytes + sent,
			     speech->length - sent, MSG_NOSIGNAL);
	shutdown(socket, SHUT_WR);
	while (recv(socket, ear, sizeof(ear), 0) > 0)
		;
	close(socket);
	return NULL;
}

static struct speech *speech_new(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t length = sizeof(address);
	struct speech *speech = calloc(1, sizeof(*speech));

	assert_non_null(speech);
	speech->listener = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(speech->listener, (void *)&address, length), 0);
	assert_int_equal(listen(speech->listener, 1), 0);
	getsockname(speech->listener, (void *)&address, &length);
	snprintf(speech->name, sizeof(speech->name), "127.0.0.1:%u",
		 ntohs(address.sin_port));
	return speech;
}

static void speech_free(struct speech *speech)
{
	close(speech->listener);
	free(speech);
}

static void say(struct speech *speech, const void *bytes, uint32_t length)
{
	assert_true(speech->length + length <= sizeof(speech->bytes));
	memcpy(speech->bytes + speech->length, bytes, length);
	speech->length += length;
}

static void say_u8(struct speech *speech, uint8_t value)
{
	say(speech, &value, 1);
}

static void say_u32(struct speech *speech, uint32_t value)
{
	value = htobe32(value);
	say(speech, &value, 4);
}

static void say_field(struct speech *speech, uint8_t type, uint16_t id)
{
	id = htobe16(id);
	say_u8(speech, type);
	say(speech, &id, 2);
}

static void say_string(struct speech *speech, const char *text)
{
	say_u32(speech, strlen(text));
	say(speech, text, strlen(text));
}

static void say_i32(struct speech *speech, uint16_t id, int32_t value)
{
	say_field(speech, THRIFT_I32, id);
	say_u32(speech, value);
}

static void say_header(struct speech *speech, uint32_t kind, const char *method,
		       uint32_t sequence)
{
	say_u32(speech, 0x80010000 | kind);
	say_string(speech, method);
	say_u32(speech, sequence);
}

static void say_list(struct speech *speech, uint16_t id, uint8_t type,
		     uint32_t count)
{
	say_field(speech, THRIFT_LIST, id);
	say_u8(speech, type);
	say_u32(speech, count);
}

static void say_action(struct speech *speech, const char *name, uint32_t count,
		       const char *const *values)
{
	say_i32(speech, 1, 1);
	say_field(speech, THRIFT_STRING, 2);
	say_string(speech, name);
	say_list(speech, 3, THRIFT_STRING, count);
	while (count--)
		say_string(speech, *values++);
	say_u8(speech, THRIFT_STOP);
}

/* The key is one byte, or two for a share. */
static void say_entry(struct speech *speech, uint8_t key, bool is_share,
		      int32_t handle, const char *action, uint32_t count,
		      const char *const *values)
{
	say_list(speech, 1, THRIFT_STRUCT, 1);
	say_i32(speech, 1, 0);
	say_field(speech, THRIFT_STRUCT, 2);
	say_field(speech, THRIFT_STRING, 1);
	say_u32(speech, 1 + is_share);
	if (is_share)
		say_u8(speech, 1);	/* 256 and key */
	say_u8(speech, key);
	say_u8(speech, THRIFT_STOP);
	say_u8(speech, THRIFT_STOP);
	say_field(speech, THRIFT_STRUCT, 2);	/* options */
	say_u8(speech, THRIFT_STOP);
	say_i32(speech, 3, handle);
	say_field(speech, THRIFT_STRUCT, 4);
	say_action(speech, action, count, values);
	/* What a newer one might add. */
	say_field(speech, MAP, 9);
	say_u8(speech, THRIFT_STRING);
	say_u8(speech, SET);
	say_u32(speech, 1);
	say_string(speech, "new");
	say_u8(speech, THRIFT_I64);
	say_u32(speech, 1);
	say(speech, "12345678", 8);
	say_u8(speech, THRIFT_STOP);
}

/* All answers to switch_bmv2__read(). */
static void say_state(struct speech *speech)
{
	static const char *const share[] = { "\x05", "\x01\x04" };
	static const char *const collector[] = {
		"RT\x01\x02\x03\x04", "\x0a\x01\x01\x01", "\x11", "", "\x3a",
		"\x0f", "\x02",
	};
	static const char *const reporter[] = {
		"\x02\x01\x0a\x01\x01\x02", "\x0a\x01\x01\x02", "\x04", "",
	};

	say_header(speech, REPLY, "bm_mt_get_entries", 1);
	say_list(speech, 0, THRIFT_STRUCT, 2);
	say_entry(speech, 7, true, 70, "dart_assign", 2, share);
	say_entry(speech, 8, true, 80, "other", 1, share);
	say_u8(speech, THRIFT_STOP);
	say_header(speech, REPLY, "bm_mt_get_entries", 2);
	say_list(speech, 0, THRIFT_STRUCT, 1);
	say_entry(speech, 5, false, -1, "dart_send_to", 7, collector);
	say_u8(speech, THRIFT_STOP);
	say_header(speech, REPLY, "bm_mt_get_default_entry", 3);
	say_field(speech, THRIFT_STRUCT, 0);
	say_action(speech, "dart_report_from", 4, reporter);
	say_u8(speech, THRIFT_STOP);
	say_header(speech, REPLY, "mirroring_session_get", 4);
	say_field(speech, THRIFT_STRUCT, 0);
	say_i32(speech, 1, PORT);
	say_u8(speech, THRIFT_STOP);
	say_u8(speech, THRIFT_STOP);
}

/* ---- who listens */

/* Returns what switch_bmv2__read() does. */
static int read_state(struct speech *speech, struct switch_state *state,
		      struct dart_error *error)
{
	struct switch_wish wish = {
		.collectors.count = 1,
		.ports = { PORT },
	};
	struct thrift *thrift;
	pthread_t speaker;
	int ret;

	*error->text = '\0';
	assert_int_equal(pthread_create(&speaker, NULL, speak, speech), 0);
	assert_int_equal(thrift__connect(speech->name, &thrift, error->text,
					 DART_ERROR_MAX),
			 0);
	ret = switch_bmv2__read(thrift, &wish, state, error);
	thrift__close(thrift);
	pthread_join(speaker, NULL);
	assert_int_equal(!ret, !*error->text);
	return ret;
}

/* The same, where the state does not matter. */
static int hear(struct speech *speech, struct dart_error *error)
{
	struct switch_state *state = switch_state__new();
	int ret;

	assert_non_null(state);
	ret = read_state(speech, state, error);
	free(state);
	return ret;
}

static void test_state(void **state)
{
	struct switch_state *found = switch_state__new();
	struct speech *speech = speech_new();
	struct dart_error error;

	assert_non_null(found);
	say_state(speech);
	assert_int_equal(read_state(speech, found, &error), 0);
	assert_true(found->shares[263].there);
	assert_int_equal(found->shares[263].handle, 70);
	assert_int_equal(found->shares[263].values[SHARE_COLLECTOR], 5);
	assert_int_equal(found->shares[263].values[SHARE_SESSION], 0x104);
	/* Another action: it is there, but never what is wanted. */
	assert_true(found->shares[264].there);
	assert_true(found->shares[264].values[SHARE_COLLECTOR] == UINT64_MAX);
	assert_false(found->shares[265].there);
	assert_int_equal(found->collectors[5].handle, -1);
	assert_true(found->collectors[5].values[COLLECTOR_MAC] ==
		    0x525401020304);
	assert_int_equal(found->collectors[5].values[COLLECTOR_RKEY], 0);
	assert_int_equal(found->collectors[5].values[COLLECTOR_REDUNDANCY], 2);
	assert_true(found->reporter.there);
	assert_int_equal(found->reporter.values[REPORTER_IP], 0x0a010102);
	assert_int_equal(found->sessions[PORT], PORT);
	assert_int_equal(found->sessions[PORT + 1], SWITCH_SESSION_NONE);
	speech_free(speech);
	free(found);
}

/* Wherever it hangs up, that is said. */
static void test_cut_off(void **state)
{
	struct speech *speech = speech_new();
	struct dart_error error;

	say_state(speech);
	while (speech->length--) {
		assert_true(hear(speech, &error) < 0);
		assert_string_equal(error.text, "it has hung up");
	}
	speech_free(speech);
}

static void test_mutated(void **state)
{
	struct speech *speech = speech_new();
	uint32_t random = SEED, i, refused = 0;
	struct dart_error error;
	uint8_t *byte, before;

	say_state(speech);
	for (i = 0; i < ROUNDS; i++) {
		random = random * 1664525 + 1013904223;
		byte = &speech->bytes[(random >> 8) % speech->length];
		before = *byte;
		*byte = random >> 5;
		refused += hear(speech, &error) < 0;
		*byte = before;
	}
	assert_in_range(refused, ROUNDS / 2, ROUNDS - 1);
	speech_free(speech);
}

static void say_entries_begin(struct speech *speech)
{
	speech->length = 0;
	say_header(speech, REPLY, "bm_mt_get_entries", 1);
}

static void test_refused(void **state)
{
	struct speech *speech = speech_new();
	struct dart_error error;
	uint32_t i;

	/* Deeper than anything: 3 bytes for each struct in the one before. */
	say_entries_begin(speech);
	say_list(speech, 0, THRIFT_STRUCT, 1);
	for (i = 0; i < 300000; i++)
		say_field(speech, THRIFT_STRUCT, 7);
	assert_int_equal(hear(speech, &error), -EPROTO);

	/* More of them than there are bytes, or shares. */
	say_entries_begin(speech);
	say_list(speech, 0, THRIFT_STRUCT, UINT32_MAX);
	assert_int_equal(hear(speech, &error), -EPROTO);
	say_entries_begin(speech);
	say_list(speech, 0, THRIFT_STRUCT, DART_STORE_SHARES + 1);
	assert_int_equal(hear(speech, &error), -EPROTO);

	/* A list of empty things is long for nothing. */
	say_entries_begin(speech);
	say_list(speech, 0, THRIFT_STRUCT, 1);
	say_list(speech, 9, THRIFT_STRUCT, INT32_MAX);
	assert_int_equal(hear(speech, &error), -EPROTO);

	/* The same share twice. */
	say_entries_begin(speech);
	say_list(speech, 0, THRIFT_STRUCT, 2);
	say_entry(speech, 7, true, 70, "dart_assign", 0, NULL);
	say_entry(speech, 7, true, 71, "dart_assign", 0, NULL);
	say_u8(speech, THRIFT_STOP);
	assert_int_equal(hear(speech, &error), -EPROTO);

	/* An answer to something else. */
	speech->length = 0;
	say_header(speech, REPLY, "bm_mt_get_entries", 2);
	assert_int_equal(hear(speech, &error), -EPROTO);
	speech->length = 0;
	say_header(speech, REPLY, "bm_mt_get_entry", 1);
	assert_int_equal(hear(speech, &error), -EPROTO);

	/* No result, or one of another type. */
	say_entries_begin(speech);
	say_u8(speech, THRIFT_STOP);
	assert_int_equal(hear(speech, &error), -EPROTO);
	say_entries_begin(speech);
	say_i32(speech, 0, 5);
	say_u8(speech, THRIFT_STOP);
	assert_int_equal(hear(speech, &error), -EPROTO);

	speech->length = 0;
	say(speech, "HTTP/1.1 400 Bad Request\r\n\r\n", 28);
	assert_int_equal(hear(speech, &error), -EPROTO);
	assert_string_equal(error.text, "it does not speak Thrift");
	speech_free(speech);
}

static void test_exceptions(void **state)
{
	struct switch_state *found = switch_state__new();
	struct speech *speech = speech_new();
	struct dart_error error;

	/* The library's: such a call is not known. */
	say_header(speech, EXCEPTION, "bm_mt_get_entries", 1);
	say_field(speech, THRIFT_STRING, 1);
	say_string(speech, "\033[2J");
	say_i32(speech, 2, 1);
	say_u8(speech, THRIFT_STOP);
	assert_int_equal(read_state(speech, found, &error), -EOPNOTSUPP);
	assert_string_equal(error.text,
			    "it does not take the call bm_mt_get_entries");

	/* The service's. */
	say_entries_begin(speech);
	say_field(speech, THRIFT_STRUCT, 1);
	say_i32(speech, 1, 7);
	say_u8(speech, THRIFT_STOP);
	say_u8(speech, THRIFT_STOP);
	assert_int_equal(read_state(speech, found, &error), -EREMOTEIO);
	assert_string_equal(error.text,
			    "it refuses dart_share (its code is 7)");
	speech_free(speech);
	free(found);
}

/* That there is no such session is no mistake. */
static void test_no_session(void **state)
{
	struct switch_state *found = switch_state__new();
	struct speech *speech = speech_new();
	struct dart_error error;

	say_state(speech);
	speech->length -= 3 + 7 + 1 + 1;
	say_field(speech, THRIFT_STRUCT, 1);
	say_i32(speech, 1, 1);
	say_u8(speech, THRIFT_STOP);
	say_u8(speech, THRIFT_STOP);
	found->sessions[PORT] = 77;
	assert_int_equal(read_state(speech, found, &error), 0);
	assert_int_equal(found->sessions[PORT], SWITCH_SESSION_NONE);
	speech_free(speech);
	free(found);
}

static void test_nobody(void **state)
{
	struct speech *speech = speech_new();
	struct thrift *thrift = NULL;
	struct dart_error error;

	close(speech->listener);
	assert_int_equal(thrift__connect(speech->name, &thrift, error.text,
					 sizeof(error.text)),
			 -ECONNREFUSED);
	assert_null(thrift);
	assert_string_equal(error.text, strerror(ECONNREFUSED));
	free(speech);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_state),
		cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_mutated),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_exceptions),
		cmocka_unit_test(test_no_session),
		cmocka_unit_test(test_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
