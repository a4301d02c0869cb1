variable "name" {
  description = "The bucket's name."
  type        = string
}

variable "kms_key_arn" {
  description = "The key that its objects are encrypted under."
  type        = string
}

variable "force_destroy" {
  description = "Whether it may be destroyed with what is in it."
  type        = bool
}

variable "expire_days" {
  description = "After how many days objects go; null means never."
  type        = number
}

variable "noncurrent_expire_days" {
  description = "After how many days versions go that were replaced or deleted."
  type        = number
}

variable "statements" {
  description = "More statements of its policy, as a JSON list."
  type        = string
  default     = "[]"
}

variable "tags" {
  description = "Its tags."
  type        = map(string)
}
