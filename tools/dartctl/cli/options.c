// SPDX-License-Identifier: GPL-2.0-only
/* Options of the command line, over getopt_long(3). */
#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/settings/program.h>
#include <libdart/settings/quantity.h>

#include "message.h"
#include "options.h"

#define OPTION_SOCKET 256
/* Values of options of the command begin here, so that none of them is a letter. */
#define OPTION_ROWS_FIRST 512

static const struct option common[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "socket", required_argument, NULL, OPTION_SOCKET },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
};

#define COMMON (sizeof(common) / sizeof(common[0]))

/* Fills @all with the common options, then the options of @rows, then zeros. */
static void merge(const struct option_row *rows,
		  struct option all[static COMMON + OPTION_ROWS_MAX + 1])
{
	size_t i;

	memcpy(all, common, sizeof(common));
	for (i = 0; rows && rows[i].name; i++) {
		assert(i < OPTION_ROWS_MAX);
		all[COMMON + i] = (struct option){
			.name = rows[i].name,
			.has_arg = rows[i].type == OPTION_TYPE_FLAG ? no_argument :
								      required_argument,
			.val = OPTION_ROWS_FIRST + i,
		};
	}
	all[COMMON + i] = (struct option){};
}

/* The option at which getopt_long() stopped. */
static const char *culprit(char **argv, char letter[static 3])
{
	if (!optopt || optopt > 255)
		return argv[optind - 1];
	letter[0] = '-';
	letter[1] = optopt;
	letter[2] = '\0';
	return letter;
}

static int take_number(long long *number, const char *text, const struct option_row *row)
{
	*number = options__number(text, row->most);
	if (*number < row->least)
		return misuse("--%s is a number from %lld to %lld, not '%s'", row->name, row->least,
			      row->most, text);
	return EXIT_SUCCESS;
}

static int take_row(const struct option_row *row, void *object, const char *text)
{
	void *member = (char *)object + row->offset;

	if (row->take) {
		int status = row->take(member, text);
		return status && row->form ?
			       misuse("--%s %s, not '%s'", row->name, row->form, text) :
			       status;
	}
	if (row->type == OPTION_TYPE_NUMBER)
		return take_number(member, text, row);
	if (row->type == OPTION_TYPE_FLAG)
		*(bool *)member = true;
	else
		*(const char **)member = text;
	return EXIT_SUCCESS;
}

static int take(struct options *options, int argc, char **argv, const struct option_row *rows,
		void *object, const char *letters)
{
	struct option all[COMMON + OPTION_ROWS_MAX + 1];
	char letter[3];
	int option, status = EXIT_SUCCESS;

	merge(rows, all);
	opterr = 0;
	while (!status && (option = getopt_long(argc, argv, letters, all, NULL)) != -1) {
		switch (option) {
		case 'j':
			options->json = true;
			fail__in_json();
			break;
		case OPTION_SOCKET:
			options->socket = optarg;
			break;
		case 'h':
			exit(dart_program__end_output("dartctl", options->help(options)));
		case 'V':
			puts("dartctl " DART_VERSION);
			exit(dart_program__end_output("dartctl", EXIT_SUCCESS));
		case ':':
			return misuse("'%s' needs an argument", culprit(argv, letter));
		case '?':
			return misuse("'%s' has no option '%s'", argv[0], culprit(argv, letter));
		default:
			status = take_row(&rows[option - OPTION_ROWS_FIRST], object, optarg);
		}
	}
	return status;
}

int options__take(struct options *options, int argc, char **argv, const struct option_row *rows,
		  void *object)
{
	return take(options, argc, argv, rows, object, ":jhV");
}

int options__take_in_front(struct options *options, int argc, char **argv)
{
	return take(options, argc, argv, NULL, NULL, "+:jhV");
}

int options__take_power(void *log2, const char *text)
{
	const long long value = dart_quantity__logarithm(text, INT_MAX);

	*(long long *)log2 = value;
	return value < 0 ? EXIT_USAGE : EXIT_SUCCESS;
}

long long options__number(const char *text, long long most)
{
	uint64_t number;

	return dart_quantity__parse(DART_QUANTITY_NUMBER, text, 0, most, &number) ?
		       -1 :
		       (long long)number;
}
