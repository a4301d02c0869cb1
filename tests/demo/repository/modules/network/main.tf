terraform {
  required_providers {
    toy = { source = "yuba/toy" }
  }
}

variable "environment" {
  type = string
}

resource "toy_network" "this" {
  name        = var.environment
  cidr        = "10.0.0.0/16"
  description = "flow logs"
  tags        = { team = "platform" }
}

output "network_id" {
  value = toy_network.this.id
}
