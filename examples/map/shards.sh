#!/bin/sh
# Four shards of one input on one ledger. Each can be stopped and started again: every line is paid for once.
# BATCHLING_STORE names the ledger that they share: postgres://… for several machines.
set -u
shards=4
status=0
for shard in $(seq 1 "$shards"); do
  batchling map requests.jsonl -o "answers-$shard-of-$shards.jsonl" --shard "$shard/$shards" &
done
for job in $(jobs -p); do wait "$job" || status=$?; done
exit "$status"
