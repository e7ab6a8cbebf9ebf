#!/bin/sh
# Runs the task's tests as Harbor does: they write a reward to reward.txt (one
# number) or reward.json (names and numbers, "reward" among them or only one).
# The tests' own exit status is no verdict.
#
# Exit status: 0 where the reward is at least 1, 1 where it is less, and 75
# where there is none or it is no number: the verifier broke, nothing was found.
set -u
broken() {
	echo "no verdict: $1" >&2
	exit 75
}
# EXPORTS
mode=MODE
if [ "$mode" = container ]; then
	tests=/tests logs=/logs/verifier oracle=/solution
	rm -rf "$tests" "$logs" "$oracle"
else
	base=$(mktemp -d) || broken "no temporary folder"
	trap 'rm -rf "$base"' EXIT
	tests=$base/tests logs=$base/verifier oracle=$base/solution
fi
mkdir -p "$logs" && cp -R .harbor/tests "$tests" || broken "cannot lay out the tests"
if [ -f .harbor-oracle/solve.sh ]; then
	cp -R .harbor-oracle "$oracle" || broken "cannot lay out the solution"
fi

# Without a container the scripts' absolute paths lead to the temporary folder.
mapped() {
	before='(^|[^A-Za-z0-9_./})-])' after='([^A-Za-z0-9_.-]|$)'
	find "$1" -type f | while IFS= read -r file; do
		grep -Iq . "$file" || continue
		sed -E -e "s#$before/tests$after#\\1$tests\\2#g" -e "s#$before/solution$after#\\1$oracle\\2#g" \
			-e "s#$before/logs/verifier$after#\\1$logs\\2#g" "$file" >"$base/mapped" && cat "$base/mapped" >"$file"
	done
}
if [ "$mode" = host ]; then
	mapped "$tests"
	[ ! -d "$oracle" ] || mapped "$oracle"
fi

[ ! -d "$oracle" ] || bash "$oracle/solve.sh" || broken "the solution's script ended with $?"
bash "$tests/test.sh"

number='^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?$'
if [ -f "$logs/reward.txt" ]; then
	reward=$(awk -v number="$number" '{ for (i = 1; i <= NF; i++) { n++; v = $i } }
		END { if (n != 1 || v !~ number) exit 1; print v }' "$logs/reward.txt") || broken "reward.txt holds no number"
elif [ -f "$logs/reward.json" ]; then
	reward=$(tr -d ' \t\r\n' <"$logs/reward.json" | awk -v number="$number" '
		{ text = text $0 }
		END {
			if (text !~ /^[{].*[}]$/) exit 1
			n = split(substr(text, 2, length(text) - 2), pair, ",")
			for (i = 1; i <= n; i++) {
				if (pair[i] !~ /^"[^"]*":/) exit 1
				name = value = pair[i]
				sub(/":.*/, "", name); sub(/^"/, "", name); sub(/^"[^"]*":/, "", value)
				if (value !~ number) exit 1
				if (name == "reward") found = value
			}
			if (found == "" && n == 1) found = value
			if (found == "") exit 1
			print found
		}') || broken "reward.json holds no reward"
else
	broken "the tests wrote no reward"
fi
echo "reward $reward"
awk -v reward="$reward" 'BEGIN { exit !(reward + 0 >= 1) }'
