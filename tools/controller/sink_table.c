// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints samples as tables.  Each target has a block: a line about itself, then
 * its entries.  On a terminal, all blocks share the screen, which is redrawn
 * when a sample arrives; elsewhere each sample prints its block.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "entry_view.h"
#include "schedule.h"
#include "screen.h"
#include "sink.h"

/* Drawing takes time, and the eye follows no faster changes. */
#define DRAW_INTERVAL_NS 50000000ULL

struct block {
	char *text;		/* NULL: nothing to show yet */
	uint64_t drawn_ns;
	struct entry_view *views;
	uint32_t view_count;
};

struct sink_table {
	struct sink sink;
	struct screen screen;
	bool complete;
	size_t block_count;
	struct block blocks[];	/* one per target */
};

static void block__clear_views(struct block *block)
{
	uint32_t i;

	for (i = 0; i < block->view_count; i++)
		entry_view__clear(&block->views[i]);
	free(block->views);
	block->views = NULL;
	block->view_count = 0;
}

static int block__update_views(struct block *block, const struct sample *sample)
{
	uint32_t i;
	int err;

	if (!sample->previous)
		block__clear_views(block);
	if (!block->views) {
		block->views = calloc(sample->entry_count + 1,
				      sizeof(*block->views));
		if (!block->views)
			return -ENOMEM;
		block->view_count = sample->entry_count;
	}
	for (i = 0; i < block->view_count; i++) {
		err = entry_view__update(&block->views[i], sample, i);
		if (err)
			return err;
	}
	return 0;
}

/*
 * Distributes @lines among the entries, one each in turn, up to as many as each
 * wants.  The first line of an entry also takes the lines around its values.
 */
static void block__share_lines(const struct block *block, size_t lines,
			       size_t *shares)
{
	size_t price;
	bool dealt;
	uint32_t i;

	do {
		dealt = false;
		for (i = 0; i < block->view_count; i++) {
			price = shares[i] ? 1 : ENTRY_VIEW_FRAME;
			if (lines < price ||
			    shares[i] >= entry_view__wanted(&block->views[i]))
				continue;
			shares[i]++;
			lines -= price;
			dealt = true;
		}
	} while (dealt);
}

static void print_time(FILE *out)
{
	time_t now = time(NULL);
	struct tm local;

	localtime_r(&now, &local);
	fprintf(out, "%02d:%02d:%02d", local.tm_hour, local.tm_min,
		local.tm_sec);
}

static void print_head(const char *name, const struct sample *sample,
		       const struct summary *summary, FILE *out)
{
	fprintf(out, "%s  ", name);
	print_time(out);
	fprintf(out,
		"  %.0f us (p99 %.0f)  READs %u  bytes %llu  failed %llu  missed %llu  generation %llu\n\n",
		(sample->end_ns - sample->start_ns) / 1e3,
		latency__percentile(&summary->decoded, 99) / 1e3,
		sample->reads, (unsigned long long)sample->bytes,
		(unsigned long long)summary->failed,
		(unsigned long long)summary->missed,
		(unsigned long long)sample->table->generation);
}

static int sink_table__print_entries(const struct sink_table *table,
				     const struct block *block,
				     const struct sample *sample, FILE *out)
{
	struct entry_view_style style = {
		.width = table->screen.width,
		.complete = table->complete,
	};
	/* The target's line, the gaps around it, and a title per entry. */
	size_t frame = 3 + (size_t)block->view_count;
	size_t lines = table->screen.height / table->block_count;
	size_t *shares;
	uint32_t i;
	int err = 0;

	shares = calloc(block->view_count + 1, sizeof(*shares));
	if (!shares)
		return -ENOMEM;
	block__share_lines(block, lines > frame ? lines - frame : 0, shares);
	for (i = 0; i < block->view_count && !err; i++) {
		style.lines = style.complete ? block->views[i].lines :
					       shares[i];
		err = entry_view__print(&block->views[i], sample, i, &style,
					out);
	}
	free(shares);
	return err;
}

/* A stream gets the block of @target, a terminal all blocks. */
static int sink_table__redraw(struct sink_table *table,
			      const struct target_settings *target)
{
	size_t i, size;
	char *text;
	FILE *out;
	int err;

	if (!table->screen.is_terminal)
		return screen__show(&table->screen,
				    table->blocks[target->index].text);

	out = open_memstream(&text, &size);
	if (!out)
		return -ENOMEM;
	for (i = 0; i < table->block_count; i++) {
		if (table->blocks[i].text)
			fputs(table->blocks[i].text, out);
	}
	if (fclose(out))
		return -ENOMEM;
	err = screen__show(&table->screen, text);
	free(text);
	return err;
}

/* Clears the text of a block; the caller writes it and closes the stream. */
static FILE *block__open_text(struct block *block)
{
	size_t size;

	free(block->text);
	block->text = NULL;
	return open_memstream(&block->text, &size);
}

static int show_sample(struct sink *sink, const struct target_settings *target,
		       const struct sample *sample,
		       const struct summary *summary)
{
	struct sink_table *table = (struct sink_table *)sink;
	struct block *block = &table->blocks[target->index];
	FILE *out;
	int err;

	err = block__update_views(block, sample);
	if (err)
		return err;
	if (table->screen.is_terminal && block->drawn_ns &&
	    monotonic_ns() - block->drawn_ns < DRAW_INTERVAL_NS)
		return 0;
	block->drawn_ns = monotonic_ns();

	screen__measure(&table->screen);
	out = block__open_text(block);
	if (!out)
		return -ENOMEM;
	print_head(target->name, sample, summary, out);
	err = sink_table__print_entries(table, block, sample, out);
	if (fclose(out))
		err = -ENOMEM;
	return err ?: sink_table__redraw(table, target);
}

static int show_lost(struct sink *sink, const struct target_settings *target,
		     const char *reason)
{
	struct sink_table *table = (struct sink_table *)sink;
	struct block *block = &table->blocks[target->index];
	FILE *out;

	block__clear_views(block);
	block->drawn_ns = 0;
	if (table->complete)
		return 0;
	out = block__open_text(block);
	if (!out)
		return -ENOMEM;
	fprintf(out, "%s  unreachable since ", target->name);
	print_time(out);
	fprintf(out, ": %s\n\n", reason);
	if (fclose(out))
		return -ENOMEM;
	return sink_table__redraw(table, target);
}

static void sink_table__free(struct sink *sink)
{
	struct sink_table *table = (struct sink_table *)sink;
	size_t i;

	for (i = 0; i < table->block_count; i++) {
		block__clear_views(&table->blocks[i]);
		free(table->blocks[i].text);
	}
	free(table);
}

static const struct sink_operations sink_table_operations = {
	.sample = show_sample,
	.lost = show_lost,
	.summary = NULL,	/* controller.c prints it to standard error */
	.free = sink_table__free,
};

struct sink *sink_table__new(FILE *out, size_t targets, bool complete)
{
	struct sink_table *table;

	table = calloc(1, sizeof(*table) + targets * sizeof(*table->blocks));
	if (!table)
		return NULL;
	table->sink.operations = &sink_table_operations;
	table->block_count = targets;
	table->complete = complete;
	screen__open(&table->screen, out, !complete);
	table->sink.owns_terminal = table->screen.is_terminal &&
				    isatty(STDERR_FILENO);
	return &table->sink;
}
