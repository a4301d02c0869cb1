# api: the HTTP API and the web pages. Anyone may call its URL: the function asks for the installation's token.

module "api" {
  source = "./modules/function"

  name        = "${local.name}-api"
  function    = "api"
  description = "Yuba ${var.installation}: the HTTP API and the pages"
  role_arn    = aws_iam_role.api.arn
  kms_key_arn = aws_kms_key.yuba.arn
  memory      = local.functions.api.memory
  timeout     = local.functions.api.timeout
  settings    = local.function_settings
  environment = merge(local.store_settings, local.queue_settings, local.blobs_settings, local.secrets_settings, {
    YUBA_API_TOKEN = "${local.system_prefix}/api-token"
  })

  depends_on = [aws_iam_role_policy.api, aws_kms_key_policy.yuba]
}

resource "aws_iam_role" "api" {
  name                 = "${local.name}-api"
  description          = "Yuba ${var.installation}: the function api"
  assume_role_policy   = local.lambda_trust
  permissions_boundary = var.permissions_boundary_arn
  tags                 = local.tags
}

resource "aws_iam_role_policy" "api" {
  name = "api"
  role = aws_iam_role.api.name
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat([
      local.writes_log["api"],
      local.uses_records,
      local.sends_to["sources"],
      local.sends_to["stacks"],
      local.sends_to["notices"],
      local.redrives["sources"],
      local.redrives["stacks"],
      local.redrives["notices"],
      local.reads_objects,
      local.lists_objects,
      local.writes_objects,
      local.writes_config_maps,
      local.reads_system_secret["api-token"],
      {
        Sid    = "ListsParameters"
        Effect = "Allow"
        Action = ["ssm:GetParametersByPath"]
        Resource = flatten([for prefix in [local.secrets_prefix, local.config_maps_prefix] : [
          "${local.parameters_arn}${prefix}", "${local.parameters_arn}${prefix}/*",
        ]])
      },
      {
        # Listing has no resource that could be named. It tells names, never values.
        Sid      = "ListsSecrets"
        Effect   = "Allow"
        Action   = ["secretsmanager:ListSecrets"]
        Resource = ["*"]
      },
    ], local.reads_secrets, local.writes_secrets)
  })
}

# Answers are streamed: logs grow while they are read.
resource "aws_lambda_function_url" "api" {
  #checkov:skip=CKV_AWS_258:people come with the installation's token, which the function checks itself

  function_name      = module.api.name
  authorization_type = "NONE"
  invoke_mode        = "RESPONSE_STREAM"
}

resource "aws_lambda_permission" "api_url" {
  #checkov:skip=CKV_AWS_301:its URL is public, and no other way in is; the function itself checks the token

  statement_id           = "CallTheUrl"
  function_name          = module.api.name
  action                 = "lambda:InvokeFunctionUrl"
  principal              = "*"
  function_url_auth_type = "NONE"
}

resource "aws_lambda_permission" "api_through_url" {
  #checkov:skip=CKV_AWS_301:its URL is public, and no other way in is; the function itself checks the token

  statement_id             = "RunThroughTheUrl"
  function_name            = module.api.name
  action                   = "lambda:InvokeFunction"
  principal                = "*"
  invoked_via_function_url = true
}
