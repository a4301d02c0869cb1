# The roles that stacks run under in an account: one for plans, which reads, and one for applies. Each can be assumed with
# the installation's external id alone, for its own phase, and for the stacks that are named.

data "aws_partition" "here" {}

locals {
  name   = coalesce(var.name, "yuba-${var.installation}-stacks")
  phases = ["plan", "apply"]

  policy_arns = {
    plan  = coalesce(var.plan_policy_arns, ["arn:${data.aws_partition.here.partition}:iam::aws:policy/ReadOnlyAccess"])
    apply = var.apply_policy_arns
  }
  attachments = merge([for phase in local.phases : {
    for number, arn in local.policy_arns[phase] : "${phase}-${number}" => { phase = phase, arn = arn }
  }]...)

  tags = merge(var.tags, { "yuba:installation" = var.installation })
}

resource "aws_iam_role" "stacks" {
  for_each = toset(local.phases)

  name                 = "${local.name}-${each.key}"
  path                 = "/yuba/${var.installation}/"
  description          = "Yuba ${var.installation}: stacks ${each.key} under this role"
  permissions_boundary = var.permissions_boundary_arn
  max_session_duration = 3600
  tags                 = local.tags

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid       = "YubaAssumes"
        Effect    = "Allow"
        Principal = { AWS = var.trusted_role_arn }
        Action    = "sts:AssumeRole"
        Condition = {
          StringEquals = { "sts:ExternalId" = var.external_id, "aws:RequestTag/yuba:phase" = each.key }
          StringLike   = { "aws:RequestTag/yuba:stack" = var.stacks }
        }
      },
      {
        Sid       = "YubaSaysForWhom"
        Effect    = "Allow"
        Principal = { AWS = var.trusted_role_arn }
        Action    = "sts:TagSession"
        Condition = {
          StringEquals                = { "aws:RequestTag/yuba:phase" = each.key }
          StringLike                  = { "aws:RequestTag/yuba:stack" = var.stacks }
          "ForAllValues:StringEquals" = { "aws:TagKeys" = ["yuba:stack", "yuba:run", "yuba:revision", "yuba:phase"] }
        }
      },
    ]
  })
}

resource "aws_iam_role_policy_attachment" "stacks" {
  for_each = local.attachments

  role       = aws_iam_role.stacks[each.value.phase].name
  policy_arn = each.value.arn
}

resource "aws_iam_role_policy" "state" {
  for_each = var.state == null ? [] : toset(local.phases)

  name = "state"
  role = aws_iam_role.stacks[each.key].name
  policy = jsonencode({
    Version   = "2012-10-17"
    Statement = concat(local.state_statements, each.key == "apply" ? local.state_writes : [])
  })
}

locals {
  state      = coalesce(var.state, { bucket = "", kms_key_arn = null, prefix = "", lock_table_arn = null })
  bucket_arn = "arn:${data.aws_partition.here.partition}:s3:::${local.state.bucket}"
  states_arn = "${local.bucket_arn}/${local.state.prefix}*"

  # A plan reads the state, and holds its lock meanwhile.
  state_statements = concat(
    [
      {
        Sid      = "FindsStates"
        Effect   = "Allow"
        Action   = ["s3:ListBucket"]
        Resource = [local.bucket_arn]
      },
      {
        Sid      = "ReadsStates"
        Effect   = "Allow"
        Action   = ["s3:GetObject"]
        Resource = [local.states_arn]
      },
      {
        Sid      = "LocksStates"
        Effect   = "Allow"
        Action   = ["s3:DeleteObject", "s3:PutObject"]
        Resource = ["${local.states_arn}.tflock"]
      },
    ],
    [for arn in compact([local.state.kms_key_arn]) : {
      Sid      = "UsesTheKey"
      Effect   = "Allow"
      Action   = ["kms:Decrypt", "kms:GenerateDataKey"]
      Resource = [arn]
    }],
    [for arn in compact([local.state.lock_table_arn]) : {
      Sid      = "LocksInTheTable"
      Effect   = "Allow"
      Action   = ["dynamodb:DeleteItem", "dynamodb:GetItem", "dynamodb:PutItem"]
      Resource = [arn]
    }],
  )

  # Beside the role's trust, the session itself must say that it applies.
  state_writes = [{
    Sid       = "WritesStates"
    Effect    = "Allow"
    Action    = ["s3:PutObject"]
    Resource  = [local.states_arn]
    Condition = { StringEquals = { "aws:PrincipalTag/yuba:phase" = "apply" } }
  }]
}
