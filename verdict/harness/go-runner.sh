# Runs one test program, which does not get the report's descriptor: notes that it begins, which
# tests it has, and how it ended. With a filter its list would not be that of what runs.
nonce=@NONCE@
notes=$ROLLCAGE_NOTES
unset ROLLCAGE_NOTES
printf '\n%s begin %s\n' "$nonce" "${1##*/}" >>"$notes"
case " $* " in
*" -test.run"* | *" -test.skip"* | *" -test.list"*) ;;
*) "$1" -test.list='^(Test|Example)' </dev/null 2>/dev/null 4>&- | sed "s/^/$nonce lists /" >>"$notes" ;;
esac
"$@" 4>&-
code=$?
printf '\n%s end %s\n' "$nonce" "$code" >>"$notes"
exit "$code"
