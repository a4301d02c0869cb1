#!/usr/bin/env bash
# The main job, from push to drift, by itself: real git, real tofu or terraform, `yuba serve` on a directory.
# Every command is shown before it runs, with what it really prints. A step that fails ends the demo with its code.
set -euo pipefail

bin=$(cd "${YUBA_BIN_DIR:?the directory of the built binaries}" && pwd)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
dir=$(mktemp -d "${TMPDIR:-/tmp}/yuba-demo.XXXXXX")
export XDG_STATE_HOME=$dir/state NO_COLOR=1 TOY_CLOUD_DIR=$dir/cloud
# Where this runs as root, each tofu is another user, who passes here and writes to the cloud.
chmod 711 "$dir"
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=$dir/gitconfig
server="" slack=""

# shellcheck source=lib.sh
source "$here/lib.sh"
trap finish EXIT

step "1. A repository is made and pushed"
start_slack
make_repository
show ls -R "$repo" --ignore=.git
show git -C "$repo" push --quiet origin main

step "2. yuba serve reads the stacks from its manifests, and plans them"
export TF_CLI_CONFIG_FILE
TF_CLI_CONFIG_FILE=$("$bin/toy-mirror" "$dir/mirror")
start_server
show_line "yuba secret set infra/slack token=-"
yuba secret set infra/slack token=- <"$dir/slack.token"
yuba wait infra/network-dev --for applied,unchanged --timeout 120s
show yuba get sources
show yuba get stacks

step "3. dev applied by itself; prod waits for approval"
yuba wait infra/network-prod --for awaiting-approval --timeout 120s
show yuba get stacks
show yuba show plan infra/network-prod

step "4. A newer commit makes that plan outdated: approving it is refused, the new one is accepted"
old=$(plan_id)
edit environments/prod/network/main.tf 's/eu-1/eu-2/'
commit_and_push "Move the logs of prod to eu-2"
yuba wait infra/network-prod --for awaiting-approval --revision "$(git -C "$repo" rev-parse HEAD)" --timeout 120s
refused yuba approve infra/network-prod --plan "$old"
show yuba approve infra/network-prod --plan "$(plan_id)" --message "Reviewed"
yuba wait infra/network-prod --for applied --timeout 120s
show yuba why infra/network-prod

step "5. The next change to prod is approved in Slack (a stand-in for it, which checks what the real one checks)"
edit environments/prod/network/main.tf 's/eu-2/eu-3/'
commit_and_push "Move the logs of prod to eu-3"
yuba wait infra/network-prod --for awaiting-approval --revision "$(git -C "$repo" rev-parse HEAD)" --timeout 120s
in_slack "a plan waits for approval"
pressed U0EVE "a plan waits for approval" "No Team knows U0EVE"
pressed U0GRACE "a plan waits for approval" "the apply starts"
yuba wait infra/network-prod --for applied --timeout 120s
show_line "the same message now:"
in_slack "by Grace Hopper"

step "6. Outputs were written"
show yuba outputs infra/network-dev
show yuba secret list

step "7. The server is killed with kill -9 in the middle of an apply, and started again"
hold create toy_instance.app-dev
append environments/dev/network/main.tf 'resource "toy_instance" "app" {
  name  = "app-dev"
  image = "debian-12"
}'
commit_and_push "Add an instance to dev"
yuba wait infra/network-dev --for applying --timeout 120s
until_begun create toy_instance i-app-dev
show_line "kill -9 (the server)"
kill_server
release
start_server
yuba wait infra/network-dev --for applied --timeout 120s
show yuba get runs infra/network-dev
show_line "made exactly once:"
show grep -c '"event":"done","verb":"create","type":"toy_instance"' "$TOY_CLOUD_DIR/journal.ndjson"

step "8. An apply fails half-way: its state is saved, and the next run recovers"
fail create toy_database.orders-dev "out of capacity"
append environments/dev/network/main.tf 'resource "toy_bucket" "orders" { name = "orders-dev" }
resource "toy_database" "orders" {
  name   = "orders-dev"
  engine = "postgres"
  depends_on = [toy_bucket.orders]
}'
commit_and_push "Add a bucket and a database to dev"
yuba wait infra/network-dev --for failed --timeout 120s
show yuba show run infra/network-dev
release
yuba wait infra/network-dev --for applied --timeout 120s
show yuba get runs infra/network-dev

step "9. Somebody changes prod by hand, behind tofu's back"
show sed -i 's/"flow logs"/"changed by hand"/' "$TOY_CLOUD_DIR/toy_network/net-prod.json"
drifted yuba drift check infra/network-prod
show yuba get stacks
show yuba describe infra/network-prod
show yuba approve infra/network-prod --message "Put it back"
yuba wait infra/network-prod --for applied --timeout 120s
show yuba drift check infra/network-prod
show yuba get stacks

step "10. The same in dev is put right without asking"
show sed -i 's/"flow logs"/"changed by hand"/' "$TOY_CLOUD_DIR/toy_network/net-dev.json"
drifted yuba drift check infra/network-dev
yuba wait infra/network-dev --for applied --timeout 120s
show grep '"description"' "$TOY_CLOUD_DIR/toy_network/net-dev.json"
show yuba get events --limit 5

step "Done"
