# Runs one test program, which does not get the report's descriptor: says that it begins, which
# tests it has, and how it ended.
nonce=@NONCE@
printf '\n%s begin %s\n' "$nonce" "${1##*/}" >&4
"$@" --list --format terse </dev/null 2>/dev/null 4>&- | sed "s/^/$nonce lists /" >&4
"$@" 4>&-
code=$?
printf '\n%s end %s\n' "$nonce" "$code" >&4
exit "$code"
