# Alarms on what waits too long. Those on errors of functions are beside the functions (modules/function).

locals {
  # What functions say in their logs in CloudWatch's embedded metric format; times in milliseconds.
  metrics_namespace = "Yuba"

  embedded_alarms = {
    oldest-pending-effect = {
      function  = "scheduler"
      metric    = "OldestPendingEffect"
      says      = "an effect has been waiting to be carried out"
      threshold = 60000 * var.alarm_after_minutes
    }
    oldest-due-item = {
      function  = "scheduler"
      metric    = "OldestDueItem"
      says      = "something that is due has not been woken"
      threshold = 60000 * var.alarm_after_minutes
    }
    # Said each time a stack is looked after whose attempt has not been heard of for five minutes: twice a minute.
    claims-without-report = {
      function  = "orchestrator"
      metric    = "ClaimsWithoutReport"
      says      = "an attempt has claimed its task, and is silent"
      threshold = 1
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "dead_letters" {
  for_each = local.queues

  alarm_name          = "${local.name}-${each.key}-dead-letters"
  alarm_description   = "Yuba ${var.installation}: messages for ${each.value} could not be handled and lie in ${local.name}-${each.key}-dead.fifo."
  namespace           = "AWS/SQS"
  metric_name         = "ApproximateNumberOfMessagesVisible"
  dimensions          = { QueueName = aws_sqs_queue.dead[each.key].name }
  statistic           = "Maximum"
  period              = 60
  evaluation_periods  = 1
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  treat_missing_data  = "notBreaching"
  alarm_actions       = var.alarm_topic_arns
  ok_actions          = var.alarm_topic_arns
  tags                = local.tags
}

resource "aws_cloudwatch_metric_alarm" "oldest_message" {
  for_each = local.queues

  alarm_name          = "${local.name}-${each.key}-oldest-message"
  alarm_description   = "Yuba ${var.installation}: a message for ${each.value} has waited for more than ${var.alarm_after_minutes} minutes."
  namespace           = "AWS/SQS"
  metric_name         = "ApproximateAgeOfOldestMessage"
  dimensions          = { QueueName = aws_sqs_queue.work[each.key].name }
  statistic           = "Maximum"
  period              = 60
  evaluation_periods  = 3
  comparison_operator = "GreaterThanThreshold"
  threshold           = 60 * var.alarm_after_minutes
  treat_missing_data  = "notBreaching"
  alarm_actions       = var.alarm_topic_arns
  ok_actions          = var.alarm_topic_arns
  tags                = local.tags
}

resource "aws_cloudwatch_metric_alarm" "embedded" {
  for_each = local.embedded_alarms

  alarm_name          = "${local.name}-${each.key}"
  alarm_description   = "Yuba ${var.installation}: ${each.value.says}."
  namespace           = local.metrics_namespace
  metric_name         = each.value.metric
  dimensions          = { Installation = var.installation, Function = each.value.function }
  statistic           = "Maximum"
  period              = 60
  evaluation_periods  = 5
  comparison_operator = "GreaterThanOrEqualToThreshold"
  threshold           = each.value.threshold
  treat_missing_data  = "notBreaching"
  alarm_actions       = var.alarm_topic_arns
  ok_actions          = var.alarm_topic_arns
  tags                = local.tags
}

# Everything that waits is woken by the scheduler: that it runs at all is what must be watched from outside.
resource "aws_cloudwatch_metric_alarm" "scheduler_silent" {
  alarm_name          = "${local.name}-scheduler-silent"
  alarm_description   = "Yuba ${var.installation}: the scheduler has not run for ten minutes."
  namespace           = "AWS/Lambda"
  metric_name         = "Invocations"
  dimensions          = { FunctionName = module.scheduler.name }
  statistic           = "Sum"
  period              = 300
  evaluation_periods  = 2
  comparison_operator = "LessThanThreshold"
  threshold           = 1
  treat_missing_data  = "breaching"
  alarm_actions       = var.alarm_topic_arns
  ok_actions          = var.alarm_topic_arns
  tags                = local.tags
}
