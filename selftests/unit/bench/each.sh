#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Several benches run at a time, and again if their results are refused.
. "$(dirname "$0")/../../lib.sh"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
each=$tests/../tools/bench/each
cd "$scratch" || exit 1

# bench NAME: a bench is a script on standard input
bench() {
	{ echo '#!/bin/sh'; cat; } >"$1"
	chmod +x "$1"
}

bench good <<'END'
echo "good${1:+ $1}" | tee -a ran
END
# Refused at first, and good afterwards if its word says so.
bench disturbed <<'END'
echo "disturbed $1" >>ran
[ "$1" = once ] && [ -e again ] && exit
touch again
exit 75
END
bench broken <<'END'
echo broken >>ran
exit 3
END

check "benches run with their words" "$each" 1 ./good ./good:twice
check "each of them ran" cmp ran - <<'END'
good
good twice
END
rm ran
check "a bench that is refused runs once more" "$each" 2 ./disturbed:once ./good
check "it runs after the others" [ "$(tail -n 1 ran)" = "disturbed once" ]
check "the others run once" [ "$(grep -c good ran)" = 1 ]
rm ran again
refuse "a bench that is refused again is named" "refused twice: ./disturbed:always$" \
	"$each" 1 ./disturbed:always ./good
check "it ran twice" [ "$(grep -c disturbed ran)" = 2 ]
rm ran again
refuse "a bench that fails is named" "failed, or refused twice: ./broken$" "$each" 1 ./broken ./good
check "it ran once, and the next ran, too" [ "$(tr -d '\n' <ran)" = "brokengood" ]
refuse "a call without benches says how it is used" "^each AT_ONCE BENCH" "$each" 1
finish
