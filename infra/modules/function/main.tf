# A Lambda function, from its zip or its image, with its log group, and alarms for its errors and for calls that were throttled.

locals {
  is_zip    = var.image == null
  directory = local.is_zip ? var.settings.packages.directory : null
  bucket    = local.is_zip ? var.settings.packages.bucket : null
  zip       = local.directory == null ? null : "${local.directory}/${var.function}.zip"
}

resource "aws_cloudwatch_log_group" "this" {
  name              = "/aws/lambda/${var.name}"
  retention_in_days = var.settings.log_retention_days
  kms_key_id        = var.kms_key_arn
  tags              = var.settings.tags
}

resource "aws_lambda_function" "this" {
  #checkov:skip=CKV_AWS_50:spans are in the log, with the W3C trace context; X-Ray would be paid for beside them
  #checkov:skip=CKV_AWS_115:a reservation is taken away from the account's other functions; queues bound those that work
  #checkov:skip=CKV_AWS_116:messages have their queues' dead-letter queues; an event that is lost is made up for by the next tick
  #checkov:skip=CKV_AWS_117:functions reach AWS alone (source also Git hosts) and hold no address in a VPC; in one they would need NAT
  #checkov:skip=CKV_AWS_173:no setting is a secret; secrets are read by name where they are used
  #checkov:skip=CKV_AWS_272:packages come from the account's own pipeline; who signs them is not this module's to say

  function_name = var.name
  description   = var.description
  role          = var.role_arn
  package_type  = local.is_zip ? "Zip" : "Image"
  image_uri     = var.image
  runtime       = local.is_zip ? "provided.al2023" : null
  handler       = local.is_zip ? "bootstrap" : null
  architectures = [var.settings.architecture]
  memory_size   = var.memory
  timeout       = var.timeout

  filename         = local.zip
  source_code_hash = local.zip == null ? null : filebase64sha256(local.zip)
  s3_bucket        = local.bucket
  s3_key           = local.bucket == null ? null : "${var.settings.packages.prefix}${var.function}.zip"

  ephemeral_storage {
    size = var.disk
  }

  environment {
    variables = var.environment
  }

  logging_config {
    log_format = "JSON"
    log_group  = aws_cloudwatch_log_group.this.name
  }

  tags = var.settings.tags
}

resource "aws_cloudwatch_metric_alarm" "this" {
  for_each = {
    errors    = { metric = "Errors", says = "fails" }
    throttles = { metric = "Throttles", says = "is throttled: the account's concurrency is used up" }
  }

  alarm_name          = "${var.name}-${each.key}"
  alarm_description   = "The function ${var.name} ${each.value.says}."
  namespace           = "AWS/Lambda"
  metric_name         = each.value.metric
  dimensions          = { FunctionName = aws_lambda_function.this.function_name }
  statistic           = "Sum"
  period              = 300
  evaluation_periods  = 3
  datapoints_to_alarm = 2
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  treat_missing_data  = "notBreaching"
  alarm_actions       = var.settings.alarm_topic_arns
  ok_actions          = var.settings.alarm_topic_arns
  tags                = var.settings.tags
}
