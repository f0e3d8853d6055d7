// SPDX-License-Identifier: GPL-2.0-only
/* Options of the command line, over getopt_long(3). */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "options.h"

#define OPTION_SOCKET 256

static const struct option common[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "socket", required_argument, NULL, OPTION_SOCKET },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
};

#define COMMON (sizeof(common) / sizeof(common[0]))

/* Fills @all with the common options, then @own, then zeros. */
static void merge(const struct option *own, struct option all[static COMMON + OPTIONS_OWN_MAX + 1])
{
	size_t count = COMMON;

	memcpy(all, common, sizeof(common));
	for (; own && own->name; own++) {
		assert(count < COMMON + OPTIONS_OWN_MAX);
		all[count++] = *own;
	}
	all[count] = (struct option){ };
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

static int next(struct options *options, int argc, char **argv,
		const struct option *own, const char *letters)
{
	struct option all[COMMON + OPTIONS_OWN_MAX + 1];
	char letter[3];
	int option;

	merge(own, all);
	opterr = 0;
	while ((option = getopt_long(argc, argv, letters, all, NULL)) != -1) {
		switch (option) {
		case 'j':
			options->json = true;
			fail__in_json();
			break;
		case OPTION_SOCKET:
			options->socket = optarg;
			break;
		case 'h':
			exit(options->help(options));
		case 'V':
			puts("dartctl " DART_VERSION);
			exit(EXIT_SUCCESS);
		case ':':
			misuse("'%s' needs an argument", culprit(argv, letter));
			return '?';
		case '?':
			misuse("'%s' has no option '%s'", argv[0], culprit(argv, letter));
			return '?';
		default:
			return option;
		}
	}
	return -1;
}

int options__next(struct options *options, int argc, char **argv, const struct option *own)
{
	return next(options, argc, argv, own, ":jhV");
}

int options__next_in_front(struct options *options, int argc, char **argv)
{
	return next(options, argc, argv, NULL, "+:jhV");
}

long long options__number(const char *text, long long most)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno || *end || *text < '0' || *text > '9' || number > (unsigned long long)most)
		return -1;
	return number;
}

long long options__logarithm(const char *text)
{
	long long value;

	if (!strncmp(text, "2^", 2))
		return options__number(text + 2, LLONG_MAX);
	value = options__number(text, LLONG_MAX);
	if (value <= 0 || (value & (value - 1)))
		return -1;
	return __builtin_ctzll(value);
}
