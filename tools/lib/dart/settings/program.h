/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The command line of a program whose options are rows of settings: see setting.h. */
#ifndef DART_PROGRAM_H
#define DART_PROGRAM_H

#include <stdio.h>

#include <libdart/settings/setting.h>

/* Options that belong together, with a title for --help; no title: none, only keys of a file. */
struct dart_option_group {
	const char *title;
	const struct dart_settings *table;
};

struct dart_program {
	const char *name;
	const char *usage; /* the first lines of --help */
	const char *epilogue; /* the last ones, or NULL */
	const struct dart_option_group *groups; /* ends with an empty one */
};

/*
 * Each program with such options defines it next to their table.  When the program is built,
 * tools/texts makes its manual page and its completions from it.
 */
extern const struct dart_program program;

/*
 * Parses the options in @argv with getopt_long(3), which leaves optind at the first other word.
 * Options of @places set members of their objects; @places ends with an empty one.  Returns
 * 0, or -errno with a sentence in @error.
 */
int dart_program__parse(const struct dart_settings_of *places, int argc, char *argv[],
			struct dart_error *error);
void dart_program__print_help(const struct dart_program *program, FILE *out);

/*
 * Takes the places of standard streams that the caller closed: otherwise a connection could get
 * the number of a stream, and with it the messages of the program.  Writing there fails, as it would
 * without a stream.
 * Call it first.
 */
void dart_program__open_streams(void);
/*
 * Returns the exit status of program @name: @status, or EXIT_FAILURE after a message on stderr if
 * stdout has not taken all that was printed.
 */
int dart_program__end_output(const char *name, int status);

#endif /* DART_PROGRAM_H */
