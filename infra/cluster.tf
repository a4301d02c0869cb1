# Where tasks run. A task starts with no rights but a single-use token, which the function tasks exchanges.

locals {
  cluster_arn        = "arn:${local.partition}:ecs:${local.arn_end}:cluster/${local.name}"
  task_role_arn      = "arn:${local.partition}:iam::${local.account}:role/${local.name}-task"
  execution_role_arn = "arn:${local.partition}:iam::${local.account}:role/${local.name}-task-execution"
  task_log_group     = "/yuba/${var.installation}/tasks"
  runner_container   = "runner"

  # One task definition for each image and size.
  runners = merge([for image_name, image in var.runner_images : {
    for size_name, size in var.runner_sizes : "${image_name}-${size_name}" => merge(size, { image = image })
  }]...)

  # Images in ECR repositories can be pulled by whom the repository lets; others are public ones.
  ecr_repository = "^(\\d{12})\\.dkr\\.ecr\\.([a-z0-9-]+)\\.amazonaws\\.com(?:\\.cn)?/([^:@]+)"
  ecr_arns = distinct([for image in values(var.runner_images) : format(
    "arn:${local.partition}:ecr:%s:%s:repository/%s",
    regex(local.ecr_repository, image)[1], regex(local.ecr_repository, image)[0], regex(local.ecr_repository, image)[2],
  ) if can(regex(local.ecr_repository, image))])

  security_group_ids = length(var.security_group_ids) > 0 ? var.security_group_ids : aws_security_group.tasks[*].id
}

resource "aws_ecs_cluster" "tasks" {
  #checkov:skip=CKV_AWS_65:Container Insights would cost more for each task than the task; what matters is in Yuba's own metrics

  name = local.name

  setting {
    name  = "containerInsights"
    value = "disabled"
  }

  tags = local.tags
}

resource "aws_ecs_cluster_capacity_providers" "tasks" {
  cluster_name       = aws_ecs_cluster.tasks.name
  capacity_providers = ["FARGATE", "FARGATE_SPOT"]
}

resource "aws_cloudwatch_log_group" "tasks" {
  name              = local.task_log_group
  retention_in_days = var.log_retention_days
  kms_key_id        = aws_kms_key.yuba.arn
  tags              = local.tags

  depends_on = [aws_kms_key_policy.yuba]
}

resource "aws_ecs_task_definition" "runner" {
  for_each = local.runners

  family                   = "${local.name}-runner-${each.key}"
  requires_compatibilities = ["FARGATE"]
  network_mode             = "awsvpc"
  cpu                      = each.value.cpu
  memory                   = each.value.memory
  task_role_arn            = aws_iam_role.task.arn
  execution_role_arn       = aws_iam_role.task_execution.arn
  # Older revisions stay: a function that began before an upgrade may still start one.
  skip_destroy = true

  container_definitions = jsonencode([{
    name                   = local.runner_container
    image                  = each.value.image
    essential              = true
    readonlyRootFilesystem = true
    user                   = "0"
    stopTimeout            = 120
    environment            = [{ name = "YUBA_WORK", value = "/work" }]
    mountPoints = [
      { sourceVolume = "work", containerPath = "/work", readOnly = false },
      { sourceVolume = "tmp", containerPath = "/tmp", readOnly = false },
    ]
    linuxParameters = {
      initProcessEnabled = true
      # The supervisor starts as root to hand tofu to another user; of root's powers it keeps those that this takes.
      capabilities = { drop = ["AUDIT_WRITE", "MKNOD", "NET_BIND_SERVICE", "NET_RAW", "SETFCAP", "SYS_CHROOT"] }
    }
    logConfiguration = {
      logDriver = "awslogs"
      options = {
        awslogs-group         = local.task_log_group
        awslogs-region        = local.region
        awslogs-stream-prefix = "task"
      }
    }
  }])

  ephemeral_storage {
    size_in_gib = each.value.disk
  }

  runtime_platform {
    operating_system_family = "LINUX"
    cpu_architecture        = upper(var.runner_architecture)
  }

  volume {
    name = "work"
  }

  volume {
    name = "tmp"
  }

  tags       = local.tags
  depends_on = [aws_cloudwatch_log_group.tasks]
}

locals {
  task_trust = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "ecs-tasks.amazonaws.com" }
      Action    = "sts:AssumeRole"
      Condition = {
        StringEquals = { "aws:SourceAccount" = local.account }
        ArnLike      = { "aws:SourceArn" = "arn:${local.partition}:ecs:${local.arn_end}:*" }
      }
    }]
  })
}

# The role that a task has: it has no policy, and none is to be attached. It is there so that no other role can be.
resource "aws_iam_role" "task" {
  name                 = "${local.name}-task"
  description          = "Yuba ${var.installation}: tasks, which have no rights of their own"
  assume_role_policy   = local.task_trust
  permissions_boundary = var.permissions_boundary_arn
  tags                 = local.tags
}

# The role with which ECS itself, outside the task, pulls the image and writes the log.
resource "aws_iam_role" "task_execution" {
  name                 = "${local.name}-task-execution"
  description          = "Yuba ${var.installation}: ECS pulls images and writes logs"
  assume_role_policy   = local.task_trust
  permissions_boundary = var.permissions_boundary_arn
  tags                 = local.tags
}

resource "aws_iam_role_policy" "task_execution" {
  name = "execution"
  role = aws_iam_role.task_execution.name
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat([
      {
        Sid      = "WritesLog"
        Effect   = "Allow"
        Action   = ["logs:CreateLogStream", "logs:PutLogEvents"]
        Resource = ["arn:${local.partition}:logs:${local.arn_end}:log-group:${local.task_log_group}:*"]
      },
      ], [for statement in [
        {
          Sid      = "PullsImages"
          Effect   = "Allow"
          Action   = ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"]
          Resource = local.ecr_arns
        },
        {
          # The token is for the whole registry; what it can pull, the statement above says.
          Sid      = "SignsInToEcr"
          Effect   = "Allow"
          Action   = ["ecr:GetAuthorizationToken"]
          Resource = ["*"]
        },
    ] : statement if length(local.ecr_arns) > 0])
  })
}

resource "aws_security_group" "tasks" {
  #checkov:skip=CKV2_AWS_5:the orchestrator attaches it to the tasks that it starts

  count = length(var.security_group_ids) > 0 ? 0 : 1

  name        = "${local.name}-tasks"
  description = "Yuba ${var.installation}: tasks reach out over HTTPS and SSH, and nothing reaches them"
  vpc_id      = var.vpc_id
  tags        = merge(local.tags, { Name = "${local.name}-tasks" })
}

resource "aws_vpc_security_group_egress_rule" "tasks" {
  for_each = length(var.security_group_ids) > 0 ? {} : { https = 443, ssh = 22 }

  security_group_id = aws_security_group.tasks[0].id
  description       = "Git hosts, registries and clouds over ${each.key}"
  cidr_ipv4         = "0.0.0.0/0"
  ip_protocol       = "tcp"
  from_port         = each.value
  to_port           = each.value
  tags              = local.tags
}
