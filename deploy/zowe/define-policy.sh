#!/usr/bin/env bash
# Merge a plan into a CFRM policy, submit the job that defines the result under a new name with Zowe CLI, and print its output.
#
#   deploy/zowe/define-policy.sh PLAN.json POLICY.txt NEW-NAME JOB-CARD.jcl
#
# POLICY.txt is the complete current policy: statements from DEFINE POLICY on, without JCL. CFPLAN is the address of cfplan;
# CFPLAN_CURL is a file for `curl --config` with the header that has the token, if the service has accounts. Nothing is
# activated, and no policy is replaced: the job fails if a policy has the new name.
set -euo pipefail

if [ $# -ne 4 ]; then
  echo 'usage: define-policy.sh PLAN.json POLICY.txt NEW-NAME JOB-CARD.jcl' >&2
  exit 2
fi
plan=$1 policy=$2 name=$3 card=$4
: "${CFPLAN:?the address of cfplan, such as https://cfplan.example.com}"
stop() { echo "define-policy.sh: $*" >&2; exit 1; }

[[ $name =~ ^[A-Z][A-Z0-9\$\#@_]{0,7}$ ]] || stop "$name is not the name of a policy"
grep -q '^//[A-Z$#@][A-Z0-9$#@]* *JOB ' "$card" || stop "$card has no JOB statement"
! grep -q '^//' "$policy" || stop "$policy contains JCL: give the statements alone"
define='DEFINE +POLICY +NAME\( *[A-Z0-9$#@_]+ *\)( *REPLACE\( *[A-Z]+ *\))?'
[ "$(grep -cE "$define" "$policy")" = 1 ] || stop "$policy must have one statement DEFINE POLICY NAME(...)"
! grep -qE "POLICY +NAME\( *${name//\$/\\\$} *\)" "$policy" || stop "$name is the name of the current policy: choose another"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
jq --null-input --slurpfile plan "$plan" --rawfile policy "$policy" '{plan: $plan[0], policy: $policy}' > "$work/request.json"
config=()
[ -z "${CFPLAN_CURL:-}" ] || config=(--config "$CFPLAN_CURL")
status=$(curl --silent --show-error ${config[@]+"${config[@]}"} --header 'Content-Type: application/json' \
  --data-binary "@$work/request.json" --output "$work/merged.json" --write-out '%{http_code}' "$CFPLAN/api/v1/merge")
[ "$status" = 200 ] || stop "cfplan refused the merge ($status): $(jq --raw-output '.detail' "$work/merged.json")"
jq --raw-output '.findings[] | "\(.severity): \(.code): \(.message)"' "$work/merged.json" >&2
jq --exit-status '[.findings[] | select(.severity == "error")] == []' "$work/merged.json" > /dev/null || stop 'the merged policy has errors'
if jq --exit-status '.changes == []' "$work/merged.json" > /dev/null; then
  echo 'The policy has every value of the plan: nothing was submitted.'
  exit 0
fi

jq --join-output '.policy' "$work/merged.json" | sed -E "s/$define/DEFINE POLICY NAME($name) REPLACE(NO)/" > "$work/policy.txt"
# JES ends the input of the job at such a line: the rest of the policy would be lost, and the job would still end with CC 0000.
! grep -q '^/\*' "$work/policy.txt" || stop "$policy has a line with /* in column 1, which ends the input of the job: begin it in column 2"
# A REPLACE on a line of its own, or after a comment, and statements about other policies are not replaced above.
bare=$(jq --raw-input --slurp --raw-output 'gsub("/\\*[\\s\\S]*?\\*/"; " ") | gsub("\\s+"; " ") | ascii_upcase' "$work/policy.txt")
[ "$(grep -oE '\bREPLACE ?\(' <<< "$bare" | wc -l)" -eq 1 ] || stop "$policy must have REPLACE directly after DEFINE POLICY NAME(...), on the same line, or not at all"
[ "$(grep -owE 'POLICY' <<< "$bare" | wc -l)" -eq 1 ] || stop "$policy has a statement about another policy, such as DELETE POLICY: remove it"

{
  cat "$card"
  printf '%s\n' '//CFPLAN   EXEC PGM=IXCMIAPU' '//SYSPRINT DD  SYSOUT=*' '//SYSABEND DD  SYSOUT=*' '//SYSIN    DD  *'
  grep -qE '^ *DATA +TYPE\(' "$policy" || echo ' DATA TYPE(CFRM) REPORT(YES)'
  cat "$work/policy.txt"
  echo '/*'
} > "$work/job.jcl"
long=$(grep -nvE '^(//.*|.{0,71})$' "$work/job.jcl" | head -n 1) || true
[ -z "$long" ] || stop "a line has more than 71 columns, which IXCMIAPU does not read: $long"

zowe zos-jobs submit local-file "$work/job.jcl" --wait-for-output --response-format-json > "$work/submitted.json" ||
  stop "zowe did not submit the job: $(jq --raw-output '.message' "$work/submitted.json" 2> /dev/null || cat "$work/submitted.json")"
job=$(jq --raw-output '.data.jobid' "$work/submitted.json")
code=$(jq --raw-output '.data.retcode' "$work/submitted.json")
zowe zos-jobs view all-spool-content "$job"
[ "$code" = 'CC 0000' ] || stop "job $job ended with $code: the policy was not defined"
echo "Job $job defined policy $name. It is not active."
