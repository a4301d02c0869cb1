# Yuba as an organisation runs it: in private subnets of a network that is there, packages from a local build, images from
# ECR in two sizes, plans on Spot, roles of stacks in other accounts, alarms to a topic that is there.

terraform {
  required_version = ">= 1.8.0"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 6.29.0, < 7.0.0"
    }
  }
}

variable "vpc_id" {
  description = "The VPC."
  type        = string
}

variable "private_subnet_ids" {
  description = "Its subnets that reach the internet through a NAT gateway."
  type        = list(string)
}

variable "task_security_group_id" {
  description = "The security group of tasks."
  type        = string
}

variable "package_directory" {
  description = "The directory that holds the functions' zips."
  type        = string
}

variable "source_image" {
  description = "The image of the function source in ECR, pinned by digest."
  type        = string
}

variable "runner_images" {
  description = "The runner's images, pinned by digest."
  type        = map(string)
}

variable "target_account_ids" {
  description = "The accounts whose stacks Yuba runs. Each has the roles of modules/stack-roles, by StackSet."
  type        = list(string)
}

variable "alarm_topic_arn" {
  description = "The topic that alarms go to."
  type        = string
}

provider "aws" {
  region = "eu-central-1"
}

module "yuba" {
  source = "../.."

  installation     = "prod"
  manifests        = ["https://git.example.com/platform/infra.git@main//stacks", "https://git.example.com/apps/infra.git"]
  manifests_secret = "platform/git"

  packages      = { directory = var.package_directory }
  source_image  = var.source_image
  runner_images = var.runner_images
  runner_sizes = {
    default = { cpu = 1024, memory = 2048 }
    large   = { cpu = 4096, memory = 16384, disk = 100 }
  }
  plan_capacity            = "spot"
  tasks_most               = 50
  tasks_most_per_label     = { "env=prod" = 5, "team=net" = 2 }
  function_overrides       = { source = { memory = 3008, timeout = 600 } }
  source_concurrency       = 50
  orchestrator_concurrency = 200

  vpc_id             = var.vpc_id
  subnet_ids         = var.private_subnet_ids
  security_group_ids = [var.task_security_group_id]

  external_id        = "prod-7f3a9c"
  target_account_ids = var.target_account_ids
  stack_role_arns    = [for id in var.target_account_ids : "arn:aws:iam::${id}:role/yuba/prod/*"]
  state_lock_table   = true
  topic_fifo         = true
  alarm_topic_arns   = [var.alarm_topic_arn]
  tags               = { team = "platform" }
}

output "webhook_url" {
  description = "Where Git hosts send their webhooks."
  value       = module.yuba.webhook_url
}

output "slack_interaction_url" {
  description = "The Slack app's request URL for interactivity."
  value       = module.yuba.slack_interaction_url
}

output "slack_command_url" {
  description = "The request URL of the Slack app's slash command."
  value       = module.yuba.slack_command_url
}

output "api_url" {
  description = "Where people reach Yuba."
  value       = module.yuba.api_url
}

output "tasks_role_arn" {
  description = "The parameter TrustedRoleArn of the StackSet."
  value       = module.yuba.tasks_role_arn
}

output "external_id" {
  description = "The parameter ExternalId of the StackSet."
  value       = module.yuba.external_id
}
