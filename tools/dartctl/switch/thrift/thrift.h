/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A client of Thrift: calls several services at one port, in the binary protocol, without frames.
 * The server is not trusted: the time of each call, and the length and depth of its answer, are
 * limited.
 *
 *	thrift__begin(thrift, "standard", "bm_register_read");
 *	thrift__put_i32(thrift, 1, 0);
 *	...
 *	asked = thrift__ask(thrift, THRIFT_I64);
 *	if (!asked)
 *		value = thrift__i64(thrift);
 *	ret = thrift__end(thrift, asked, "a register", &error);
 *
 * Only thrift__end() reports failures: after an error the other functions do nothing and read
 * zeros.
 */
#ifndef SWITCH_THRIFT_H
#define SWITCH_THRIFT_H

#include <stdbool.h>
#include <stdint.h>

#include <libdart/error.h>

enum thrift_type {
	THRIFT_STOP = 0,
	THRIFT_BOOL = 2,
	THRIFT_I32 = 8,
	THRIFT_I64 = 10,
	THRIFT_STRING = 11,
	THRIFT_STRUCT = 12,
	THRIFT_LIST = 15,
};

struct thrift;

/* @name: "HOST:PORT".  Returns 0, or -errno with a sentence in @error. */
int thrift__connect(const char *name, struct thrift **thrift, struct dart_error *error);
/* NULL does nothing. */
void thrift__close(struct thrift *thrift);

void thrift__begin(struct thrift *thrift, const char *service, const char *method);

/* Fields of the arguments, or of a struct among them. */
void thrift__put_bool(struct thrift *thrift, int16_t id, bool value);
void thrift__put_i32(struct thrift *thrift, int16_t id, int32_t value);
void thrift__put_i64(struct thrift *thrift, int16_t id, int64_t value);
void thrift__put_string(struct thrift *thrift, int16_t id, const char *text);
void thrift__put_bytes(struct thrift *thrift, int16_t id, const void *bytes, uint32_t length);
/* A field that is a struct; its fields follow, then thrift__put_stop(). */
void thrift__put_struct(struct thrift *thrift, int16_t id);
void thrift__put_stop(struct thrift *thrift);
/*
 * A field that is a list; @count elements follow, which are bytes, or structs:
 * their fields, then thrift__put_stop().
 */
void thrift__put_list(struct thrift *thrift, int16_t id, enum thrift_type type, uint32_t count);
void thrift__put_element(struct thrift *thrift, const void *bytes, uint32_t length);

/*
 * Sends the call and waits for its result, which must be of @type, THRIFT_STOP
 * for none.  Returns 0, 1 if the service answers with an exception instead, or
 * -1 after an error.
 */
int thrift__ask(struct thrift *thrift, enum thrift_type type);

/* The type and ID of the next field of a struct; THRIFT_STOP at the end. */
enum thrift_type thrift__next(struct thrift *thrift, int16_t *id);
void thrift__skip(struct thrift *thrift, enum thrift_type type);
bool thrift__bool(struct thrift *thrift);
int32_t thrift__i32(struct thrift *thrift);
int64_t thrift__i64(struct thrift *thrift);
/* The number of elements that follow; they must be of @type. */
uint32_t thrift__list(struct thrift *thrift, enum thrift_type type);
/* A string of at most @size bytes.  Returns its length. */
uint32_t thrift__bytes(struct thrift *thrift, void *bytes, uint32_t size);
/* A string of any length with a NUL, which the caller frees; NULL after an error. */
char *thrift__text(struct thrift *thrift, uint32_t *length);
/* Fails because the caller cannot make sense of the answer. */
void thrift__refuse(struct thrift *thrift);

/*
 * Ends each call.  @asked: the value of thrift__ask(); if it was an exception, the error names
 * @what, the object of the call.  Returns 0, or -errno with a sentence in @error.
 */
int thrift__end(struct thrift *thrift, int asked, const char *what, struct dart_error *error);

#endif /* SWITCH_THRIFT_H */
