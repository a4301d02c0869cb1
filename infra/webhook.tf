# webhook: pushes and pull requests come in. Anyone may call its URL: it checks each delivery's signature before it reads it.

module "webhook" {
  source = "./modules/function"

  name        = "${local.name}-webhook"
  function    = "webhook"
  description = "Yuba ${var.installation}: takes webhooks of Git hosts"
  role_arn    = aws_iam_role.webhook.arn
  kms_key_arn = aws_kms_key.yuba.arn
  memory      = local.functions.webhook.memory
  timeout     = local.functions.webhook.timeout
  settings    = local.function_settings
  environment = merge(local.store_settings, local.queue_settings, local.manifests_settings, {
    YUBA_WEBHOOK_SECRETS = "${local.system_prefix}/webhooks"
  })

  depends_on = [aws_iam_role_policy.webhook, aws_kms_key_policy.yuba]
}

resource "aws_iam_role" "webhook" {
  name                 = "${local.name}-webhook"
  description          = "Yuba ${var.installation}: the function webhook"
  assume_role_policy   = local.lambda_trust
  permissions_boundary = var.permissions_boundary_arn
  tags                 = local.tags
}

resource "aws_iam_role_policy" "webhook" {
  name = "webhook"
  role = aws_iam_role.webhook.name
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      local.writes_log["webhook"],
      local.uses_records,
      local.sends_to["sources"],
      local.reads_system_secret["webhooks"],
    ]
  })
}

resource "aws_lambda_function_url" "webhook" {
  #checkov:skip=CKV_AWS_258:Git hosts cannot sign for AWS; the function checks their HMAC signatures itself

  function_name      = module.webhook.name
  authorization_type = "NONE"
}

# Whoever knows the URL may call it, and only through the URL: a call by way of Lambda's own API is refused.
resource "aws_lambda_permission" "webhook_url" {
  #checkov:skip=CKV_AWS_301:its URL is public, and no other way in is; the function itself checks signatures

  statement_id           = "CallTheUrl"
  function_name          = module.webhook.name
  action                 = "lambda:InvokeFunctionUrl"
  principal              = "*"
  function_url_auth_type = "NONE"
}

resource "aws_lambda_permission" "webhook_through_url" {
  #checkov:skip=CKV_AWS_301:its URL is public, and no other way in is; the function itself checks signatures

  statement_id             = "RunThroughTheUrl"
  function_name            = module.webhook.name
  action                   = "lambda:InvokeFunction"
  principal                = "*"
  invoked_via_function_url = true
}
