"""What Kubernetes runs of RocketMQ, and what is wrong with it."""
