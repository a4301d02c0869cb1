output "plan_role_arn" {
  description = "What a stack's manifest names as `roles.plan`."
  value       = aws_iam_role.stacks["plan"].arn
}

output "apply_role_arn" {
  description = "What a stack's manifest names as `roles.apply`."
  value       = aws_iam_role.stacks["apply"].arn
}
