# What a port needs of AWS, as statements that the functions' roles are made of. Rights to the KMS key are in its own
# policy (kms.tf).

locals {
  # Every key in the table and its indexes begins with the installation's id.
  own_keys = { "ForAllValues:StringLike" = { "dynamodb:LeadingKeys" = ["${var.installation}#*"] } }

  uses_records = {
    Sid    = "UsesRecords"
    Effect = "Allow"
    Action = [
      "dynamodb:BatchGetItem",
      "dynamodb:ConditionCheckItem",
      "dynamodb:GetItem",
      "dynamodb:Query",
      "dynamodb:UpdateItem",
    ]
    Resource  = [local.table_arn, "${local.table_arn}/index/*"]
    Condition = local.own_keys
  }

  deletes_records = {
    Sid       = "DeletesRecords"
    Effect    = "Allow"
    Action    = ["dynamodb:DeleteItem"]
    Resource  = [local.table_arn]
    Condition = local.own_keys
  }

  sends_to = { for queue, arn in local.queue_arns : queue => {
    Sid      = "SendsTo${title(queue)}"
    Effect   = "Allow"
    Action   = ["sqs:SendMessage"]
    Resource = [arn]
  } }

  receives_from = { for queue, arn in local.queue_arns : queue => {
    Sid      = "ReceivesFrom${title(queue)}"
    Effect   = "Allow"
    Action   = ["sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"]
    Resource = [arn]
  } }

  # Makes a message that it received a dead letter, with the reason.
  sets_aside = { for queue, arn in local.dead_arns : queue => {
    Sid      = "SetsAside${title(queue)}"
    Effect   = "Allow"
    Action   = ["sqs:SendMessage"]
    Resource = [arn]
  } }

  # Lists dead letters, and sends them again.
  redrives = { for queue, arn in local.dead_arns : queue => {
    Sid      = "Redrives${title(queue)}"
    Effect   = "Allow"
    Action   = ["sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:ReceiveMessage"]
    Resource = [arn]
  } }

  reads_objects = {
    Sid      = "ReadsObjects"
    Effect   = "Allow"
    Action   = ["s3:GetObject"]
    Resource = ["${local.objects_arn}/${var.installation}/*"]
  }

  # Without it S3 says of an object that is not there that access is denied. Such a request has no prefix that a condition
  # could ask for.
  lists_objects = {
    Sid      = "ListsObjects"
    Effect   = "Allow"
    Action   = ["s3:ListBucket"]
    Resource = [local.objects_arn]
  }

  writes_objects = {
    Sid      = "WritesObjects"
    Effect   = "Allow"
    Action   = ["s3:AbortMultipartUpload", "s3:PutObject"]
    Resource = ["${local.objects_arn}/${var.installation}/*"]
  }

  parameters_arn  = "arn:${local.partition}:ssm:${local.arn_end}:parameter"
  own_secrets_arn = "arn:${local.partition}:secretsmanager:${local.arn_end}:secret:${local.secrets_prefix}/*"

  reads_secrets = [
    {
      Sid      = "ReadsParameters"
      Effect   = "Allow"
      Action   = ["ssm:GetParameter"]
      Resource = ["${local.parameters_arn}${local.secrets_prefix}/*", "${local.parameters_arn}${local.config_maps_prefix}/*"]
    },
    {
      Sid      = "ReadsSecrets"
      Effect   = "Allow"
      Action   = ["secretsmanager:DescribeSecret", "secretsmanager:GetSecretValue"]
      Resource = [local.own_secrets_arn]
    },
  ]

  # A secret that outgrows a parameter moves to Secrets Manager, so the parameter goes.
  writes_secrets = [
    {
      Sid      = "WritesSecretParameters"
      Effect   = "Allow"
      Action   = ["ssm:DeleteParameter", "ssm:PutParameter"]
      Resource = ["${local.parameters_arn}${local.secrets_prefix}/*"]
    },
    {
      Sid      = "WritesSecrets"
      Effect   = "Allow"
      Action   = ["secretsmanager:CreateSecret", "secretsmanager:PutSecretValue"]
      Resource = [local.own_secrets_arn]
    },
  ]

  writes_config_maps = {
    Sid      = "WritesConfigMaps"
    Effect   = "Allow"
    Action   = ["ssm:PutParameter"]
    Resource = ["${local.parameters_arn}${local.config_maps_prefix}/*"]
  }

  # The secrets of the installation itself, each read by whom it is for.
  reads_system_secret = { for name in local.system_secrets : name => {
    Sid      = "Reads${join("", [for word in split("-", name) : title(word)])}"
    Effect   = "Allow"
    Action   = ["ssm:GetParameter"]
    Resource = ["${local.parameters_arn}${local.system_prefix}/${name}"]
  } }

  lambda_trust = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "lambda.amazonaws.com" }
      Action    = "sts:AssumeRole"
    }]
  })

  # A function's own log group, which is made here and not by the function.
  writes_log = { for name in keys(local.function_defaults) : name => {
    Sid      = "WritesLog"
    Effect   = "Allow"
    Action   = ["logs:CreateLogStream", "logs:PutLogEvents"]
    Resource = ["arn:${local.partition}:logs:${local.arn_end}:log-group:/aws/lambda/${local.name}-${name}:*"]
  } }
}
