variable "name" {
  description = "The function's name in AWS."
  type        = string
}

variable "function" {
  description = "The function, as its zip is named."
  type        = string
}

variable "image" {
  description = "The image that it runs instead of a zip, where it needs programs that the runtime does not have."
  type        = string
  default     = null
}

variable "description" {
  description = "What it does, for people."
  type        = string
}

variable "role_arn" {
  description = "The role that it runs under."
  type        = string
}

variable "kms_key_arn" {
  description = "The key that its log is encrypted under."
  type        = string
}

variable "memory" {
  description = "Its memory in MiB."
  type        = number
}

variable "timeout" {
  description = "Its time limit in seconds."
  type        = number
}

variable "disk" {
  description = "Its disk in MiB."
  type        = number
  default     = 512
}

variable "environment" {
  description = "Its settings."
  type        = map(string)
}

variable "settings" {
  description = "What is the same for all functions."
  type = object({
    architecture = string
    packages = object({
      directory = optional(string)
      bucket    = optional(string)
      prefix    = optional(string, "")
    })
    log_retention_days = number
    alarm_topic_arns   = list(string)
    tags               = map(string)
  })
}
