"""Flink as it is deployed: a JobManager and TaskManagers, each a process of its own, and somebody who harms them."""
