# The bucket of objects: artifacts, plans, logs and reports of runs.

locals {
  objects_name     = "${local.name}-objects-${local.account}"
  objects_role_arn = "arn:${local.partition}:iam::${local.account}:role/${local.name}-objects"
  objects_arn      = "arn:${local.partition}:s3:::${local.objects_name}"
}

# The role that may use objects. Only the function tasks can assume it, and gives each attempt a session that a policy bounds
# to what that attempt writes and reads.
resource "aws_iam_role" "objects" {
  name                 = "${local.name}-objects"
  description          = "Yuba ${var.installation}: objects of attempts"
  permissions_boundary = var.permissions_boundary_arn
  max_session_duration = 3600
  tags                 = local.tags

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = local.role_arns["tasks"] }
      Action    = "sts:AssumeRole"
    }]
  })

  depends_on = [aws_iam_role.tasks]
}

resource "aws_iam_role_policy" "objects" {
  name = "objects"
  role = aws_iam_role.objects.name
  policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [local.reads_objects, local.lists_objects, local.writes_objects]
  })
}

module "objects" {
  source = "./modules/bucket"

  name          = local.objects_name
  kms_key_arn   = aws_kms_key.yuba.arn
  force_destroy = !var.deletion_protection
  # Versions that were replaced or deleted are kept long enough to undo a mistake.
  expire_days            = var.run_retention_days
  noncurrent_expire_days = 7
  tags                   = local.tags
}
