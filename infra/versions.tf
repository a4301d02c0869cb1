terraform {
  # OpenTofu 1.8 and Terraform 1.9 are the oldest that this module is written for; both fulfil this constraint.
  required_version = ">= 1.8.0"

  required_providers {
    aws = {
      source = "hashicorp/aws"
      # 6.29 is the first that can allow a call through a Function URL alone (`invoked_via_function_url`).
      version = ">= 6.29.0, < 7.0.0"
    }
  }
}
