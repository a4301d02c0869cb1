variable "installation" {
  description = "The installation's id: part of every name, key and prefix. One id stands for one installation in an account, in whichever region."
  type        = string

  validation {
    condition     = length(var.installation) <= 32 && can(regex("^[a-z]([a-z0-9-]*[a-z0-9])?$", var.installation))
    error_message = "An installation's id has at most 32 of a-z, 0-9 and `-`; the first is a letter, the last is not `-`."
  }
}

variable "tags" {
  description = "Tags on everything that can have them, beside `yuba:installation`."
  type        = map(string)
  default     = {}

  validation {
    condition     = alltrue([for key in keys(var.tags) : !startswith(key, "aws:") && !startswith(key, "yuba:")])
    error_message = "Tags that begin with `aws:` are AWS' own, those that begin with `yuba:` are Yuba's."
  }
}

# What runs

variable "packages" {
  description = <<-EOT
    Where the functions' zips are, each named `<function>.zip` (`source` is an image): either in a local `directory`, or in an S3 `bucket` below a
    `prefix` that names the version (`v1.2.0/`). The bucket must be in the installation's region.
  EOT
  type = object({
    directory = optional(string)
    bucket    = optional(string)
    prefix    = optional(string, "")
  })

  validation {
    condition     = (var.packages.directory == null) != (var.packages.bucket == null)
    error_message = "Set either `directory` or `bucket`, not both."
  }
  validation {
    condition     = var.packages.prefix == "" || endswith(var.packages.prefix, "/")
    error_message = "A prefix ends with `/`."
  }
}

variable "source_image" {
  description = <<-EOT
    The image of the function `source`, pinned by digest. It calls `git` and `ssh`, which no runtime of Lambda has. It lies in a
    repository of ECR in the installation's region, built for `architecture`.
  EOT
  type        = string

  validation {
    condition     = can(regex("^\\d{12}\\.dkr\\.ecr\\.[a-z0-9-]+\\.amazonaws\\.com(\\.cn)?/[^@[:space:]]+@sha256:[0-9a-f]{64}$", var.source_image))
    error_message = "Lambda takes images of ECR, pinned by digest: <account>.dkr.ecr.<region>.amazonaws.com/<repository>@sha256:<64 hex digits>."
  }
}

variable "architecture" {
  description = "What the functions were built for: `arm64` (which costs a fifth less) or `x86_64`."
  type        = string
  default     = "arm64"

  validation {
    condition     = contains(["arm64", "x86_64"], var.architecture)
    error_message = "The architecture is `arm64` or `x86_64`."
  }
}

variable "manifests" {
  description = "Where manifests are read from, each as `yuba serve --manifests` takes it: `GIT_URL[@REF][//SUBDIR]`."
  type        = list(string)

  validation {
    condition     = length(var.manifests) > 0 && alltrue([for place in var.manifests : can(regex("^[^,/[:space:]][^,[:space:]]*$", place))])
    error_message = "At least one place in Git, without commas and spaces; no directory outlives a function."
  }
}

variable "manifests_interval" {
  description = "How often manifests are looked at: `5m`. By default once a minute."
  type        = string
  default     = null

  validation {
    condition     = var.manifests_interval == null ? true : can(regex("^([0-9]+[smhd])+$", var.manifests_interval))
    error_message = "An interval is written like `5m` or `1h30m`."
  }
}

variable "manifests_secret" {
  description = "The name of the secret with the credentials for manifests in Git, `<namespace>/<name>`, where they are not public."
  type        = string
  default     = null

  validation {
    condition     = var.manifests_secret == null ? true : can(regex("^[^/[:space:]]+/[^/[:space:]]+$", var.manifests_secret))
    error_message = "A secret is named <namespace>/<name>."
  }
}

variable "runner_images" {
  description = <<-EOT
    The images that tasks may run, by a short name, each pinned by digest: a run finishes on the image it began with. `default`
    is the one that is used.
  EOT
  type        = map(string)

  validation {
    condition     = contains(keys(var.runner_images), "default")
    error_message = "One of the images is named `default`."
  }
  validation {
    condition     = alltrue([for name in keys(var.runner_images) : can(regex("^[a-z][a-z0-9]{0,15}$", name))])
    error_message = "An image's name has at most 16 of a-z and 0-9, the first a letter."
  }
  validation {
    condition     = alltrue([for image in values(var.runner_images) : can(regex("^[^@[:space:]]+@sha256:[0-9a-f]{64}$", image))])
    error_message = "An image is pinned by digest: <repository>@sha256:<64 hex digits>."
  }
}

