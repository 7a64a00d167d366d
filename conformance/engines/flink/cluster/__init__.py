"""Flink as it is deployed: a JobManager and TaskManagers, each a process of its own, with faults."""
