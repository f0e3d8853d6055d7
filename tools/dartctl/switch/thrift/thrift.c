// SPDX-License-Identifier: GPL-2.0-only
/* A client of Thrift in its binary protocol: see thrift.h. */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "thrift.h"
#include "wire.h"

#define VERSION		0x80010000u
#define VERSION_MASK	0xffff0000u
#define NAME_MAX_LENGTH	64
#define DEPTH_MAX	16

enum { CALL = 1, REPLY = 2, EXCEPTION = 3 };

/* Types that are only skipped. */
enum { BYTE = 3, DOUBLE = 4, I16 = 6, MAP = 13, SET = 14 };

struct thrift {
	struct thrift_wire wire;
	char method[NAME_MAX_LENGTH];
	uint32_t sequence;	/* of the call */
	int32_t code;
	bool in_result;		/* the end of the result has not been read yet */
};

static const char nonsense[] = "its answer makes no sense";

int thrift__connect(const char *name, struct thrift **thrift, struct dart_error *error)
{
	struct thrift *new = calloc(1, sizeof(*new));
	int ret;

	if (!new)
		return dart_error__no_memory(error);
	ret = thrift_wire__connect(&new->wire, name);
	if (ret) {
		*error = new->wire.error;
		thrift__close(new);
		return ret;
	}
	*thrift = new;
	return 0;
}

void thrift__close(struct thrift *thrift)
{
	if (thrift)
		thrift_wire__close(&thrift->wire);
	free(thrift);
}

void thrift__refuse(struct thrift *thrift)
{
	thrift_wire__fail(&thrift->wire, EPROTO, nonsense);
}

int thrift__end(struct thrift *thrift, int asked, const char *what, struct dart_error *error)
{
	int16_t id;

	if (thrift->in_result && thrift__next(thrift, &id) != THRIFT_STOP)
		thrift__refuse(thrift);
	thrift->in_result = false;
	if (thrift->wire.ret)
		*error = thrift->wire.error;
	else if (asked)
		return dart_error__set(error, EREMOTEIO, "it refuses %s (its code is %d)", what,
				       thrift->code);
	return thrift->wire.ret;
}

/* ---- calls */

static void put_u8(struct thrift *thrift, uint8_t value)
{
	thrift_wire__put(&thrift->wire, &value, sizeof(value));
}

static void put_u32(struct thrift *thrift, uint32_t value)
{
	value = htobe32(value);
	thrift_wire__put(&thrift->wire, &value, sizeof(value));
}

static void put_field(struct thrift *thrift, uint8_t type, int16_t id)
{
	uint16_t number = htobe16(id);

	put_u8(thrift, type);
	thrift_wire__put(&thrift->wire, &number, sizeof(number));
}

void thrift__put_element(struct thrift *thrift, const void *bytes, uint32_t length)
{
	put_u32(thrift, length);
	thrift_wire__put(&thrift->wire, bytes, length);
}

void thrift__begin(struct thrift *thrift, const char *service, const char *method)
{
	char name[NAME_MAX_LENGTH];
	int length;

	length = snprintf(name, sizeof(name), "%s:%s", service, method);
	snprintf(thrift->method, sizeof(thrift->method), "%s", method);
	thrift->sequence++;
	put_u32(thrift, VERSION | CALL);
	thrift__put_element(thrift, name, length);
	put_u32(thrift, thrift->sequence);
}

void thrift__put_bool(struct thrift *thrift, int16_t id, bool value)
{
	put_field(thrift, THRIFT_BOOL, id);
	put_u8(thrift, value);
}

void thrift__put_i32(struct thrift *thrift, int16_t id, int32_t value)
{
	put_field(thrift, THRIFT_I32, id);
	put_u32(thrift, value);
}

void thrift__put_i64(struct thrift *thrift, int16_t id, int64_t value)
{
	put_field(thrift, THRIFT_I64, id);
	put_u32(thrift, (uint64_t)value >> 32);
	put_u32(thrift, value);
}