variable "runner_architecture" {
  description = "What the runner images were built for: `arm64` or `x86_64`. Providers without arm64 builds need `x86_64`."
  type        = string
  default     = "x86_64"

  validation {
    condition     = contains(["arm64", "x86_64"], var.runner_architecture)
    error_message = "The architecture is `arm64` or `x86_64`."
  }
}

variable "runner_sizes" {
  description = <<-EOT
    The sizes that tasks may have, by a short name: `cpu` in units of 1/1024 vCPU and `memory` in MiB, as Fargate pairs them, and `disk`
    in GiB. `default` is the one that is used.
  EOT
  type = map(object({
    cpu    = number
    memory = number
    disk   = optional(number, 21)
  }))
  default = { default = { cpu = 1024, memory = 2048 } }

  validation {
    condition     = contains(keys(var.runner_sizes), "default")
    error_message = "One of the sizes is named `default`."
  }
  validation {
    condition     = alltrue([for name in keys(var.runner_sizes) : can(regex("^[a-z][a-z0-9]{0,15}$", name))])
    error_message = "A size's name has at most 16 of a-z and 0-9, the first a letter."
  }
  validation {
    condition = alltrue([for size in values(var.runner_sizes) : try(contains({
      "256"   = [512, 1024, 2048]
      "512"   = range(1024, 4097, 1024)
      "1024"  = range(2048, 8193, 1024)
      "2048"  = range(4096, 16385, 1024)
      "4096"  = range(8192, 30721, 1024)
      "8192"  = range(16384, 61441, 4096)
      "16384" = range(32768, 122881, 8192)
    }[tostring(size.cpu)], size.memory), false)])
    error_message = "Fargate has no task of that cpu and memory: https://docs.aws.amazon.com/AmazonECS/latest/developerguide/fargate-tasks-services.html#fargate-tasks-size."
  }
  validation {
    condition     = alltrue([for size in values(var.runner_sizes) : size.disk >= 21 && size.disk <= 200])
    error_message = "A task's disk has 21 to 200 GiB."
  }
}

variable "plan_capacity" {
  description = "What plans run on: `on-demand`, or `spot`, which costs less and may be taken back. Applies are always on demand."
  type        = string
  default     = "on-demand"

  validation {
    condition     = contains(["on-demand", "spot"], var.plan_capacity)
    error_message = "Plans run on `on-demand` or `spot`."
  }
}

variable "tasks_most" {
  description = "The most tasks (plans and applies) that may run at once. By default AWS' own quotas alone hold them back."
  type        = number
  default     = null

  validation {
    condition = var.tasks_most == null ? true : (
      var.tasks_most >= 1 && var.tasks_most <= 100000 && floor(var.tasks_most) == var.tasks_most
    )
    error_message = "There may be 1 to 100000 tasks at once."
  }
}

variable "tasks_most_per_label" {
  description = "The most tasks at once of stacks that carry a label: `{ \"env=prod\" = 5 }`."
  type        = map(number)
  default     = {}

  validation {
    condition = alltrue([for label, most in var.tasks_most_per_label :
      can(regex("^[0-9A-Za-z._/-]+=[0-9A-Za-z._/-]+$", label)) && most >= 1 && most <= 100000 && floor(most) == most
    ])
    error_message = "A label is <key>=<value>, and there may be 1 to 100000 tasks of it at once."
  }
}

