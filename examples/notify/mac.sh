#!/bin/sh
# A notification on a Mac: batchling run --on-done ./mac.sh answer-all.ts
# The text is an argument of the script and no part of it, whatever characters it has.
exec osascript -e 'on run argv' -e 'display notification (item 1 of argv) with title "batchling"' -e 'end run' \
  "$BATCHLING_DONE_TEXT"
