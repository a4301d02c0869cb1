# tasks: claims and reports of attempts, and what ECS says of their tasks. Anyone may call its URL: each request carries
# the token of one attempt, which is checked. The only function that can get credentials of stacks' roles.

module "tasks" {
  source = "./modules/function"

  name        = "${local.name}-tasks"
  function    = "tasks"
  description = "Yuba ${var.installation}: takes claims and reports of attempts"
  role_arn    = aws_iam_role.tasks.arn
  kms_key_arn = aws_kms_key.yuba.arn
  memory      = local.functions.tasks.memory
  timeout     = local.functions.tasks.timeout
  settings    = local.function_settings
  environment = merge(
    local.store_settings,
    local.queue_settings,
    local.blobs_settings,
    local.secrets_settings,
    local.credentials_settings,
    local.key_settings,
    local.objects_settings,
    local.caps_settings,
  )

  depends_on = [aws_iam_role_policy.tasks, aws_kms_key_policy.yuba]
}

resource "aws_iam_role" "tasks" {
  name                 = "${local.name}-tasks"
  description          = "Yuba ${var.installation}: the function tasks"
  assume_role_policy   = local.lambda_trust
  permissions_boundary = var.permissions_boundary_arn
  # A chained role's session ends after an hour in any case.
  max_session_duration = 3600
  tags                 = local.tags
}

resource "aws_iam_role_policy" "tasks" {
  name = "tasks"
  role = aws_iam_role.tasks.name
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat([
      local.writes_log["tasks"],
      local.uses_records,
      local.deletes_records,
      local.sends_to["stacks"],
      local.reads_system_secret["task-key"],
      {
        Sid      = "GrantsObjects"
        Effect   = "Allow"
        Action   = ["sts:AssumeRole"]
        Resource = [local.objects_role_arn]
      },
      {
        Sid       = "AssumesRolesOfStacks"
        Effect    = "Allow"
        Action    = ["sts:AssumeRole"]
        Resource  = local.first_role_arns
        Condition = { StringEquals = { "sts:ExternalId" = local.external_id } }
      },
      {
        Sid      = "SaysForWhom"
        Effect   = "Allow"
        Action   = ["sts:TagSession"]
        Resource = local.first_role_arns
        Condition = {
          StringEquals                = { "aws:RequestTag/yuba:phase" = ["plan", "apply"] }
          "ForAllValues:StringEquals" = { "aws:TagKeys" = ["yuba:stack", "yuba:run", "yuba:revision", "yuba:phase"] }
        }
      },
    ], local.reads_secrets)
  })
}

locals {
  # Where there is a role in between, it is the only one that the function itself can assume.
  first_role_arns = var.assume_via_role_arn == null ? local.stack_role_arns : [var.assume_via_role_arn]
}

resource "aws_lambda_function_url" "tasks" {
  #checkov:skip=CKV_AWS_258:a task has no rights that it could sign with; the function checks its token itself

  function_name      = module.tasks.name
  authorization_type = "NONE"
}

resource "aws_lambda_permission" "tasks_url" {
  #checkov:skip=CKV_AWS_301:its URL is public, and no other way in is; the function itself checks tokens

  statement_id           = "CallTheUrl"
  function_name          = module.tasks.name
  action                 = "lambda:InvokeFunctionUrl"
  principal              = "*"
  function_url_auth_type = "NONE"
}

resource "aws_lambda_permission" "tasks_through_url" {
  #checkov:skip=CKV_AWS_301:its URL is public, and no other way in is; the function itself checks tokens

  statement_id             = "RunThroughTheUrl"
  function_name            = module.tasks.name
  action                   = "lambda:InvokeFunction"
  principal                = "*"
  invoked_via_function_url = true
}

resource "aws_cloudwatch_event_rule" "stopped" {
  name        = "${local.name}-task-stopped"
  description = "Yuba ${var.installation}: a task has stopped"
  event_pattern = jsonencode({
    source        = ["aws.ecs"]
    "detail-type" = ["ECS Task State Change"]
    detail        = { clusterArn = [local.cluster_arn], lastStatus = ["STOPPED"] }
  })
  tags = local.tags
}

resource "aws_cloudwatch_event_target" "tasks" {
  rule = aws_cloudwatch_event_rule.stopped.name
  arn  = module.tasks.arn
}

resource "aws_lambda_permission" "tasks_stopped" {
  statement_id  = "RunWhenATaskStops"
  function_name = module.tasks.name
  action        = "lambda:InvokeFunction"
  principal     = "events.amazonaws.com"
  source_arn    = aws_cloudwatch_event_rule.stopped.arn
}

# An event that is lost all the same costs minutes: the scheduler looks after attempts that are overdue.
resource "aws_lambda_function_event_invoke_config" "tasks" {
  function_name                = module.tasks.name
  maximum_event_age_in_seconds = 3600
  maximum_retry_attempts       = 2
}
