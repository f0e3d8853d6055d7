# SPDX-License-Identifier: GPL-2.0-only
# Functions for the programs beside: text for pages, from the results of a bench.

# 1234567 becomes 1,234,567
def grouped: tostring |
	if test("^[0-9]{4,}") then
		capture("^(?<whole>[0-9]+)(?<rest>.*)$") |
		(.whole | [while(length > 0; .[:-3]) | .[-3:]] | reverse | join(",")) + .rest
	else . end;

# With three digits, or all of an integer
def three:
	if . == 0 then "0"
	else
		pow(10; 2 - (fabs | log10 | floor)) as $scale |
		(if fabs >= 100 then round else . * $scale | round / $scale end) | grouped
	end;

def thousands: . / 1000 | three;

# A table of Markdown.
def table($columns): ([$columns, ($columns | map("---"))] + [.[]])[] |
	map(tostring) | "| " + join(" | ") + " |" | gsub("\\|  (?=\\|)"; "| ");

# Which kernel, and the project's commit.
def origin: "Linux \(.kernel), commit \(.commit // "of no name")";
