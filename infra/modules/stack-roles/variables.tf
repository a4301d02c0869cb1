variable "installation" {
  description = "The id of the Yuba installation that may assume the roles."
  type        = string

  validation {
    condition     = length(var.installation) <= 32 && can(regex("^[a-z]([a-z0-9-]*[a-z0-9])?$", var.installation))
    error_message = "An installation's id has at most 32 of a-z, 0-9 and `-`; the first is a letter, the last is not `-`."
  }
}

variable "name" {
  description = "What the roles' names begin with, where an account has several pairs; by default yuba-<installation>-stacks."
  type        = string
  default     = null

  validation {
    condition     = var.name == null ? true : can(regex("^[A-Za-z0-9+=,.@_-]{1,58}$", var.name))
    error_message = "A role's name has at most 58 letters, digits and +=,.@_- before `-plan` and `-apply`."
  }
}

variable "trusted_role_arn" {
  description = "The role that may assume them: the installation's output `tasks_role_arn`, or the role in between where it has one. It must exist."
  type        = string

  validation {
    condition     = can(regex("^arn:[^:]+:iam::\\d{12}:role/[^*]+$", var.trusted_role_arn))
    error_message = "A role's ARN is arn:aws:iam::<account>:role/<path and name>."
  }
}

variable "external_id" {
  description = "The external id that the installation gives: its output `external_id`."
  type        = string

  validation {
    condition     = length(var.external_id) >= 2 && length(var.external_id) <= 1224 && can(regex("^[A-Za-z0-9+=,.@:/_-]+$", var.external_id))
    error_message = "An external id has 2 to 1224 letters, digits and +=,.@:/_-."
  }
}

variable "stacks" {
  description = "Which stacks may run under the roles: `<namespace>/<name>`, with `*` for any part."
  type        = list(string)
  default     = ["*"]

  validation {
    condition     = length(var.stacks) > 0
    error_message = "At least one stack must be able to run under the roles."
  }
}

variable "plan_policy_arns" {
  description = "What plans, drift checks and previews may do: policies that only read. By default AWS' ReadOnlyAccess."
  type        = list(string)
  default     = null
}

variable "apply_policy_arns" {
  description = "What applies may do."
  type        = list(string)

  validation {
    condition     = length(var.apply_policy_arns) > 0 && length(var.apply_policy_arns) <= 10
    error_message = "A role has at most 10 policies, and one without any could apply nothing."
  }
}

variable "state" {
  description = "Where states lie: the bucket, the key that it is encrypted under, what their keys begin with, and the table of locks for engines before 1.10."
  type = object({
    bucket         = string
    kms_key_arn    = optional(string)
    prefix         = optional(string, "")
    lock_table_arn = optional(string)
  })
  default = null
}

variable "permissions_boundary_arn" {
  description = "A permissions boundary for both roles."
  type        = string
  default     = null
}

variable "tags" {
  description = "Tags of the roles."
  type        = map(string)
  default     = {}
}
