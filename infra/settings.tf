# The functions' settings: environment variables, one group for each port (`shared/aws`) or purpose. No value here is secret:
# secrets are named.

locals {
  store_settings = {
    YUBA_INSTALLATION = var.installation
    YUBA_TABLE        = aws_dynamodb_table.records.name
  }

  queue_settings = {
    YUBA_SOURCES_QUEUE_URL = aws_sqs_queue.work["sources"].url
    YUBA_STACKS_QUEUE_URL  = aws_sqs_queue.work["stacks"].url
    YUBA_NOTICES_QUEUE_URL = aws_sqs_queue.work["notices"].url

    YUBA_SOURCES_DEAD_QUEUE_URL = aws_sqs_queue.dead["sources"].url
    YUBA_STACKS_DEAD_QUEUE_URL  = aws_sqs_queue.dead["stacks"].url
    YUBA_NOTICES_DEAD_QUEUE_URL = aws_sqs_queue.dead["notices"].url
  }

  blobs_settings = {
    YUBA_BUCKET  = module.objects.name
    YUBA_KMS_KEY = aws_kms_key.yuba.arn
  }

  secrets_settings = {
    YUBA_SECRETS_PREFIX     = local.secrets_prefix
    YUBA_CONFIG_MAPS_PREFIX = local.config_maps_prefix
    YUBA_KMS_KEY            = aws_kms_key.yuba.arn
  }

  manifests_settings = {
    YUBA_MANIFESTS = join(",", var.manifests)
  }

  # How they are looked at, which one function does.
  looking_settings = { for name, value in {
    YUBA_MANIFESTS_INTERVAL = var.manifests_interval
    YUBA_MANIFESTS_SECRET   = var.manifests_secret
  } : name => value if value != null }

  # What messages to people show.
  notices_settings = {
    YUBA_WEB_URL       = coalesce(var.web_url, trimsuffix(aws_lambda_function_url.api.function_url, "/"))
    YUBA_SLACK_BUTTONS = var.slack_buttons ? "shown" : "hidden"
  }

  key_settings = {
    YUBA_TASK_KEY = "${local.system_prefix}/task-key"
  }

  objects_settings = {
    YUBA_OBJECTS_ROLE = local.objects_role_arn
  }

  publisher_settings = {
    YUBA_TOPIC_ARN = aws_sns_topic.events.arn
  }

  # Where nothing is set there is no variable.
  credentials_settings = { for name, value in {
    YUBA_EXTERNAL_ID     = local.external_id
    YUBA_ASSUME_VIA_ROLE = var.assume_via_role_arn
    YUBA_SESSION_POLICY  = var.session_policy
  } : name => value if value != null }

  # How many tasks there may be at once: for who starts them, hears of their end, and sweeps.
  caps_settings = { for name, value in {
    YUBA_TASKS_MOST = var.tasks_most
    YUBA_TASKS_MOST_PER_LABEL = length(var.tasks_most_per_label) == 0 ? null : join(
      ",", [for label, most in var.tasks_most_per_label : "${label}:${most}"]
    )
  } : name => value if value != null }

  launcher_settings = {
    YUBA_ECS_CLUSTER          = aws_ecs_cluster.tasks.arn
    YUBA_TASK_DEFINITION      = aws_ecs_task_definition.runner["default-default"].arn
    YUBA_TASK_CONTAINER       = local.runner_container
    YUBA_TASK_SUBNETS         = join(",", var.subnet_ids)
    YUBA_TASK_SECURITY_GROUPS = join(",", local.security_group_ids)
    YUBA_TASK_PUBLIC_IP       = var.assign_public_ip ? "assigned" : "none"
    YUBA_PLAN_CAPACITY        = var.plan_capacity
    YUBA_TASKS_URL            = trimsuffix(aws_lambda_function_url.tasks.function_url, "/")
  }
}
