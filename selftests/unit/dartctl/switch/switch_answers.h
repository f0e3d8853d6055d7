/* SPDX-License-Identifier: GPL-2.0-only */
/* A switch that accepts one connection and sends prepared answers of Thrift. */
#ifndef SWITCH_ANSWERS_H
#define SWITCH_ANSWERS_H

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "selftests/unit/unit.h"
#include "tools/dartctl/switch/engine/live.h"

#define PORT 3 /* of the switch, where the collector is */

enum { REPLY = 2, EXCEPTION = 3, SET = 14, MAP = 13 };

struct answers {
	int listener;
	char name[32]; /* HOST:PORT of the listener */
	uint32_t length;
	uint8_t bytes[1 << 20];
};

static inline void *send_answers(void *context)
{
	struct answers *answers = context;
	int socket = accept(answers->listener, NULL, NULL);
	uint8_t request[4096];
	uint32_t sent = 0;
	ssize_t count = 1;

	/* Reads all requests, so that no reset overtakes the answers. */
	for (; count > 0 && sent < answers->length; sent += count)
		count = send(socket, answers->bytes + sent, answers->length - sent, MSG_NOSIGNAL);
	shutdown(socket, SHUT_WR);
	while (recv(socket, request, sizeof(request), 0) > 0)
		;
	close(socket);
	return NULL;
}

static inline struct answers *answers__new(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t length = sizeof(address);
	struct answers *answers = calloc(1, sizeof(*answers));

	assert_non_null(answers);
	answers->listener = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(answers->listener, (void *)&address, length), 0);
	assert_int_equal(listen(answers->listener, 1), 0);
	getsockname(answers->listener, (void *)&address, &length);
	snprintf(answers->name, sizeof(answers->name), "127.0.0.1:%u", ntohs(address.sin_port));
	return answers;
}

static inline void answers__free(struct answers *answers)
{
	close(answers->listener);
	free(answers);
}

static inline void append(struct answers *answers, const void *bytes, uint32_t length)
{
	assert_true(answers->length + length <= sizeof(answers->bytes));
	memcpy(answers->bytes + answers->length, bytes, length);
	answers->length += length;
}

static inline void append_u8(struct answers *answers, uint8_t value)
{
	append(answers, &value, 1);
}

static inline void append_u32(struct answers *answers, uint32_t value)
{
	value = htobe32(value);
	append(answers, &value, 4);
}

static inline void append_field(struct answers *answers, uint8_t type, uint16_t id)
{
	id = htobe16(id);
	append_u8(answers, type);
	append(answers, &id, 2);
}

static inline void append_string(struct answers *answers, const char *text)
{
	append_u32(answers, strlen(text));
	append(answers, text, strlen(text));
}

static inline void append_i32(struct answers *answers, uint16_t id, int32_t value)
{
	append_field(answers, THRIFT_I32, id);
	append_u32(answers, value);
}

static inline void append_header(struct answers *answers, uint32_t kind,
				 const char *method, uint32_t sequence)
{
	append_u32(answers, 0x80010000 | kind);
	append_string(answers, method);
	append_u32(answers, sequence);
}

static inline void append_list(struct answers *answers, uint16_t id, uint8_t type, uint32_t count)
{
	append_field(answers, THRIFT_LIST, id);
	append_u8(answers, type);
	append_u32(answers, count);
}

static inline void append_action(struct answers *answers, const char *name,
				 uint32_t count, const char *const *values)
{
	append_i32(answers, 1, 1);
	append_field(answers, THRIFT_STRING, 2);
	append_string(answers, name);
	append_list(answers, 3, THRIFT_STRING, count);
	while (count--)
		append_string(answers, *values++);
	append_u8(answers, THRIFT_STOP);
}

/* The key is @above bytes of 1 before one byte. */
static inline void append_entry(struct answers *answers, uint8_t key, uint32_t above,
				int32_t handle, const char *action, uint32_t count,
				const char *const *values)
{
	append_list(answers, 1, THRIFT_STRUCT, 1);
	append_i32(answers, 1, 0);
	append_field(answers, THRIFT_STRUCT, 2);
	append_field(answers, THRIFT_STRING, 1);
	append_u32(answers, above + 1);
	while (above--)
		append_u8(answers, 1);
	append_u8(answers, key);
	append_u8(answers, THRIFT_STOP);
	append_u8(answers, THRIFT_STOP);
	append_field(answers, THRIFT_STRUCT, 2); /* options */
	append_u8(answers, THRIFT_STOP);
	append_i32(answers, 3, handle);
	append_field(answers, THRIFT_STRUCT, 4);
	append_action(answers, action, count, values);
	/* A member that a newer switch might add. */
	append_field(answers, MAP, 9);
	append_u8(answers, THRIFT_STRING);
	append_u8(answers, SET);
	append_u32(answers, 1);
	append_string(answers, "new");
	append_u8(answers, THRIFT_I64);
	append_u32(answers, 1);
	append(answers, "12345678", 8);
	append_u8(answers, THRIFT_STOP);
}

/* The answers to all questions of switch_state__read() about a switch that reports. */
static inline void append_state(struct answers *answers)
{
	static const char *const share[] = { "\x05", "\x01\x04" };
	static const char *const collector[] = {
		"RT\x01\x02\x03\x04", "\x0a\x01\x01\x01", "\x11", "", "\x3a", "\x0f", "\x02",
	};
	static const char *const reporter[] = {
		"\x02\x01\x0a\x01\x01\x02",
		"\x0a\x01\x01\x02",
		"\x04",
		"",
	};
	static const char *const connection[] = { "\x03" };
	static const char *const answer[] = { "\x05", "\x04" };

	append_header(answers, REPLY, "bm_mt_get_entries", 1);
	append_list(answers, 0, THRIFT_STRUCT, 2);
	append_entry(answers, 7, 1, 70, "dart_assign", 2, share);
	append_entry(answers, 8, 1, 80, "other", 1, share);
	append_u8(answers, THRIFT_STOP);
	append_header(answers, REPLY, "bm_mt_get_entries", 2);
	append_list(answers, 0, THRIFT_STRUCT, 1);
	append_entry(answers, 5, 0, -1, "dart_send_to", 7, collector);
	append_u8(answers, THRIFT_STOP);
	append_header(answers, REPLY, "bm_mt_get_default_entry", 3);
	append_field(answers, THRIFT_STRUCT, 0);
	append_action(answers, "dart_report_from", 4, reporter);
	append_u8(answers, THRIFT_STOP);
	append_header(answers, REPLY, "bm_mt_get_entries", 4);
	append_list(answers, 0, THRIFT_STRUCT, 1);
	append_entry(answers, 5, 0, 40, "dart_reliable", 1, connection);
	append_u8(answers, THRIFT_STOP);
	append_header(answers, REPLY, "bm_mt_get_entries", 5);
	append_list(answers, 0, THRIFT_STRUCT, 1);
	append_entry(answers, 17, 6, 50, "dart_answer_of", 2, answer);
	append_u8(answers, THRIFT_STOP);
	append_header(answers, REPLY, "mirroring_session_get", 6);
	append_field(answers, THRIFT_STRUCT, 0);
	append_i32(answers, 1, PORT);
	append_u8(answers, THRIFT_STOP);
	append_u8(answers, THRIFT_STOP);
}

#endif /* SWITCH_ANSWERS_H */
