# orchestrator: the run state machine. The only function that starts tasks, stops them, and publishes events.

module "orchestrator" {
  source = "./modules/function"

  name        = "${local.name}-orchestrator"
  function    = "orchestrator"
  description = "Yuba ${var.installation}: decides on stacks and their runs"
  role_arn    = aws_iam_role.orchestrator.arn
  kms_key_arn = aws_kms_key.yuba.arn
  memory      = local.functions.orchestrator.memory
  timeout     = local.functions.orchestrator.timeout
  settings    = local.function_settings
  environment = merge(
    local.store_settings,
    local.queue_settings,
    local.blobs_settings,
    local.secrets_settings,
    local.publisher_settings,
    local.launcher_settings,
    local.caps_settings,
    local.key_settings,
  )

  depends_on = [aws_iam_role_policy.orchestrator, aws_kms_key_policy.yuba]
}

resource "aws_iam_role" "orchestrator" {
  name                 = "${local.name}-orchestrator"
  description          = "Yuba ${var.installation}: the function orchestrator"
  assume_role_policy   = local.lambda_trust
  permissions_boundary = var.permissions_boundary_arn
  tags                 = local.tags
}

resource "aws_iam_role_policy" "orchestrator" {
  name = "orchestrator"
  role = aws_iam_role.orchestrator.name
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat([
      local.writes_log["orchestrator"],
      local.uses_records,
      local.deletes_records,
      local.receives_from["stacks"],
      local.sends_to["sources"],
      local.sends_to["stacks"],
      local.sends_to["notices"],
      local.sets_aside["stacks"],
      local.reads_objects,
      local.lists_objects,
      local.reads_system_secret["task-key"],
      {
        Sid      = "PublishesEvents"
        Effect   = "Allow"
        Action   = ["sns:Publish"]
        Resource = [local.topic_arn]
      },
    ], local.reads_secrets, local.writes_secrets, local.runs_tasks)
  })
}

locals {
  runs_tasks = [
    {
      Sid       = "StartsTasks"
      Effect    = "Allow"
      Action    = ["ecs:RunTask"]
      Resource  = ["arn:${local.partition}:ecs:${local.arn_end}:task-definition/${local.name}-runner-*:*"]
      Condition = { ArnEquals = { "ecs:cluster" = local.cluster_arn } }
    },
    {
      Sid       = "TagsTasksThatItStarts"
      Effect    = "Allow"
      Action    = ["ecs:TagResource"]
      Resource  = ["arn:${local.partition}:ecs:${local.arn_end}:task/${local.name}/*"]
      Condition = { StringEquals = { "ecs:CreateAction" = "RunTask" } }
    },
    {
      Sid       = "LooksAtAndStopsTasks"
      Effect    = "Allow"
      Action    = ["ecs:DescribeTasks", "ecs:StopTask"]
      Resource  = ["arn:${local.partition}:ecs:${local.arn_end}:task/${local.name}/*"]
      Condition = { ArnEquals = { "ecs:cluster" = local.cluster_arn } }
    },
    {
      # Listing has no resource that could be named; the condition names the cluster.
      Sid       = "ListsTasks"
      Effect    = "Allow"
      Action    = ["ecs:ListTasks"]
      Resource  = ["*"]
      Condition = { ArnEquals = { "ecs:cluster" = local.cluster_arn } }
    },
    {
      Sid       = "HandsTasksTheirRoles"
      Effect    = "Allow"
      Action    = ["iam:PassRole"]
      Resource  = [local.task_role_arn, local.execution_role_arn]
      Condition = { StringEquals = { "iam:PassedToService" = "ecs-tasks.amazonaws.com" } }
    },
  ]
}

resource "aws_lambda_event_source_mapping" "orchestrator" {
  event_source_arn        = aws_sqs_queue.work["stacks"].arn
  function_name           = module.orchestrator.name
  batch_size              = 10
  function_response_types = ["ReportBatchItemFailures"]

  scaling_config {
    maximum_concurrency = var.orchestrator_concurrency
  }

  tags = local.tags
}
