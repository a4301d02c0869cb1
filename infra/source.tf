# source: looks at a source when its queue says so, and wakes the stacks that changed.

module "source" {
  source = "./modules/function"

  name        = "${local.name}-source"
  function    = "source"
  description = "Yuba ${var.installation}: looks at sources and manifests"
  image       = var.source_image
  role_arn    = aws_iam_role.source.arn
  kms_key_arn = aws_kms_key.yuba.arn
  memory      = local.functions.source.memory
  timeout     = local.functions.source.timeout
  disk        = 4096
  settings    = local.function_settings
  environment = merge(
    local.store_settings,
    local.queue_settings,
    local.blobs_settings,
    local.secrets_settings,
    local.manifests_settings,
    local.looking_settings,
  )

  depends_on = [aws_iam_role_policy.source, aws_kms_key_policy.yuba]
}

resource "aws_iam_role" "source" {
  name                 = "${local.name}-source"
  description          = "Yuba ${var.installation}: the function source"
  assume_role_policy   = local.lambda_trust
  permissions_boundary = var.permissions_boundary_arn
  tags                 = local.tags
}

resource "aws_iam_role_policy" "source" {
  name = "source"
  role = aws_iam_role.source.name
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat([
      local.writes_log["source"],
      local.uses_records,
      local.deletes_records,
      local.receives_from["sources"],
      local.sends_to["sources"],
      local.sends_to["stacks"],
      local.sends_to["notices"],
      local.sets_aside["sources"],
      local.reads_objects,
      local.lists_objects,
      local.writes_objects,
      local.writes_config_maps,
    ], local.reads_secrets)
  })
}

resource "aws_lambda_event_source_mapping" "source" {
  event_source_arn        = aws_sqs_queue.work["sources"].arn
  function_name           = module.source.name
  batch_size              = 10
  function_response_types = ["ReportBatchItemFailures"]

  scaling_config {
    maximum_concurrency = var.source_concurrency
  }

  tags = local.tags
}
