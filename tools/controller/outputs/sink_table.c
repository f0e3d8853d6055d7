// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints samples as tables. Each target owns a block: a line about itself, then its entries. On a
 * terminal, all blocks share the screen, which is redrawn when a sample arrives; elsewhere each
 * sample prints its block.
 *
 * The worker of a target owns its block, except the text on a terminal: under the lock, any worker
 * joins all texts to the next frame.
 */
#include "sink_table.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "entry_view.h"
#include "tools/controller/base/schedule.h"

#define SCREEN_WIDTH_DEFAULT 80
#define SCREEN_HEIGHT_DEFAULT 10000

/* ECMA-48: move the cursor to the top left, clear to the end of the line, of the screen. */
#define CURSOR_HOME "\033[H"
#define CLEAR_LINE "\033[K"
#define CLEAR_BELOW "\033[J"

/* The place where tables appear: a terminal, which is redrawn, or a stream. */
struct screen {
	int fd;
	bool is_terminal;
};

/* In characters and lines; for a stream, taken from COLUMNS and LINES. */
struct screen_size {
	size_t width;
	size_t height;
};

static size_t size_from_environment(const char *name, size_t otherwise)
{
	const char *text = getenv(name);
	unsigned long size = text ? strtoul(text, NULL, 10) : 0;

	return size && size <= SCREEN_HEIGHT_DEFAULT ? size : otherwise;
}

/* Without @redraw, a terminal is treated as a stream. */
static void screen__open(struct screen *screen, int fd, bool redraw)
{
	screen->fd = fd;
	screen->is_terminal = redraw && isatty(fd);
}

/* Measured before each drawing: the user may resize the terminal. */
static struct screen_size screen__measure(const struct screen *screen)
{
	struct winsize size;

	if (screen->is_terminal && !ioctl(screen->fd, TIOCGWINSZ, &size) && size.ws_row &&
	    size.ws_col)
		return (struct screen_size){ size.ws_col, size.ws_row };
	return (struct screen_size){
		.width = size_from_environment("COLUMNS", SCREEN_WIDTH_DEFAULT),
		.height = size_from_environment("LINES", SCREEN_HEIGHT_DEFAULT),
	};
}

/*
 * Prints to @out the control sequences and lines that replace the contents of a terminal of @size
 * by @text, whose lines end with a newline; cuts text to the size.
 */
static void screen__draw(struct screen_size size, const char *text, FILE *out)
{
	size_t line, length;

	fputs(CURSOR_HOME, out);
	/* The last line stays free for the cursor. */
	for (line = 1; *text && line < size.height; line++) {
		length = strcspn(text, "\n");
		fwrite(text, 1, length < size.width ? length : size.width, out);
		fputs(CLEAR_LINE "\n", out);
		text += length + (text[length] == '\n');
	}
	fputs(CLEAR_BELOW, out);
}

/* Drawing takes time, and the eye does not follow faster changes. */
#define DRAW_INTERVAL_NS 50000000ULL

struct block {
	char *text; /* on a terminal; NULL: nothing to show yet */
	uint64_t drawn_ns;
	bool is_lost; /* the block says that the target is lost */
	struct entry_view *views;
	uint32_t view_count;
};