variable "function_overrides" {
  description = "Memory (MiB) and time limit (seconds) of a function, where they should not be what they are. A queue hides a message six times as long."
  type = map(object({
    memory  = optional(number)
    timeout = optional(number)
  }))
  default = {}

  validation {
    condition     = length(setsubtract(keys(var.function_overrides), ["webhook", "scheduler", "source", "orchestrator", "tasks", "api", "slack", "notifier"])) == 0
    error_message = "The functions are webhook, scheduler, source, orchestrator, tasks, api, slack and notifier."
  }
  validation {
    condition     = alltrue([for it in values(var.function_overrides) : it.memory == null ? true : it.memory >= 128 && it.memory <= 10240])
    error_message = "A function's memory is 128 to 10240 MiB."
  }
  validation {
    condition     = alltrue([for it in values(var.function_overrides) : it.timeout == null ? true : it.timeout >= 1 && it.timeout <= 900])
    error_message = "A function's time limit is 1 to 900 seconds."
  }
}

variable "source_concurrency" {
  description = "How many sources are looked at at once, at most."
  type        = number
  default     = 10

  validation {
    condition     = var.source_concurrency >= 2 && var.source_concurrency <= 1000
    error_message = "An event source mapping's concurrency is 2 to 1000."
  }
}

variable "orchestrator_concurrency" {
  description = "How many stacks are decided on at once, at most."
  type        = number
  default     = 50

  validation {
    condition     = var.orchestrator_concurrency >= 2 && var.orchestrator_concurrency <= 1000
    error_message = "An event source mapping's concurrency is 2 to 1000."
  }
}

variable "notifier_concurrency" {
  description = "How many stacks are told of and providers are delivered to at once, at most: so many providers may hang before another waits."
  type        = number
  default     = 16

  validation {
    condition     = var.notifier_concurrency >= 2 && var.notifier_concurrency <= 1000
    error_message = "An event source mapping's concurrency is 2 to 1000."
  }
}

variable "provider_arns" {
  description = "Topics of SNS and buses of EventBridge that providers of types `sns` and `eventbridge` may send to with the notifier's own role."
  type        = list(string)
  default     = []

  validation {
    condition = alltrue([for arn in var.provider_arns :
      can(regex("^arn:[^:]+:(sns:[^:]+:[0-9]+:[^:*]+|events:[^:]+:[0-9]+:event-bus/[^*]+)$", arn))
    ])
    error_message = "An ARN is arn:aws:sns:<region>:<account>:<topic> or arn:aws:events:<region>:<account>:event-bus/<name>."
  }
}

# Where tasks run

variable "vpc_id" {
  description = "The VPC that tasks run in."
  type        = string

  validation {
    condition     = startswith(var.vpc_id, "vpc-")
    error_message = "A VPC's id begins with `vpc-`."
  }
}

variable "subnet_ids" {
  description = "The subnets that tasks run in; at least two in different zones keep plans going when one fails."
  type        = list(string)

  validation {
    condition     = length(var.subnet_ids) > 0 && length(var.subnet_ids) <= 16
    error_message = "Tasks need 1 to 16 subnets."
  }
}

variable "assign_public_ip" {
  description = "Whether tasks get a public address: needed in subnets that reach the internet through an internet gateway, not in those with a NAT gateway."
  type        = bool
  default     = false
}

variable "security_group_ids" {
  description = "The security groups of tasks. Without any, one is made that lets nothing in, and HTTPS and SSH out; stacks that talk to a database or a cluster need their own."
  type        = list(string)
  default     = []

  validation {
    condition     = length(var.security_group_ids) <= 5
    error_message = "A task has at most 5 security groups."
  }
}

# Roles of stacks

variable "stack_role_arns" {
  description = "The roles that stacks may run under, `*` allowed. By default those that modules/stack-roles makes, in any account: their path is /yuba/<installation>/."
  type        = list(string)
  default     = null

  validation {
    condition     = var.stack_role_arns == null ? true : length(var.stack_role_arns) > 0 && alltrue([for arn in var.stack_role_arns : can(regex("^arn:[^:]+:iam::(\\d{12}|\\*):role/.+$", arn)) && !endswith(arn, ":role/*")])
    error_message = "A role's ARN is arn:aws:iam::<account, or *>:role/<path and name>, and names more than `*`."
  }
}

variable "external_id" {
  description = "The external id that trust policies of stacks' roles ask for. By default yuba:<account>:<installation>."
  type        = string
  default     = null

  validation {
    condition     = var.external_id == null ? true : length(var.external_id) >= 2 && length(var.external_id) <= 1224 && can(regex("^[A-Za-z0-9+=,.@:/_-]+$", var.external_id))
    error_message = "An external id has 2 to 1224 letters, digits and +=,.@:/_-."
  }
}

