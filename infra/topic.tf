# The topic that events are published to, as CloudEvents with attributes for filter policies.

locals {
  topic_name = "${local.name}-events${var.topic_fifo ? ".fifo" : ""}"
  topic_arn  = "arn:${local.partition}:sns:${local.arn_end}:${local.topic_name}"
}

resource "aws_sns_topic" "events" {
  name              = local.topic_name
  fifo_topic        = var.topic_fifo
  kms_master_key_id = aws_kms_key.yuba.arn
  tags              = local.tags
}

resource "aws_sns_topic_policy" "events" {
  arn = aws_sns_topic.events.arn
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid       = "AccountSubscribes"
        Effect    = "Allow"
        Principal = { AWS = "arn:${local.partition}:iam::${local.account}:root" }
        Action    = ["sns:GetTopicAttributes", "sns:ListSubscriptionsByTopic", "sns:Publish", "sns:Subscribe"]
        Resource  = local.topic_arn
      },
      {
        Sid       = "OnlyOverTls"
        Effect    = "Deny"
        Principal = "*"
        Action    = "sns:Publish"
        Resource  = local.topic_arn
        Condition = { Bool = { "aws:SecureTransport" = "false" } }
      },
    ]
  })
}
