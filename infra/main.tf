# Names. ARNs are put together from names, not taken from resources: so a plan shows policies as they will be, before
# anything is there, and rights do not depend on what they are rights to.

data "aws_caller_identity" "here" {}
data "aws_partition" "here" {}
data "aws_region" "here" {}

locals {
  name      = "yuba-${var.installation}"
  account   = data.aws_caller_identity.here.account_id
  partition = data.aws_partition.here.partition
  region    = data.aws_region.here.region

  arn_end = "${local.region}:${local.account}"

  tags = merge(var.tags, { "yuba:installation" = var.installation })

  secrets_prefix     = "/yuba/${var.installation}/secrets"
  config_maps_prefix = "/yuba/${var.installation}/config-maps"
  # What is the installation's own lies beside what stacks can name, not below it.
  system_prefix  = "/yuba/${var.installation}/system"
  system_secrets = ["api-token", "slack-signing", "task-key", "webhooks"]

  external_id     = coalesce(var.external_id, "yuba:${local.account}:${var.installation}")
  stack_role_arns = coalesce(var.stack_role_arns, ["arn:${local.partition}:iam::*:role/yuba/${var.installation}/*"])

  # What every function is, unless `function_overrides` says otherwise.
  function_defaults = {
    webhook      = { memory = 256, timeout = 15 }
    scheduler    = { memory = 256, timeout = 55 }
    source       = { memory = 1024, timeout = 300 }
    orchestrator = { memory = 256, timeout = 60 }
    tasks        = { memory = 256, timeout = 30 }
    api          = { memory = 512, timeout = 75 }
    slack        = { memory = 256, timeout = 15 }
    notifier     = { memory = 256, timeout = 300 }
  }
  functions = {
    for name, default in local.function_defaults : name => {
      memory  = coalesce(try(var.function_overrides[name].memory, null), default.memory)
      timeout = coalesce(try(var.function_overrides[name].timeout, null), default.timeout)
    }
  }

  # What every function is made with.
  function_settings = {
    architecture       = var.architecture
    packages           = var.packages
    log_retention_days = var.log_retention_days
    alarm_topic_arns   = var.alarm_topic_arns
    tags               = local.tags
  }
}