variable "assume_via_role_arn" {
  description = "The role that is assumed first, and from which stacks' roles are assumed, where an organisation asks for that."
  type        = string
  default     = null

  validation {
    condition     = var.assume_via_role_arn == null ? true : can(regex("^arn:[^:]+:iam::\\d{12}:role/[^*]+$", var.assume_via_role_arn))
    error_message = "A role's ARN is arn:aws:iam::<account>:role/<path and name>."
  }
}

variable "session_policy" {
  description = "A policy, as JSON, that bounds what every session of a stack's role may do, whatever the role may."
  type        = string
  default     = null

  validation {
    condition     = var.session_policy == null ? true : can(keys(jsondecode(var.session_policy))) && length(var.session_policy) <= 2048
    error_message = "A session policy is a JSON object of at most 2048 characters."
  }
}

variable "target_account_ids" {
  description = "Other accounts whose stack roles may keep states in the state bucket."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for id in var.target_account_ids : can(regex("^\\d{12}$", id))])
    error_message = "An account's id has 12 digits."
  }
}

variable "permissions_boundary_arn" {
  description = "A permissions boundary for every role that this module makes, where an organisation asks for one."
  type        = string
  default     = null

  validation {
    condition     = var.permissions_boundary_arn == null ? true : can(regex("^arn:[^:]+:iam::[^:]+:policy/.+$", var.permissions_boundary_arn))
    error_message = "A policy's ARN is arn:aws:iam::<account>:policy/<name>."
  }
}

# What is kept

variable "deletion_protection" {
  description = "Whether the table and the buckets that hold something refuse to be destroyed."
  type        = bool
  default     = true
}

variable "log_retention_days" {
  description = "How long logs of functions and tasks are kept. (Logs of runs are objects.)"
  type        = number
  default     = 365

  validation {
    condition     = contains([1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653], var.log_retention_days)
    error_message = "CloudWatch keeps logs for 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288 or 3653 days."
  }
}

variable "run_retention_days" {
  description = "How long plans, logs and artifacts of runs are kept as objects. A plan that waits longer than that for approval is lost."
  type        = number
  default     = 365

  validation {
    condition     = var.run_retention_days >= 30
    error_message = "Objects of runs are kept for at least 30 days."
  }
}

variable "state_bucket" {
  description = "Whether to make a bucket for states of stacks that bring no backend."
  type        = bool
  default     = true
}

variable "state_lock_table" {
  description = "Whether to make a DynamoDB table for locks of these states: engines before 1.10 cannot lock in the bucket itself."
  type        = bool
  default     = false
}

# Events, messages and alarms

variable "slack_buttons" {
  description = "Whether messages in Slack have buttons. They are believed once the app's signing secret is stored (`secret_names`); without an app there is nobody to press."
  type        = bool
  default     = true
}

variable "web_url" {
  description = "Where people reach the pages, which messages link to. By default the API's own URL."
  type        = string
  default     = null

  validation {
    condition     = var.web_url == null ? true : can(regex("^https://[^/[:space:]]+(/.*[^/])?$", var.web_url))
    error_message = "An address of the web is https://…, without `/` at its end."
  }
}

variable "topic_fifo" {
  description = "Whether the topic of events is a FIFO one, which keeps the order of a stack's events; only SQS queues can subscribe to it."
  type        = bool
  default     = false
}

variable "alarm_topic_arns" {
  description = "The SNS topics that alarms go to. Without any, alarms can be seen but notify nobody."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for arn in var.alarm_topic_arns : can(regex("^arn:[^:]+:sns:", arn))])
    error_message = "A topic's ARN is arn:aws:sns:<region>:<account>:<name>."
  }
}

variable "alarm_after_minutes" {
  description = "After how many minutes something that waits is alarming: a message in a queue, an effect still to do, an item that is due."
  type        = number
  default     = 15

  validation {
    condition     = var.alarm_after_minutes >= 5 && var.alarm_after_minutes <= 1440
    error_message = "Alarms are set for 5 to 1440 minutes."
  }
}
