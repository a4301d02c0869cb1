# slack: presses of buttons, modals and the slash command come in. Anyone may call its URL: it checks Slack's signature before
# it reads anything.

module "slack" {
  source = "./modules/function"

  name        = "${local.name}-slack"
  function    = "slack"
  description = "Yuba ${var.installation}: takes what people do in Slack"
  role_arn    = aws_iam_role.slack.arn
  kms_key_arn = aws_kms_key.yuba.arn
  memory      = local.functions.slack.memory
  timeout     = local.functions.slack.timeout
  settings    = local.function_settings
  environment = merge(local.store_settings, local.queue_settings, local.secrets_settings, {
    YUBA_SLACK_SIGNING_SECRETS = "${local.system_prefix}/slack-signing"
  })

  depends_on = [aws_iam_role_policy.slack, aws_kms_key_policy.yuba]
}

resource "aws_iam_role" "slack" {
  name                 = "${local.name}-slack"
  description          = "Yuba ${var.installation}: the function slack"
  assume_role_policy   = local.lambda_trust
  permissions_boundary = var.permissions_boundary_arn
  tags                 = local.tags
}

resource "aws_iam_role_policy" "slack" {
  name = "slack"
  role = aws_iam_role.slack.name
  policy = jsonencode({
    Version = "2012-10-17"
    # Modals are opened with the token of a provider's bot.
    Statement = concat([
      local.writes_log["slack"],
      local.uses_records,
      local.sends_to["stacks"],
      local.reads_system_secret["slack-signing"],
    ], local.reads_secrets)
  })
}

resource "aws_lambda_function_url" "slack" {
  #checkov:skip=CKV_AWS_258:Slack cannot sign for AWS; the function checks its HMAC signatures itself

  function_name      = module.slack.name
  authorization_type = "NONE"
}

# Whoever knows the URL may call it, and only through the URL: a call by way of Lambda's own API is refused.
resource "aws_lambda_permission" "slack_url" {
  #checkov:skip=CKV_AWS_301:its URL is public, and no other way in is; the function itself checks signatures

  statement_id           = "CallTheUrl"
  function_name          = module.slack.name
  action                 = "lambda:InvokeFunctionUrl"
  principal              = "*"
  function_url_auth_type = "NONE"
}

resource "aws_lambda_permission" "slack_through_url" {
  #checkov:skip=CKV_AWS_301:its URL is public, and no other way in is; the function itself checks signatures

  statement_id             = "RunThroughTheUrl"
  function_name            = module.slack.name
  action                   = "lambda:InvokeFunction"
  principal                = "*"
  invoked_via_function_url = true
}
