// SPDX-License-Identifier: GPL-2.0-only
/* Series that are being invented: see invented_made.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "invented_made.h"

static char *made__keep(struct made *made, char *text)
{
	char **texts;

	if (text && made->text_count == made->text_capacity) {
		made->text_capacity = made->text_capacity * 2 ?: 256;
		texts = reallocarray(made->texts, made->text_capacity, sizeof(*texts));
		if (!texts) {
			free(text);
			text = NULL;
		} else {
			made->texts = texts;
		}
	}
	if (text)
		made->texts[made->text_count++] = text;
	else
		made->has_failed = true;
	return text;
}

char *made__print(struct made *made, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	return made__keep(made, text);
}

/* a="b",c="d" */
static void row__print_labels(struct made *made, struct row *row)
{
	const char *at;
	size_t size;
	FILE *to;
	uint32_t i;

	row->text = NULL;
	to = open_memstream(&row->text, &size);
	for (i = 0; to && i < row->label_count; i++) {
		fprintf(to, "%s%s=\"", i ? "," : "", row->labels[i].name);
		for (at = row->labels[i].value; *at; at++) {
			if (*at == '"' || *at == '\\')
				fputc('\\', to);
			if (*at == '\n')
				fputs("\\n", to);
			else
				fputc(*at, to);
		}
		fputc('"', to);
	}
	if (to)
		fclose(to);
	made__keep(made, row->text);
}

struct row *made__add(struct made *made, const struct kind *kind, const struct metric_label *first,
		      const struct metric_label *second)
{
	struct row *rows, *row;

	if (made->count == made->capacity) {
		made->capacity = made->capacity * 2 ?: 256;
		rows = reallocarray(made->rows, made->capacity, sizeof(*rows));
		if (!rows)
			abort();
		made->rows = rows;
	}
	row = &made->rows[made->count++];
	*row = (struct row){
		.family = kind->family,
		.name = kind->family,
		.help = kind->help,
		.unit = kind->unit,
		.type = kind->type,
		.motion = { .shape = kind->shape, .base = kind->base },
	};
	if (first)
		row->labels[row->label_count++] = *first;
	if (second)
		row->labels[row->label_count++] = *second;
	row__print_labels(made, row);
	return row;
}

void made__free(struct made *made)
{
	while (made->text_count)
		free(made->texts[--made->text_count]);
	free(made->texts);
	free(made->rows);
	free(made->families);
	free(made->series);
	free(made);
}
