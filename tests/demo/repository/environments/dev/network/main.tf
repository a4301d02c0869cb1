terraform {
  required_providers {
    toy = { source = "yuba/toy" }
  }
}

module "network" {
  source      = "../../../modules/network"
  environment = "dev"
}

resource "toy_bucket" "logs" {
  name   = "logs-dev"
  region = "eu-1"
}

output "network_id" {
  value = module.network.network_id
}