void thrift__put_string(struct thrift *thrift, int16_t id, const char *text)
{
	thrift__put_bytes(thrift, id, text, strlen(text));
}

void thrift__put_bytes(struct thrift *thrift, int16_t id, const void *bytes, uint32_t length)
{
	put_field(thrift, THRIFT_STRING, id);
	thrift__put_element(thrift, bytes, length);
}

void thrift__put_struct(struct thrift *thrift, int16_t id)
{
	put_field(thrift, THRIFT_STRUCT, id);
}

void thrift__put_stop(struct thrift *thrift)
{
	put_u8(thrift, THRIFT_STOP);
}

void thrift__put_list(struct thrift *thrift, int16_t id, enum thrift_type type, uint32_t count)
{
	put_field(thrift, THRIFT_LIST, id);
	put_u8(thrift, type);
	put_u32(thrift, count);
}

/* ---- answers */

static uint8_t get_u8(struct thrift *thrift)
{
	uint8_t value;

	thrift_wire__get(&thrift->wire, &value, sizeof(value));
	return value;
}

static uint32_t get_u32(struct thrift *thrift)
{
	uint32_t value;

	thrift_wire__get(&thrift->wire, &value, sizeof(value));
	return be32toh(value);
}

bool thrift__bool(struct thrift *thrift)
{
	return get_u8(thrift);
}

int32_t thrift__i32(struct thrift *thrift)
{
	return get_u32(thrift);
}

int64_t thrift__i64(struct thrift *thrift)
{
	uint64_t high = get_u32(thrift);

	return high << 32 | get_u32(thrift);
}

/*
 * Reads the length of a string or container; refuses more bytes than the answer may still contain.
 */
static uint32_t get_length(struct thrift *thrift)
{
	uint32_t length = get_u32(thrift);

	if (length > thrift->wire.answer_left) {
		thrift__refuse(thrift);
		return 0;
	}
	return length;
}

uint32_t thrift__bytes(struct thrift *thrift, void *bytes, uint32_t size)
{
	uint32_t length = get_length(thrift);

	if (length > size) {
		thrift__refuse(thrift);
		return 0;
	}
	thrift_wire__get(&thrift->wire, bytes, length);
	return length;
}

char *thrift__text(struct thrift *thrift, uint32_t *length)
{
	char *text;

	*length = get_length(thrift);
	if (thrift->wire.ret)
		return NULL;
	text = malloc((size_t)*length + 1);
	if (!text) {
		thrift_wire__fail(&thrift->wire, ENOMEM, "out of memory");
		return NULL;
	}
	thrift_wire__get(&thrift->wire, text, *length);
	text[*length] = '\0';
	if (thrift->wire.ret) {
		free(text);
		return NULL;
	}
	return text;
}

uint32_t thrift__list(struct thrift *thrift, enum thrift_type type)
{
	uint8_t found = get_u8(thrift);
	uint32_t count = get_length(thrift);

	/* The elements of an empty list may have any type. */
	if (count && found != type) {
		thrift__refuse(thrift);
		return 0;
	}
	return count;
}

enum thrift_type thrift__next(struct thrift *thrift, int16_t *id)
{
	uint8_t type = get_u8(thrift);
	uint16_t number = 0;

	if (type != THRIFT_STOP)
		thrift_wire__get(&thrift->wire, &number, sizeof(number));
	*id = be16toh(number);
	return thrift->wire.ret ? THRIFT_STOP : type;
}

static void skip_bytes(struct thrift *thrift, uint32_t length)
{
	uint8_t rest[256];

	for (; length && !thrift->wire.ret; length -= length < sizeof(rest) ? length : sizeof(rest))
		thrift_wire__get(&thrift->wire, rest,
				 length < sizeof(rest) ? length : sizeof(rest));
}

static void skip(struct thrift *thrift, uint8_t type, int depth);

