# The bucket of objects: artifacts, plans, logs and reports of runs.

locals {
  objects_name = "${local.name}-objects-${local.account}"
  objects_arn  = "arn:${local.partition}:s3:::${local.objects_name}"
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
