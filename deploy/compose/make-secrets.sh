#!/bin/sh
# Makes the secrets that compose.yaml names, once: what is there stays as it is. Back them up, apart from the data.
set -eu
cd "$(dirname "$0")"

random() { od -An -N32 -tx1 /dev/urandom | tr -d ' \n'; }
# Nobody but their owner comes into the folder; in the containers other users than ours read the files.
mkdir -p secrets
chmod 0700 secrets
keep() {
  [ -s "secrets/$1" ] || printf '%s' "$2" > "secrets/$1"
  chmod 0444 "secrets/$1"
}
keep database-password "$(random)"
keep database-url "postgresql://annal:$(cat secrets/database-password)@postgres:5432/annal"
keep key-encryption-key "$(random)"
keep grafana-password "$(random)"
echo "Secrets are in $PWD/secrets."
