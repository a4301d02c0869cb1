# The key that objects, records, secrets, events and logs are encrypted under. Who may use it stands in its policy, by role
# and by the service through which it is used; in a key's policy `*` as a resource means this key.

locals {
  role_arns = { for name in keys(local.function_defaults) : name => "arn:${local.partition}:iam::${local.account}:role/${local.name}-${name}" }

  # Who uses the key through a service: functions, and attempts through the role of objects.
  key_users = {
    dynamodb       = ["webhook", "scheduler", "source", "orchestrator", "tasks", "api", "slack", "notifier"]
    s3             = ["source", "orchestrator", "api", "notifier", "objects"]
    sns            = ["orchestrator"]
    ssm            = ["webhook", "source", "orchestrator", "tasks", "api", "slack", "notifier"]
    secretsmanager = ["source", "orchestrator", "tasks", "api", "slack", "notifier"]
  }

  key_statements = concat([
    {
      # Without this nobody could ever change the key's policy again: AWS' own default.
      Sid       = "AccountAdministers"
      Effect    = "Allow"
      Principal = { AWS = "arn:${local.partition}:iam::${local.account}:root" }
      Action    = "kms:*"
      Resource  = "*"
    },
    {
      Sid       = "LogsAreEncrypted"
      Effect    = "Allow"
      Principal = { Service = "logs.${local.region}.amazonaws.com" }
      Action    = ["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*"]
      Resource  = "*"
      Condition = { ArnLike = { "kms:EncryptionContext:aws:logs:arn" = [
        "arn:${local.partition}:logs:${local.arn_end}:log-group:/aws/lambda/${local.name}-*",
        "arn:${local.partition}:logs:${local.arn_end}:log-group:${local.task_log_group}",
      ] } }
    },
    ], [for service, functions in local.key_users : {
      Sid       = "UsedThrough${title(service)}"
      Effect    = "Allow"
      Principal = { AWS = [for name in functions : "arn:${local.partition}:iam::${local.account}:role/${local.name}-${name}"] }
      Action    = service == "ssm" ? ["kms:Decrypt", "kms:Encrypt"] : ["kms:Decrypt", "kms:GenerateDataKey"]
      Resource  = "*"
      Condition = { StringEquals = { "kms:ViaService" = "${service}.${local.region}.amazonaws.com" } }
    }
    ], [for ids in [var.target_account_ids] : {
      Sid       = "StatesOfOtherAccounts"
      Effect    = "Allow"
      Principal = { AWS = [for id in ids : "arn:${local.partition}:iam::${id}:root"] }
      Action    = ["kms:Decrypt", "kms:GenerateDataKey"]
      Resource  = "*"
      Condition = {
        StringEquals = { "kms:ViaService" = "s3.${local.region}.amazonaws.com" }
        ArnLike      = { "aws:PrincipalArn" = local.state_role_arns }
      }
  } if length(ids) > 0])
}

resource "aws_kms_key" "yuba" {
  description             = "Yuba ${var.installation}"
  enable_key_rotation     = true
  deletion_window_in_days = 30
  tags                    = local.tags
}

resource "aws_kms_alias" "yuba" {
  name          = "alias/${local.name}"
  target_key_id = aws_kms_key.yuba.key_id
}

# By itself, because the roles that it names must be there first.
resource "aws_kms_key_policy" "yuba" {
  key_id = aws_kms_key.yuba.key_id
  policy = jsonencode({ Version = "2012-10-17", Statement = local.key_statements })

  depends_on = [
    aws_iam_role.api,
    aws_iam_role.notifier,
    aws_iam_role.objects,
    aws_iam_role.orchestrator,
    aws_iam_role.scheduler,
    aws_iam_role.slack,
    aws_iam_role.source,
    aws_iam_role.tasks,
    aws_iam_role.webhook,
  ]
}
