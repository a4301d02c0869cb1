# scheduler: once a minute it wakes what is due.

module "scheduler" {
  source = "./modules/function"

  name        = "${local.name}-scheduler"
  function    = "scheduler"
  description = "Yuba ${var.installation}: wakes what is due"
  role_arn    = aws_iam_role.scheduler.arn
  kms_key_arn = aws_kms_key.yuba.arn
  memory      = local.functions.scheduler.memory
  timeout     = local.functions.scheduler.timeout
  settings    = local.function_settings
  environment = merge(local.store_settings, local.queue_settings, local.manifests_settings, local.caps_settings)

  depends_on = [aws_iam_role_policy.scheduler, aws_kms_key_policy.yuba]
}

resource "aws_iam_role" "scheduler" {
  name                 = "${local.name}-scheduler"
  description          = "Yuba ${var.installation}: the function scheduler"
  assume_role_policy   = local.lambda_trust
  permissions_boundary = var.permissions_boundary_arn
  tags                 = local.tags
}

resource "aws_iam_role_policy" "scheduler" {
  name = "scheduler"
  role = aws_iam_role.scheduler.name
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      local.writes_log["scheduler"],
      local.uses_records,
      local.deletes_records,
      local.sends_to["sources"],
      local.sends_to["stacks"],
      local.sends_to["notices"],
    ]
  })
}

resource "aws_cloudwatch_event_rule" "minute" {
  name                = "${local.name}-minute"
  description         = "Yuba ${var.installation}: once a minute"
  schedule_expression = "rate(1 minute)"
  tags                = local.tags
}

resource "aws_cloudwatch_event_target" "scheduler" {
  rule = aws_cloudwatch_event_rule.minute.name
  arn  = module.scheduler.arn
}

resource "aws_lambda_permission" "scheduler_minute" {
  statement_id  = "RunOnceAMinute"
  function_name = module.scheduler.name
  action        = "lambda:InvokeFunction"
  principal     = "events.amazonaws.com"
  source_arn    = aws_cloudwatch_event_rule.minute.arn
}

# A tick that failed is not tried again: the next one does what it left.
resource "aws_lambda_function_event_invoke_config" "scheduler" {
  function_name                = module.scheduler.name
  maximum_event_age_in_seconds = 60
  maximum_retry_attempts       = 0
}
