#!/bin/bash
#SBATCH --job-name=seedbank
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
# One command over the processes of a cluster bank: sbatch slurm.sh ingest /data/bank day.jsonl.zst
# If one process fails, Slurm ends the others. Slurm numbers them.
set -euo pipefail
export SEEDBANK_CLUSTER="${SEEDBANK_CLUSTER:-members.toml}"
exec srun --kill-on-bad-exit=1 seedbank "$@"
