/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints the answer in a reply of dartd while the reply is read, without making a tree of it. */
#ifndef REPLY_H
#define REPLY_H

#include "json_reader.h"
#include "table.h"

struct reply_form {
	/* Of a table, a line for each object of an array; NULL: as print_json() prints it. */
	const struct table_column *columns;
	/* Is this object of the array printed?  NULL: all are, and the answer may be any value. */
	bool (*keeps)(const struct json_members *object, const void *context);
	const void *context;
};

/*
 * Prints @member of the reply, JSON of @length bytes, and its warning.  Nothing is printed unless
 * the reply is whole and valid.  Returns an exit status.
 */
int reply__print(const char *text, size_t length, const char *member,
		 const struct reply_form *form);

#endif /* REPLY_H */
