# Runs go test. Its events become the report; what our runner notes of each test program follows.
here=$(cd "$(dirname "$0")" && pwd -P) || exit 125
notes=$(mktemp) || exit 125
export ROLLCAGE_NOTES="$notes"
go test -json -p=1 -exec "/bin/sh $here/go-runner.sh" "$@" >&4
code=$?
printf '\n' >&4
cat "$notes" >&4
exit "$code"
