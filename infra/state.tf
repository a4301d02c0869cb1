# Where states of stacks lie that bring no backend. Locks are objects beside the states (`use_lockfile`); engines before
# 1.10, which do not know that, lock in a table.

locals {
  state_name     = "${local.name}-state-${local.account}"
  state_arn      = "arn:${local.partition}:s3:::${local.state_name}"
  lock_table_arn = "arn:${local.partition}:dynamodb:${local.arn_end}:table/${local.name}-locks"

  # The roles of stacks in other accounts: those that modules/stack-roles makes there.
  state_role_arns = [for id in var.target_account_ids : "arn:${local.partition}:iam::${id}:role/yuba/${var.installation}/*"]

  # Roles in this account need no statement here; their own policies say what they may. So do those of roles in other
  # accounts, which need both.
  state_statements = [for statement in [
    {
      Sid       = "StatesOfOtherAccounts"
      Effect    = "Allow"
      Principal = { AWS = [for id in var.target_account_ids : "arn:${local.partition}:iam::${id}:root"] }
      Action    = ["s3:GetObject", "s3:PutObject"]
      Resource  = "${local.state_arn}/*"
      Condition = { ArnLike = { "aws:PrincipalArn" = local.state_role_arns } }
    },
    {
      Sid       = "LocksOfOtherAccounts"
      Effect    = "Allow"
      Principal = { AWS = [for id in var.target_account_ids : "arn:${local.partition}:iam::${id}:root"] }
      Action    = ["s3:DeleteObject"]
      Resource  = "${local.state_arn}/*.tflock"
      Condition = { ArnLike = { "aws:PrincipalArn" = local.state_role_arns } }
    },
    {
      Sid       = "OtherAccountsList"
      Effect    = "Allow"
      Principal = { AWS = [for id in var.target_account_ids : "arn:${local.partition}:iam::${id}:root"] }
      Action    = ["s3:ListBucket"]
      Resource  = local.state_arn
      Condition = { ArnLike = { "aws:PrincipalArn" = local.state_role_arns } }
    },
  ] : statement if length(var.target_account_ids) > 0]
}

module "state" {
  source = "./modules/bucket"
  count  = var.state_bucket ? 1 : 0

  name          = local.state_name
  kms_key_arn   = aws_kms_key.yuba.arn
  force_destroy = false
  # States never expire. What they were is kept for a year.
  expire_days            = null
  noncurrent_expire_days = 365
  statements             = jsonencode(local.state_statements)
  tags                   = local.tags
}

resource "aws_dynamodb_table" "locks" {
  #checkov:skip=CKV_AWS_119:locks say who holds them and no secret, and roles of stacks would need the key for them

  count = var.state_lock_table ? 1 : 0

  name                        = "${local.name}-locks"
  billing_mode                = "PAY_PER_REQUEST"
  hash_key                    = "LockID"
  deletion_protection_enabled = var.deletion_protection

  attribute {
    name = "LockID"
    type = "S"
  }

  point_in_time_recovery {
    enabled = true
  }

  server_side_encryption {
    enabled = false
  }

  tags = local.tags
}
