# Runs go test. Its events become the report; what our runner notes of each test program follows.
# Said before anything of the solution can run; what comes later cannot take it back.
command -v go >/dev/null 2>&1 || { printf '%s missing go\n' '@NONCE@' >&4; exit 125; }
printf '%s started\n' '@NONCE@' >&4
here=$(cd "$(dirname "$0")" && pwd -P) || exit 125
notes=$(mktemp) || exit 125
export ROLLCAGE_NOTES="$notes"
# A test of a name that nothing knows, the last of each package: what leaves after it has written
# other tests' lines has not written that of this one.
word=$(printf %s '@NONCE@' | tr -cd '[:alnum:]')
number=0
go list -e -f '{{if or .TestGoFiles .XTestGoFiles}}{{.Name}} {{.Dir}}{{end}}' ./... 2>/dev/null |
while read -r package folder; do
    number=$((number + 1))
    printf 'package %s\n\nimport "testing"\n\nfunc TestZz%s%s(t *testing.T) {}\n' \
        "$package" "$number" "$word" >"$folder/zz_${word}_test.go"
done
go test -json -p=1 -exec "/bin/sh $here/go-runner.sh" "$@" >&4
code=$?
printf '\n' >&4
cat "$notes" >&4
exit "$code"
