# Three FIFO queues, each with one for messages that could not be handled. A message only names its cause: the stored
# record decides, and nothing is lost with a message but time.

locals {
  # The function that a queue wakes.
  queues = { sources = "source", stacks = "orchestrator", notices = "notifier" }

  queue_arns = { for queue in keys(local.queues) : queue => "arn:${local.partition}:sqs:${local.arn_end}:${local.name}-${queue}.fifo" }
  dead_arns  = { for queue in keys(local.queues) : queue => "arn:${local.partition}:sqs:${local.arn_end}:${local.name}-${queue}-dead.fifo" }
}

resource "aws_sqs_queue" "work" {
  for_each = local.queues

  name                        = "${local.name}-${each.key}.fifo"
  fifo_queue                  = true
  content_based_deduplication = false
  deduplication_scope         = "messageGroup"
  fifo_throughput_limit       = "perMessageGroupId"
  # AWS asks for six times the function's time limit: throttled batches are received again before it runs out.
  visibility_timeout_seconds = 6 * local.functions[each.value].timeout
  message_retention_seconds  = 14 * 24 * 3600
  receive_wait_time_seconds  = 20
  sqs_managed_sse_enabled    = true

  # The functions themselves set aside what cannot be handled, with the reason, and give the rest back for a minute at most.
  # This is for what ends their process, and for outages of more than an hour: it takes whatever came together.
  redrive_policy = jsonencode({
    deadLetterTargetArn = local.dead_arns[each.key]
    maxReceiveCount     = 60
  })

  tags       = local.tags
  depends_on = [aws_sqs_queue.dead]
}

resource "aws_sqs_queue" "dead" {
  for_each = local.queues

  name                      = "${local.name}-${each.key}-dead.fifo"
  fifo_queue                = true
  deduplication_scope       = "messageGroup"
  fifo_throughput_limit     = "perMessageGroupId"
  message_retention_seconds = 14 * 24 * 3600
  # Without waiting, some of what lies here could be overlooked when it is listed.
  receive_wait_time_seconds = 1
  sqs_managed_sse_enabled   = true

  redrive_allow_policy = jsonencode({
    redrivePermission = "byQueue"
    sourceQueueArns   = [local.queue_arns[each.key]]
  })

  tags = local.tags
}

resource "aws_sqs_queue_policy" "work" {
  for_each = local.queues

  queue_url = aws_sqs_queue.work[each.key].url
  policy    = local.queue_policies[each.key]
}

resource "aws_sqs_queue_policy" "dead" {
  for_each = local.queues

  queue_url = aws_sqs_queue.dead[each.key].url
  policy    = local.queue_policies["${each.key}-dead"]
}

locals {
  queue_policies = {
    for queue, arn in merge(local.queue_arns, { for queue, arn in local.dead_arns : "${queue}-dead" => arn }) : queue => jsonencode({
      Version = "2012-10-17"
      Statement = [{
        Sid       = "OnlyOverTls"
        Effect    = "Deny"
        Principal = "*"
        Action    = "sqs:*"
        Resource  = arn
        Condition = { Bool = { "aws:SecureTransport" = "false" } }
      }]
    })
  }
}