struct sink_table {
	struct sink sink;
	struct output *output;
	struct screen screen;
	pthread_mutex_t lock; /* protects the blocks' texts; held while they are joined */
	bool complete;
	atomic_size_t target_count;
	atomic_size_t block_end; /* largest index of a target so far + 1; never falls */
	struct block blocks[]; /* indexed by target->index */
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
		block->views = calloc(sample->entry_count + 1, sizeof(*block->views));
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
 * Distributes @lines among the entries, one each in turn, until each got as many as it wants. The
 * first line of an entry also pays for the lines around its values.
 */
static void block__share_lines(const struct block *block, size_t lines, size_t *shares)
{
	size_t price;
	bool dealt;
	uint32_t i;

	do {
		dealt = false;
		for (i = 0; i < block->view_count; i++) {
			price = shares[i] ? 1 : ENTRY_VIEW_FRAME;
			if (lines < price || shares[i] >= entry_view__wanted(&block->views[i]))
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
	fprintf(out, "%02d:%02d:%02d", local.tm_hour, local.tm_min, local.tm_sec);
}

static void print_head(const char *name, const struct sample *sample, const struct latency *decoded,
		       FILE *out)
{
	const struct sample_head *head = &sample->head;

	fprintf(out, "%s  ", name);
	print_time(out);
	fprintf(out,
		"  %.0f us (p99 %.0f)  READs %u  bytes %llu  failed %llu  missed %llu  generation %llu\n\n",
		(sample->end_ns - head->start_ns) / 1e3, latency__percentile(decoded, 99) / 1e3,
		head->reads, (unsigned long long)head->bytes, (unsigned long long)head->failed,
		(unsigned long long)head->missed, (unsigned long long)sample->table->generation);
}

static int sink_table__print_entries(const struct sink_table *table, const struct block *block,
				     const struct sample *sample, FILE *out)
{
	const struct screen_size size = screen__measure(&table->screen);
	struct entry_view_style style = {
		.width = size.width,
		.complete = table->complete,
	};
	/* The target's line, the gaps around it, and a title per entry. */
	size_t frame = 3 + (size_t)block->view_count;
	size_t targets = atomic_load(&table->target_count);
	size_t lines = size.height / (targets ?: 1);
	size_t *shares;
	uint32_t i;
	int err = 0;

	shares = calloc(block->view_count + 1, sizeof(*shares));
	if (!shares)
		return -ENOMEM;
	block__share_lines(block, lines > frame ? lines - frame : 0, shares);
	for (i = 0; i < block->view_count && !err; i++) {
		style.lines = style.complete ? block->views[i].lines : shares[i];
		err = entry_view__print(&block->views[i], sample, i, &style, out);
	}
	free(shares);
	return err;
}

/* Shows the texts of all blocks; the caller holds the lock. */
static int sink_table__redraw(struct sink_table *table)
{
	char *text = NULL, *frame = NULL;
	size_t i, size;
	FILE *out;

	out = open_memstream(&text, &size);
	for (i = 0; out && i < atomic_load(&table->block_end); i++) {
		if (table->blocks[i].text)
			fputs(table->blocks[i].text, out);
	}
	if (out && !fclose(out))
		out = open_memstream(&frame, &size);
	if (out) {
		screen__draw(screen__measure(&table->screen), text, out);
		if (fclose(out)) {
			free(frame);
			frame = NULL;
		}
	}
	free(text);
	return output__show(table->output, frame, size);
}

/*
 * Takes ownership of @text of @block, NULL if its allocation failed: writes it to a stream, or
 * redraws all blocks on a terminal.
 */
static int sink_table__put(struct sink_table *table, struct block *block, char *text, size_t size)
{
	int err;

	if (!table->screen.is_terminal || !text)
		return output__write(table->output, text, size);
	pthread_mutex_lock(&table->lock);
	free(block->text);
	block->text = text;
	err = sink_table__redraw(table);
	pthread_mutex_unlock(&table->lock);
	return err;
}

static int show_sample(struct sink *sink, const struct target_settings *target,
		       const struct sample *sample, const struct latency *decoded)
{
	struct sink_table *table = (struct sink_table *)sink;
	struct block *block = &table->blocks[target->index];
	char *text = NULL;
	size_t size = 0;
	FILE *out;
	int err;

	block->is_lost = false;
	err = block__update_views(block, sample);
	if (err)
		return sink_table__put(table, block, NULL, 0);
	if (table->screen.is_terminal && block->drawn_ns &&
	    monotonic_ns() - block->drawn_ns < DRAW_INTERVAL_NS)
		return 0;
	block->drawn_ns = monotonic_ns();

	out = open_memstream(&text, &size);
	if (!out)
		return sink_table__put(table, block, NULL, 0);
	print_head(target->name, sample, decoded, out);
	err = sink_table__print_entries(table, block, sample, out);
	if (fclose(out) || err) {
		free(text);
		text = NULL;
	}
	return sink_table__put(table, block, text, size);
}

static int show_lost(struct sink *sink, const struct target_settings *target, const char *reason)
{
	struct sink_table *table = (struct sink_table *)sink;
	struct block *block = &table->blocks[target->index];
	char *text = NULL;
	size_t size = 0;
	FILE *out;

	block__clear_views(block);
	block->drawn_ns = 0;
	block->is_lost = true;
	if (table->complete)
		return 0;
	out = open_memstream(&text, &size);
	if (!out)
		return sink_table__put(table, block, NULL, 0);
	fprintf(out, "%s  unreachable since ", target->name);
	print_time(out);
	fprintf(out, ": %s\n\n", reason);
	if (fclose(out)) {
		free(text);
		text = NULL;
	}
	return sink_table__put(table, block, text, size);
}

/* Shows a silent target as lost, unless show_lost() did so already. */
static int show_down(struct sink *sink, const struct target_settings *target, int64_t time_ns,
		     const char *reason)
{
	const struct sink_table *table = (struct sink_table *)sink;

	return table->blocks[target->index].is_lost ? 0 : show_lost(sink, target, reason);
}

static void add_block(struct sink *sink, const struct target_settings *target)
{
	struct sink_table *table = (struct sink_table *)sink;

	atomic_fetch_add(&table->target_count, 1);
	if (target->index >= atomic_load(&table->block_end))
		atomic_store(&table->block_end, target->index + 1);
}

static void remove_block(struct sink *sink, const struct target_settings *target)
{
	struct sink_table *table = (struct sink_table *)sink;
	struct block *block = &table->blocks[target->index];

	block__clear_views(block);
	atomic_fetch_sub(&table->target_count, 1);
	pthread_mutex_lock(&table->lock);
	free(block->text);
	*block = (struct block){};
	if (table->screen.is_terminal)
		sink_table__redraw(table);
	pthread_mutex_unlock(&table->lock);
}

static void sink_table__free(struct sink *sink)
{
	struct sink_table *table = (struct sink_table *)sink;
	size_t i;

	for (i = 0; i < atomic_load(&table->block_end); i++) {
		block__clear_views(&table->blocks[i]);
		free(table->blocks[i].text);
	}
	pthread_mutex_destroy(&table->lock);
	free(table);
}

static const struct sink_operations sink_table_operations = {
	.sample = show_sample,
	.lost = show_lost,
	.down = show_down,
	.summary = NULL, /* fleet.c prints the summary to standard error */
	.added = add_block,
	.removed = remove_block,
	.free = sink_table__free,
};

struct sink *sink_table__new(struct output *output, int fd, size_t targets, bool complete)
{
	struct sink_table *table;

	table = calloc(1, sizeof(*table) + targets * sizeof(*table->blocks));
	if (!table)
		return NULL;
	table->sink.operations = &sink_table_operations;
	table->sink.compares = true;
	table->output = output;
	table->complete = complete;
	pthread_mutex_init(&table->lock, NULL);
	screen__open(&table->screen, fd, !complete);
	/* Clears the terminal before the first sample arrives. */
	if (table->screen.is_terminal)
		sink_table__redraw(table);
	table->sink.owns_terminal = table->screen.is_terminal && isatty(STDERR_FILENO);
	return &table->sink;
}
