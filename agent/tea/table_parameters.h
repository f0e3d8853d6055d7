/* SPDX-License-Identifier: GPL-2.0-only */
/* The parameters of a new table, from a request or a configuration file. */
#ifndef TABLE_PARAMETERS_H
#define TABLE_PARAMETERS_H

#include <stdint.h>

#include <libdart/tea/tea_geometry.h>

#include "agent/base/request.h"

/* Bytes of the name of a user, with its end. */
#define TABLE_USER_MAX 33

struct table_parameters {
	struct dart_tea_geometry geometry;
	uint32_t first_share, last_share;	/* whose entries are here */
	char user[TABLE_USER_MAX];	/* may change entries, as root may */
};

/*
 * Unpacks a request table-create, and checks all of it but the name.  @name and @file,
 * which is NULL if there is none, are the request's.
 */
int table_parameters__unpack(struct request *request, const char **name, const char **file,
			     struct table_parameters *parameters);

#endif /* TABLE_PARAMETERS_H */
