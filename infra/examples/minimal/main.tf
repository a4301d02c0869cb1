# Yuba with a network of its own: two public subnets, in which tasks have an address each, so that no NAT gateway has to be
# paid for. `tofu init && tofu apply`.

terraform {
  required_version = ">= 1.8.0"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 6.29.0, < 7.0.0"
    }
  }
}

variable "region" {
  description = "Where to deploy."
  type        = string
  default     = "eu-central-1"
}

variable "installation" {
  description = "The installation's id."
  type        = string
  default     = "demo"
}

variable "package_bucket" {
  description = "The bucket that holds the functions' zips below `v<version>/`."
  type        = string
}

variable "manifests" {
  description = "Where manifests are read from: `GIT_URL[@REF][//SUBDIR]`."
  type        = string
}

variable "source_image" {
  description = "The image of the function source in ECR, pinned by digest."
  type        = string
}

variable "runner_image" {
  description = "The runner's image, pinned by digest."
  type        = string
}

provider "aws" {
  region = var.region
}

data "aws_availability_zones" "here" {
  #checkov:skip=CKV_AWS_394:an example; a zone that AWS adds moves nothing while the first two stay

  state = "available"
}

resource "aws_vpc" "yuba" {
  #checkov:skip=CKV2_AWS_11:an example; flow logs cost more than the rest of it
  #checkov:skip=CKV2_AWS_12:nothing in this network uses the default group

  cidr_block           = "10.84.0.0/24"
  enable_dns_hostnames = true
  tags                 = { Name = "yuba-${var.installation}" }
}

resource "aws_internet_gateway" "yuba" {
  vpc_id = aws_vpc.yuba.id
}

resource "aws_route_table" "yuba" {
  vpc_id = aws_vpc.yuba.id
}

resource "aws_route" "internet" {
  route_table_id         = aws_route_table.yuba.id
  destination_cidr_block = "0.0.0.0/0"
  gateway_id             = aws_internet_gateway.yuba.id
}

resource "aws_subnet" "tasks" {
  count = 2

  vpc_id            = aws_vpc.yuba.id
  availability_zone = data.aws_availability_zones.here.names[count.index]
  cidr_block        = cidrsubnet(aws_vpc.yuba.cidr_block, 1, count.index)
  tags              = { Name = "yuba-${var.installation}-tasks-${count.index}" }
}

resource "aws_route_table_association" "tasks" {
  count = 2

  subnet_id      = aws_subnet.tasks[count.index].id
  route_table_id = aws_route_table.yuba.id
}

module "yuba" {
  source = "../.."

  installation     = var.installation
  manifests        = [var.manifests]
  packages         = { bucket = var.package_bucket, prefix = "v0.1.0/" }
  source_image     = var.source_image
  runner_images    = { default = var.runner_image }
  vpc_id           = aws_vpc.yuba.id
  subnet_ids       = aws_subnet.tasks[*].id
  assign_public_ip = true
}

# The roles that stacks in this account run under.
module "stack_roles" {
  source = "../../modules/stack-roles"

  installation      = var.installation
  trusted_role_arn  = module.yuba.tasks_role_arn
  external_id       = module.yuba.external_id
  apply_policy_arns = ["arn:aws:iam::aws:policy/PowerUserAccess"]
  state             = { bucket = module.yuba.state_backend.bucket, kms_key_arn = module.yuba.kms_key_arn }
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

output "plan_role_arn" {
  description = "What manifests name as `roles.plan`."
  value       = module.stack_roles.plan_role_arn
}

output "apply_role_arn" {
  description = "What manifests name as `roles.apply`."
  value       = module.stack_roles.apply_role_arn
}
