# notifier: turns events into messages to people and programs, when its queue says so.

module "notifier" {
  source = "./modules/function"

  name        = "${local.name}-notifier"
  function    = "notifier"
  description = "Yuba ${var.installation}: tells people and programs of events"
  role_arn    = aws_iam_role.notifier.arn
  kms_key_arn = aws_kms_key.yuba.arn
  memory      = local.functions.notifier.memory
  timeout     = local.functions.notifier.timeout
  settings    = local.function_settings
  environment = merge(
    local.store_settings,
    local.queue_settings,
    local.blobs_settings,
    local.secrets_settings,
    local.notices_settings,
  )

  depends_on = [aws_iam_role_policy.notifier, aws_kms_key_policy.yuba]
}

locals {
  provider_topics = [for arn in var.provider_arns : arn if strcontains(arn, ":sns:")]
  provider_buses  = [for arn in var.provider_arns : arn if strcontains(arn, ":events:")]

  sends_to_providers = [for statement in [
    { Effect = "Allow", Action = ["sns:Publish"], Resource = local.provider_topics },
    { Effect = "Allow", Action = ["events:PutEvents"], Resource = local.provider_buses },
  ] : statement if length(statement.Resource) > 0]
}

resource "aws_iam_role" "notifier" {
  name                 = "${local.name}-notifier"
  description          = "Yuba ${var.installation}: the function notifier"
  assume_role_policy   = local.lambda_trust
  permissions_boundary = var.permissions_boundary_arn
  tags                 = local.tags
}

resource "aws_iam_role_policy" "notifier" {
  name = "notifier"
  role = aws_iam_role.notifier.name
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat([
      local.writes_log["notifier"],
      local.uses_records,
      local.deletes_records,
      local.receives_from["notices"],
      local.sends_to["notices"],
      local.sets_aside["notices"],
      local.reads_objects,
      local.lists_objects,
    ], local.reads_secrets, local.sends_to_providers)
  })
}

resource "aws_lambda_event_source_mapping" "notifier" {
  event_source_arn        = aws_sqs_queue.work["notices"].arn
  function_name           = module.notifier.name
  batch_size              = 10
  function_response_types = ["ReportBatchItemFailures"]

  scaling_config {
    maximum_concurrency = var.notifier_concurrency
  }

  tags = local.tags
}
