#!/bin/sh
# Creates the secrets of compose.yaml. Keeps existing ones. Back up the secrets separately from the data.
set -eu
cd "$(dirname "$0")"

random() { od -An -N32 -tx1 /dev/urandom | tr -d ' \n'; }
# The folder is readable for its owner only. The files are readable for all, because containers run as other users.
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
