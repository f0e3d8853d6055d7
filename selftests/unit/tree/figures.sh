#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Pages have the figures of kept results of benches, and each result is of a commit.
. "$(dirname "$0")/../../lib.sh"

tree=$tests/..
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# figures ARGUMENT...: in the other tree
figures() {
	"$scratch/tools/bench/figures" "$@"
}

check "pages have the figures of the kept results" "$tree/tools/bench/figures" check

mkdir -p "$scratch/Documentation/figures" "$scratch/.output/bench" "$scratch/tools/bench"
cp "$tree/Documentation/figures/figures.jq" "$scratch/Documentation/figures"
cp "$tree/tools/bench/figures" "$scratch/tools/bench"
cd "$scratch" || exit 1
cat >Documentation/figures/laps.jq <<'END'
include "figures";
"Commit \(.commit):", "", (.results | map([.lap, (.ns | three)]) | table(["lap", "ns"]))
END
printf '%s\n' 'Laps' '<!-- figures laps-2 -->' '<!-- end of figures -->' 'End' >Documentation/laps.md
echo '# Read' >README.md
echo .output >.gitignore
git init -q .
git config user.name figures
git config user.email figures@example.com
git add .
GIT_COMMITTER_DATE="@1000000000 +0000" git commit -qm first
commit=$(git log -1 --format=%h --abbrev=12)

refuse "figures of a bench that did not run are not kept" \
	"no .output/bench/laps-2.json: run the bench" figures keep laps-2
echo '{"results": [{"lap": 1, "ns": 1234567.8}, {"lap": 2, "ns": 0.0123456}]}' \
	>.output/bench/laps-2.json
check "results are printed" figures print laps-2
check "results are kept" figures keep laps-2
printf '%s\n' 'Laps' '<!-- figures laps-2 -->' "Commit $commit:" '' '| lap | ns |' '| --- | --- |' \
	'| 1 | 1,234,568 |' '| 2 | 0.0123 |' '<!-- end of figures -->' 'End' >expected
check "the page has them, and their commit" cmp Documentation/laps.md expected
check "the page agrees" figures check
sed -i 's/1,234,568/1,134,568/' Documentation/laps.md
refuse "a figure that was changed in the page is found" \
	"^Documentation/laps.md:7: differs .* should be '| 1 | 1,234,568 |'" figures check
cp expected Documentation/laps.md
sed -i 's/1234567.8/1234569/' Documentation/figures/laps-2.json
refuse "a result that was changed is found" "^Documentation/laps.md:7: differs" figures check
sed -i '/^| 2/d' Documentation/laps.md
sed -i 's/1234569/1234567.8/' Documentation/figures/laps-2.json
refuse "a line that is missing is found" "^Documentation/laps.md:8: differs" figures check
cp expected Documentation/laps.md
cp Documentation/figures/laps-2.json Documentation/figures/laps-4.json
refuse "a result without a page is found" "laps-4.json: no page has" figures check
rm Documentation/figures/laps-4.json

sed -i "s/$commit/abcdefabcdef/" Documentation/figures/laps-2.json Documentation/laps.md
check "a history that has none of the commits says nothing" figures check
sed "s/abcdefabcdef/$commit/" Documentation/figures/laps-2.json >Documentation/figures/laps-4.json
printf '%s\n' '<!-- figures laps-4 -->' '<!-- end of figures -->' >Documentation/other.md
figures write
refuse "a result of a commit that the history lacks is found" \
	"laps-2.json: commit abcdefabcdef is not in the history" figures check
sed -i "s/abcdefabcdef/$commit/" Documentation/figures/laps-2.json
rm Documentation/figures/laps-4.json Documentation/other.md
cp expected Documentation/laps.md

echo '.results[] | "\(.load): \(.found)"' >Documentation/figures/found.jq
printf '%s\n' '<!-- figures found -->' '<!-- end of figures -->' >Documentation/found.md
git add Documentation && git commit -qm second
printf '%s\n' load,found 0.5,0.25 1,0.125 >.output/bench/found.csv
check "results of a program that writes CSV are kept" figures keep found
check "the page has them, too" sh -c \
	"[ \"\$(grep -v figures Documentation/found.md)\" = '0.5: 0.25
1: 0.125' ]"
git rm -qrf Documentation/found.md Documentation/figures/found.jq
git commit -qm third
rm Documentation/figures/found.json .output/bench/found.csv

cat >Documentation/figures/goals.jq <<'END'
if $ARGS.named.rows then
	[to_entries[].value.results[] | {what: "lap \(.lap)", got: .ns, within: 1.1}]
else
	to_entries[] | "\(.key) of \(.value.commit // "no name"): \(.value.results | map(.ns) | min) ns"
end
END
check "goals are printed of all results" sh -c \
	'"$0" print goals | grep -x "laps-2 of no name: 0.0123456 ns"' "$scratch/tools/bench/figures"
printf '%s\n' '<!-- figures goals -->' '<!-- end of figures -->' >Documentation/goals.md
refuse "a page without the goals of kept results is found" "goals.md:2: differs" figures check
check "pages are written again, without results of a run" figures write
check "the page has the goals" grep -qx "laps-2 of $commit: 0.0123456 ns" Documentation/goals.md
check "it agrees" figures check
refuse "goals are not kept, because they have no results of their own" "keep others" \
	figures keep goals

mkdir first
sed 's/1234567.8/1134567.8/' .output/bench/laps-2.json >first/laps-2.json
check "results of two runs that differ by less than a tenth agree" sh -c \
	'"$0" compare first | grep -qx "2 results, 0 beyond"' "$scratch/tools/bench/figures"
sed 's/1234567.8/1034567.8/' .output/bench/laps-2.json >first/laps-2.json
refuse "a result that differs by more is found" "^| lap 1 .* | 1.193 | 1.1 | beyond |" \
	figures compare first
echo '{"results": [{"lap": 1, "ns": 1234567.8}]}' >first/laps-2.json
refuse "a result that one run lacks is named" "only one of the runs has: lap 2" \
	figures compare first
refuse "a folder without results is refused" "absent has no results with goals" \
	figures compare absent
rm -r first

touch -d @900000000 .output/bench/laps-2.json
refuse "a result older than the commit is not kept" "older than commit $commit: run the bench again" \
	figures keep laps-2
touch .output/bench/laps-2.json
echo more >>README.md
refuse "a result of changed files is not kept" "files differ from the last commit" \
	figures keep laps-2
git checkout -q README.md
cp .output/bench/laps-2.json .output/bench/runs.json
refuse "results that no program describes are not kept" \
	"no Documentation/figures/runs.jq describes 'runs'" figures keep runs
check "nothing has changed" sh -c 'tools/bench/figures check &&
	[ ! -e Documentation/figures/runs.json ]'
refuse "a call without words says how it is used" "^figures print NAME" figures
finish
