# The table of records. What it must be is decided in shared/aws/src/table.rs and docs/decisions/0005-dynamodb-table.md.

locals {
  table_arn = "arn:${local.partition}:dynamodb:${local.arn_end}:table/${local.name}"

  # One index for each list: its sort key has its name.
  indexes = ["due", "effects", "events", "expires", "manifests", "runs", "sources", "stacks"]
}

resource "aws_dynamodb_table" "records" {
  name                        = local.name
  billing_mode                = "PAY_PER_REQUEST"
  hash_key                    = "pk"
  range_key                   = "sk"
  deletion_protection_enabled = var.deletion_protection

  dynamic "attribute" {
    for_each = toset(concat(["pk", "sk"], local.indexes, [for index in local.indexes : "${index}-shard"]))
    content {
      name = attribute.value
      type = "S"
    }
  }

  dynamic "global_secondary_index" {
    for_each = toset(local.indexes)
    content {
      name            = global_secondary_index.value
      hash_key        = "${global_secondary_index.value}-shard"
      range_key       = global_secondary_index.value
      projection_type = "KEYS_ONLY"
    }
  }

  ttl {
    attribute_name = "ttl"
    enabled        = true
  }

  point_in_time_recovery {
    enabled = true
  }

  server_side_encryption {
    enabled     = true
    kms_key_arn = aws_kms_key.yuba.arn
  }

  tags = local.tags
}
