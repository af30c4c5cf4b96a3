#!/bin/sh
# A push message by ntfy: NTFY_TOPIC=your-topic batchling run --on-done ./ntfy.sh answer-all.ts
# A failure comes with a higher priority.
priority=default
[ "$BATCHLING_DONE_OUTCOME" = failed ] && priority=high
exec curl --silent --show-error --fail --output /dev/null --max-time 30 \
  --header 'Title: batchling' --header "Priority: $priority" \
  --data-raw "$BATCHLING_DONE_TEXT" "${NTFY_URL:-https://ntfy.sh}/$NTFY_TOPIC"
