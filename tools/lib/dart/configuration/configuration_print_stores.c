// SPDX-License-Identifier: LGPL-2.1-or-later
/* Prints stores and tables, with the peers that belong to each. */
#include <string.h>

#include <libdart/configuration/configuration_printer_internal.h>

#define text_of		dart_configuration__text_of
#define request_of	dart_configuration__request_of
#define print_text	dart_configuration__print_text
#define print_member	dart_configuration__print_member

static void print_number(FILE *file, const char *key, const json_t *number)
{
	if (number)
		fprintf(file, "    %s: %" JSON_INTEGER_FORMAT "\n", key,
			json_integer_value(number));
}

static void print_power(FILE *file, const char *key, const json_t *log2)
{
	fprintf(file, "    %s: 2^%" JSON_INTEGER_FORMAT "\n", key,
		json_integer_value(log2));
}

/* The addresses of all requests @type whose member @of names the whole. */
static void print_parts(FILE *file, const json_t *registrations,
			const char *list, const char *type, const char *of,
			const char *whole)
{
	const json_t *registration, *request;
	bool is_first = true;
	size_t i;

	json_array_foreach((json_t *)registrations, i, registration) {
		request = request_of(registration);
		if (strcmp(text_of(request, "request") ?: "", type) ||
		    strcmp(text_of(request, of) ?: "", whole))
			continue;
		if (is_first)
			fprintf(file, "    %s:\n", list);
		fputs("      - ", file);
		print_text(file, text_of(request, "address"));
		fputc('\n', file);
		is_first = false;
	}
}

void dart_configuration__print_store(FILE *file, const json_t *registrations,
				     const json_t *registration)
{
	const json_t *request = request_of(registration);
	bool is_first = true;

	print_member(file, &is_first, "name", text_of(request, "name"));
	print_power(file, "slots", json_object_get(request, "slots_log2"));
	print_number(file, "value", json_object_get(request, "value_length"));
	print_number(file, "checksum",
		     json_object_get(request, "checksum_bits"));
	print_number(file, "redundancy",
		     json_object_get(request, "redundancy"));
	print_member(file, &is_first, "file", text_of(request, "file"));
	print_parts(file, registrations, "reporters", "reporter-add", "store",
		    text_of(request, "name"));
}

static void print_shares(FILE *file, const json_t *shares)
{
	if (shares)
		fprintf(file,
			"    shares: %" JSON_INTEGER_FORMAT
			"-%" JSON_INTEGER_FORMAT "\n",
			json_integer_value(json_array_get(shares, 0)),
			json_integer_value(json_array_get(shares, 1)));
}

void dart_configuration__print_table(FILE *file, const json_t *registrations,
				     const json_t *registration)
{
	const json_t *request = request_of(registration);
	bool is_first = true;

	print_member(file, &is_first, "name", text_of(request, "name"));
	print_power(file, "rows", json_object_get(request, "rows_log2"));
	print_number(file, "key", json_object_get(request, "key_length"));
	print_number(file, "value", json_object_get(request, "value_length"));
	print_number(file, "cells", json_object_get(request, "cells"));
	print_number(file, "packet", json_object_get(request, "packet_length"));
	print_shares(file, json_object_get(request, "shares"));
	print_member(file, &is_first, "file", text_of(request, "file"));
	print_parts(file, registrations, "requesters", "requester-add", "table",
		    text_of(request, "name"));
}
