// SPDX-License-Identifier: GPL-2.0-only
/* Hands expressions and texts to RE2: see regex.h.  No exception of C++ leaves this file. */
#include "regex.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <re2/re2.h>

struct regex {
	re2::RE2 compiled;

	regex(const std::string &anchored, const re2::RE2::Options &options)
		: compiled(anchored, options)
	{
	}
};

/* RE2 reads \C as any byte.  Go refuses it, and half a character is no label. */
static bool has_any_byte(const char *pattern)
{
	bool is_quoted = false;

	for (; *pattern; pattern++) {
		if (*pattern != '\\' || !pattern[1])
			continue;
		pattern++;
		if (*pattern == 'Q')
			is_quoted = true;
		else if (*pattern == 'E')
			is_quoted = false;
		else if (is_quoted)
			pattern--;
		else if (*pattern == 'C')
			return true;
	}
	return false;
}

int regex__new(const char *pattern, struct regex **regexp, char *why, size_t size)
try {
	re2::RE2::Options options;

	if (has_any_byte(pattern)) {
		snprintf(why, size, "invalid escape sequence: \\C");
		return -EINVAL;
	}
	options.set_log_errors(false);
	auto made = std::make_unique<regex>("^(?:" + std::string(pattern) + ")$", options);
	if (!made->compiled.ok()) {
		snprintf(why, size, "%s", made->compiled.error().c_str());
		return -EINVAL;
	}
	*regexp = made.release();
	return 0;
} catch (...) {
	return -ENOMEM;
}

void regex__free(struct regex *regex)
{
	delete regex;
}

unsigned int regex__groups(const struct regex *regex)
{
	return regex->compiled.NumberOfCapturingGroups();
}

unsigned int regex__find_group(const struct regex *regex, const char *name, size_t length)
try {
	const auto &groups = regex->compiled.NamedCapturingGroups();
	const auto found = groups.find(std::string(name, length));

	return found == groups.end() ? 0 : found->second;
} catch (...) {
	return 0;
}

int regex__search(const struct regex *regex, const char *text, size_t start,
		  struct regex_group *groups, unsigned int count)
try {
	const re2::StringPiece all(text, strlen(text));
	std::vector<re2::StringPiece> found(count);

	if (!regex->compiled.Match(all, start, all.size(), re2::RE2::UNANCHORED, found.data(),
				   count))
		return 0;
	for (unsigned int i = 0; i < count; i++) {
		groups[i].at = found[i].data();
		groups[i].length = found[i].size();
	}
	return 1;
} catch (...) {
	return -ENOMEM;
}
