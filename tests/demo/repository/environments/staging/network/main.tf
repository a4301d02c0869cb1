terraform {
  required_providers {
    toy = { source = "yuba/toy" }
  }
}

module "network" {
  source      = "../../../modules/network"
  environment = "staging"
}

resource "toy_bucket" "logs" {
  name   = "logs-staging"
  region = "eu-1"
}

output "network_id" {
  value = module.network.network_id
}
