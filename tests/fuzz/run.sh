#!/bin/sh
# run.sh [NAME]... - run the fuzzers (all, or those named: elf, dwarf …) for FUZZ_SECONDS each.
#
# They begin with the kept inputs. New inputs go to $O/inputs/NAME, findings to $O/found/; the exit
# status is 1 if there is one. An input worth keeping (a finding that was fixed, a new way through the code)
# is copied to tests/fuzz/corpus/NAME, small: `fuzz_NAME -merge=1 tests/fuzz/corpus/NAME $O/inputs/NAME`.

cd "$(dirname "$0")/../.." || exit 1
seconds=${FUZZ_SECONDS:-60}
[ $# -gt 0 ] || set -- $(ls tests/fuzz/fuzz_*.c | sed 's/.*fuzz_\(.*\)\.c/\1/')
export ASAN_OPTIONS=detect_leaks=1:allow_user_segv_handler=1
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
status=0
mkdir -p "$O/found"
for name in "$@"; do
	mkdir -p "$O/inputs/$name"
	log=$O/inputs/$name.log
	# files that are made to exhaust who reads them, small ones
	[ "$name" != jfr ] || "${PYTHON:-/usr/bin/python3}" bench/hostile_files.py --mb 0.003 --write "$O/inputs/$name"
	if [ ! -x "$O/fuzzers/fuzz_$name" ]; then
		echo "fuzz $name: $O/fuzzers/fuzz_$name is not built (make fuzz does)"
		exit 2
	fi
	if "$O/fuzzers/fuzz_$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
		-max_len=65536 -artifact_prefix="$O/found/$name-" -print_final_stats=1 \
		"$O/inputs/$name" "tests/fuzz/corpus/$name" >"$log" 2>&1; then
		echo "fuzz $name: no finding in $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") runs, $seconds s"
	else
		echo "fuzz $name: FINDING, see $log"
		grep -E "ERROR|runtime error|SUMMARY|Test unit written" "$log" | head -5
		status=1
	fi
done
exit $status
