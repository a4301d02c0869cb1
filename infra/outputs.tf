output "webhook_url" {
  description = "Where Git hosts send their webhooks: `<url>/webhooks/github` or `<url>/webhooks/generic`."
  value       = trimsuffix(aws_lambda_function_url.webhook.function_url, "/")
}

output "api_url" {
  description = "Where the command line (`YUBA_SERVER`) and browsers reach Yuba."
  value       = trimsuffix(aws_lambda_function_url.api.function_url, "/")
}

output "slack_interaction_url" {
  description = "The Slack app's request URL for interactivity."
  value       = "${trimsuffix(aws_lambda_function_url.slack.function_url, "/")}/slack/interactive"
}

output "slack_command_url" {
  description = "The request URL of the Slack app's slash command."
  value       = "${trimsuffix(aws_lambda_function_url.slack.function_url, "/")}/slack/commands"
}

output "tasks_url" {
  description = "Where tasks reach Yuba; a firewall in front of them must let it pass."
  value       = local.launcher_settings.YUBA_TASKS_URL
}

output "topic_arn" {
  description = "The topic of events: subscribe to it."
  value       = local.topic_arn
}

output "tasks_role_arn" {
  description = "The role that stacks' roles must trust (`trusted_role_arn` of modules/stack-roles)."
  value       = local.role_arns["tasks"]
  # A role can only be trusted once it is there.
  depends_on = [aws_iam_role.tasks]
}

output "external_id" {
  description = "The external id that stacks' roles must ask for (`external_id` of modules/stack-roles)."
  value       = local.external_id
}

output "secret_names" {
  description = "The names under which the installation's own secrets are kept as SSM parameters of type SecureString, encrypted under `kms_key_arn`."
  value       = { for name in local.system_secrets : name => "${local.system_prefix}/${name}" }
}

output "secrets_prefix" {
  description = "What names of stacks' secrets begin with: <prefix>/<namespace>/<name>."
  value       = local.secrets_prefix
}

output "kms_key_arn" {
  description = "The key that everything is encrypted under."
  value       = aws_kms_key.yuba.arn
}

output "state_backend" {
  description = "The `s3` backend for stacks that bring none, without the `key`; null without a state bucket."
  value = var.state_bucket ? {
    bucket         = local.state_name
    region         = local.region
    kms_key_id     = aws_kms_key.yuba.arn
    use_lockfile   = true
    dynamodb_table = var.state_lock_table ? "${local.name}-locks" : null
  } : null
}

output "task_definition_arns" {
  description = "The registered task definitions, by image and size."
  value       = { for name, definition in aws_ecs_task_definition.runner : name => definition.arn }
}

output "table_name" {
  description = "The table of records."
  value       = local.name
}

output "bucket_name" {
  description = "The bucket of objects."
  value       = local.objects_name
}