/* Elements of one type, or pairs of two. */
static void skip_elements(struct thrift *thrift, bool are_pairs, int depth)
{
	uint8_t first = get_u8(thrift);
	uint8_t second = are_pairs ? get_u8(thrift) : THRIFT_STOP;
	uint32_t count = get_length(thrift);

	while (count-- && !thrift->wire.ret) {
		skip(thrift, first, depth);
		if (are_pairs)
			skip(thrift, second, depth);
	}
}

static void skip(struct thrift *thrift, uint8_t type, int depth)
{
	int16_t id;

	if (depth > DEPTH_MAX) {
		thrift__refuse(thrift);
		return;
	}
	switch (type) {
	case THRIFT_BOOL:
	case BYTE:
		return skip_bytes(thrift, 1);
	case I16:
		return skip_bytes(thrift, 2);
	case THRIFT_I32:
		return skip_bytes(thrift, 4);
	case THRIFT_I64:
	case DOUBLE:
		return skip_bytes(thrift, 8);
	case THRIFT_STRING:
		return skip_bytes(thrift, get_length(thrift));
	case THRIFT_STRUCT:
		while ((type = thrift__next(thrift, &id)) != THRIFT_STOP)
			skip(thrift, type, depth + 1);
		return;
	case THRIFT_LIST:
	case SET:
		return skip_elements(thrift, false, depth + 1);
	case MAP:
		return skip_elements(thrift, true, depth + 1);
	default:
		thrift__refuse(thrift);
	}
}

void thrift__skip(struct thrift *thrift, enum thrift_type type)
{
	skip(thrift, type, 0);
}

/* Reads an exception of Thrift itself, for example after an unknown call. */
static void read_exception(struct thrift *thrift)
{
	enum thrift_type type;
	int16_t id;

	while ((type = thrift__next(thrift, &id)) != THRIFT_STOP)
		thrift__skip(thrift, type);
	thrift_wire__fail(&thrift->wire, EOPNOTSUPP,
			  "it does not take the call %s", thrift->method);
}

/* Reads an exception that the service has declared: a struct with a code. */
static void read_refusal(struct thrift *thrift)
{
	enum thrift_type type;
	int16_t id;

	thrift->code = 0;
	while ((type = thrift__next(thrift, &id)) != THRIFT_STOP) {
		if (id == 1 && type == THRIFT_I32)
			thrift->code = thrift__i32(thrift);
		else
			thrift__skip(thrift, type);
	}
}

/* Reads the beginning of an answer. */
static void read_header(struct thrift *thrift)
{
	uint32_t version = get_u32(thrift);
	char method[NAME_MAX_LENGTH];
	uint32_t length;

	if ((version & VERSION_MASK) != VERSION) {
		thrift_wire__fail(&thrift->wire, EPROTO, "it does not speak Thrift");
		return;
	}
	length = thrift__bytes(thrift, method, sizeof(method));
	if (get_u32(thrift) != thrift->sequence) {
		thrift__refuse(thrift);
	} else if ((version & ~VERSION_MASK) == EXCEPTION) {
		read_exception(thrift);
	} else if ((version & ~VERSION_MASK) != REPLY || length != strlen(thrift->method) ||
		   memcmp(method, thrift->method, length)) {
		thrift__refuse(thrift);
	}
}

int thrift__ask(struct thrift *thrift, enum thrift_type type)
{
	enum thrift_type found;
	int16_t id;

	thrift__put_stop(thrift);
	thrift_wire__send(&thrift->wire);
	read_header(thrift);
	found = thrift__next(thrift, &id);
	if (thrift->wire.ret)
		return -1;
	thrift->in_result = found != THRIFT_STOP;
	if (id && found == THRIFT_STRUCT) {
		read_refusal(thrift);
		return thrift->wire.ret ? -1 : 1;
	}
	if (id || found != type) {
		thrift__refuse(thrift);
		return -1;
	}
	return 0;
}
