#!/bin/sh
# Make the passwords of the database, and, if there is no certificate yet, one for the name given, signed by itself.
#
#   deploy/prepare.sh cfplan.example.com
#
# Nothing that exists is replaced.
set -eu
name=${1:?"usage: deploy/prepare.sh HOST-NAME"}
cd "$(dirname "$0")"
umask 077
mkdir -p secrets
for secret in db_admin_password db_password; do
  if [ ! -e "secrets/$secret" ]; then
    # No line break: some programs would take it as part of the password.
    openssl rand -hex 32 | tr -d '\n' > "secrets/$secret"
    echo "made deploy/secrets/$secret"
  fi
done
if [ ! -e secrets/cfplan.crt ]; then
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -days 90 -subj "/CN=$name" \
    -addext "subjectAltName=DNS:$name" -keyout secrets/cfplan.key -out secrets/cfplan.crt 2>/dev/null
  echo "made deploy/secrets/cfplan.crt, signed by itself, for 90 days: replace it by one that browsers trust"
fi
# The containers run as users without rights on this machine, so the files must be readable for all. The folder of the
# secrets is not: on this machine only its owner reaches them, and each container sees only the files mounted into it.
chmod 444 secrets/*
chmod 700 secrets
